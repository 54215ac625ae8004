//! The clock around what a client asks of a driver, written once for all benchmarks.
//!
//! ```text
//! meter | clock | begin, reads, end             | clock | meter     reading
//! meter | clock | begin, writes | clock, commit | clock | meter     writing
//! ```
//!
//! Meter and clock cover the same work and no other: inputs are drawn before, and an answer is put
//! together after.

use loadstone_measure::clock::now_ns;
use loadstone_measure::work::Meter;

use crate::error::ClientError;
use crate::outcome::{Logged, Outcome, Sent};

/// A driver's transactions, and its count of what it sends: all that the clock knows of it.
pub trait Transactions: Send + Sized {
    /// Before the first read of a measure, inside the clock: a read transaction where the engine
    /// has one and the tactics say so.
    fn begin(&mut self) -> Result<(), ClientError>;

    /// After the last read, inside the clock.
    fn end(&mut self) -> Result<(), ClientError>;

    /// Begin to write, inside the clock.
    fn begin_write(&mut self) -> Result<(), ClientError>;

    /// Make what was written since [`Transactions::begin_write`] durable, as the tactics say.
    fn commit(&mut self) -> Result<(), ClientError>;

    /// Give up what was written since [`Transactions::begin_write`]; harmless if nothing was.
    fn rollback(&mut self) -> Result<(), ClientError>;

    /// Statements sent and round trips made since the driver was opened; `None` where it speaks no
    /// statements.
    fn sent(&self) -> Option<Sent> {
        None
    }

    /// Bytes and ranges that the engine has appended to its log since it was opened; `None` where
    /// nobody counts it.
    fn logged(&self) -> Option<Logged> {
        None
    }
}

/// A driver of an engine without transactions: nothing is to be begun, ended or made durable.
pub trait NoTransactions: Send + Sized {}

impl<C: NoTransactions> Transactions for C {
    fn begin(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn end(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        Ok(())
    }
}

/// Read inside one clock and one read transaction. The outcome has no answer and no calls yet.
pub fn reading<C: Transactions, T>(
    driver: &mut C,
    meter: &Meter,
    read: impl FnOnce(&mut C) -> Result<T, ClientError>,
) -> Result<(T, Outcome), ClientError> {
    let (sent, logged) = (driver.sent(), driver.logged());
    let begun = meter.begin();
    let start_ns = now_ns();
    driver.begin()?;
    let answered = read(driver);
    let ended = driver.end();
    let elapsed_ns = now_ns() - start_ns;
    let work = begun.end();
    let sent = Sent::since(sent, driver.sent());
    let logged = Logged::since(logged, driver.logged());
    let answer = answered?;
    ended?;
    Ok((answer, Outcome { elapsed_ns, sent, logged, work, ..Outcome::default() }))
}

/// Write inside one clock and one transaction, its commit included. The outcome has no answer and
/// no calls yet: what is left in the database has to be looked at.
pub fn writing<C: Transactions, T>(
    driver: &mut C,
    meter: &Meter,
    write: impl FnOnce(&mut C) -> Result<T, ClientError>,
) -> Result<(T, Outcome), ClientError> {
    let (sent, logged) = (driver.sent(), driver.logged());
    let begun = meter.begin();
    let start_ns = now_ns();
    let written = driver.begin_write().and_then(|()| write(driver));
    let written_ns = now_ns();
    let committed = written.and_then(|done| driver.commit().map(|()| done));
    let ended_ns = now_ns();
    let work = begun.end();
    let done = committed.inspect_err(|_| give_up(driver))?;
    let sent = Sent::since(sent, driver.sent());
    let logged = Logged::since(logged, driver.logged());
    let (elapsed_ns, commit_ns) = (ended_ns - start_ns, ended_ns - written_ns);
    Ok((done, Outcome { elapsed_ns, commit_ns, sent, logged, work, ..Outcome::default() }))
}

/// Write in one transaction without a clock: to prepare a measure, or to take it back.
pub fn within_transaction<C: Transactions, T>(
    driver: &mut C,
    write: impl FnOnce(&mut C) -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    let written = driver.begin_write().and_then(|()| write(driver));
    written.and_then(|done| driver.commit().map(|()| done)).inspect_err(|_| give_up(driver))
}

/// After an error, which is the one to report: that of the rollback is dropped.
fn give_up<C: Transactions>(driver: &mut C) {
    _ = driver.rollback();
}

#[cfg(test)]
mod tests;
