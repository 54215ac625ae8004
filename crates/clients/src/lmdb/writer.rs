//! Writing transactions of LMDB.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use lmdb_master_sys as ffi;

use super::raw::{Environment, Table, begin, done, get, val};
use crate::error::ClientError;

/// The one write transaction that an environment has at a time; dropped, it is undone.
pub struct Writer {
    raw: NonNull<ffi::MDB_txn>,
    ended: bool,
    _environment: Arc<Environment>,
}

#[expect(unsafe_code, reason = "a driver with nothing begun moves between threads")]
// SAFETY: LMDB's lock belongs to the thread that began to write. A driver begins and commits within
// one call of its program (`crate::oo1::loops::writing`), and is not handed on in between.
unsafe impl Send for Writer {}

impl Writer {
    /// Wait for other writers to end, then begin.
    pub fn begin(environment: &Arc<Environment>) -> Result<Self, ClientError> {
        let raw = begin(environment, 0, "beginning to write")?;
        Ok(Self { raw, ended: false, _environment: Arc::clone(environment) })
    }

    /// For opening tables in it.
    pub(super) const fn transaction(&self) -> *mut ffi::MDB_txn {
        self.raw.as_ptr()
    }

    /// The value of a key as this transaction sees it.
    pub fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>, ClientError> {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the transaction is alive, and nothing is written before `&mut self` is had.
        unsafe {
            get(self.raw, table, key)
        }
    }

    /// Store a value: in place of the old one, or beside the others.
    pub fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<(), ClientError> {
        let (mut key, mut value) = (val(key), val(value));
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the transaction is alive; LMDB copies both before it returns.
        let status =
            unsafe { ffi::mdb_put(self.raw.as_ptr(), table.0, &raw mut key, &raw mut value, 0) };
        done(status, "storing a value")
    }

    /// Remove a key with all its values, or one of them; one that is not there is an error.
    pub fn remove(
        &mut self,
        table: Table,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Result<(), ClientError> {
        let mut key = val(key);
        let mut value = value.map(val);
        let value = value.as_mut().map_or(ptr::null_mut(), ptr::from_mut);
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the transaction is alive; LMDB only reads both.
        let status = unsafe { ffi::mdb_del(self.raw.as_ptr(), table.0, &raw mut key, value) };
        done(status, "removing a value")
    }

    /// Remove everything from a table.
    pub fn clear(&mut self, table: Table) -> Result<(), ClientError> {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the transaction is alive; 0 empties the table and leaves it open.
        let status = unsafe { ffi::mdb_drop(self.raw.as_ptr(), table.0, 0) };
        done(status, "emptying a table")
    }

    /// Make it all visible, and durable as the environment was opened.
    pub fn commit(mut self) -> Result<(), ClientError> {
        self.ended = true;
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the transaction is alive; LMDB frees it, also where it fails; `drop` does not.
        let status = unsafe { ffi::mdb_txn_commit(self.raw.as_ptr()) };
        done(status, "committing")
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.ended {
            #[expect(unsafe_code, reason = "the C interface")]
            // SAFETY: the transaction is alive.
            unsafe {
                ffi::mdb_txn_abort(self.raw.as_ptr());
            }
        }
    }
}
