//! One type for all engines: the one that the interpreter's side holds.

use loadstone_datasets::oo1::Database;
use loadstone_measure::work::Meter;

use crate::error::ClientError;
use crate::oo1::Measure;
use crate::oo1::driver::Driver;
use crate::oo1::loops;
use crate::oo1::users::{self, Served, Users};
use crate::outcome::Outcome;
use crate::program::{CallingProgram, answered_by_driver};

/// A calling program with an engine at the other side of its seam.
pub trait Client: CallingProgram<Measure> {
    /// Let concurrent users loose on the loaded database, each with a driver of its own. `meter`
    /// knows the servers whose work is the engine's.
    fn metered_users(&mut self, users: &Users, meter: &Meter) -> Result<Served, ClientError>;

    /// The same where nobody asks what a server does.
    fn users(&mut self, users: &Users) -> Result<Served, ClientError> {
        self.metered_users(users, &Meter::default())
    }

    /// Another program on the same database with the same tactics.
    fn another(&self) -> Result<Box<dyn Client>, ClientError>;
}

/// A driver, and the database that it is expected to hold.
pub struct Program<C> {
    driver: C,
    database: Database,
}

impl<C: Driver> Program<C> {
    pub const fn new(driver: C, database: Database) -> Self {
        Self { driver, database }
    }
}

impl<C: Driver + 'static> CallingProgram<Measure> for Program<C> {
    answered_by_driver!();

    fn metered(
        &mut self,
        measure: Measure,
        iteration: u32,
        meter: &Meter,
    ) -> Result<Outcome, ClientError> {
        loops::run(&mut self.driver, &self.database, measure, iteration, meter)
    }
}

impl<C: Driver + 'static> Client for Program<C> {
    fn metered_users(&mut self, users: &Users, meter: &Meter) -> Result<Served, ClientError> {
        users::run(&mut self.driver, &self.database, users, meter)
    }

    fn another(&self) -> Result<Box<dyn Client>, ClientError> {
        Ok(Box::new(Self::new(self.driver.another()?, self.database)))
    }
}
