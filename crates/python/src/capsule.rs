//! Batches of rows to and from other libraries, as Arrow's C streams in Python capsules.
//!
//! pyo3-arrow does this, too, but it also casts arrays: the crates it needs for that took a sixth
//! of the build's time, and 9 MB of 21 in the package `lode`.

use std::ffi::CStr;

use arrow_array::RecordBatchReader;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Names that Arrow gives to capsules.
const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// Batches in a capsule, which drops them unless somebody takes them out.
pub fn batches_out(
    py: Python<'_>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
}

/// A schema in a capsule.
pub fn schema_out<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| refused(&error))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// Batches of any object that gives them in a capsule.
pub struct BatchesIn(pub ArrowArrayStreamReader);

impl<'py> FromPyObject<'_, 'py> for BatchesIn {
    type Error = PyErr;

    #[expect(unsafe_code, reason = "a capsule holds an address")]
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let giving = object.getattr_opt("__arrow_c_stream__")?.ok_or_else(|| {
            PyTypeError::new_err("rows are an object that has `__arrow_c_stream__`, as Arrow's")
        })?;
        let capsule = giving.call0()?.cast_into::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(STREAM))?.cast();
        // SAFETY: a capsule of that name holds such a stream, which is moved out: what stays there
        // is an empty one.
        let reader = unsafe { ArrowArrayStreamReader::from_raw(stream.as_ptr()) };
        reader.map(Self).map_err(|error| refused(&error))
    }
}

fn refused(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
