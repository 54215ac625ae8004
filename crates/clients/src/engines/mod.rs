//! Engines by name, for each benchmark's program; and those whose statements users send.

pub mod oo1;
pub mod oo7;
pub mod rvm;
pub mod statements;

use crate::error::ClientError;
use crate::tactics::{Address, Tactics};

/// A driver that is opened at an address, and takes all of the tactics.
fn opened<C>(
    open: impl FnOnce(&Address, &mut Tactics) -> Result<C, ClientError>,
    address: &Address,
    mut tactics: Tactics,
) -> Result<C, ClientError> {
    let driver = open(address, &mut tactics)?;
    tactics.finish()?;
    Ok(driver)
}

/// The error for an engine of another name than those that there are.
fn unknown(kind: &'static str, engine: &str, known: &[&str]) -> ClientError {
    let known = known.iter().map(|&name| name.to_owned()).collect();
    ClientError::Unknown { kind, name: engine.to_owned(), known }
}
