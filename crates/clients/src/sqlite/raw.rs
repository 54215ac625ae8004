//! `SQLite`'s C interface, as thin as safe code can have it: the unsafe code of this engine.
//!
//! Not a ready-made wrapper: those tie statements to their connection by a lifetime, so that a
//! driver could not keep both. Here neither moves between threads: a driver with both in it does.

use std::ffi::{CStr, CString, c_char, c_int};
use std::hint::black_box;
use std::ptr::{self, NonNull};

use libsqlite3_sys as ffi;

use crate::error::ClientError;

/// Name of the engine in errors.
pub const ENGINE: &str = "sqlite";

/// The time that a writer waits for another before `SQLite` gives up.
const BUSY_MS: c_int = 60_000;

/// An open database file. Opened with NOMUTEX on a thread-safe build, it and its statements may be
/// used by any one thread at a time: so it moves to another only together with them, and by itself
/// it does not.
pub struct Connection {
    raw: NonNull<ffi::sqlite3>,
}

/// A prepared statement, which moves with its connection only. Drop it before that, which `SQLite`
/// does not close before.
pub struct Statement {
    raw: NonNull<ffi::sqlite3_stmt>,
}

impl Connection {
    /// Open or create a file.
    pub fn open(path: &str) -> Result<Self, ClientError> {
        let path = terminated(path)?;
        let flags = ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE | ffi::SQLITE_OPEN_NOMUTEX;
        let mut raw = ptr::null_mut();
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the path ends in zero, and `raw` takes the connection, which SQLite makes even
        // where it fails unless memory is out.
        let status =
            unsafe { ffi::sqlite3_open_v2(path.as_ptr(), &raw mut raw, flags, ptr::null()) };
        let raw = NonNull::new(raw)
            .ok_or_else(|| ClientError::engine(ENGINE, "opening the database", "out of memory"))?;
        let connection = Self { raw };
        if status != ffi::SQLITE_OK {
            return Err(connection.failure("opening the database"));
        }
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the connection is open.
        unsafe {
            ffi::sqlite3_busy_timeout(raw.as_ptr(), BUSY_MS);
        }
        Ok(connection)
    }

    /// Prepare one statement, for many uses.
    pub fn prepare(&self, text: &str) -> Result<Statement, ClientError> {
        let terminated = terminated(text)?;
        let mut raw = ptr::null_mut();
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the text ends in zero, hence the length of -1; `raw` takes the statement.
        let status = unsafe {
            ffi::sqlite3_prepare_v3(
                self.raw.as_ptr(),
                terminated.as_ptr(),
                -1,
                ffi::SQLITE_PREPARE_PERSISTENT,
                &raw mut raw,
                ptr::null_mut(),
            )
        };
        match NonNull::new(raw) {
            Some(raw) if status == ffi::SQLITE_OK => Ok(Statement { raw }),
            _ => Err(ClientError::engine(
                ENGINE,
                "preparing a statement",
                format!("{} in {text:?}", self.message()),
            )),
        }
    }

    /// Run statements that answer nothing.
    pub fn run(&self, text: &str) -> Result<(), ClientError> {
        let terminated = terminated(text)?;
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the connection is open, the text ends in zero, and no callback is given.
        let status = unsafe {
            ffi::sqlite3_exec(
                self.raw.as_ptr(),
                terminated.as_ptr(),
                None,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        if status == ffi::SQLITE_OK {
            return Ok(());
        }
        let message = format!("{} in {text:?}", self.message());
        Err(ClientError::engine(ENGINE, "running a statement", message))
    }

    /// All rows of a query, its columns as text.
    pub fn rows(&self, text: &str) -> Result<Vec<Vec<String>>, ClientError> {
        let mut statement = self.prepare(text)?;
        let mut rows = Vec::new();
        while statement.step()? {
            let columns = 0..statement.column_count();
            let value = |at| String::from_utf8_lossy(statement.bytes(at)).into_owned();
            rows.push(columns.map(value).collect());
        }
        Ok(rows)
    }

    /// The first column of a query's first row; empty if there is none.
    pub fn value(&self, text: &str) -> Result<String, ClientError> {
        let first = self.rows(text)?.into_iter().next();
        Ok(first.and_then(|row| row.into_iter().next()).unwrap_or_default())
    }

    /// Whether a transaction is open.
    pub fn in_transaction(&self) -> bool {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the connection is open.
        let autocommit = unsafe { ffi::sqlite3_get_autocommit(self.raw.as_ptr()) };
        autocommit == 0
    }

    /// Statements run so far, as `SQLite` itself counts the runs of each that is prepared. One
    /// that is dropped takes its runs with it.
    pub fn runs(&self) -> u64 {
        let mut runs = 0;
        let mut statement = ptr::null_mut();
        loop {
            #[expect(unsafe_code, reason = "the C interface")]
            // SAFETY: the connection is open, and each statement is one of its own that is alive.
            // The last argument of 0 leaves the count as it is.
            let counted = unsafe {
                statement = ffi::sqlite3_next_stmt(self.raw.as_ptr(), statement);
                if statement.is_null() {
                    return runs;
                }
                ffi::sqlite3_stmt_status(statement, ffi::SQLITE_STMTSTATUS_RUN, 0)
            };
            runs += u64::from(counted.cast_unsigned());
        }
    }

    fn failure(&self, doing: &'static str) -> ClientError {
        ClientError::engine(ENGINE, doing, self.message())
    }

    fn message(&self) -> String {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the connection is open, and the message lives until its next call.
        unsafe {
            message(self.raw.as_ptr())
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: it is closed once. While statements are left SQLite refuses, and it is leaked.
        unsafe {
            ffi::sqlite3_close(self.raw.as_ptr());
        }
    }
}

impl Statement {
    /// Set a parameter, from 1; the row before is given up.
    #[inline]
    pub fn bind(&mut self, place: c_int, value: i64) -> Result<(), ClientError> {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the statement is alive; a place that it does not have is an error code.
        let status = unsafe { ffi::sqlite3_bind_int64(self.raw.as_ptr(), place, value) };
        if status == ffi::SQLITE_OK { Ok(()) } else { Err(self.failure("binding a number")) }
    }

    /// Set a parameter to a text.
    pub fn bind_text(&mut self, place: c_int, value: &str) -> Result<(), ClientError> {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: SQLite reads so many bytes and copies them before it returns; a text that is too
        // long is an error code.
        let status = unsafe {
            ffi::sqlite3_bind_text64(
                self.raw.as_ptr(),
                place,
                value.as_ptr().cast::<c_char>(),
                value.len() as u64,
                ffi::SQLITE_TRANSIENT(),
                ffi::SQLITE_UTF8 as u8,
            )
        };
        if status == ffi::SQLITE_OK { Ok(()) } else { Err(self.failure("binding a text")) }
    }

    /// Set a parameter to bytes.
    pub fn bind_blob(&mut self, place: c_int, value: &[u8]) -> Result<(), ClientError> {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: as for a text.
        let status = unsafe {
            ffi::sqlite3_bind_blob64(
                self.raw.as_ptr(),
                place,
                value.as_ptr().cast(),
                value.len() as u64,
                ffi::SQLITE_TRANSIENT(),
            )
        };
        if status == ffi::SQLITE_OK { Ok(()) } else { Err(self.failure("binding bytes")) }
    }

    /// Go to the next row; `false` at the end, where the statement is ready for its next use.
    #[inline]
    pub fn step(&mut self) -> Result<bool, ClientError> {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the statement is alive.
        let status = unsafe { ffi::sqlite3_step(self.raw.as_ptr()) };
        match status {
            ffi::SQLITE_ROW => Ok(true),
            ffi::SQLITE_DONE => {
                self.reset();
                Ok(false)
            }
            _ => {
                let failure = self.failure("running a statement");
                self.reset();
                Err(failure)
            }
        }
    }

    /// Run a statement that answers no row.
    pub fn finish(&mut self) -> Result<(), ClientError> {
        while self.step()? {}
        Ok(())
    }

    /// Give up the rows that are left.
    #[inline]
    pub fn reset(&mut self) {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the statement is alive. The status repeats what `step` reported.
        unsafe {
            ffi::sqlite3_reset(self.raw.as_ptr());
        }
    }

    /// A column of the row, from 0, as 32 bits, which all numbers but the times are.
    #[inline]
    pub fn short(&self, column: c_int) -> i32 {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the statement is alive; where no row or no such column is, SQLite answers 0.
        unsafe {
            ffi::sqlite3_column_int(self.raw.as_ptr(), column)
        }
    }

    /// A column of the row as an id.
    #[inline]
    pub fn id(&self, column: c_int) -> u32 {
        self.short(column).cast_unsigned()
    }

    /// A column of the row as bytes, those of its text where it is one, until the statement's next
    /// step.
    #[inline]
    pub fn bytes(&self, column: c_int) -> &[u8] {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: SQLite owns the bytes until the next step or reset, which need `&mut self`, or
        // until the value is converted, which only another kind of access would do; their number is
        // requested after them, as the manual wants it.
        unsafe {
            let start = ffi::sqlite3_column_blob(self.raw.as_ptr(), column).cast::<u8>();
            slice(start, ffi::sqlite3_column_bytes(self.raw.as_ptr(), column))
        }
    }

    /// Take every value of the row, each as it is stored.
    pub fn read_row(&self) {
        for column in 0..self.column_count() {
            #[expect(unsafe_code, reason = "the C interface")]
            // SAFETY: the statement is alive and has that column.
            let kind = unsafe { ffi::sqlite3_column_type(self.raw.as_ptr(), column) };
            match kind {
                ffi::SQLITE_INTEGER => {
                    #[expect(unsafe_code, reason = "the C interface")]
                    // SAFETY: as above.
                    let value = unsafe { ffi::sqlite3_column_int64(self.raw.as_ptr(), column) };
                    black_box(value);
                }
                ffi::SQLITE_FLOAT => {
                    #[expect(unsafe_code, reason = "the C interface")]
                    // SAFETY: as above.
                    let value = unsafe { ffi::sqlite3_column_double(self.raw.as_ptr(), column) };
                    black_box(value);
                }
                ffi::SQLITE_TEXT | ffi::SQLITE_BLOB => {
                    black_box(self.bytes(column));
                }
                _ => {}
            }
        }
    }

    fn column_count(&self) -> c_int {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the statement is alive.
        unsafe {
            ffi::sqlite3_column_count(self.raw.as_ptr())
        }
    }

    #[cold]
    fn failure(&self, doing: &'static str) -> ClientError {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: a statement's connection is allocated for as long as the statement.
        let message = unsafe { message(ffi::sqlite3_db_handle(self.raw.as_ptr())) };
        ClientError::engine(ENGINE, doing, message)
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: it is freed once. The status repeats what `step` reported.
        unsafe {
            ffi::sqlite3_finalize(self.raw.as_ptr());
        }
    }
}

/// The library's version.
pub fn version() -> String {
    #[expect(unsafe_code, reason = "the C interface")]
    // SAFETY: a static text that ends in zero.
    let text = unsafe { CStr::from_ptr(ffi::sqlite3_libversion()) };
    text.to_string_lossy().into_owned()
}

/// Whether each allocation is counted, under a lock: only then does it know of any.
pub fn counts_memory() -> bool {
    #[expect(unsafe_code, reason = "the C interface")]
    // SAFETY: any thread may ask at any time.
    let used = unsafe { ffi::sqlite3_memory_used() };
    used > 0
}

fn terminated(text: &str) -> Result<CString, ClientError> {
    CString::new(text).map_err(|error| ClientError::engine(ENGINE, "reading a text", error))
}

#[expect(unsafe_code, reason = "the C interface")]
/// SAFETY: `raw` is an allocated connection.
unsafe fn message(raw: *mut ffi::sqlite3) -> String {
    // SAFETY: the caller's promise; the text ends in zero and lives until the next call.
    unsafe { CStr::from_ptr(ffi::sqlite3_errmsg(raw)) }.to_string_lossy().into_owned()
}

#[inline]
#[expect(unsafe_code, reason = "the C interface")]
/// SAFETY: `start` is null or leads to `length` bytes that live for `'a`.
unsafe fn slice<'a>(start: *const u8, length: c_int) -> &'a [u8] {
    if start.is_null() || length <= 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start, length as usize) }
}
