//! The allocator of everything that is written in Rust here: clients, lode, datasets, oracle.

use std::ffi::c_void;

use mimalloc::MiMalloc;
use pyo3::prelude::*;

/// Encoding Parquet allocates and frees large vectors at a rate at which the system's allocator
/// returns them to the kernel each time: a third of the time went into page faults.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[expect(unsafe_code, reason = "functions of mimalloc that its crate does not show by default")]
// SAFETY: the signatures are mimalloc.h's. The address is looked up and not followed, so any will
// do; collecting touches only what is free.
unsafe extern "C" {
    /// Whether an address lies in memory that mimalloc hands out.
    safe fn mi_is_in_heap_region(address: *const c_void) -> bool;
    /// Give what the thread has freed to the others and, if `force`, what all have freed to the
    /// system: mimalloc keeps it for a second otherwise.
    safe fn mi_collect(force: bool);
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    lode_query::memory::return_freed_by(|| mi_collect(true));
    module.add_function(wrap_pyfunction!(allocator, module)?)
}

/// The allocator of a block that was made just now: see `_core.pyi`.
#[pyfunction]
fn allocator() -> &'static str {
    let block = Box::new(0_u64);
    let is_mimallocs = mi_is_in_heap_region((&raw const *block).cast());
    if is_mimallocs { "mimalloc" } else { "the system's" }
}
