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
use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Database>()?;
    module.add_class::<statement::Statement>()?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<server::Server>()?;
    module.add_class::<place::Connection>()?;
    module.add_class::<place::StatementServer>()?;
    module.add_class::<remote::Remote>()?;
    module.add_class::<transaction::Transaction>()?;
    module.add_class::<heap::Heap>()?;
    module.add_class::<objects::Objects>()?;
    module.add_class::<btree::Btree>()?;
    module.add_class::<hash::Hash>()?;
    module.add_class::<links::Links>()?;
    module.add_function(wrap_pyfunction!(mirror::lode_mirror, module)?)?;
    module.add_function(wrap_pyfunction!(remote::lode_connect, module)?)?;
    module.add_function(wrap_pyfunction!(tactics::lode_tactics_of, module)?)?;
    module.add_function(wrap_pyfunction!(tactics::lode_profiles, module)?)?;
    module.add_function(wrap_pyfunction!(tactics::lode_tactics, module)?)
}
