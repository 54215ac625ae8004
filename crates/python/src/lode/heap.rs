//! Heaps: records under ids.

use std::ops::ControlFlow;
use std::sync::Arc;

use pyo3::prelude::*;

use super::error::record_id;
use super::session::Session;

/// A file of records, each under an id that it keeps wherever it moves. Belongs to a transaction.
#[pyclass(frozen, name = "LodeHeap")]
pub struct Heap {
    pub session: Arc<Session>,
    pub heap: lode::internals::heap::Heap,
}

#[pymethods]
impl Heap {
    /// Put a record in, and answer its id.
    fn insert(&self, py: Python<'_>, record: &[u8]) -> PyResult<u64> {
        self.session.change(py, |pages| Ok(self.heap.insert(pages, record, None)?.to_u64()))
    }

    /// A copy of a record.
    fn get(&self, py: Python<'_>, id: u64) -> PyResult<Vec<u8>> {
        let id = record_id(id)?;
        self.session.ask(py, |pages| self.heap.get(pages, id))
    }

    /// Put another record, of any length, in the place of one.
    fn update(&self, py: Python<'_>, id: u64, record: &[u8]) -> PyResult<()> {
        let id = record_id(id)?;
        self.session.change(py, |pages| self.heap.update(pages, id, record))
    }

    /// Take a record out.
    fn delete(&self, py: Python<'_>, id: u64) -> PyResult<()> {
        let id = record_id(id)?;
        self.session.change(py, |pages| self.heap.delete(pages, id))
    }

    /// (id, record) of all records, in the order in which they lie.
    fn scan(&self, py: Python<'_>) -> PyResult<Vec<(u64, Vec<u8>)>> {
        self.session.ask(py, |pages| {
            let mut found = Vec::new();
            let _: ControlFlow<()> = self.heap.scan(pages, |id, record| {
                found.push((id.to_u64(), record.to_vec()));
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(found)
        })
    }
}
