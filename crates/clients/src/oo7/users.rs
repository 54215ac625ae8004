//! Concurrent users of OO7: each a thread with a driver of its own, one transaction a request.
//!
//! A transaction goes a random way from the root to a base assembly, and reads the graphs of its
//! components or changes them, too. One that the engine gives up because of another is executed
//! again; its request ends with its commit. Drawing the way is outside each request's time.
//!
//! Every atomic part that a user saw must be as generated, or with x and y swapped; and where
//! transactions are isolated, all of a composite part alike, since each transaction changes all of
//! them. Afterwards the whole contents must be those of the commits that were acknowledged, each
//! exactly once: then they are taken back.

use std::collections::BTreeMap;

use loadstone_datasets::oo7::{Database, tree};
use loadstone_measure::clock::now_ns;
use loadstone_measure::tally::Tally;
use loadstone_measure::work::{Meter, Work};

use crate::clocked::within_transaction;
use crate::error::ClientError;
use crate::oo7::asked::{MODULE, contents};
use crate::oo7::contents::Contents;
use crate::oo7::driver::Driver;
use crate::oo7::measure::{Components, Measure, Visit};
use crate::oo7::objects::Part;
use crate::oo7::paths::execute;
use crate::oo7::visits::Visits;
pub use crate::pacing::Pacing;
use crate::pacing::{self, Queue};
use crate::users::{Drivers, Ended};

/// The number of times that a transaction is executed again: more often it is an endless one.
const RUNS_MAX: u32 = 10_000;

/// Users a thousand iterations apart go different ways.
const APART: u32 = 1_000;

/// The number of users, and what each of them requests.
#[derive(Debug, Clone)]
pub struct Users {
    /// Of an operation that only reads: it, and how many.
    pub readers: (Measure, u32),
    /// Of one that changes.
    pub writers: (Measure, u32),
    /// When they do.
    pub pacing: Pacing,
}

/// The result of serving concurrent users.
#[derive(Debug, Clone, Default)]
pub struct Served {
    /// From the first thread's beginning to the last one's end.
    pub elapsed_ns: u64,
    /// The readers' requests.
    pub reads: Tally,
    /// The writers' requests.
    pub writes: Tally,
    /// Changes of atomic parts that were acknowledged, and found in the contents.
    pub changes: u64,
    /// Transactions executed again after the engine had given them up.
    pub repeated: u64,
    /// Composite parts that a transaction saw half changed: none where they are isolated.
    pub torn: u64,
    /// The cost of the requests: neither the look at the contents nor the taking back.
    pub work: Work,
}

/// The transactions that concurrent users leave behind.
#[derive(Debug, Clone, Default)]
pub struct Left {
    /// Iterations of the writers' operation whose commits were acknowledged.
    pub acknowledged: Vec<u32>,
    /// Iterations of which nobody knows: each was the last one of a writer that failed.
    pub unknown: Vec<u32>,
    /// The first error of a user.
    pub failed: Option<ClientError>,
}

/// Let the users loose on a loaded database, hold what they left against what was acknowledged,
/// and take it back. `generated` is the contents as generated.
pub fn run<C: Driver>(
    driver: &mut C,
    database: &Database,
    generated: &Visits,
    users: &Users,
    meter: &Meter,
) -> Result<Served, ClientError> {
    let (mut served, left) = serve(driver, database, users, meter)?;
    if let Some(failed) = left.failed {
        return Err(failed);
    }
    let writing = visit_of::<C>(users.writers.0)?;
    let Some(kind) = writing.changes else { return Ok(served) };
    if !C::KEEPS {
        return Ok(served);
    }
    let changed = Changed::by(database, kind, &left.acknowledged);
    served.changes = changed.count;
    let expected = changed.expected(database, generated);
    let found = contents(driver)?;
    if found != expected {
        let commits = left.acknowledged.len();
        let what = format!("contents that are not those of {commits} acknowledged commits");
        return Err(ClientError::Malformed { engine: C::ENGINE, what });
    }
    changed.take_back(driver, database)?;
    let found = contents(driver)?;
    if found == *generated {
        return Ok(served);
    }
    let what = "contents that are not as generated after users were taken back".to_owned();
    Err(ClientError::Malformed { engine: C::ENGINE, what })
}

/// Let the users loose, and leave what they wrote: for those who look at the database after a
/// crash.
pub fn serve<C: Driver>(
    driver: &C,
    database: &Database,
    users: &Users,
    meter: &Meter,
) -> Result<(Served, Left), ClientError> {
    let (reading, writing) = (visit_of::<C>(users.readers.0)?, visit_of::<C>(users.writers.0)?);
    let drivers = Drivers::open(users.readers.1, users.writers.1, || driver.another())?;
    let generated = places(database);
    let one = |driver: &mut C, user: u32, queue: &Queue<'_>, visit: Visit| {
        let mut one = User::new(database, &generated, visit);
        let ended = one.ask(driver, user, queue);
        (one, ended)
    };
    let ended = drivers.let_loose(
        C::ENGINE,
        &users.pacing,
        meter,
        |driver, user, queue| one(driver, user, queue, reading),
        |driver, user, queue| one(driver, users.readers.1 + user, queue, writing),
    );
    let Ended { elapsed_ns, work, .. } = ended;
    let mut served = Served { elapsed_ns, work, ..Served::default() };
    let mut left = Left::default();
    let readers = ended.readers.into_iter().map(|user| (false, user));
    let writers = ended.writers.into_iter().map(|user| (true, user));
    for (writes, user) in readers.chain(writers) {
        let failed = match user {
            Ok((user, ended)) => {
                let tally = if writes { &mut served.writes } else { &mut served.reads };
                tally.merge(&user.tally);
                served.repeated += user.repeated;
                served.torn += user.torn;
                left.acknowledged.extend(user.acknowledged);
                left.unknown.extend(user.under_way.filter(|_| writes));
                ended.err()
            }
            Err(error) => Some(error),
        };
        left.failed = left.failed.take().or(failed);
    }
    if served.torn > 0 && driver.isolates() {
        let what = format!("{} composite parts half changed within a transaction", served.torn);
        let torn = ClientError::Malformed { engine: C::ENGINE, what };
        left.failed = left.failed.take().or(Some(torn));
    }
    Ok((served, left))
}

fn visit_of<C: Driver>(measure: Measure) -> Result<Visit, ClientError> {
    measure.visit().ok_or(ClientError::Unsupported {
        engine: C::ENGINE,
        what: "concurrent users of that operation",
        reason: "those of several users are M1 to M6",
    })
}

/// x and y of each atomic part as generated; that with id n stands at n - 1.
fn places(database: &Database) -> Vec<(i32, i32)> {
    let mut draws = database.draws();
    (1..=database.part_count())
        .map(|id| Part::generated(database, &mut draws, id))
        .map(|part| (part.x, part.y))
        .collect()
}

/// A user, and what became of its requests.
struct User<'a> {
    database: &'a Database,
    /// See [`places`].
    generated: &'a [(i32, i32)],
    visit: Visit,
    tally: Tally,
    acknowledged: Vec<u32>,
    /// The iteration that was begun and not acknowledged.
    under_way: Option<u32>,
    repeated: u64,
    torn: u64,
    /// The atomic parts that the transaction saw: id, x, y.
    seen: Vec<(u32, i32, i32)>,
}

impl<'a> User<'a> {
    fn new(database: &'a Database, generated: &'a [(i32, i32)], visit: Visit) -> Self {
        Self {
            database,
            generated,
            visit,
            tally: Tally::new(),
            acknowledged: Vec::new(),
            under_way: None,
            repeated: 0,
            torn: 0,
            seen: Vec::new(),
        }
    }

    fn ask<C: Driver>(
        &mut self,
        driver: &mut C,
        user: u32,
        queue: &Queue<'_>,
    ) -> Result<(), ClientError> {
        for iteration in user * APART.. {
            let path = self.database.path(iteration);
            let Some(due_ns) = queue.due_ns(&mut self.tally) else { break };
            self.under_way = Some(iteration);
            let started_ns = now_ns();
            self.until_done(driver, &path)?;
            pacing::add(&mut self.tally, due_ns, started_ns);
            self.under_way = None;
            if self.visit.changes.is_some() {
                self.acknowledged.push(iteration);
            }
            if C::KEEPS {
                self.look::<C>()?;
            }
        }
        Ok(())
    }

    fn until_done<C: Driver>(&mut self, driver: &mut C, path: &[u32]) -> Result<(), ClientError> {
        for _ in 0..RUNS_MAX {
            self.seen.clear();
            match self.transact(driver, path) {
                Err(error) if C::is_conflict(&error) => self.repeated += 1,
                done => return done,
            }
        }
        Err(ClientError::engine(C::ENGINE, "executing again", "it always ended in a conflict"))
    }

    fn transact<C: Driver>(&mut self, driver: &mut C, path: &[u32]) -> Result<(), ClientError> {
        let (visit, seen) = (self.visit, &mut self.seen);
        let mut see = |part: &Part| seen.push((part.object.id, part.x, part.y));
        if visit.changes.is_some() {
            return within_transaction(driver, |driver| {
                execute(driver, path, visit, &mut see).map(|_| ())
            });
        }
        driver.begin()?;
        let read = execute(driver, path, visit, &mut see);
        driver.end()?;
        read.map(|_| ())
    }

    /// Hold what the transaction saw against what anybody wrote.
    fn look<C: Driver>(&mut self) -> Result<(), ClientError> {
        let parts = self.database.parts_per_composite;
        let mut states = Vec::with_capacity(self.seen.len());
        for &(id, x, y) in &self.seen {
            let place = id.checked_sub(1).and_then(|at| self.generated.get(at as usize));
            let is_swapped = match place {
                Some(&before) if before == (x, y) => false,
                Some(&before) if before == (y, x) => true,
                _ => {
                    let what = format!("atomic part {id} at x {x} and y {y}, where nobody put it");
                    return Err(ClientError::Malformed { engine: C::ENGINE, what });
                }
            };
            // As good as swapped.
            if x != y {
                states.push(((id - 1) / parts, is_swapped));
            }
        }
        states.sort_unstable();
        states.dedup();
        let torn = states.windows(2).filter(|two| two[0].0 == two[1].0).count();
        self.torn += torn as u64;
        Ok(())
    }
}

/// The composite parts that transactions changed, and how often each.
struct Changed {
    times: BTreeMap<u32, u32>,
    /// Changes of atomic parts in all.
    count: u64,
}

impl Changed {
    /// By T2b of a base assembly's components of that kind, once for each iteration.
    fn by(database: &Database, kind: Components, iterations: &[u32]) -> Self {
        let mut draws = database.draws();
        let mut times = BTreeMap::new();
        for &iteration in iterations {
            let [private, shared] = database.components(&mut draws, base_of(database, iteration));
            let changed = if kind == Components::Private { private } else { shared };
            for composite in changed {
                *times.entry(composite).or_default() += 1;
            }
        }
        let visits: u64 = times.values().map(|&times: &u32| u64::from(times)).sum();
        Self { times, count: visits * u64::from(database.parts_per_composite) }
    }

    /// Those that are not as before: twice swapped is as before.
    fn changed(&self) -> Vec<u32> {
        let odd = self.times.iter().filter(|(_, times)| **times % 2 == 1);
        odd.map(|(&composite, _)| composite).collect()
    }

    /// The contents with all of this.
    fn expected(&self, database: &Database, generated: &Visits) -> Visits {
        let mut draws = database.draws();
        let mut contents = Contents::from(*generated);
        for composite in self.changed() {
            for id in parts_of(database, composite) {
                let mut part = Part::generated(database, &mut draws, id);
                contents.without(|gone| gone.part(&part, composite));
                (part.x, part.y) = (part.y, part.x);
                contents.part(&part, composite);
            }
        }
        *contents.visits()
    }

    fn take_back<C: Driver>(&self, driver: &mut C, database: &Database) -> Result<(), ClientError> {
        for some in self.changed().chunks(TAKEN_BACK_TOGETHER) {
            within_transaction(driver, |driver| {
                some.iter().flat_map(|&composite| parts_of(database, composite)).try_for_each(
                    |id| {
                        let (part, _) = driver.find(id)?;
                        driver.swap(part)
                    },
                )
            })?;
        }
        Ok(())
    }
}

/// Composite parts that are taken back in one transaction.
const TAKEN_BACK_TOGETHER: usize = 64;

fn parts_of(database: &Database, composite: u32) -> std::ops::Range<u32> {
    let root = database.root_part(composite);
    root..root + database.parts_per_composite
}

/// The base assembly at the end of an iteration's way. Base assemblies are numbered from left to
/// right.
fn base_of(database: &Database, iteration: u32) -> u32 {
    let path = database.path(iteration);
    let number = path.iter().fold(0, |number, child| number * tree::CHILDREN + child);
    (MODULE - 1) * tree::BASE + number + 1
}
