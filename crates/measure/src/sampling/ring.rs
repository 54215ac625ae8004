//! The buffer that the kernel fills with records, as `perf_event_open(2)` lays it out:
//!
//! ```text
//! page of positions | 2^n pages: header (type, flags, size) and fields of a record, and so on
//! ```

use std::io;
use std::mem::offset_of;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use perf_event_open_sys::bindings;

/// Bytes of records. The larger ones are for root; the smallest but one, on each CPU, is what
/// `kernel.perf_event_mlock_kb` allows everybody.
const BYTES_TRIED: [usize; 4] = [4 << 20, 1 << 20, 512 << 10, 64 << 10];

/// A buffer with less room than that may have lost a record.
const RECORD_BYTES_MAX: u64 = 1024;

/// One CPU's buffer.
#[derive(Debug)]
pub struct Ring {
    map: MmapRaw,
    bytes: u64,
}

/// The content of a buffer.
#[derive(Debug, Default)]
pub struct Drained {
    pub records: Vec<Record>,
    /// Records that found no room, as far as the kernel has reported.
    pub lost: u64,
}

/// A record of use here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    Sample(Sample),
    Fork(Fork),
}

/// The place where a thread was at a tick of its CPU clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub process: u32,
    pub thread: u32,
    pub time_ns: u64,
    pub address: u64,
    /// In the kernel, and by which functions, the innermost first; `None` outside.
    pub kernel: Option<Vec<u64>>,
}

/// A process or thread that another one started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fork {
    pub process: u32,
    pub parent: u32,
}

impl Ring {
    /// The largest that this user may have.
    pub fn of(event: &OwnedFd) -> io::Result<Self> {
        let mut refused = None;
        for bytes in BYTES_TRIED {
            match MmapOptions::new().len(bytes + rustix::param::page_size()).map_raw(event) {
                Ok(map) => return Ok(Self { map, bytes: bytes as u64 }),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.expect("several were tried"))
    }

    /// Whether half of it is full.
    pub fn is_half_full(&self) -> bool {
        let head = self.position(offset_of!(bindings::perf_event_mmap_page, data_head));
        let tail = self.position(offset_of!(bindings::perf_event_mmap_page, data_tail));
        head.load(Ordering::Relaxed) - tail.load(Ordering::Relaxed) > self.bytes / 2
    }

    /// Take all records out.
    pub fn drain(&mut self) -> Drained {
        let head = self.position(offset_of!(bindings::perf_event_mmap_page, data_head));
        let tail = self.position(offset_of!(bindings::perf_event_mmap_page, data_tail));
        // The kernel wrote the records before it moved the head, and waits for the tail before it
        // writes there again.
        let (end, start) = (head.load(Ordering::Acquire), tail.load(Ordering::Relaxed));
        let bytes = self.copied(start, end);
        tail.store(end, Ordering::Release);
        let mut drained = records_of(&bytes);
        if drained.lost == 0 && end - start + RECORD_BYTES_MAX > self.bytes {
            // The kernel reports a loss only with the next record that finds room.
            drained.lost = 1;
        }
        drained
    }

    fn position(&self, offset: usize) -> &AtomicU64 {
        #[expect(unsafe_code, reason = "the kernel moves the positions while we read them")]
        // SAFETY: the first page is mapped for as long as `self`, both positions in it are aligned
        // words, and from here they are only touched as atomics.
        unsafe {
            AtomicU64::from_ptr(self.map.as_mut_ptr().add(offset).cast())
        }
    }

    fn copied(&self, start: u64, end: u64) -> Vec<u8> {
        let length = end.saturating_sub(start).min(self.bytes) as usize;
        let first = (start % self.bytes) as usize;
        let before_wrap = length.min(self.bytes as usize - first);
        let mut bytes = vec![0; length];
        #[expect(unsafe_code, reason = "the records lie in memory that is shared with the kernel")]
        // SAFETY: both stretches lie within the mapping behind its first page, the kernel writes to
        // neither until the tail moves, and the copy has room for their sum.
        unsafe {
            let data = self.map.as_ptr().add(rustix::param::page_size());
            let target = bytes.as_mut_ptr();
            data.add(first).copy_to_nonoverlapping(target, before_wrap);
            data.copy_to_nonoverlapping(target.add(before_wrap), length - before_wrap);
        }
        bytes
    }
}

/// The records in bytes from a kernel; ends at one that is none.
fn records_of(mut bytes: &[u8]) -> Drained {
    let mut drained = Drained::default();
    while let Some((kind, flags, fields, rest)) = split(bytes) {
        match kind {
            bindings::PERF_RECORD_SAMPLE => {
                drained.records.extend(sample_of(flags, fields).map(Record::Sample));
            }
            bindings::PERF_RECORD_FORK => {
                drained.records.extend(fork_of(fields).map(Record::Fork));
            }
            bindings::PERF_RECORD_LOST => drained.lost += word(fields, 8).unwrap_or(0),
            _ => {}
        }
        bytes = rest;
    }
    drained
}

fn split(bytes: &[u8]) -> Option<(u32, u16, &[u8], &[u8])> {
    let (header, _) = bytes.split_first_chunk::<8>()?;
    let kind = u32::from_ne_bytes(header[..4].try_into().expect("four bytes"));
    let flags = u16::from_ne_bytes(header[4..6].try_into().expect("two bytes"));
    let size = usize::from(u16::from_ne_bytes(header[6..].try_into().expect("two bytes")));
    let fields = bytes.get(8..size)?;
    Some((kind, flags, fields, &bytes[size..]))
}

fn sample_of(flags: u16, fields: &[u8]) -> Option<Sample> {
    let mode = u32::from(flags) & bindings::PERF_RECORD_MISC_CPUMODE_MASK;
    let (process, thread) = pair(fields, 8)?;
    let count = word(fields, 24)?;
    let frames = (0..count.min(u64::from(u16::MAX)))
        .map_while(|number| word(fields, 32 + 8 * number as usize))
        // Marks between frames say whose those are that follow: here there are only the kernel's.
        .filter(|&address| address < bindings::PERF_CONTEXT_MAX);
    Some(Sample {
        process,
        thread,
        time_ns: word(fields, 16)?,
        address: word(fields, 0)?,
        kernel: (mode == bindings::PERF_RECORD_MISC_KERNEL).then(|| frames.collect()),
    })
}

fn fork_of(fields: &[u8]) -> Option<Fork> {
    let (process, parent) = pair(fields, 0)?;
    Some(Fork { process, parent })
}

fn word(fields: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*fields.get(offset..)?.first_chunk()?))
}

fn pair(fields: &[u8], offset: usize) -> Option<(u32, u32)> {
    let bytes: &[u8; 8] = fields.get(offset..)?.first_chunk()?;
    let half = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    Some((half(0), half(4)))
}

#[cfg(test)]
mod tests {
    use super::{Fork, Record, Sample, records_of};

    fn record(kind: u32, flags: u16, fields: &[u64]) -> Vec<u8> {
        let size = 8 + 8 * fields.len() as u16;
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(size.to_ne_bytes());
        bytes.extend(fields.iter().flat_map(|field| field.to_ne_bytes()));
        bytes
    }

    const fn both(first: u32, second: u32) -> u64 {
        // As they lie in memory, on a machine of either byte order.
        if cfg!(target_endian = "little") {
            first as u64 | (second as u64) << 32
        } else {
            (first as u64) << 32 | second as u64
        }
    }

    fn stream() -> Vec<u8> {
        const KERNEL_MARK: u64 = (-128_i64).cast_unsigned();
        [
            record(9, 2, &[0x1000, both(7, 8), 55, 0]),
            record(7, 0, &[both(9, 7), both(9, 8), 56]),
            record(2, 0, &[1, 12]),
            record(9, 1, &[0xff10, both(9, 9), 57, 3, KERNEL_MARK, 0xff10, 0xff20]),
        ]
        .concat()
    }

    #[test]
    fn samples_forks_and_losses_are_distinguished() {
        let drained = records_of(&stream());
        let user = Sample { process: 7, thread: 8, time_ns: 55, address: 0x1000, kernel: None };
        let kernel = Sample {
            process: 9,
            thread: 9,
            time_ns: 57,
            address: 0xff10,
            kernel: Some(vec![0xff10, 0xff20]),
        };
        let fork = Fork { process: 9, parent: 7 };
        assert_eq!(
            drained.records,
            [Record::Sample(user), Record::Fork(fork), Record::Sample(kernel)]
        );
        assert_eq!(drained.lost, 12);
    }

    #[test]
    fn a_stream_cut_anywhere_gives_what_was_whole() {
        let stream = stream();
        for end in 0..stream.len() {
            assert!(records_of(&stream[..end]).records.len() < 3, "{end} bytes");
        }
        let nothing = record(9, 1, &[]);
        assert_eq!(records_of(&nothing).records, []);
        // A record of no size would be read for ever.
        assert_eq!(records_of(&[0; 64]).records, []);
    }
}
