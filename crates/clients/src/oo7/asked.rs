//! A measure to run, and the driver that runs it.

use loadstone_datasets::oo7::Database;
use loadstone_measure::work::Meter;

use crate::error::ClientError;
use crate::oo7::contents::Contents;
use crate::oo7::driver::Driver;
use crate::oo7::visits::Visits;

/// The module whose tree the traversals walk, but for T10.
pub const MODULE: u32 = 1;

/// A measure to run: of which driver, with which inputs, and the meter of what that costs.
pub struct Asked<'a, C> {
    pub driver: &'a mut C,
    pub database: &'a Database,
    pub iteration: u32,
    pub meter: &'a Meter,
    /// The contents of the database as generated, once they were needed.
    pub generated: &'a mut Option<Visits>,
}

/// Everything that is stored, outside every clock.
pub fn contents<C: Driver>(driver: &mut C) -> Result<Visits, ClientError> {
    let mut contents = Contents::default();
    driver.begin()?;
    let read = driver.contents(&mut contents);
    driver.end()?;
    read.map(|()| *contents.visits())
}
