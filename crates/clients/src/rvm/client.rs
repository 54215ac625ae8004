//! One type for all engines: the one that the interpreter's side holds.

use loadstone_datasets::rvm::Database;
use loadstone_measure::work::Meter;

use crate::error::ClientError;
use crate::outcome::Outcome;
use crate::program::{CallingProgram, answered_by_driver};
use crate::rvm::contents::Contents;
use crate::rvm::driver::Driver;
use crate::rvm::loops::{self, Asked};
use crate::rvm::measure::Measure;

/// A calling program with an engine at the other side of its seam.
pub trait Client: CallingProgram<Measure> {}

impl<P: CallingProgram<Measure>> Client for P {}

/// A driver, and the database that it is expected to hold.
pub struct Program<C> {
    driver: C,
    database: Database,
    generated: Option<Contents>,
}

impl<C: Driver> Program<C> {
    pub const fn new(driver: C, database: Database) -> Self {
        Self { driver, database, generated: None }
    }
}

impl<C: Driver> CallingProgram<Measure> for Program<C> {
    answered_by_driver!();

    fn metered(
        &mut self,
        measure: Measure,
        iteration: u32,
        meter: &Meter,
    ) -> Result<Outcome, ClientError> {
        let Self { driver, database, generated } = self;
        loops::run(&mut Asked { driver, database, iteration, meter, generated }, measure)
    }
}
