//! LMDB's C interface, as thin as safe code can have it: environments. Its transactions are in
//! `reader` and `writer`, its tables in `tables`, and no unsafe code is elsewhere.
//!
//! Not a ready-made wrapper: those tie a transaction to the environment by a lifetime, so that a
//! driver could not keep both, and open a cursor for every range.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use lmdb_master_sys as ffi;

use crate::error::ClientError;

/// Name of the engine in errors.
pub const ENGINE: &str = "lmdb";

/// Addresses reserved for the map, far more than the huge database takes; none of it is memory.
const MAP_BYTES: usize = 64 << 30;

/// Users that may read at once.
const READERS_MAX: c_uint = 256;

/// Tables of all designs of all benchmarks together, with some to spare.
const TABLES_MAX: c_uint = 16;

/// An open environment: one for each file and process, as LMDB demands.
pub struct Environment {
    raw: NonNull<ffi::MDB_env>,
    path: PathBuf,
    durable: bool,
}

#[expect(unsafe_code, reason = "users share an environment")]
// SAFETY: LMDB allows any thread to use an environment; what it does not is closing it while it is
// in use, which the last owner does.
unsafe impl Send for Environment {}

#[expect(unsafe_code, reason = "users share an environment")]
// SAFETY: as for `Send`.
unsafe impl Sync for Environment {}

/// A named B-tree of an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table(pub(super) ffi::MDB_dbi);

/// The environments that this process has open, or is closing: LMDB allows one of a file, since
/// the system drops all locks of a process on a file when it closes any descriptor of it.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<Environment>>>> = LazyLock::new(Mutex::default);

/// An environment has been closed and removed from `OPEN`.
static CLOSED: Condvar = Condvar::new();

/// Kept while an environment or its tables are opened: tables are opened by one transaction of a
/// process at a time.
pub(super) fn alone() -> MutexGuard<'static, HashMap<PathBuf, Weak<Environment>>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Environment {
    /// Open or create a file; the one that is open already, if it is.
    pub fn open(path: &str, durable: bool) -> Result<Arc<Self>, ClientError> {
        let path = resolved(Path::new(path))
            .map_err(|error| ClientError::engine(ENGINE, "opening the database", error))?;
        let mut open = alone();
        while let Some(known) = open.get(&path) {
            if let Some(environment) = known.upgrade() {
                // Should this be its last owner by now, closing it takes the lock.
                drop(open);
                if environment.durable != durable {
                    let message = "it is open already with another durability; close that first";
                    return Err(ClientError::engine(ENGINE, "opening the database", message));
                }
                return Ok(environment);
            }
            // Its last owner is closing it, which drops the locks of this process on the file.
            open = CLOSED.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
        let environment = Arc::new(Self::create(&path, durable)?);
        open.insert(environment.path.clone(), Arc::downgrade(&environment));
        Ok(environment)
    }

    fn create(path: &Path, durable: bool) -> Result<Self, ClientError> {
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|error| ClientError::engine(ENGINE, "opening the database", error))?;
        let flags = ffi::MDB_NOSUBDIR | ffi::MDB_NOTLS | if durable { 0 } else { ffi::MDB_NOSYNC };
        let doing = "opening the database";
        let mut raw = ptr::null_mut();
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: `raw` takes the environment.
        done(unsafe { ffi::mdb_env_create(&raw mut raw) }, doing)?;
        let raw = NonNull::new(raw)
            .ok_or_else(|| ClientError::engine(ENGINE, doing, "no environment was made"))?;
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the environment is made and not opened, the order that the manual wants; no other
        // environment of this process has this file (`OPEN`). Where it does not open it is closed,
        // and nobody else has it.
        unsafe {
            let opened = done(ffi::mdb_env_set_mapsize(raw.as_ptr(), MAP_BYTES), doing)
                .and_then(|()| done(ffi::mdb_env_set_maxreaders(raw.as_ptr(), READERS_MAX), doing))
                .and_then(|()| done(ffi::mdb_env_set_maxdbs(raw.as_ptr(), TABLES_MAX), doing))
                .and_then(|()| {
                    done(ffi::mdb_env_open(raw.as_ptr(), name.as_ptr(), flags, 0o600), doing)
                });
            if let Err(error) = opened {
                ffi::mdb_env_close(raw.as_ptr());
                return Err(error);
            }
        }
        // The file is there now, also where a link had led to none.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Ok(Self { raw, path, durable })
    }

    /// The place where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a commit waits for the disk, read back from the environment.
    pub fn syncs(&self) -> Result<bool, ClientError> {
        let mut flags = 0;
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the environment is open, `flags` takes the answer.
        let status = unsafe { ffi::mdb_env_get_flags(self.raw.as_ptr(), &raw mut flags) };
        done(status, "reading its flags")?;
        Ok(flags & (ffi::MDB_NOSYNC | ffi::MDB_NOMETASYNC) == 0)
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: transactions own a share of the environment, so that none is left.
        unsafe {
            ffi::mdb_env_close(self.raw.as_ptr());
        }
        alone().remove(&self.path);
        CLOSED.notify_all();
    }
}

/// The one path of a file, whatever links lead to it; the file itself need not be there.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let path = std::path::absolute(path)?;
            match (path.parent(), path.file_name()) {
                (Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
                _ => Ok(path),
            }
        }
        found => found,
    }
}

/// The library's version.
pub fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    #[expect(unsafe_code, reason = "the C interface")]
    // SAFETY: the three take the answer.
    unsafe {
        ffi::mdb_version(&raw mut major, &raw mut minor, &raw mut patch);
    }
    format!("{major}.{minor}.{patch}")
}

pub(super) fn begin(
    environment: &Environment,
    flags: c_uint,
    doing: &'static str,
) -> Result<NonNull<ffi::MDB_txn>, ClientError> {
    let mut raw = ptr::null_mut();
    #[expect(unsafe_code, reason = "the C interface")]
    // SAFETY: the environment is open, there is no parent, `raw` takes the answer.
    let status = unsafe {
        ffi::mdb_txn_begin(environment.raw.as_ptr(), ptr::null_mut(), flags, &raw mut raw)
    };
    done(status, doing)?;
    NonNull::new(raw).ok_or_else(|| failure(ffi::MDB_BAD_TXN, doing))
}

#[inline]
#[expect(unsafe_code, reason = "the C interface")]
/// SAFETY: the transaction is active, and `'a` ends before it or what it wrote does.
pub(super) unsafe fn get<'a>(
    transaction: NonNull<ffi::MDB_txn>,
    table: Table,
    key: &[u8],
) -> Result<Option<&'a [u8]>, ClientError> {
    let (mut key, mut value) = (val(key), val(&[]));
    // SAFETY: the caller's promise; both places live on this stack.
    let status =
        unsafe { ffi::mdb_get(transaction.as_ptr(), table.0, &raw mut key, &raw mut value) };
    match status {
        // SAFETY: the caller's promise.
        ffi::MDB_SUCCESS => Ok(Some(unsafe { bytes(&value) })),
        ffi::MDB_NOTFOUND => Ok(None),
        _ => Err(failure(status, "reading a value")),
    }
}

/// LMDB takes keys and values to be read by the same type that it gives them back in.
#[inline]
pub(super) fn val(bytes: &[u8]) -> ffi::MDB_val {
    ffi::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast::<c_void>() }
}

#[inline]
#[expect(unsafe_code, reason = "the C interface")]
/// SAFETY: LMDB set the value, and it is valid for `'a`.
pub(super) unsafe fn bytes<'a>(value: &ffi::MDB_val) -> &'a [u8] {
    if value.mv_size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(value.mv_data.cast::<u8>(), value.mv_size) }
}

#[inline]
pub(super) fn done(status: c_int, doing: &'static str) -> Result<(), ClientError> {
    if status == ffi::MDB_SUCCESS { Ok(()) } else { Err(failure(status, doing)) }
}

#[cold]
pub(super) fn failure(status: c_int, doing: &'static str) -> ClientError {
    #[expect(unsafe_code, reason = "the C interface")]
    // SAFETY: it answers a static text for LMDB's own numbers and the system's for others.
    let text = unsafe { CStr::from_ptr(ffi::mdb_strerror(status)) };
    ClientError::engine(ENGINE, doing, text.to_string_lossy())
}
