//! A transaction in Python: a context manager, and the files by name.

use std::sync::Arc;

use lode::internals::links::LinkField;
use lode::internals::named::{self, Named};
use lode::internals::{catalog, page::PAGE_BYTES};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::btree::Btree;
use super::hash::Hash;
use super::heap::Heap;
use super::links::Links;
use super::objects::Objects;
use super::session::{Either, End, Session};

/// Several operations as one. As a context manager, a writing transaction commits at the end of its
/// block, and rolls back if the block is left by an exception.
#[pyclass(frozen, name = "LodeTransaction")]
pub struct Transaction {
    session: Arc<Session>,
}

impl Transaction {
    pub const fn new(session: Arc<Session>) -> Self {
        Self { session }
    }

    /// The file of that name; a writing transaction makes it where there is none.
    fn named<F: Named + Send>(&self, py: Python<'_>, name: &str) -> PyResult<F> {
        self.session.with(py, |transaction| match transaction {
            Either::Writing(writing) => named::find_or_create(writing, name),
            reading => named::find(reading, name),
        })
    }
}

#[pymethods]
impl Transaction {
    /// The heap of that name; a writing transaction makes it where there is none.
    fn heap(&self, py: Python<'_>, name: &str) -> PyResult<Heap> {
        Ok(Heap { session: Arc::clone(&self.session), heap: self.named(py, name)? })
    }

    /// The objects of that name; a writing transaction makes them where there are none.
    fn objects(&self, py: Python<'_>, name: &str) -> PyResult<Objects> {
        Ok(Objects { session: Arc::clone(&self.session), objects: self.named(py, name)? })
    }

    /// The B+tree of that name; a writing transaction makes it where there is none.
    fn btree(&self, py: Python<'_>, name: &str) -> PyResult<Btree> {
        Ok(Btree { session: Arc::clone(&self.session), tree: self.named(py, name)? })
    }

    /// The hash index of that name; a writing transaction makes it where there is none.
    fn hash(&self, py: Python<'_>, name: &str) -> PyResult<Hash> {
        Ok(Hash { session: Arc::clone(&self.session), hash: self.named(py, name)? })
    }

    /// Links between the records of two heaps of this transaction, or of one.
    #[pyo3(signature = (parents, children, parent_at=0, child_at=0))]
    fn links(
        &self,
        parents: &Heap,
        children: &Heap,
        parent_at: usize,
        child_at: usize,
    ) -> PyResult<Links> {
        self.session.check_owner()?;
        let places = [parent_at, child_at];
        if places.iter().any(|&at| !at.is_multiple_of(8) || at >= PAGE_BYTES) {
            return Err(PyValueError::new_err("links lie at multiples of 8 within a record"));
        }
        if ![parents, children].iter().all(|heap| Arc::ptr_eq(&heap.session, &self.session)) {
            return Err(PyValueError::new_err(
                "the heaps are another transaction's: open them here",
            ));
        }
        let field = LinkField::new(parent_at, child_at);
        let links =
            lode::internals::links::Links { parents: parents.heap, children: children.heap, field };
        Ok(Links { session: Arc::clone(&self.session), links })
    }

    /// (name, kind) of each file in the database, by name.
    fn files(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str)>> {
        let mut files = self.session.ask(py, catalog::all)?;
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(files.into_iter().map(|entry| (entry.name, named::kind_word(entry.kind))).collect())
    }

    /// Make the changes one whole, durable as the tactic `durability` says.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.session.end(py, End::Commit)
    }

    /// Take the changes back.
    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        self.session.end(py, End::Rollback)
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        if self.session.is_over(py)? {
            return Ok(());
        }
        self.session.end(py, if is_none(exception) { End::Commit } else { End::Rollback })
    }
}

/// Whether a block was left without an exception.
pub fn is_none(exception: &Bound<'_, PyTuple>) -> bool {
    exception.get_item(0).map_or(true, |kind| kind.is_none())
}
