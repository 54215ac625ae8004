//! A file read and written through the cache of the operating system: `disk=buffered`.

use std::io;
use std::path::Path;

use rustix::fs::{Advice, OFlags};

use crate::disk::file::{LockedFile, Opening, read_exactly};
use crate::disk::{Destination, Disk};
use crate::error::Result;

/// A file behind the operating system's cache, locked against every other opener.
#[derive(Debug)]
pub struct BufferedFile(LockedFile);

impl BufferedFile {
    /// Make a new file. It must not exist.
    pub fn create(path: &Path) -> Result<Self> {
        Ok(Self(LockedFile::open(path, Opening::Create, OFlags::empty())?))
    }

    /// Open an existing file for reading and writing; [`crate::LodeError::InUse`] where another
    /// has it open.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self(LockedFile::open(path, Opening::Write, OFlags::empty())?))
    }

    /// Open an existing file for reading, beside other readers; [`crate::LodeError::InUse`] where
    /// one has it open for writing. Writes answer [`io::ErrorKind::ReadOnlyFilesystem`].
    pub fn open_read_only(path: &Path) -> Result<Self> {
        Ok(Self(LockedFile::open(path, Opening::Read, OFlags::empty())?))
    }

    /// Drop the file's pages from the operating system's cache. Syncs first, because only clean
    /// pages are dropped. A request: pages that others hold mapped or locked stay.
    pub fn evict(&self) -> io::Result<()> {
        self.0.sync()?;
        Ok(rustix::fs::fadvise(self.0.file()?, 0, None, Advice::DontNeed)?)
    }
}

impl Disk for BufferedFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.0.len_bytes()
    }

    fn read_into(&self, offset: u64, into: Destination<'_>) -> io::Result<()> {
        read_exactly(self.0.file()?, offset, into, 1)
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.0.write(offset, from)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.0.set_len(len_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSliceMut;

    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    use super::*;
    use crate::disk::test_folder;
    use crate::disk::tests::{behaves_like_a_model, ends_where_it_ends};

    #[test]
    fn behaves_like_bytes_in_memory() {
        let folder = test_folder();
        let file = BufferedFile::create(&folder.path().join("volume")).unwrap();
        behaves_like_a_model(&file, 1);
        ends_where_it_ends(&file);
    }

    #[test]
    fn written_pages_are_there_when_opened_again() {
        let folder = test_folder();
        let path = folder.path().join("volume");
        BufferedFile::create(&path).unwrap().write(3, b"lode").unwrap();
        for open in [BufferedFile::open, BufferedFile::open_read_only] {
            let mut bytes = [1; 7];
            open(&path).unwrap().read(0, &mut bytes).unwrap();
            assert_eq!(&bytes, b"\0\0\0lode");
        }
    }

    /// Whether the first byte is in the cache; `None` where the file system cannot say.
    fn is_cached(file: &BufferedFile) -> Option<bool> {
        let mut byte = [0];
        let mut into = [IoSliceMut::new(&mut byte)];
        match preadv2(file.0.file().unwrap(), &mut into, 0, ReadWriteFlags::NOWAIT) {
            Ok(_) => Some(true),
            Err(Errno::AGAIN) => Some(false),
            Err(_) => None,
        }
    }

    #[test]
    fn evicted_pages_are_not_in_the_cache_and_not_lost() {
        let folder = test_folder();
        let file = BufferedFile::create(&folder.path().join("volume")).unwrap();
        file.write(0, &[7; 8192]).unwrap();
        if is_cached(&file) != Some(true) {
            return;
        }
        // The kernel may hold a page for a moment, so it is asked more than once.
        let cold = (0..1000).any(|_| {
            file.evict().unwrap();
            is_cached(&file) == Some(false)
        });
        assert!(cold);
        let mut bytes = [0; 8192];
        file.read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [7; 8192]);
    }
}
