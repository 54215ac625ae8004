//! A regular file that one process at a time may write: what the buffered and the direct disk
//! share.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FallocateFlags, FlockOperation, OFlags};
use rustix::io::Errno;

use super::{Destination, Syncs};
use crate::error::{LodeError, Result};
use crate::owner::Owner;

/// Bytes written at once where zeros must be written because the file system cannot allocate.
const ZEROS_BYTES: usize = 256 * 1024;

/// The number of times, and the time between them, that a lock is requested that somebody has. A
/// process that was killed may have it for some milliseconds after it is gone: where it has read
/// through `io_uring`, the kernel lets go of its files later.
const LOCK_TRIES: u32 = 60;

const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Aligned, so that a direct file can write them, too.
#[repr(align(4096))]
struct Zeros([u8; ZEROS_BYTES]);

static ZEROS: Zeros = Zeros([0; ZEROS_BYTES]);

/// The way in which a file is to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// It must not be there yet.
    Create,
    /// It must be there.
    Write,
    /// It must be there and is only read.
    Read,
}

/// An open file and its lock (`flock`: exclusive for a writer, shared for readers).
///
/// The lock is the open file's and not the process's: a child that was forked has it, too, until
/// it starts another program or ends. So the process that opened the file gives the lock back
/// before it closes it, and does not wait for its children; only where it is killed do they keep
/// it.
#[derive(Debug)]
pub(super) struct LockedFile {
    file: File,
    writable: bool,
    owner: Owner,
    syncs: Syncs,
}

impl LockedFile {
    /// Open with these flags of the kernel beside our own. A created file's name is made durable;
    /// where creating fails there is no file.
    pub(super) fn open(path: &Path, opening: Opening, flags: OFlags) -> Result<Self> {
        if opening == Opening::Create {
            return Self::create(path, flags);
        }
        let failed = |error| LodeError::io(format!("opening {}", path.display()), error);
        // Before opening, because to open a FIFO is to wait for its other end.
        if !path.metadata().map_err(failed)?.is_file() {
            let how = "it is no regular file; name another".to_owned();
            return Err(LodeError::NotADatabase { path: path.to_owned(), how });
        }
        let writable = opening == Opening::Write;
        let file = OpenOptions::new()
            .read(true)
            .write(writable)
            .custom_flags(flags.bits().cast_signed())
            .open(path)
            .map_err(failed)?;
        Self::locked(file, path, writable)
    }

    /// The flags come once the file is there: a file system that knows no such flag would make the
    /// file first and refuse then, and nobody could say whose it is.
    fn create(path: &Path, flags: OFlags) -> Result<Self> {
        let failed = |error| LodeError::io(format!("creating {}", path.display()), error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(failed)?;
        let finish = || {
            if !flags.is_empty() {
                let flags = rustix::fs::fcntl_getfl(&file)? | flags;
                rustix::fs::fcntl_setfl(&file, flags)?;
            }
            sync_folder_of(path)
        };
        let created = finish().map_err(failed).and_then(|()| Self::locked(file, path, true));
        created.inspect_err(|_| {
            // The caller learns why it is not wanted; a failure to remove it adds nothing.
            let _ = fs::remove_file(path);
        })
    }

    fn locked(file: File, path: &Path, writable: bool) -> Result<Self> {
        let lock = if writable {
            FlockOperation::NonBlockingLockExclusive
        } else {
            FlockOperation::NonBlockingLockShared
        };
        lock_soon(&file, lock, || thread::sleep(LOCK_PAUSE)).map_err(|error| match error {
            Errno::WOULDBLOCK => LodeError::InUse { path: path.to_owned() },
            error => LodeError::io(format!("locking {}", path.display()), error.into()),
        })?;
        let owner = Owner::here();
        Ok(Self { file, writable, owner, syncs: Syncs::default() })
    }

    /// The file, for reading.
    ///
    /// # Errors
    ///
    /// [`LodeError::Forked`] in a child of the process that opened it.
    pub(super) fn file(&self) -> io::Result<&File> {
        self.check_owner()?;
        Ok(&self.file)
    }

    fn check_owner(&self) -> io::Result<()> {
        self.owner.check("the file").map_err(io::Error::other)
    }

    pub(super) fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    pub(super) fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.check_writable()?;
        self.file.write_all_at(from, offset)
    }

    /// `fdatasync`. Once it has failed it fails for ever.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.check_owner()?;
        if !self.writable {
            return Ok(());
        }
        self.syncs.run(|| retried(|| rustix::fs::fdatasync(&self.file)))
    }

    /// Cut, or allocate what is new. Where there is no room the file keeps its length.
    pub(super) fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.check_writable()?;
        let before = self.len_bytes()?;
        if len_bytes <= before {
            return self.file.set_len(len_bytes);
        }
        let flags = FallocateFlags::empty();
        let more = len_bytes - before;
        let grown = match retried(|| rustix::fs::fallocate(&self.file, flags, before, more)) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                self.append_zeros(before, len_bytes)
            }
            other => other,
        };
        if grown.is_err() {
            // Some of it may have been allocated. A failure to give that back changes nothing.
            let _ = self.file.set_len(before);
        }
        grown
    }

    fn append_zeros(&self, from: u64, to: u64) -> io::Result<()> {
        let mut at = from;
        while at < to {
            let count = (to - at).min(ZEROS_BYTES as u64);
            self.file.write_all_at(&ZEROS.0[..count as usize], at)?;
            at += count;
        }
        Ok(())
    }

    fn check_writable(&self) -> io::Result<()> {
        self.check_owner()?;
        if self.writable {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the file is open for reading only"))
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        if self.owner.is_here() {
            // Where this fails, closing does it, unless a child has the file, too.
            let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
        }
    }
}

/// Lock a file, and ask again a few times where somebody has it.
fn lock_soon(file: &File, lock: FlockOperation, mut pause: impl FnMut()) -> rustix::io::Result<()> {
    for _ in 0..LOCK_TRIES {
        match rustix::fs::flock(file, lock) {
            Err(Errno::WOULDBLOCK) => pause(),
            decided => return decided,
        }
    }
    rustix::fs::flock(file, lock)
}

/// Ask again as long as a signal comes between.
fn retried(mut call: impl FnMut() -> rustix::io::Result<()>) -> io::Result<()> {
    Ok(rustix::io::retry_on_intr(&mut call)?)
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    File::open(folder)?.sync_all()
}

/// Read as `read_exact_at` of the standard library, but into memory of which it can have no slice.
/// A read that ends within a unit of so many bytes is the file's end: to go on from there would not
/// be aligned.
pub(super) fn read_exactly(
    file: &File,
    offset: u64,
    mut into: Destination<'_>,
    unit_bytes: usize,
) -> io::Result<()> {
    let mut done = 0;
    while done < into.len() {
        let mut rest = into.part(done..into.len());
        let at = offset + done as u64;
        let at = libc::off_t::try_from(at).map_err(|_| io::ErrorKind::InvalidInput)?;
        let (to, bytes) = (rest.as_mut_ptr().cast(), rest.len());
        // SAFETY: the destination's memory is writable, and as long as that.
        #[expect(unsafe_code, reason = "the kernel is handed an address to write to")]
        let count = unsafe { libc::pread(file.as_raw_fd(), to, bytes, at) };
        match usize::try_from(count) {
            Ok(count) if count > 0 && count.is_multiple_of(unit_bytes) => done += count,
            Ok(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::test_folder;
    use crate::owner::in_a_child;

    fn opened(path: &Path, opening: Opening) -> Result<LockedFile> {
        LockedFile::open(path, opening, OFlags::empty())
    }

    #[test]
    fn a_writer_excludes_all_and_readers_exclude_writers() {
        let folder = test_folder();
        let path = folder.path().join("volume");
        let writer = opened(&path, Opening::Create).unwrap();
        for opening in [Opening::Write, Opening::Read] {
            let refused = opened(&path, opening).unwrap_err();
            assert!(matches!(refused, LodeError::InUse { path: named } if named == path));
        }
        drop(writer);
        let _reader = opened(&path, Opening::Read).unwrap();
        let _second = opened(&path, Opening::Read).unwrap();
        assert!(matches!(opened(&path, Opening::Write), Err(LodeError::InUse { .. })));
    }

    /// As a process has it that was forked meanwhile and has not started its program yet.
    #[test]
    fn a_closed_file_is_free_though_a_child_has_its_descriptor() {
        let folder = test_folder();
        let path = folder.path().join("volume");
        let file = opened(&path, Opening::Create).unwrap();
        let _inherited = file.file.try_clone().unwrap();
        drop(file);
        drop(opened(&path, Opening::Write).unwrap());
    }

    /// As the kernel does of a process that was killed while it read through `io_uring`.
    #[test]
    fn a_lock_that_falls_soon_is_waited_for() {
        let folder = test_folder();
        let path = folder.path().join("volume");
        let mut killed = Some(opened(&path, Opening::Create).unwrap());
        let mut pauses_left = 3;
        let file = File::open(&path).unwrap();
        let pause = || {
            pauses_left -= 1;
            if pauses_left == 0 {
                drop(killed.take());
            }
        };
        lock_soon(&file, FlockOperation::NonBlockingLockExclusive, pause).unwrap();
        assert_eq!(pauses_left, 0);
    }

    #[test]
    fn a_child_changes_nothing_and_unlocks_nothing() {
        let folder = test_folder();
        let path = folder.path().join("volume");
        let file = opened(&path, Opening::Create).unwrap();
        file.write(0, &[7; 4096]).unwrap();
        assert!(in_a_child(|| {
            let refused = [file.write(0, &[1]), file.sync(), file.set_len(0), file.set_len(8192)];
            let is_refused = refused.iter().all(Result::is_err) && file.file().is_err();
            drop(file);
            is_refused && matches!(opened(&path, Opening::Write), Err(LodeError::InUse { .. }))
        }));
        assert_eq!(fs::read(&path).unwrap(), [7; 4096]);
    }

    #[test]
    fn existing_files_are_not_created_and_absent_ones_not_opened() {
        let folder = test_folder();
        let path = folder.path().join("volume");
        let kind = |opened: Result<LockedFile>| match opened.unwrap_err() {
            LodeError::Io { doing, source } if doing.contains("volume") => source.kind(),
            other => panic!("{other:?}"),
        };
        assert_eq!(kind(opened(&path, Opening::Write)), io::ErrorKind::NotFound);
        assert_eq!(kind(opened(&path, Opening::Read)), io::ErrorKind::NotFound);
        drop(opened(&path, Opening::Create).unwrap());
        assert_eq!(kind(opened(&path, Opening::Create)), io::ErrorKind::AlreadyExists);
        let folder_opened = opened(folder.path(), Opening::Read);
        assert!(matches!(folder_opened, Err(LodeError::NotADatabase { .. })));
    }

    #[test]
    fn growing_allocates_and_cutting_forgets() {
        let folder = test_folder();
        let file = opened(&folder.path().join("volume"), Opening::Create).unwrap();
        file.set_len(8192).unwrap();
        file.write(4000, &[7; 200]).unwrap();
        file.set_len(4096).unwrap();
        file.set_len(600_000).unwrap();
        let mut bytes = vec![1; 600_000];
        file.file().unwrap().read_exact_at(&mut bytes, 0).unwrap();
        assert!(bytes[4000..4096].iter().all(|&byte| byte == 7));
        assert!(bytes[..4000].iter().chain(&bytes[4096..]).all(|&byte| byte == 0));
    }

    #[test]
    fn zeros_reach_exactly_to_the_new_length() {
        let folder = test_folder();
        let file = opened(&folder.path().join("volume"), Opening::Create).unwrap();
        file.write(0, &[7; 100]).unwrap();
        let len_bytes = 2 * ZEROS_BYTES as u64 + 77;
        file.append_zeros(100, len_bytes).unwrap();
        assert_eq!(file.len_bytes().unwrap(), len_bytes);
        let mut bytes = vec![1; len_bytes as usize];
        file.file().unwrap().read_exact_at(&mut bytes, 0).unwrap();
        assert!(bytes[..100].iter().all(|&byte| byte == 7));
        assert!(bytes[100..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_length_beyond_the_file_system_changes_nothing() {
        let folder = test_folder();
        let file = opened(&folder.path().join("volume"), Opening::Create).unwrap();
        file.set_len(4096).unwrap();
        file.set_len(u64::MAX).unwrap_err();
        file.set_len(1 << 62).unwrap_err();
        assert_eq!(file.len_bytes().unwrap(), 4096);
    }

    #[test]
    fn files_opened_for_reading_are_not_changed() {
        let folder = test_folder();
        let path = folder.path().join("volume");
        opened(&path, Opening::Create).unwrap().set_len(4096).unwrap();
        let file = opened(&path, Opening::Read).unwrap();
        for refused in [file.write(0, &[1]), file.set_len(0), file.set_len(8192)] {
            assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::ReadOnlyFilesystem);
        }
        file.sync().unwrap();
        assert_eq!(file.len_bytes().unwrap(), 4096);
    }
}
