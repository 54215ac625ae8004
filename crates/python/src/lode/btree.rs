//! B+trees: byte strings in order.

use std::ops::Bound;
use std::sync::Arc;

use lode::internals::btree::Bytes;
use pyo3::prelude::*;

use super::session::Session;

/// Byte strings in order, each with a value. Belongs to a transaction.
#[pyclass(frozen, name = "LodeBtree")]
pub struct Btree {
    pub session: Arc<Session>,
    pub tree: lode::internals::btree::Btree,
}

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

#[pymethods]
impl Btree {
    /// Put a value at a key that is not there; whether it was so.
    fn insert(&self, py: Python<'_>, key: &[u8], value: &[u8]) -> PyResult<bool> {
        self.session.change(py, |pages| self.tree.insert(pages, key, value))
    }

    /// Put a value at a key; the value that it replaces, if there was one.
    fn put(&self, py: Python<'_>, key: &[u8], value: &[u8]) -> PyResult<Option<Vec<u8>>> {
        self.session.change(py, |pages| self.tree.put(pages, key, value))
    }

    /// The value of a key, if it is there.
    fn get(&self, py: Python<'_>, key: &[u8]) -> PyResult<Option<Vec<u8>>> {
        let copy = |value: Bytes<'_>| value.to_vec();
        self.session.ask(py, |pages| self.tree.get(pages, key, copy))
    }

    /// Remove a key; its value, if it was there.
    fn remove(&self, py: Python<'_>, key: &[u8]) -> PyResult<Option<Vec<u8>>> {
        self.session.change(py, |pages| self.tree.remove(pages, key))
    }

    /// (key, value) of the keys from `first` on and before `end`, in order.
    #[pyo3(signature = (first=None, end=None, backwards=false, limit=None))]
    fn range(
        &self,
        py: Python<'_>,
        first: Option<&[u8]>,
        end: Option<&[u8]>,
        backwards: bool,
        limit: Option<usize>,
    ) -> PyResult<Entries> {
        let range = (
            first.map_or(Bound::Unbounded, Bound::Included),
            end.map_or(Bound::Unbounded, Bound::Excluded),
        );
        let limit = limit.unwrap_or(usize::MAX);
        self.session.ask(py, |pages| {
            let mut cursor = if backwards {
                self.tree.backwards(pages, range)?
            } else {
                self.tree.forwards(pages, range)?
            };
            let mut found = Entries::new();
            while found.len() < limit {
                let Some((key, value)) = cursor.entry()? else { break };
                found.push((key.to_vec(), value.to_vec()));
            }
            Ok(found)
        })
    }
}
