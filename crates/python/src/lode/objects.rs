//! Objects: byte strings under OIDs, and the references between them.

use std::ops::ControlFlow;
use std::sync::Arc;

use lode::internals::objects::Reference;
use lode::{LodeError, View};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::error::record_id;
use super::session::Session;

/// Bytes of a reference in an object: an OID, little-endian.
const REFERENCE_BYTES: usize = size_of::<u64>();

/// A file of objects, each under an OID that it keeps wherever it moves. Belongs to a transaction.
#[pyclass(frozen, name = "LodeObjects")]
pub struct Objects {
    pub session: Arc<Session>,
    pub objects: lode::internals::objects::Objects,
}

#[pymethods]
impl Objects {
    /// Put an object in, and answer its OID.
    fn insert(&self, py: Python<'_>, object: &[u8]) -> PyResult<u64> {
        self.session.change(py, |pages| Ok(self.objects.insert(pages, object, None)?.to_u64()))
    }

    /// A copy of an object.
    fn get(&self, py: Python<'_>, oid: u64) -> PyResult<Vec<u8>> {
        let oid = record_id(oid)?;
        self.session.ask(py, |pages| self.objects.get(pages, oid))
    }

    /// (OID, copy) of the object that the reference at an offset of another leads to; None for a
    /// reference of zeros.
    fn follow(&self, py: Python<'_>, oid: u64, at: usize) -> PyResult<Option<(u64, Vec<u8>)>> {
        if !at.is_multiple_of(REFERENCE_BYTES) {
            return Err(PyValueError::new_err("a reference lies at a multiple of 8"));
        }
        let oid = record_id(oid)?;
        self.session.ask(py, |pages| {
            let field = |view: View<'_>, start: usize, len: usize| {
                let is_within = at.checked_add(REFERENCE_BYTES).is_some_and(|end| end <= len);
                is_within.then(|| view.u64(start + at))
            };
            let word = self.objects.read(pages, oid, field)?.ok_or_else(|| LodeError::Missing {
                what: format!("reference at {at} of {oid}"),
            })?;
            if word == 0 {
                return Ok(None);
            }
            let target = Reference(word).id().ok_or_else(|| LodeError::Missing {
                what: format!("object with the OID {word}"),
            })?;
            Ok(Some((target.to_u64(), self.objects.get(pages, target)?)))
        })
    }

    /// Put other bytes, of any number, in the place of an object's.
    fn update(&self, py: Python<'_>, oid: u64, object: &[u8]) -> PyResult<()> {
        let oid = record_id(oid)?;
        self.session.change(py, |pages| self.objects.update(pages, oid, object))
    }

    /// Take an object out.
    fn delete(&self, py: Python<'_>, oid: u64) -> PyResult<()> {
        let oid = record_id(oid)?;
        self.session.change(py, |pages| self.objects.delete(pages, oid))
    }

    /// (OID, object) of all objects, in the order in which they lie.
    fn scan(&self, py: Python<'_>) -> PyResult<Vec<(u64, Vec<u8>)>> {
        self.session.ask(py, |pages| {
            let mut found = Vec::new();
            let _: ControlFlow<()> = self.objects.scan(pages, |oid, object| {
                found.push((oid.to_u64(), object.to_vec()));
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(found)
        })
    }
}
