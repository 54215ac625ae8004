//! The header that every page begins with; `docs/reference/lode-format.md` draws it.
//!
//! Fields are read and written one by one. A struct laid over the bytes, as the crate zerocopy
//! gives, would be a plain reference to a page whose words others may store meanwhile; the headers
//! of the superblock, the log and the wire are few, and have the same form.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{LodeError, Result};
use crate::page_mut::PageMut;

pub use crate::page_bytes::{PAGE_BYTES, PageBytes};
pub use crate::page_number::{NO_PAGE, PageNumber};

/// Bytes of the header; the rest belongs to the page's kind.
pub const HEADER_BYTES: usize = 32;

/// A number of pages that were allocated together and are scanned together: a heap, an index. Its
/// number stands in its pages' headers.
pub type FileNumber = u32;

/// The file in a page's header if the page belongs to none.
pub const NO_FILE: FileNumber = 0;

/// Offsets of the header's fields.
pub mod offset {
    /// u64: checksum of everything behind it.
    pub const CHECKSUM: usize = 0;
    /// u64: end of the log when a transaction first changed the page.
    pub const LSN: usize = 8;
    /// u8: [`super::PageKind`].
    pub const KIND: usize = 16;
    /// u8: height above the leaves, local depth: as the kind says.
    pub const LEVEL: usize = 17;
    /// u16: slots, entries: as the kind says.
    pub const COUNT: usize = 18;
    /// u32: [`super::FileNumber`].
    pub const FILE: usize = 20;
    /// u32: the next page of a chain, or 0.
    pub const NEXT: usize = 24;
    /// u32: the previous page of a chain, or 0.
    pub const PREVIOUS: usize = 28;
}

const _: () = assert!(offset::PREVIOUS + size_of::<PageNumber>() == HEADER_BYTES);
const _: () = assert!(PAGE_BYTES.is_power_of_two() && PAGE_BYTES <= 1 << 15);

/// The content of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PageKind {
    /// Nothing: given back, or never used.
    Free = 0,
    /// The superblock's two pages.
    Superblock = 1,
    /// Names of files and their roots.
    Catalog = 2,
    /// Which extents and pages are in use.
    Space = 3,
    /// Slotted records.
    Heap = 4,
    /// A leaf of a B+tree.
    BtreeLeaf = 5,
    /// An inner page of a B+tree.
    BtreeInner = 6,
    /// The root of a hash index, its directory, a bucket.
    HashRoot = 7,
    /// A page of a hash index's directory.
    HashDirectory = 8,
    /// A bucket of a hash index.
    HashBucket = 9,
    /// Rows column by column: the root, a chunk's header, values.
    Columns = 10,
    /// A program's own bytes, and the lists of the pages that have them.
    Region = 11,
}

impl PageKind {
    /// The kind of this number, if there is one.
    pub const fn of(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Free,
            1 => Self::Superblock,
            2 => Self::Catalog,
            3 => Self::Space,
            4 => Self::Heap,
            5 => Self::BtreeLeaf,
            6 => Self::BtreeInner,
            7 => Self::HashRoot,
            8 => Self::HashDirectory,
            9 => Self::HashBucket,
            10 => Self::Columns,
            11 => Self::Region,
            _ => return None,
        })
    }
}

/// The checksum of a page at that number: a page that lies at another's place is damaged, too.
pub fn checksum(bytes: &PageBytes, page: PageNumber) -> u64 {
    xxh3_64_with_seed(&bytes[offset::LSN..], u64::from(page))
}

/// Put the checksum in, before the page is written.
pub fn seal(bytes: &mut PageBytes, page: PageNumber) {
    let sum = checksum(bytes, page);
    bytes[..offset::LSN].copy_from_slice(&sum.to_le_bytes());
}

/// Check a page that was read. A page of zeros has never been written and is whole.
pub fn check(bytes: &PageBytes, page: PageNumber) -> Result<()> {
    let found = u64_at(bytes, offset::CHECKSUM);
    if found == checksum(bytes, page) || (found == 0 && bytes.iter().all(|&byte| byte == 0)) {
        return Ok(());
    }
    Err(LodeError::corrupt_page(page, "its checksum does not fit its bytes"))
}

/// Make an empty page of that kind, in place of whatever it was.
pub fn format(bytes: &mut PageMut<'_>, kind: PageKind, file: FileNumber) {
    bytes.clear(0..PAGE_BYTES);
    bytes.put_u8(offset::KIND, kind as u8);
    bytes.put_u32(offset::FILE, file);
}

/// Read a little-endian u16. Panics beyond the page: offsets of changed pages are our own.
#[inline]
pub fn u16_at(bytes: &PageBytes, at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

/// Read a little-endian u32.
#[inline]
pub fn u32_at(bytes: &PageBytes, at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

/// Read a little-endian u64.
#[inline]
pub fn u64_at(bytes: &PageBytes, at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

/// Write a little-endian u16 to a page that nobody else has.
#[inline]
pub fn put_u16(bytes: &mut PageBytes, at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

/// Write a little-endian u32 to a page that nobody else has.
#[inline]
pub fn put_u32(bytes: &mut PageBytes, at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Write a little-endian u64 to a page that nobody else has.
#[inline]
pub fn put_u64(bytes: &mut PageBytes, at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

#[inline]
fn array<const N: usize>(bytes: &PageBytes, at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("a slice of N bytes is an array of N")
}
