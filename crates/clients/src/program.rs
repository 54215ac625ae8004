//! A calling program as others see it: the part that is the same for every benchmark.

use loadstone_measure::work::Meter;

use crate::error::ClientError;
use crate::outcome::Outcome;

/// A program that calls one engine, over measures `M`.
pub trait CallingProgram<M>: Send {
    /// The engine's name.
    fn engine(&self) -> &'static str;

    /// Load the database in place of any other; answers elapsed ns, all indexes and the last
    /// commit included.
    fn load(&mut self) -> Result<u64, ClientError>;

    /// Run a measure once; the iteration number draws its inputs. `meter` knows the servers whose
    /// work is the engine's.
    fn metered(
        &mut self,
        measure: M,
        iteration: u32,
        meter: &Meter,
    ) -> Result<Outcome, ClientError>;

    /// The same with an engine in this process, or where nobody requests its server's work.
    fn measure(&mut self, measure: M, iteration: u32) -> Result<Outcome, ClientError> {
        self.metered(measure, iteration, &Meter::default())
    }

    /// Bytes that the database takes where it is kept.
    fn size_bytes(&mut self) -> Result<u64, ClientError>;

    /// The engine's terms.
    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError>;
}

/// The parts of a benchmark's [`CallingProgram`] that its driver answers alone, for a type with the
/// fields `driver` and `database`.
macro_rules! answered_by_driver {
    () => {
        fn engine(&self) -> &'static str {
            C::ENGINE
        }

        fn load(&mut self) -> Result<u64, ClientError> {
            let start_ns = ::loadstone_measure::clock::now_ns();
            self.driver.load(&self.database)?;
            Ok(::loadstone_measure::clock::now_ns() - start_ns)
        }

        fn size_bytes(&mut self) -> Result<u64, ClientError> {
            self.driver.size_bytes()
        }

        fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
            self.driver.terms()
        }
    };
}

pub(crate) use answered_by_driver;
