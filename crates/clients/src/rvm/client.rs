//! The program as others see it, whatever engine it calls.

use loadstone_datasets::rvm::Database;
use loadstone_measure::clock::now_ns;
use loadstone_measure::work::Meter;

use crate::error::ClientError;
use crate::outcome::Outcome;
use crate::rvm::contents::Contents;
use crate::rvm::driver::Driver;
use crate::rvm::loops::{self, Asked};
use crate::rvm::measure::Measure;

/// A calling program with one engine at the other side of its seam.
pub trait Client: Send {
    /// The engine's name.
    fn engine(&self) -> &'static str;

    /// Create the database in place of any other; elapsed nanoseconds.
    fn load(&mut self) -> Result<u64, ClientError>;

    /// Run a measure once; the iteration number draws its inputs. `meter` knows the servers whose
    /// work is the engine's.
    fn metered(
        &mut self,
        measure: Measure,
        iteration: u32,
        meter: &Meter,
    ) -> Result<Outcome, ClientError>;

    /// The same, of an engine in this process.
    fn measure(&mut self, measure: Measure, iteration: u32) -> Result<Outcome, ClientError> {
        self.metered(measure, iteration, &Meter::default())
    }

    /// Bytes that the database takes where it is kept.
    fn size_bytes(&mut self) -> Result<u64, ClientError>;

    /// The engine's terms.
    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError>;
}

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

impl<C: Driver> Client for Program<C> {
    fn engine(&self) -> &'static str {
        C::ENGINE
    }

    fn load(&mut self) -> Result<u64, ClientError> {
        let start_ns = now_ns();
        self.driver.load(&self.database)?;
        Ok(now_ns() - start_ns)
    }

    fn metered(
        &mut self,
        measure: Measure,
        iteration: u32,
        meter: &Meter,
    ) -> Result<Outcome, ClientError> {
        let Self { driver, database, generated } = self;
        loops::run(&mut Asked { driver, database, iteration, meter, generated }, measure)
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        self.driver.size_bytes()
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        self.driver.terms()
    }
}
