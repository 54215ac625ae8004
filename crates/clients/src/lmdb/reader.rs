//! Reading transactions of LMDB.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use lmdb_master_sys as ffi;

use super::raw::{Environment, Table, begin, bytes, done, failure, get, val};
use crate::error::ClientError;

/// A read transaction that is begun and ended many times, with a cursor for each table.
pub struct Reader {
    raw: NonNull<ffi::MDB_txn>,
    cursors: Vec<NonNull<ffi::MDB_cursor>>,
    active: bool,
    /// The value that `find` found last, where it lies in the map.
    found: Option<NonNull<[u8]>>,
    _environment: Arc<Environment>,
}

#[expect(unsafe_code, reason = "drivers move between threads")]
// SAFETY: without thread-local storage (NOTLS) a read transaction belongs to the thread that holds
// it, and all threads share the map.
unsafe impl Send for Reader {}

/// A run of values shorter than this is all that a key has: longer lists lie in pages of their own,
/// of which LMDB keeps every one at least a quarter full.
const RUN_WHOLE_BYTES: usize = 512;

impl Reader {
    /// A transaction with cursors on these tables, not begun.
    pub fn new(environment: &Arc<Environment>, tables: &[Table]) -> Result<Self, ClientError> {
        let doing = "preparing to read";
        let raw = begin(environment, ffi::MDB_RDONLY, doing)?;
        let environment = Arc::clone(environment);
        let mut reader =
            Self { raw, cursors: Vec::new(), active: true, found: None, _environment: environment };
        for table in tables {
            let mut cursor = ptr::null_mut();
            #[expect(unsafe_code, reason = "the C interface")]
            // SAFETY: the transaction is alive, the table open, `cursor` takes the answer.
            let status = unsafe { ffi::mdb_cursor_open(raw.as_ptr(), table.0, &raw mut cursor) };
            done(status, doing)?;
            reader.cursors.extend(NonNull::new(cursor));
        }
        reader.end();
        Ok(reader)
    }

    /// See the database as it is now.
    pub fn begin(&mut self) -> Result<(), ClientError> {
        self.end();
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the transaction is reset, which is when it can be renewed, and cursors after it.
        unsafe {
            done(ffi::mdb_txn_renew(self.raw.as_ptr()), "beginning to read")?;
            self.active = true;
            for cursor in &self.cursors {
                let status = ffi::mdb_cursor_renew(self.raw.as_ptr(), cursor.as_ptr());
                done(status, "beginning to read")?;
            }
        }
        Ok(())
    }

    /// Let go of what was seen.
    pub fn end(&mut self) {
        self.found = None;
        if self.active {
            self.active = false;
            #[expect(unsafe_code, reason = "the C interface")]
            // SAFETY: the transaction is alive and active.
            unsafe {
                ffi::mdb_txn_reset(self.raw.as_ptr());
            }
        }
    }

    /// The value of a key, where it lies in the map.
    #[inline]
    pub fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>, ClientError> {
        self.check()?;
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the transaction is active until `&mut self` is had, and the map as long.
        unsafe {
            get(self.raw, table, key)
        }
    }

    /// The same, kept until the transaction ends or another is found so: [`Reader::found`].
    #[inline]
    pub fn find(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>, ClientError> {
        self.found = self.get(table, key)?.map(NonNull::from);
        Ok(self.found())
    }

    /// The value that was found last within this transaction.
    #[inline]
    pub fn found(&self) -> Option<&[u8]> {
        #[expect(unsafe_code, reason = "the map outlives every borrow that the compiler knows")]
        // SAFETY: it lies in the map, where nothing changes what an active read transaction sees;
        // the end of the transaction, which needs `&mut self`, forgets it.
        self.found.map(|value| unsafe { value.as_ref() })
    }

    /// The value of a key by the cursor of a table, which looks in the leaf where it stands before
    /// it goes down from the root: the quicker way for keys that lie near each other.
    #[inline]
    pub fn get_near(&mut self, cursor: usize, key: &[u8]) -> Result<Option<&[u8]>, ClientError> {
        let (mut key, mut value) = (val(key), val(&[]));
        let is_there = self.step(cursor, &mut key, &mut value, ffi::MDB_SET)?;
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the value lies in the map until the transaction ends, which needs `&mut self`.
        Ok(is_there.then(|| unsafe { bytes(&value) }))
    }

    /// All values of a key in the table of that cursor, one behind the other.
    #[inline]
    pub fn values(
        &mut self,
        cursor: usize,
        key: &[u8],
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), ClientError> {
        let (mut key, mut value) = (val(key), val(&[]));
        if !self.step(cursor, &mut key, &mut value, ffi::MDB_SET)? {
            return Ok(());
        }
        // Leaves `value` as it is where it is the only one.
        self.step(cursor, &mut key, &mut value, ffi::MDB_GET_MULTIPLE)?;
        loop {
            let length = value.mv_size;
            #[expect(unsafe_code, reason = "the C interface")]
            // SAFETY: the values lie in the map until the transaction ends.
            take(unsafe { bytes(&value) });
            if length < RUN_WHOLE_BYTES
                || !self.step(cursor, &mut key, &mut value, ffi::MDB_NEXT_MULTIPLE)?
            {
                return Ok(());
            }
        }
    }

    /// Keys from `first` on with their values, until `take` says no.
    pub fn walk(
        &mut self,
        cursor: usize,
        first: &[u8],
        mut take: impl FnMut(&[u8], &[u8]) -> Result<bool, ClientError>,
    ) -> Result<(), ClientError> {
        let (mut key, mut value) = (val(first), val(&[]));
        let mut step = ffi::MDB_SET_RANGE;
        while self.step(cursor, &mut key, &mut value, step)? {
            #[expect(unsafe_code, reason = "the C interface")]
            // SAFETY: key and value lie in the map until the transaction ends.
            let (key, value) = unsafe { (bytes(&key), bytes(&value)) };
            if !take(key, value)? {
                break;
            }
            step = ffi::MDB_NEXT;
        }
        Ok(())
    }

    #[inline]
    fn step(
        &mut self,
        cursor: usize,
        key: &mut ffi::MDB_val,
        value: &mut ffi::MDB_val,
        step: ffi::MDB_cursor_op,
    ) -> Result<bool, ClientError> {
        self.check()?;
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the cursor belongs to the active transaction; both places live on a stack.
        let status =
            unsafe { ffi::mdb_cursor_get(self.cursors[cursor].as_ptr(), key, value, step) };
        match status {
            ffi::MDB_SUCCESS => Ok(true),
            ffi::MDB_NOTFOUND => Ok(false),
            _ => Err(failure(status, "moving a cursor")),
        }
    }

    #[inline]
    fn check(&self) -> Result<(), ClientError> {
        if self.active { Ok(()) } else { Err(failure(ffi::MDB_BAD_TXN, "reading")) }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: each is freed once; cursors of a read transaction may go before it.
        unsafe {
            for cursor in &self.cursors {
                ffi::mdb_cursor_close(cursor.as_ptr());
            }
            ffi::mdb_txn_abort(self.raw.as_ptr());
        }
    }
}
