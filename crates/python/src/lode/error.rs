//! lode's errors as `errors.py` has them.

use lode::LodeError;
use lode::internals::heap::RecordId;
use lode_query::QueryError;
use pyo3::prelude::*;

/// Python's own classes, of the package that the core is part of; imported when the first error is
/// raised.
mod raised {
    macro_rules! import {
        ($($error:ident),*) => { $(
            #[cfg(feature = "laboratory")]
            pyo3::import_exception!(loadstone.errors, $error);
            #[cfg(not(feature = "laboratory"))]
            pyo3::import_exception!(lode.errors, $error);
        )* };
    }

    import!(LodeError, CancelledError, DeadlockError, QueryError);
}

pub fn failure(error: &LodeError) -> PyErr {
    match error {
        LodeError::Deadlock => raised::DeadlockError::new_err(error.to_string()),
        _ => raised::LodeError::new_err(error.to_string()),
    }
}

pub fn query_failure(error: &QueryError) -> PyErr {
    match error {
        QueryError::Lode(error) => failure(error),
        QueryError::Cancelled => raised::CancelledError::new_err(error.to_string()),
        QueryError::Quel(_) | QueryError::Input { .. } => {
            raised::QueryError::new_err(error.to_string())
        }
        _ => raised::LodeError::new_err(error.to_string()),
    }
}

/// Something that is asked of a database or a transaction that is no longer there.
pub fn over(what: &str) -> PyErr {
    raised::LodeError::new_err(what.to_owned())
}

/// The id that a number stands for.
pub fn record_id(number: u64) -> PyResult<RecordId> {
    RecordId::of(number).ok_or_else(|| {
        failure(&LodeError::Missing { what: format!("record with the id {number}") })
    })
}
