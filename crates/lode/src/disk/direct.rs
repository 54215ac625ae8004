//! A file read and written past the cache of the operating system: `disk=direct`.

use std::io;
use std::path::Path;

use rustix::fs::OFlags;

use crate::disk::file::{LockedFile, Opening};
use crate::disk::ring::{DIRECT_BYTES, Rings};
use crate::disk::{Destination, Disk};
use crate::error::{LodeError, Result};

/// A file opened with `O_DIRECT`, locked against every other opener. What the engine does not
/// cache is not cached. A long read goes to the device as several at once.
#[derive(Debug)]
pub struct DirectFile {
    file: LockedFile,
    rings: Rings,
}

impl DirectFile {
    /// Make a new file. It must not exist. [`LodeError::Tactic`] where the file system has no
    /// direct I/O.
    pub fn create(path: &Path) -> Result<Self> {
        Self::opened(path, Opening::Create)
    }

    /// Open an existing file for reading and writing; [`LodeError::InUse`] where another has it
    /// open, [`LodeError::Tactic`] where the file system has no direct I/O.
    pub fn open(path: &Path) -> Result<Self> {
        Self::opened(path, Opening::Write)
    }

    /// Open an existing file for reading, beside other readers; [`LodeError::InUse`] where one has
    /// it open for writing, [`LodeError::Tactic`] where the file system has no direct I/O.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        Self::opened(path, Opening::Read)
    }

    fn opened(path: &Path, opening: Opening) -> Result<Self> {
        match LockedFile::open(path, opening, OFlags::DIRECT) {
            Ok(file) => Ok(Self { file, rings: Rings::new() }),
            // The kernel's answer to O_DIRECT where there is none: open(2), fcntl(2).
            Err(LodeError::Io { source, .. }) if source.kind() == io::ErrorKind::InvalidInput => {
                let path = path.display();
                let what = format!("the file system of {path} has no direct I/O: disk=buffered");
                Err(LodeError::Tactic { what })
            }
            Err(error) => Err(error),
        }
    }
}

fn check_aligned(offset: u64, bytes: usize, address: usize) -> io::Result<()> {
    check_multiple("offset", offset)?;
    check_multiple("length", bytes as u64)?;
    check_multiple("buffer's address", address as u64)
}

/// The kernel would say EINVAL and not of which.
fn check_multiple(what: &str, number: u64) -> io::Result<()> {
    if number.is_multiple_of(DIRECT_BYTES as u64) {
        return Ok(());
    }
    let text = format!("direct I/O: the {what} {number} is no multiple of {DIRECT_BYTES}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

impl Disk for DirectFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.file.len_bytes()
    }

    fn read_into(&self, offset: u64, into: Destination<'_>) -> io::Result<()> {
        check_aligned(offset, into.len(), into.address())?;
        self.rings.read(self.file.file()?, offset, into)
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        check_aligned(offset, from.len(), from.as_ptr().addr())?;
        self.file.write(offset, from)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        check_multiple("length", len_bytes)?;
        self.file.set_len(len_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use tempfile::TempDir;

    use super::*;
    use crate::aligned_bytes::AlignedBytes;
    use crate::disk::tests::{behaves_like_a_model, ends_where_it_ends, test_folder};

    /// `None` where the tests were built on a file system without direct I/O.
    fn created() -> Option<(TempDir, DirectFile)> {
        let folder = test_folder();
        match DirectFile::create(&folder.path().join("volume")) {
            Ok(file) => Some((folder, file)),
            Err(LodeError::Tactic { .. }) => None,
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn behaves_like_bytes_in_memory() {
        let Some((_folder, file)) = created() else { return };
        behaves_like_a_model(&file, DIRECT_BYTES);
        ends_where_it_ends(&file);
    }

    #[test]
    fn behaves_the_same_where_the_ring_is_refused() {
        let Some((_folder, file)) = created() else { return };
        let file = DirectFile { rings: Rings::refused(), ..file };
        behaves_like_a_model(&file, DIRECT_BYTES);
        ends_where_it_ends(&file);
    }

    #[test]
    fn a_long_read_leaves_its_ring_to_the_next() {
        let Some((_folder, file)) = created() else { return };
        file.set_len(1 << 20).unwrap();
        let mut buffer = AlignedBytes::new(1 << 20);
        for _ in 0..3 {
            file.read(0, buffer.bytes()).unwrap();
            assert_eq!(file.rings.idle_count(), usize::from(!file.rings.is_refused()));
        }
    }

    #[test]
    fn unaligned_requests_are_refused_by_name() {
        let Some((_folder, file)) = created() else { return };
        file.set_len(8192).unwrap();
        let mut buffer = AlignedBytes::new(8192);
        let bytes = buffer.bytes();
        for (refused, word) in [
            (file.read(512, &mut bytes[..4096]), "offset"),
            (file.read(0, &mut bytes[..512]), "length"),
            (file.read(0, &mut bytes[8..4104]), "address"),
            (file.write(512, &bytes[..4096]), "offset"),
            (file.write(0, &bytes[..512]), "length"),
            (file.write(0, &bytes[8..4104]), "address"),
            (file.set_len(1000), "length"),
        ] {
            let error = refused.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains(word), "{error}");
        }
        assert_eq!(file.len_bytes().unwrap(), 8192);
    }

    #[test]
    fn a_file_cut_within_a_page_ends_there() {
        let Some((folder, file)) = created() else { return };
        drop(file);
        let path = folder.path().join("volume");
        let plain = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        plain.write_all_at(&vec![7; 700_100], 0).unwrap();
        let file = DirectFile::open(&path).unwrap();
        let mut buffer = AlignedBytes::new(172 * 4096);
        let ended = file.read(0, buffer.bytes()).unwrap_err();
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
        file.read(0, &mut buffer.bytes()[..170 * 4096]).unwrap();
        assert!(buffer.bytes()[..170 * 4096].iter().all(|&byte| byte == 7));
    }

    #[test]
    fn many_threads_read_at_once() {
        let Some((_folder, file)) = created() else { return };
        let mut buffer = AlignedBytes::new(2 << 20);
        for (page, bytes) in buffer.bytes().chunks_exact_mut(4096).enumerate() {
            bytes.fill(page as u8);
        }
        file.write(0, buffer.bytes()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut mine = AlignedBytes::new(2 << 20);
                    for _ in 0..4 {
                        mine.bytes().fill(0xff);
                        file.read(0, mine.bytes()).unwrap();
                        for (page, bytes) in mine.bytes().chunks_exact(4096).enumerate() {
                            assert!(bytes.iter().all(|&byte| byte == page as u8), "page {page}");
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn a_file_system_without_direct_io_is_reported() {
        let reported = DirectFile::open_read_only(Path::new("/proc/self/limits")).unwrap_err();
        assert!(matches!(reported, LodeError::Tactic { what } if what.contains("disk=buffered")));
    }
}
