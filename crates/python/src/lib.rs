//! The only crate that knows Python: convert, release the interpreter, call, map the error.
//! One file a neighbour crate; no logic lives here.
//!
//! It is built twice: whole as `loadstone._core`; without its feature `laboratory`, so with lode
//! alone, as `lode._core`.

mod allocator;
mod capsule;
#[cfg(feature = "laboratory")]
mod clients;
#[cfg(feature = "laboratory")]
mod data;
mod lode;
#[cfg(feature = "laboratory")]
mod measure;
#[cfg(feature = "laboratory")]
mod quel;

use pyo3::prelude::*;

/// The Rust core; its contract is `python/loadstone/_core.pyi`.
#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("build_profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
    allocator::register(module)?;
    lode::register(module)?;
    #[cfg(feature = "laboratory")]
    for register in [data::register, quel::register, measure::register, clients::register] {
        register(module)?;
    }
    Ok(())
}
