//! Concurrent users: each a thread with a driver of its own, doing one operation after another.
//!
//! A reader looks one part up in a transaction of its own; a writer inserts one part with its
//! three connections and commits. Drawing what to request is outside each request's time. What the
//! writers inserted is looked at both ways afterwards, and taken back.

use loadstone_datasets::oo1::{Database, NewPart};
use loadstone_measure::clock::now_ns;
use loadstone_measure::tally::Tally;
use loadstone_measure::work::{Meter, Work};

use crate::clocked::within_transaction;
use crate::error::ClientError;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::visits::Visits;
pub use crate::pacing::Pacing;
use crate::pacing::{self, Queue};
use crate::users::{Drivers, Ended};

/// Ids that one writer has to itself. So many inserts are hours of durable commits.
const IDS_PER_WRITER: u32 = 1 << 20;

/// Inserted parts of each writer that are looked at: the last ones, where others were busy too.
const LOOKED_AT: u32 = 1000;

/// The number of users and how they behave.
#[derive(Debug, Clone)]
pub struct Users {
    /// Users that look parts up.
    pub readers: u32,
    /// Users that insert parts.
    pub writers: u32,
    /// When they do.
    pub pacing: Pacing,
}

/// The result of serving concurrent users.
#[derive(Debug, Clone, Default)]
pub struct Served {
    /// From the first thread's beginning to the last one's end.
    pub elapsed_ns: u64,
    /// The readers' requests.
    pub lookups: Tally,
    /// The writers' requests.
    pub inserts: Tally,
    /// Connections of inserted parts that were found from both ends afterwards.
    pub links_found: u64,
    /// The cost of the requests: neither the look at what was inserted nor its taking back.
    pub work: Work,
}

/// Let the users loose on a loaded database.
pub fn run<C: Driver>(
    driver: &mut C,
    database: &Database,
    users: &Users,
    meter: &Meter,
) -> Result<Served, ClientError> {
    let drivers = Drivers::open(users.readers, users.writers, || driver.another())?;
    let ended = drivers.let_loose(
        C::ENGINE,
        &users.pacing,
        meter,
        |driver, user, queue| read(driver, database, user, queue),
        |driver, user, queue| write(driver, database, user, queue),
    );
    let Ended { elapsed_ns, work, .. } = ended;
    let mut served = Served { elapsed_ns, work, ..Served::default() };
    let mut inserted = Vec::new();
    let mut failed = None;
    for reader in ended.readers {
        match reader.and_then(|read| read) {
            Ok(tally) => served.lookups.merge(&tally),
            Err(error) => failed = failed.take().or(Some(error)),
        }
    }
    for writer in ended.writers {
        match writer {
            Ok((tally, count, ended)) => {
                served.inserts.merge(&tally);
                inserted.push(count);
                failed = failed.take().or(ended.err());
            }
            Err(error) => failed = failed.take().or(Some(error)),
        }
    }
    let looked = look(driver, database, &inserted);
    take_back(driver, database, &inserted)?;
    served.links_found = looked?;
    failed.map_or(Ok(served), Err)
}

fn read<C: Driver>(
    driver: &mut C,
    database: &Database,
    user: u32,
    queue: &Queue<'_>,
) -> Result<Tally, ClientError> {
    let mut tally = Tally::new();
    let mut visits = Visits::default();
    // Users a thousand iterations apart request different parts.
    for iteration in user * 1000.. {
        for id in database.lookup_ids(iteration) {
            let Some(due_ns) = queue.due_ns(&mut tally) else {
                return Ok(tally);
            };
            let started_ns = now_ns();
            driver.begin()?;
            let found = driver.find(id);
            driver.end()?;
            let (_, part) = found?;
            visits.part(&part);
            pacing::add(&mut tally, due_ns, started_ns);
            if part.id != id {
                let what = format!("part {} for part {id}", part.id);
                return Err(ClientError::Malformed { engine: C::ENGINE, what });
            }
        }
    }
    Ok(tally)
}

/// Answers also how many parts were inserted, since they must be taken back if it failed too.
fn write<C: Driver>(
    driver: &mut C,
    database: &Database,
    user: u32,
    queue: &Queue<'_>,
) -> (Tally, u32, Result<(), ClientError>) {
    let mut tally = Tally::new();
    let mut count = 0;
    for new in parts_of(database, user) {
        let Some(due_ns) = queue.due_ns(&mut tally) else {
            break;
        };
        let started_ns = now_ns();
        if let Err(error) = within_transaction(driver, |driver| driver.insert(&new)) {
            return (tally, count, Err(error));
        }
        pacing::add(&mut tally, due_ns, started_ns);
        count += 1;
    }
    (tally, count, Ok(()))
}

/// Parts for a writer to insert: the insert measure's, with ids of the writer's own and connected
/// to parts that were there before.
fn parts_of(database: &Database, user: u32) -> impl Iterator<Item = NewPart> {
    let parts = database.parts;
    let first = first_id(database, user);
    let drawn = (user * 1000..).flat_map(|iteration| database.new_parts(iteration));
    (first..first + IDS_PER_WRITER).zip(drawn).map(move |(id, mut new)| {
        new.part.id = id;
        for to in &mut new.to {
            to.from = id;
            to.to = (to.to - 1) % parts + 1;
        }
        new
    })
}

fn first_id(database: &Database, user: u32) -> u32 {
    database.parts + 1 + user * IDS_PER_WRITER
}

/// Each connection of the parts inserted last, from both ends; answers how many.
fn look<C: Driver>(
    driver: &mut C,
    database: &Database,
    inserted: &[u32],
) -> Result<u64, ClientError> {
    driver.begin()?;
    let found = look_both_ways(driver, database, inserted);
    // Whatever was found: what was inserted is taken back in a transaction of its own.
    driver.end()?;
    found
}

fn look_both_ways<C: Driver>(
    driver: &mut C,
    database: &Database,
    inserted: &[u32],
) -> Result<u64, ClientError> {
    let mut links = Vec::new();
    let mut found = 0;
    for (user, &count) in (0..).zip(inserted) {
        let skipped = count.saturating_sub(LOOKED_AT);
        let looked_at = parts_of(database, user).take(count as usize).skip(skipped as usize);
        for new in looked_at {
            let id = new.part.id;
            let (handle, _) = driver.find(id)?;
            let mut leads_to = Vec::with_capacity(3);
            links.clear();
            driver.links(handle, Direction::Forward, &mut links)?;
            for &link in &links {
                leads_to.push(driver.read(link)?.id);
            }
            leads_to.sort_unstable();
            let mut expected = new.to.map(|to| to.to);
            expected.sort_unstable();
            let mut whole = leads_to == expected;
            for to in expected {
                let (handle, _) = driver.find(to)?;
                links.clear();
                driver.links(handle, Direction::Reverse, &mut links)?;
                let mut back = 0;
                for &link in &links {
                    back += u32::from(driver.read(link)?.id == id);
                }
                let there = expected.iter().filter(|other| **other == to).count() as u32;
                whole &= back == there;
                found += 1;
            }
            if !whole {
                let what = format!("inserted part {id} with other connections than it was given");
                return Err(ClientError::Malformed { engine: C::ENGINE, what });
            }
        }
    }
    Ok(found)
}

fn take_back<C: Driver>(
    driver: &mut C,
    database: &Database,
    inserted: &[u32],
) -> Result<(), ClientError> {
    for (user, &count) in (0..).zip(inserted).filter(|(_, count)| **count > 0) {
        let first = first_id(database, user);
        within_transaction(driver, |driver| driver.remove(first..=first + (count - 1)))?;
    }
    Ok(())
}
