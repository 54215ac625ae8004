//! OO1's measures, each written once over [`Driver`].
//!
//! Inside the clock: the transaction around the measure, the calls, the null procedure and the
//! checksum. Outside: the drawing of inputs, the look at what a writing measure left in the
//! database (which is its answer), and taking that back. What is metered and counted is what is
//! inside the clock, and nothing else.

use std::hint::black_box;

use loadstone_datasets::oo1::database::{BUILD_FIRST_S, BUILD_SPAN_S};
use loadstone_datasets::oo1::{Database, NewPart};
use loadstone_measure::work::Meter;

use crate::clocked;
use crate::error::ClientError;
use crate::oo1::Measure;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::visits::Visits;
use crate::outcome::Outcome;

/// Connections followed one after another in a traversal.
pub const DEPTH: u32 = 7;

/// Calls of a rung of the ladder, as many as a look-up makes.
pub const RUNG_CALLS: u32 = 1000;

/// First and last second of build times: taken from it, one turns into the other.
pub const BUILD_SUM_S: i64 = 2 * BUILD_FIRST_S + BUILD_SPAN_S as i64 - 1;

/// Run a measure once. What it wrote is taken back before it returns, also when it fails.
pub fn run<C: Driver>(
    driver: &mut C,
    database: &Database,
    measure: Measure,
    iteration: u32,
    meter: &Meter,
) -> Result<Outcome, ClientError> {
    let mut program = Asked { driver, meter };
    let asked = &mut program;
    match measure {
        Measure::Lookup => lookup(asked, database, iteration),
        Measure::Traversal => traversal(asked, database, iteration, Direction::Forward),
        Measure::Reverse => traversal(asked, database, iteration, Direction::Reverse),
        Measure::Insert => insert(asked, database, iteration),
        Measure::Range => {
            let (first_s, end_s) = database.build_range(iteration);
            one_call(asked, |driver, visits| driver.range(first_s..end_s, visits))
        }
        Measure::Scan => one_call(asked, C::scan),
        Measure::Reference => reference(asked, database, iteration),
        Measure::Group => group(asked, database, iteration),
        Measure::Update => update(asked, database, iteration),
        Measure::Ordered => ordered(asked, database, iteration),
        Measure::LookupBatch => {
            let ids = database.lookup_ids(iteration);
            one_call(asked, |driver, visits| driver.find_batch(&ids, visits))
        }
        Measure::TraversalBatch => batch(asked, database, iteration, Direction::Forward),
        Measure::ReverseBatch => batch(asked, database, iteration, Direction::Reverse),
        Measure::Nothing => rung(C::nothing, asked),
        Measure::Empty => rung(C::empty, asked),
        Measure::Constant => {
            rung(|driver| driver.constant().map(|value| _ = black_box(value)), asked)
        }
    }
}

/// The driver that is asked, and the meter of what that costs.
struct Asked<'a, C> {
    driver: &'a mut C,
    meter: &'a Meter,
}

/// Read inside the clock; `read` answers the number of its calls.
fn reading<C: Driver>(
    asked: &mut Asked<'_, C>,
    read: impl FnOnce(&mut C, &mut Visits) -> Result<u64, ClientError>,
) -> Result<Outcome, ClientError> {
    let mut seen = Visits::default();
    let (calls, read) =
        clocked::reading(asked.driver, asked.meter, |driver| read(driver, &mut seen))?;
    let Visits { count, checksum } = seen;
    Ok(Outcome { visits: count, checksum, calls, ..read })
}

fn one_call<C: Driver>(
    asked: &mut Asked<'_, C>,
    read: impl FnOnce(&mut C, &mut Visits) -> Result<(), ClientError>,
) -> Result<Outcome, ClientError> {
    reading(asked, |driver, visits| read(driver, visits).map(|()| 1))
}

fn lookup<C: Driver>(
    asked: &mut Asked<'_, C>,
    database: &Database,
    iteration: u32,
) -> Result<Outcome, ClientError> {
    let ids = database.lookup_ids(iteration);
    reading(asked, |driver, visits| {
        for &id in &ids {
            visits.part(&driver.find(id)?.1);
        }
        Ok(ids.len() as u64)
    })
}

fn start(database: &Database, iteration: u32, direction: Direction) -> u32 {
    match direction {
        Direction::Forward => database.start(iteration),
        Direction::Reverse => database.reverse_start(iteration),
    }
}

fn traversal<C: Driver>(
    asked: &mut Asked<'_, C>,
    database: &Database,
    iteration: u32,
    direction: Direction,
) -> Result<Outcome, ClientError> {
    let start = start(database, iteration, direction);
    let mut links = Vec::with_capacity(1 << 10);
    reading(asked, |driver, visits| {
        let (handle, part) = driver.find(start)?;
        visits.part(&part);
        if let Some(given) = driver.walk(handle, DEPTH, direction, visits) {
            return Ok(2 + given?);
        }
        let expanded = descend(driver, handle, DEPTH, direction, &mut links, visits)?;
        Ok(visits.count + expanded)
    })
}

/// Depth first, duplicates kept; the links of the parts on the way stand one behind another in
/// `links`. Answers how many parts' links were requested.
fn descend<C: Driver>(
    driver: &mut C,
    handle: C::Handle,
    depth: u32,
    direction: Direction,
    links: &mut Vec<C::Handle>,
    visits: &mut Visits,
) -> Result<u64, ClientError> {
    let first = links.len();
    driver.links(handle, direction, links)?;
    let mut expanded = 1;
    for position in first..links.len() {
        let next = links[position];
        visits.part(&driver.read(next)?);
        if depth > 1 {
            expanded += descend(driver, next, depth - 1, direction, links, visits)?;
        }
    }
    links.truncate(first);
    Ok(expanded)
}

fn ordered<C: Driver>(
    asked: &mut Asked<'_, C>,
    database: &Database,
    iteration: u32,
) -> Result<Outcome, ClientError> {
    let start = database.start(iteration);
    let mut links = Vec::with_capacity(1 << 10);
    reading(asked, |driver, visits| {
        let (handle, part) = driver.find(start)?;
        visits.part_in_order(&part);
        let expanded = descend_in_order(driver, handle, DEPTH, &mut links, visits)?;
        Ok(visits.count + expanded)
    })
}

fn descend_in_order<C: Driver>(
    driver: &mut C,
    handle: C::Handle,
    depth: u32,
    links: &mut Vec<C::Handle>,
    visits: &mut Visits,
) -> Result<u64, ClientError> {
    let first = links.len();
    driver.links_in_order(handle, links)?;
    let mut expanded = 1;
    for position in first..links.len() {
        let next = links[position];
        visits.part_in_order(&driver.read(next)?);
        if depth > 1 {
            expanded += descend_in_order(driver, next, depth - 1, links, visits)?;
        }
    }
    links.truncate(first);
    Ok(expanded)
}

fn batch<C: Driver>(
    asked: &mut Asked<'_, C>,
    database: &Database,
    iteration: u32,
    direction: Direction,
) -> Result<Outcome, ClientError> {
    let start = start(database, iteration, direction);
    one_call(asked, |driver, visits| driver.traverse_batch(start, DEPTH, direction, visits))
}

fn reference<C: Driver>(
    asked: &mut Asked<'_, C>,
    database: &Database,
    iteration: u32,
) -> Result<Outcome, ClientError> {
    let numbers = database.reference_numbers(iteration);
    let connections: Vec<_> =
        numbers.into_iter().map(|number| database.connection(number)).collect();
    reading(asked, |driver, visits| {
        for connection in &connections {
            visits.part(&driver.reference(connection.from, connection.to)?);
        }
        Ok(connections.len() as u64)
    })
}

fn group<C: Driver>(
    asked: &mut Asked<'_, C>,
    database: &Database,
    iteration: u32,
) -> Result<Outcome, ClientError> {
    let ids = database.group_ids(iteration);
    reading(asked, |driver, visits| {
        for &id in &ids {
            driver.group(id, visits)?;
        }
        Ok(ids.len() as u64)
    })
}

/// OO1 has the program's own procedure make x and y of each new part.
#[inline(never)]
fn supply(new: &NewPart) -> NewPart {
    black_box(*new)
}

fn insert<C: Driver>(
    asked: &mut Asked<'_, C>,
    database: &Database,
    iteration: u32,
) -> Result<Outcome, ClientError> {
    let parts = database.new_parts(iteration);
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return Ok(Outcome::default());
    };
    let ids = first.part.id..=last.part.id;
    let ((), written) = clocked::writing(asked.driver, asked.meter, |driver| {
        parts.iter().try_for_each(|new| driver.insert(&supply(new)))
    })?;
    let seen = look_at_inserted(asked.driver, &parts);
    clocked::within_transaction(asked.driver, |driver| driver.remove(ids))?;
    let Visits { count, checksum } = seen?;
    let calls = parts.len() as u64;
    Ok(Outcome { visits: count, checksum, calls, ..written })
}

/// Each new part by id, by build time, and with its neighbours both ways: every access path.
fn look_at_inserted<C: Driver>(driver: &mut C, parts: &[NewPart]) -> Result<Visits, ClientError> {
    let mut visits = Visits::default();
    let mut links = Vec::new();
    driver.begin()?;
    for new in parts {
        let (handle, part) = driver.find(new.part.id)?;
        visits.part(&part);
        links.clear();
        driver.links(handle, Direction::Forward, &mut links)?;
        for &link in &links {
            visits.part(&driver.read(link)?);
        }
        driver.group(new.part.id, &mut visits)?;
        driver.range(new.part.build_s..new.part.build_s + 1, &mut visits)?;
        for connection in &new.to {
            let (handle, _) = driver.find(connection.to)?;
            links.clear();
            driver.links(handle, Direction::Reverse, &mut links)?;
            for &link in &links {
                visits.part(&driver.read(link)?);
            }
        }
    }
    driver.end()?;
    Ok(visits)
}

fn update<C: Driver>(
    asked: &mut Asked<'_, C>,
    database: &Database,
    iteration: u32,
) -> Result<Outcome, ClientError> {
    let ids = database.update_ids(iteration);
    let update = |driver: &mut C| ids.iter().try_for_each(|&id| driver.update(id, BUILD_SUM_S));
    let ((), written) = clocked::writing(asked.driver, asked.meter, update)?;
    let seen = look_at_updated(asked.driver, database, &ids);
    clocked::within_transaction(asked.driver, update)?;
    let Visits { count, checksum } = seen?;
    let calls = ids.len() as u64;
    Ok(Outcome { visits: count, checksum, calls, ..written })
}

/// Each part by id, and by its old and its new build time.
fn look_at_updated<C: Driver>(
    driver: &mut C,
    database: &Database,
    ids: &[u32],
) -> Result<Visits, ClientError> {
    let mut visits = Visits::default();
    driver.begin()?;
    for &id in ids {
        visits.part(&driver.find(id)?.1);
        let before_s = database.part(id).build_s;
        for build_s in [before_s, BUILD_SUM_S - before_s] {
            driver.range(build_s..build_s + 1, &mut visits)?;
        }
    }
    driver.end()?;
    Ok(visits)
}

fn rung<C: Driver>(
    step: impl Fn(&mut C) -> Result<(), ClientError>,
    asked: &mut Asked<'_, C>,
) -> Result<Outcome, ClientError> {
    reading(asked, |driver, _| {
        for _ in 0..RUNG_CALLS {
            step(driver)?;
        }
        Ok(u64::from(RUNG_CALLS))
    })
}
