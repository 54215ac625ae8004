//! Pages as plain memory, to which a program stores, and how lode finds out where: `detect`.
//!
//! ```text
//! area      memory of one mapping, between two guard pages: copies of pages, each at its place
//! faults    detect=sigsegv: the areas' pages are protected, a handler notes and opens them
//! kernel    detect=kernel: the kernel does
//! ```
//!
//! An area is its transaction's own and no part of the buffer: nobody else's frame is ever
//! protected or stored to, a checkpoint or an eviction never meets half a store, and a rollback has
//! nothing to take back. The page in the buffer is what it was before, until the commit copies the
//! changed pages there as any other writer would ([`crate::transaction`]).

mod area;
mod faults;
mod found;
mod kernel;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use area::Area;
#[cfg(test)]
pub(crate) use faults::set_mappings_max;

use crate::error::Result;
use crate::tactics::Detect;

/// Find out by trying whether this process can detect stores so.
///
/// # Errors
///
/// [`crate::LodeError::Tactic`] with what to do.
pub(crate) fn prepare(detect: Detect) -> Result<()> {
    match detect {
        Detect::Explicit => Ok(()),
        Detect::Sigsegv => faults::prepare(),
        Detect::Kernel => kernel::prepare(),
    }
}
