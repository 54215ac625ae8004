//! Links between records.

use std::ops::ControlFlow;
use std::sync::Arc;

use lode::View;
use pyo3::prelude::*;

use super::error::record_id;
use super::session::Session;

/// Links from a parent record to its children and back. Belongs to a transaction.
#[pyclass(frozen, name = "LodeLinks")]
pub struct Links {
    pub session: Arc<Session>,
    pub links: lode::internals::links::Links,
}

#[pymethods]
impl Links {
    /// Link a record as the last child of another; False if it is in a list already.
    fn append(&self, py: Python<'_>, parent: u64, child: u64) -> PyResult<bool> {
        let (parent, child) = (record_id(parent)?, record_id(child)?);
        self.session.change(py, |pages| self.links.append(pages, parent, child))
    }

    /// Take a child out of its list; False if it is in none.
    fn unlink(&self, py: Python<'_>, child: u64) -> PyResult<bool> {
        let child = record_id(child)?;
        self.session.change(py, |pages| self.links.unlink(pages, child))
    }

    /// The id of a child's parent; None while it is in no list.
    fn parent(&self, py: Python<'_>, child: u64) -> PyResult<Option<u64>> {
        let child = record_id(child)?;
        let link = self.session.ask(py, |pages| self.links.link_of(pages, child))?;
        Ok(link.map(|link| link.parent.to_u64()))
    }

    /// (id, record) of a parent's children, in the order in which they were linked.
    fn children(&self, py: Python<'_>, parent: u64) -> PyResult<Vec<(u64, Vec<u8>)>> {
        let parent = record_id(parent)?;
        self.session.ask(py, |pages| {
            let mut found = Vec::new();
            let copy = |view: View<'_>, at: usize, len: usize| {
                let mut record = Vec::with_capacity(len);
                view.append_to(&mut record, at, len);
                record
            };
            let _: ControlFlow<()> = self.links.walk(pages, parent, copy, |id, record| {
                found.push((id.to_u64(), record));
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(found)
        })
    }
}
