//! A trial, written once over [`Driver`].
//!
//! Inside the clock: 4,000 transactions, each with its commit. Outside: the drawing of the
//! accounts, the look at what they left, the taking back, and the proof that the database is as it
//! was generated.

use loadstone_datasets::rvm::{Database, HISTORY_WORDS, Pattern, Place, Transaction};
use loadstone_measure::clock::now_ns;
use loadstone_measure::work::Meter;

use crate::error::ClientError;
use crate::outcome::{Logged, Outcome, Sent};
use crate::rvm::contents::Contents;
use crate::rvm::driver::Driver;
use crate::rvm::measure::Measure;

/// Calls of a transaction: its begin, three records, the ring, its commit.
const CALLS: u64 = 6;

/// A measure to run: of which driver, with which inputs, and the meter of what that costs.
pub struct Asked<'a, C> {
    pub driver: &'a mut C,
    pub database: &'a Database,
    pub iteration: u32,
    pub meter: &'a Meter,
    /// The contents of the database as generated, once they were needed.
    pub generated: &'a mut Option<Contents>,
}

/// Run a measure once. What it wrote is taken back before it returns.
pub fn run<C: Driver>(asked: &mut Asked<'_, C>, measure: Measure) -> Result<Outcome, ClientError> {
    match measure {
        Measure::Trial(pattern) => trial(asked, pattern),
        Measure::Audit => audit(asked),
    }
}

fn audit<C: Driver>(asked: &mut Asked<'_, C>) -> Result<Outcome, ClientError> {
    let mut contents = Contents::default();
    let sent = asked.driver.sent();
    let begun = asked.meter.begin();
    let start_ns = now_ns();
    let read = asked.driver.contents(&mut contents);
    let elapsed_ns = now_ns() - start_ns;
    let work = begun.end();
    let sent = Sent::since(sent, asked.driver.sent());
    read?;
    let Contents { count: visits, checksum, .. } = contents;
    Ok(Outcome { elapsed_ns, visits, checksum, calls: 1, sent, work, ..Outcome::default() })
}

fn trial<C: Driver>(asked: &mut Asked<'_, C>, pattern: Pattern) -> Result<Outcome, ClientError> {
    let transactions = asked.database.transactions(pattern, asked.iteration);
    let ring = u64::from(asked.database.history_count());
    let driver = &mut *asked.driver;
    let (sent, logged) = (driver.sent(), driver.logged());
    let begun = asked.meter.begin();
    let start_ns = now_ns();
    let mut commit_ns = 0;
    let done = transactions.iter().try_for_each(|one| execute(driver, one, ring, &mut commit_ns));
    let elapsed_ns = now_ns() - start_ns;
    let work = begun.end();
    done.inspect_err(|_| {
        // The first error is the one to report.
        _ = driver.rollback();
    })?;
    let sent = Sent::since(sent, driver.sent());
    let logged = Logged::since(logged, driver.logged());
    let left = contents(driver);
    take_back(driver, &transactions, ring).inspect_err(|_| {
        // As above.
        _ = driver.rollback();
    })?;
    prove_as_generated(asked)?;
    let left = left?;
    if C::KEEPS && !left.is_balanced() {
        return Err(wrong::<C>("the balances of branch, tellers and accounts do not agree"));
    }
    let (visits, checksum) = (transactions.len() as u64, left.checksum);
    let calls = CALLS * visits;
    Ok(Outcome { elapsed_ns, commit_ns, visits, checksum, calls, sent, logged, work })
}

fn execute<C: Driver>(
    driver: &mut C,
    one: &Transaction,
    ring: u64,
    commit_ns: &mut u64,
) -> Result<(), ClientError> {
    driver.begin()?;
    let count = driver.change(Place::Branch, 1)?;
    driver.change(Place::Teller(one.teller), 1)?;
    driver.change(Place::Account(one.account), 1)?;
    driver.put(slot_of(count, ring), &one.history(count))?;
    let changed_ns = now_ns();
    driver.commit()?;
    *commit_ns += now_ns() - changed_ns;
    Ok(())
}

/// The place where the transaction of that count puts its record.
const fn slot_of(count: u64, ring: u64) -> u32 {
    (count.wrapping_sub(1) % ring) as u32
}

/// Transactions that are taken back in one: lode maps the pages of each, and not any number.
const TAKEN_BACK_TOGETHER: usize = 64;

/// Nobody's time: as if they had not been.
fn take_back<C: Driver>(
    driver: &mut C,
    transactions: &[Transaction],
    ring: u64,
) -> Result<(), ClientError> {
    for some in transactions.rchunks(TAKEN_BACK_TOGETHER) {
        driver.begin()?;
        for one in some.iter().rev() {
            driver.change(Place::Account(one.account), u64::MAX)?;
            driver.change(Place::Teller(one.teller), u64::MAX)?;
            let before = driver.change(Place::Branch, u64::MAX)?;
            driver.put(slot_of(before.wrapping_add(1), ring), &[0; HISTORY_WORDS])?;
        }
        driver.commit()?;
    }
    Ok(())
}

fn contents<C: Driver>(driver: &mut C) -> Result<Contents, ClientError> {
    let mut contents = Contents::default();
    driver.contents(&mut contents).map(|()| contents)
}

fn prove_as_generated<C: Driver>(asked: &mut Asked<'_, C>) -> Result<(), ClientError> {
    let database = asked.database;
    let wanted = *asked.generated.get_or_insert_with(|| Contents::generated(database));
    if !C::KEEPS || contents(asked.driver)? == wanted {
        return Ok(());
    }
    Err(wrong::<C>("the database is not as generated after a trial was taken back"))
}

fn wrong<C: Driver>(what: &str) -> ClientError {
    ClientError::Malformed { engine: C::ENGINE, what: what.to_owned() }
}
