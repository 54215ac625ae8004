//! One type for all engines: the one that the interpreter's side holds.

use loadstone_datasets::oo7::Database;
use loadstone_measure::work::Meter;

use crate::error::ClientError;
use crate::oo7::asked::{Asked, contents};
use crate::oo7::contents::Contents;
use crate::oo7::driver::Driver;
use crate::oo7::loops;
use crate::oo7::measure::Measure;
use crate::oo7::users::{self, Left, Served, Users};
use crate::oo7::visits::Visits;
use crate::outcome::Outcome;
use crate::program::{CallingProgram, answered_by_driver};

/// A calling program with an engine at the other side of its seam.
pub trait Client: CallingProgram<Measure> {
    /// Everything that is stored, outside every clock.
    fn contents(&mut self) -> Result<Visits, ClientError>;

    /// Let concurrent users loose on the loaded database, each with a driver of its own, and take
    /// back what they wrote. `meter` knows the servers whose work is the engine's.
    fn metered_users(&mut self, users: &Users, meter: &Meter) -> Result<Served, ClientError>;

    /// The same where nobody asks what a server does.
    fn users(&mut self, users: &Users) -> Result<Served, ClientError> {
        self.metered_users(users, &Meter::default())
    }

    /// The same, and leave what they wrote, also where one of them failed.
    fn users_left(&mut self, users: &Users) -> Result<Left, ClientError>;
}

/// A driver, and the database that it is expected to hold.
pub struct Program<C> {
    driver: C,
    database: Database,
    /// The contents of that database, once they were needed.
    generated: Option<Visits>,
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

impl<C: Driver> Client for Program<C> {
    fn contents(&mut self) -> Result<Visits, ClientError> {
        contents(&mut self.driver)
    }

    fn metered_users(&mut self, users: &Users, meter: &Meter) -> Result<Served, ClientError> {
        let Self { driver, database, generated } = self;
        let generated = generated.get_or_insert_with(|| *Contents::generated(database).visits());
        users::run(driver, database, generated, users, meter)
    }

    fn users_left(&mut self, users: &Users) -> Result<Left, ClientError> {
        let served = users::serve(&self.driver, &self.database, users, &Meter::default());
        served.map(|(_, left)| left)
    }
}
