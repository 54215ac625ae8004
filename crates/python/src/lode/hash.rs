//! Hash indexes: numbers to numbers.

use std::sync::Arc;

use pyo3::prelude::*;

use super::session::Session;

/// A hash index: numbers below 2^64 to such numbers, several to a key if wanted. Belongs to a
/// transaction.
#[pyclass(frozen, name = "LodeHash")]
pub struct Hash {
    pub session: Arc<Session>,
    pub hash: lode::internals::hash::Hash,
}

#[pymethods]
impl Hash {
    /// Add a value to a key, also if it has that one already.
    fn insert(&self, py: Python<'_>, key: u64, value: u64) -> PyResult<()> {
        self.session.change(py, |pages| self.hash.insert(pages, key, value))
    }

    /// A value of a key, any if it has several; None if it has none.
    fn get(&self, py: Python<'_>, key: u64) -> PyResult<Option<u64>> {
        self.session.ask(py, |pages| self.hash.get_one(pages, key))
    }

    /// All values of a key, in no order.
    fn get_all(&self, py: Python<'_>, key: u64) -> PyResult<Vec<u64>> {
        self.session.ask(py, |pages| {
            let mut values = Vec::new();
            self.hash.get(pages, key, |value| values.push(value))?;
            Ok(values)
        })
    }

    /// Take a value from a key; whether it had it.
    fn remove(&self, py: Python<'_>, key: u64, value: u64) -> PyResult<bool> {
        self.session.change(py, |pages| self.hash.remove(pages, key, value))
    }

    /// (key, value) of all entries, in no order.
    fn scan(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        self.session.ask(py, |pages| {
            let mut entries = Vec::new();
            self.hash.scan(pages, |key, value| entries.push((key, value)))?;
            Ok(entries)
        })
    }
}
