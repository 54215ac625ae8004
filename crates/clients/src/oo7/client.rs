//! One type for all engines: what the interpreter's side holds.

use loadstone_datasets::oo7::Database;
use loadstone_measure::clock::now_ns;
use loadstone_measure::work::Meter;

use crate::error::ClientError;
use crate::oo7::asked::{Asked, contents};
use crate::oo7::driver::Driver;
use crate::oo7::loops;
use crate::oo7::measure::Measure;
use crate::oo7::visits::Visits;
use crate::outcome::Outcome;

/// A calling program with an engine at the other side of its seam.
pub trait Client: Send {
    /// The engine's name.
    fn engine(&self) -> &'static str;

    /// Load the database in place of any other; answers elapsed ns, all indexes and the last
    /// commit included.
    fn load(&mut self) -> Result<u64, ClientError>;

    /// Run an operation once; the iteration number draws its inputs. `meter` knows the servers
    /// whose work is the engine's.
    fn metered(
        &mut self,
        measure: Measure,
        iteration: u32,
        meter: &Meter,
    ) -> Result<Outcome, ClientError>;

    /// The same with an engine in this process, or where nobody asks what its server does.
    fn measure(&mut self, measure: Measure, iteration: u32) -> Result<Outcome, ClientError> {
        self.metered(measure, iteration, &Meter::default())
    }

    /// Everything that is stored, outside every clock.
    fn contents(&mut self) -> Result<Visits, ClientError>;

    /// Bytes that the database takes where it is kept.
    fn size_bytes(&mut self) -> Result<u64, ClientError>;

    /// The engine's terms.
    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError>;
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

impl<C: Driver + 'static> Client for Program<C> {
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

    fn contents(&mut self) -> Result<Visits, ClientError> {
        contents(&mut self.driver)
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        self.driver.size_bytes()
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        self.driver.terms()
    }
}
