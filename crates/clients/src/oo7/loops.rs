//! OO7's operations that read, each written once over [`Driver`].
//!
//! Inside the clock: the transaction around the operation, the calls, the null operation and the
//! checksum. Outside: the drawing of inputs.

use std::hint::black_box;

use loadstone_datasets::oo7::texts;
use loadstone_measure::clock::now_ns;

use crate::clocked;
use crate::error::ClientError;
use crate::oo7::asked::{Asked, MODULE};
use crate::oo7::driver::Driver;
use crate::oo7::measure::Measure;
use crate::oo7::objects::Assembly;
use crate::oo7::paths;
use crate::oo7::traversal::{Walk, t1};
use crate::oo7::updates;
use crate::oo7::visits::Visits;
use crate::outcome::Outcome;

/// Clock reads that T1WW makes at each atomic part: the sources give no number.
const WORK: u32 = 10;

/// The newest date of an atomic part, and the days that the dates span.
const DATE_LAST: i32 = 1_999;
const DAYS: i32 = 999;

/// Dates of the newest `percent` of a hundred atomic parts, as the original program reckons them.
pub(super) const fn newest(percent: i32) -> std::ops::RangeInclusive<i32> {
    DATE_LAST - percent * DAYS / 100..=DATE_LAST
}

/// Queries 2 and 3.
pub(super) const PERCENT: [i32; 2] = [1, 10];

/// The letter that T4 and T8 count.
pub(super) const LETTER: u8 = b'I';

/// Run an operation once. What it wrote is taken back before it returns, also when it fails.
pub fn run<C: Driver>(asked: &mut Asked<'_, C>, measure: Measure) -> Result<Outcome, ClientError> {
    if let Some((change, extent)) = measure.update() {
        return updates::traversal(asked, change, extent);
    }
    if let Some(visit) = measure.visit() {
        return paths::run(asked, visit);
    }
    let (database, iteration) = (asked.database, asked.iteration);
    match measure {
        Measure::T1 => reading(asked, |driver, visits| t1(driver, MODULE..=MODULE, visits)),
        Measure::T10 => reading(asked, |driver, visits| t1(driver, 1..=database.modules, visits)),
        Measure::T1Work => reading(asked, t1_work),
        Measure::T4 => reading(asked, t4),
        Measure::T6 => reading(asked, t6),
        Measure::T7 => {
            let start = database.start(iteration);
            reading(asked, |driver, visits| t7(driver, start, visits))
        }
        Measure::T8 => reading(asked, t8),
        Measure::T9 => reading(asked, t9),
        Measure::Q1 => {
            let ids = database.lookup_ids(iteration);
            reading(asked, |driver, visits| {
                for &id in &ids {
                    visits.part(&driver.find(id)?.1);
                }
                Ok(ids.len() as u64)
            })
        }
        Measure::Q2 => one_call(asked, |driver, visits| driver.dated(newest(PERCENT[0]), visits)),
        Measure::Q3 => one_call(asked, |driver, visits| driver.dated(newest(PERCENT[1]), visits)),
        Measure::Q4 => {
            let named = database.titled(iteration);
            let titles: Vec<String> = named.into_iter().map(texts::document_title).collect();
            reading(asked, |driver, visits| q4(driver, &titles, visits))
        }
        Measure::Q5 => reading(asked, q5),
        Measure::Q6 => reading(asked, |driver, visits| q6(driver, database.modules, visits)),
        Measure::Q7 => one_call(asked, C::scan),
        Measure::Q8 => one_call(asked, C::documents_of_parts),
        Measure::CachedUpdate => updates::cached(asked),
        Measure::T5Do => updates::text_done(asked),
        Measure::T5Undo => updates::text_undone(asked),
        Measure::S1 => updates::insert(asked),
        Measure::S2 => updates::delete(asked),
        _ => unreachable!("the others were reported above"),
    }
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

fn t1_work<C: Driver>(driver: &mut C, visits: &mut Visits) -> Result<u64, ClientError> {
    let mut walk = Walk::new(driver);
    walk.graphs(MODULE, |_, it| {
        visits.part(&it.part);
        for _ in 0..WORK {
            black_box(now_ns());
        }
        Ok(())
    })?;
    Ok(walk.calls)
}

fn t4<C: Driver>(driver: &mut C, visits: &mut Visits) -> Result<u64, ClientError> {
    let mut walk = Walk::new(driver);
    walk.components(MODULE, |walk, composite| {
        let (mut found, mut length) = (0, 0);
        walk.driver.document(composite, |piece| {
            found += letters(piece);
            length += piece.len() as u64;
        })?;
        walk.calls += 1;
        visits.letters(found, length);
        Ok(())
    })?;
    Ok(walk.calls)
}

/// The number of occurrences of the letter in a piece of text.
#[expect(clippy::naive_bytecount, reason = "a program counts so, on every engine")]
fn letters(piece: &[u8]) -> u64 {
    piece.iter().filter(|&&byte| byte == LETTER).count() as u64
}

fn t6<C: Driver>(driver: &mut C, visits: &mut Visits) -> Result<u64, ClientError> {
    let mut walk = Walk::new(driver);
    walk.components(MODULE, |walk, composite| {
        let root = walk.driver.root_part(composite)?;
        visits.part(&walk.driver.read(root)?);
        walk.calls += 2;
        Ok(())
    })?;
    Ok(walk.calls)
}

/// From an atomic part to each assembly above it, once.
fn t7<C: Driver>(driver: &mut C, start: u32, visits: &mut Visits) -> Result<u64, ClientError> {
    let (part, _) = driver.find(start)?;
    let composite = driver.composite_of(part)?;
    let mut bases = Vec::new();
    driver.users(composite, &mut bases)?;
    let mut calls = 3;
    // A base assembly has one way to the root, so an assembly that was seen has none above it that
    // was not.
    let mut seen: Vec<(bool, u32)> = Vec::new();
    let mut is_first = |assembly: &Assembly| {
        let named = (assembly.is_base, assembly.object.id);
        let is_first = !seen.contains(&named);
        seen.push(named);
        is_first
    };
    for base in bases {
        let (assembly, mut above) = driver.base(base)?;
        calls += 1;
        if !is_first(&assembly) {
            continue;
        }
        visits.assembly(&assembly);
        loop {
            let (assembly, parent) = driver.complex(above)?;
            calls += 1;
            if !is_first(&assembly) {
                break;
            }
            visits.assembly(&assembly);
            match parent {
                Some(parent) => above = parent,
                None => break,
            }
        }
    }
    Ok(calls)
}

fn t8<C: Driver>(driver: &mut C, visits: &mut Visits) -> Result<u64, ClientError> {
    let (mut found, mut length) = (0, 0);
    driver.manual(MODULE, |piece| {
        found += letters(piece);
        length += piece.len() as u64;
    })?;
    visits.letters(found, length);
    Ok(1)
}

fn t9<C: Driver>(driver: &mut C, visits: &mut Visits) -> Result<u64, ClientError> {
    let (mut first, mut last) = (None, None);
    driver.manual(MODULE, |piece| {
        first = first.or(piece.first().copied());
        last = piece.last().copied().or(last);
    })?;
    visits.ends(first, last);
    Ok(1)
}

fn q4<C: Driver>(
    driver: &mut C,
    titles: &[String],
    visits: &mut Visits,
) -> Result<u64, ClientError> {
    let mut bases = Vec::new();
    let mut calls = 0;
    for title in titles {
        let composite = driver.titled(title)?;
        driver.users(composite, &mut bases)?;
        calls += 2 + bases.len() as u64;
        for base in bases.drain(..) {
            visits.assembly(&driver.base(base)?.0);
        }
    }
    Ok(calls)
}

/// Each base assembly once, however many of its components are newer.
fn q5<C: Driver>(driver: &mut C, visits: &mut Visits) -> Result<u64, ClientError> {
    if let Some(visited) = driver.older_bases(visits) {
        return visited.map(|()| 1);
    }
    let (mut bases, mut composites) = (Vec::new(), Vec::new());
    driver.bases(&mut bases)?;
    let mut calls = 1;
    for base in bases {
        let (assembly, _) = driver.base(base)?;
        driver.components(base, &mut composites)?;
        calls += 2;
        let mut is_older = false;
        for composite in composites.drain(..) {
            calls += 1;
            is_older |= driver.composite(composite)?.build_date > assembly.object.build_date;
        }
        if is_older {
            visits.assembly(&assembly);
        }
    }
    Ok(calls)
}

fn q6<C: Driver>(driver: &mut C, modules: u32, visits: &mut Visits) -> Result<u64, ClientError> {
    let mut calls = 0;
    for module in 1..=modules {
        let root = driver.design_root(module)?;
        newest_below(driver, root, visits, &mut calls)?;
    }
    Ok(calls)
}

/// The newest date of the composite parts that are used below a complex assembly.
fn newest_below<C: Driver>(
    driver: &mut C,
    here: C::Complex,
    visits: &mut Visits,
    calls: &mut u64,
) -> Result<i32, ClientError> {
    let (assembly, _) = driver.complex(here)?;
    let (mut complex, mut bases, mut composites) = (Vec::new(), Vec::new(), Vec::new());
    driver.subassemblies(here, &mut complex, &mut bases)?;
    *calls += 2;
    let mut newest = i32::MIN;
    for below in complex {
        newest = newest.max(newest_below(driver, below, visits, calls)?);
    }
    for base in bases {
        let (assembly, _) = driver.base(base)?;
        driver.components(base, &mut composites)?;
        let mut used = i32::MIN;
        *calls += 2 + composites.len() as u64;
        for composite in composites.drain(..) {
            used = used.max(driver.composite(composite)?.build_date);
        }
        if used > assembly.object.build_date {
            visits.assembly(&assembly);
        }
        newest = newest.max(used);
    }
    if newest > assembly.object.build_date {
        visits.assembly(&assembly);
    }
    Ok(newest)
}
