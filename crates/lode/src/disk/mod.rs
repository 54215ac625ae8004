//! The door to storage, of five methods.

mod buffered;
mod contents;
mod counted;
mod destination;
mod direct;
mod file;
mod memory;
mod ring;
pub mod simulated;
mod syncs;
#[cfg(test)]
pub(crate) mod tests;

use std::io;

pub use buffered::BufferedFile;
pub use counted::{CountedDisk, DiskCounts};
pub use destination::Destination;
pub use direct::DirectFile;
pub use memory::Memory;
pub use ring::DIRECT_BYTES;
pub(crate) use syncs::Syncs;
#[cfg(test)]
pub(crate) use tests::test_folder;

/// A sequence of bytes that outlives the program once it is synced: a file, or something that
/// behaves like one. Shared by threads; each call is whole (no short reads or writes).
///
/// If a disk is direct, offsets, lengths and buffers must be multiples of 4096; the engine does
/// this on every disk.
pub trait Disk: Send + Sync {
    /// The number of bytes.
    fn len_bytes(&self) -> io::Result<u64>;

    /// Fill all of `into`; [`io::ErrorKind::UnexpectedEof`] where the bytes end before.
    fn read_into(&self, offset: u64, into: Destination<'_>) -> io::Result<()>;

    /// The same into memory that nobody else looks at.
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.read_into(offset, into.into())
    }

    /// Write all of `from`, growing the file where it ends before. Not durable before
    /// [`Disk::sync`], and until then parts of it may reach the medium in any order.
    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()>;

    /// Return when everything written before is durable.
    fn sync(&self) -> io::Result<()>;

    /// Grow with zeros, or cut. Room is allocated, so that a later write within does not fail for
    /// want of it.
    fn set_len(&self, len_bytes: u64) -> io::Result<()>;
}
