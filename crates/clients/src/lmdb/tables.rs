//! Tables of an environment: how each orders its keys and values, opening them, counting what they
//! hold.

use std::ffi::{CStr, c_uint};
use std::sync::Arc;

use lmdb_master_sys as ffi;

use super::raw::{Environment, Table, alone, done};
use super::writer::Writer;
use crate::error::ClientError;

/// The way in which a table orders its keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One value of any length for each number.
    Single,
    /// Values of one length, sorted, for each number.
    Many,
    /// Sorted numbers for each number.
    Numbers,
    /// One value for each name.
    Named,
}

impl Shape {
    const fn flags(self) -> c_uint {
        let many = ffi::MDB_INTEGERKEY | ffi::MDB_DUPSORT | ffi::MDB_DUPFIXED;
        match self {
            Self::Single => ffi::MDB_INTEGERKEY,
            Self::Many => many,
            Self::Numbers => many | ffi::MDB_INTEGERDUP,
            Self::Named => 0,
        }
    }
}

/// Open or create tables.
pub fn open<const N: usize>(
    environment: &Arc<Environment>,
    names: [(&CStr, Shape); N],
) -> Result<[Table; N], ClientError> {
    let _alone = alone();
    let writer = Writer::begin(environment)?;
    let mut tables = [Table(0); N];
    for (table, (name, shape)) in tables.iter_mut().zip(names) {
        let flags = ffi::MDB_CREATE | shape.flags();
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the transaction is alive, the name ends in zero, the table's place takes it.
        let status = unsafe {
            ffi::mdb_dbi_open(writer.transaction(), name.as_ptr(), flags, &raw mut table.0)
        };
        done(status, "opening a table")?;
    }
    writer.commit()?;
    Ok(tables)
}

/// Those of these tables that hold something, with how many values each, as LMDB counts them.
pub fn filled<const N: usize>(
    environment: &Arc<Environment>,
    names: [&CStr; N],
) -> Result<Vec<(String, usize)>, ClientError> {
    let _alone = alone();
    let writer = Writer::begin(environment)?;
    let mut filled = Vec::new();
    for name in names {
        let mut table = Table(0);
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the transaction is alive, the name ends in zero, the table's place takes it.
        let status =
            unsafe { ffi::mdb_dbi_open(writer.transaction(), name.as_ptr(), 0, &raw mut table.0) };
        if status == ffi::MDB_NOTFOUND {
            continue;
        }
        done(status, "opening a table")?;
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: all zeros are numbers.
        let mut counted: ffi::MDB_stat = unsafe { std::mem::zeroed() };
        #[expect(unsafe_code, reason = "the C interface")]
        // SAFETY: the transaction is alive, the table is its own, `counted` takes the answer.
        let status = unsafe { ffi::mdb_stat(writer.transaction(), table.0, &raw mut counted) };
        done(status, "counting a table's values")?;
        if counted.ms_entries > 0 {
            filled.push((name.to_string_lossy().into_owned(), counted.ms_entries));
        }
    }
    // Committed, so that the tables that were opened stay so.
    writer.commit()?;
    Ok(filled)
}
