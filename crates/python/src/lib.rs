//! The only crate that knows Python: convert, release the interpreter, call, map the error.
//! One file a neighbour crate; no logic lives here.

mod allocator;
mod clients;
mod data;
mod lode;
mod measure;
mod quel;

use pyo3::prelude::*;

/// The Rust core of Loadstone; its contract is `python/loadstone/_core.pyi`.
#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("build_profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
    allocator::register(module)?;
    data::register(module)?;
    quel::register(module)?;
    measure::register(module)?;
    clients::register(module)?;
    lode::register(module)?;
    Ok(())
}
