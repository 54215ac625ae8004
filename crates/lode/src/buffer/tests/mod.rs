//! The buffer over a disk in memory that says what was asked of it.

mod arrivals;
mod contents;
mod eviction;
mod failures;
mod frames;
mod huge;
mod lending;
mod pins;
mod protocol;
mod read_ahead;
mod reading;
mod speed;
mod stale;
mod threads;
mod writing;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use super::{Buffer, BufferOptions, Reserve};
use crate::disk::{Destination, Disk};
use crate::page::{self, PAGE_BYTES, PageBytes, PageNumber};
use crate::tactics::Replacement;

/// The place where the tests keep their word on a page, clear of the header.
const WORD: usize = 64;

const ALL: [Replacement; 4] =
    [Replacement::Clock, Replacement::Lru, Replacement::Random, Replacement::Lru2];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    /// First page, pages.
    Read(PageNumber, usize),
    Write(PageNumber, usize),
    Sync,
    BeforeWrite,
}

#[derive(Default)]
struct TestDisk {
    bytes: Mutex<Vec<u8>>,
    calls: Arc<Mutex<Vec<Call>>>,
    /// Reads that touch this page fail.
    unreadable: Mutex<Option<PageNumber>>,
    unwritable: AtomicBool,
}

impl TestDisk {
    /// Sealed pages whose word is their number.
    fn with_pages(pages: PageNumber) -> Arc<Self> {
        static SEALED: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let seal = |page| {
                let mut bytes = [0; PAGE_BYTES];
                page::put_u64(&mut bytes, WORD, u64::from(page));
                page::seal(&mut bytes, page);
                bytes
            };
            (0..1000).flat_map(seal).collect()
        });
        let bytes = SEALED[..pages as usize * PAGE_BYTES].to_vec();
        Arc::new(Self { bytes: Mutex::new(bytes), ..Self::default() })
    }

    fn page(&self, page: PageNumber) -> PageBytes {
        let bytes = self.bytes.lock().unwrap();
        bytes[page as usize * PAGE_BYTES..][..PAGE_BYTES].try_into().unwrap()
    }

    fn word(&self, page: PageNumber) -> u64 {
        page::check(&self.page(page), page).unwrap();
        page::u64_at(&self.page(page), WORD)
    }

    fn damage(&self, page: PageNumber) {
        self.bytes.lock().unwrap()[page as usize * PAGE_BYTES + WORD] ^= 1;
    }

    fn called(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    fn note(&self, call: Call) {
        self.calls.lock().unwrap().push(call);
    }
}

fn numbers(offset: u64, start: *const u8, bytes: usize) -> (PageNumber, usize) {
    assert!(offset.is_multiple_of(PAGE_BYTES as u64) && bytes.is_multiple_of(PAGE_BYTES));
    assert_eq!(start.align_offset(PAGE_BYTES), 0, "direct disks want aligned memory");
    ((offset / PAGE_BYTES as u64) as PageNumber, bytes / PAGE_BYTES)
}

impl Disk for TestDisk {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().unwrap().len() as u64)
    }

    fn read_into(&self, offset: u64, mut into: Destination<'_>) -> io::Result<()> {
        let (first, pages) = numbers(offset, into.as_mut_ptr(), into.len());
        self.note(Call::Read(first, pages));
        let end = first + pages as PageNumber;
        if self.unreadable.lock().unwrap().is_some_and(|page| (first..end).contains(&page)) {
            // As a disk that breaks half-way does.
            into.fill(0xAA);
            return Err(io::Error::other("unreadable"));
        }
        let bytes = self.bytes.lock().unwrap();
        let from = bytes.get(offset as usize..offset as usize + into.len());
        into.put(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        let (first, pages) = numbers(offset, from.as_ptr(), from.len());
        self.note(Call::Write(first, pages));
        if self.unwritable.load(Ordering::Relaxed) {
            return Err(io::Error::other("unwritable"));
        }
        self.bytes.lock().unwrap()[offset as usize..][..from.len()].copy_from_slice(from);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.note(Call::Sync);
        Ok(())
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.bytes.lock().unwrap().resize(len_bytes as usize, 0);
        Ok(())
    }
}

/// A cache of 16 pages for a volume of up to 1,024.
fn options(replacement: Replacement) -> BufferOptions {
    BufferOptions {
        cache_bytes: 16 * PAGE_BYTES as u64,
        replacement,
        huge_pages: true,
        read_ahead_pages: 0,
        pages_max: 1024,
    }
}

fn buffer(disk: &Arc<TestDisk>, options: &BufferOptions) -> Buffer {
    Buffer::new(Arc::<TestDisk>::clone(disk), options).unwrap()
}

fn word(buffer: &Buffer, page: PageNumber) -> u64 {
    buffer.read(page, |view| view.u64(WORD)).unwrap()
}

fn set_word(buffer: &Buffer, page: PageNumber, value: u64) {
    buffer.latch(page).unwrap().page_mut().put_u64(WORD, value);
}

/// Whether a page is in memory, without bringing or using it.
fn is_resident(buffer: &Buffer, page: PageNumber) -> bool {
    !buffer.state_of(page).load().is_evicted()
}

/// Pages that the kernel keeps memory for.
fn pages_mapped(buffer: &Buffer) -> usize {
    let mut flags = vec![0; buffer.pages_max as usize];
    let bytes = flags.len() * PAGE_BYTES;
    #[expect(unsafe_code, reason = "rustix has no mincore")]
    // SAFETY: the range is the whole mapping, and `flags` has a byte for each of its pages.
    let status = unsafe { libc::mincore(buffer.pages.page(0).cast(), bytes, flags.as_mut_ptr()) };
    assert_eq!(status, 0, "the mapping is ours");
    flags.iter().filter(|&flag| flag & 1 == 1).count()
}
