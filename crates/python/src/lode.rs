//! lode, the reference engine: a database, its transactions, and the files within them.
//!
//! Every call releases the interpreter, because any may wait: for a lock, the device, a sync.

mod btree;
mod database;
mod error;
mod hash;
mod heap;
mod links;
mod mirror;
mod objects;
mod open;
mod place;
mod query;
mod relation;
mod remote;
mod rows;
mod server;
mod session;
mod statement;
mod tactics;
mod transaction;

pub use database::Database;
use pyo3::PyClass;
use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add::<Database>(module)?;
    add::<statement::Statement>(module)?;
    add::<rows::Rows>(module)?;
    add::<server::Server>(module)?;
    add::<place::Connection>(module)?;
    add::<place::StatementServer>(module)?;
    add::<remote::Remote>(module)?;
    add::<transaction::Transaction>(module)?;
    add::<heap::Heap>(module)?;
    add::<objects::Objects>(module)?;
    add::<btree::Btree>(module)?;
    add::<hash::Hash>(module)?;
    add::<links::Links>(module)?;
    module.add_function(wrap_pyfunction!(mirror::lode_mirror, module)?)?;
    module.add_function(wrap_pyfunction!(remote::lode_connect, module)?)?;
    module.add_function(wrap_pyfunction!(tactics::lode_tactics_of, module)?)?;
    module.add_function(wrap_pyfunction!(tactics::lode_profiles, module)?)?;
    module.add_function(wrap_pyfunction!(tactics::lode_tactics, module)?)
}

/// Add a class that names this module as its own, which is `_core` of one of two packages.
fn add<C: PyClass>(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.py().get_type::<C>().setattr("__module__", module.name()?)?;
    module.add_class::<C>()
}
