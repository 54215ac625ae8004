//! The habits of a program, found by having it act and counting the statements it sends: so a
//! tactic of the program is read back from its effect, and one that does nothing is seen.

use crate::error::ClientError;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::visits::Visits;

/// A part that every loaded database has, and that leads to three others.
const FIRST: u32 = 1;
const SECOND: u32 = 2;

/// Levels of a traversal in one call: two distinguish a statement for each from one for all.
const LEVELS: u32 = 2;

/// The numbers of statements that a driver sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// To read the parts at the other ends of a part's connections, once these were requested.
    pub reading_ends: u64,
    /// For two parts in one call.
    pub batch_of_two: u64,
    /// For a traversal of two levels in one call.
    pub traversal: u64,
}

impl Habits {
    /// Of a driver with a loaded database; `None` where it speaks no statements.
    pub fn of<C: Driver>(driver: &mut C) -> Result<Option<Self>, ClientError> {
        driver.begin()?;
        let found = Self::seen(driver);
        driver.end()?;
        found
    }

    fn seen<C: Driver>(driver: &mut C) -> Result<Option<Self>, ClientError> {
        let mut ends = Vec::new();
        let (handle, _) = driver.find(FIRST)?;
        driver.links(handle, Direction::Forward, &mut ends)?;
        let reading_ends = statements(driver, |driver| {
            ends.iter().try_for_each(|&end| driver.read(end).map(|_| ()))
        })?;
        let mut visits = Visits::default();
        let batch_of_two =
            statements(driver, |driver| driver.find_batch(&[FIRST, SECOND], &mut visits))?;
        let traversal = statements(driver, |driver| {
            driver.traverse_batch(FIRST, LEVELS, Direction::Forward, &mut visits)
        })?;
        let found = reading_ends.zip(batch_of_two).zip(traversal);
        Ok(found.map(|((reading_ends, batch_of_two), traversal)| Self {
            reading_ends,
            batch_of_two,
            traversal,
        }))
    }

    /// The tactic `hop`.
    pub const fn hop(self) -> &'static str {
        if self.reading_ends == 0 { "join" } else { "lookup" }
    }

    /// Whether a traversal in one call is a statement for each level, at the least.
    pub const fn goes_by_levels(self) -> bool {
        self.traversal > 1
    }

    /// Whether a look-up in one call is a statement for each part.
    pub const fn sends_each(self) -> bool {
        self.batch_of_two > 1
    }
}

fn statements<C: Driver>(
    driver: &mut C,
    act: impl FnOnce(&mut C) -> Result<(), ClientError>,
) -> Result<Option<u64>, ClientError> {
    let before = driver.sent();
    act(driver)?;
    let pair = before.zip(driver.sent());
    Ok(pair.map(|(before, after)| after.statements - before.statements))
}
