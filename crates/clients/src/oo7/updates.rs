//! OO7's operations that write, each written once over [`Driver`].
//!
//! Inside the clock: one transaction with its commit. Outside: the look at what it left in the
//! database, the taking back, and the proof that the database is as it was generated.

use crate::clocked::{self, within_transaction};
use crate::error::ClientError;
use crate::oo7::asked::{Asked, MODULE, contents};
use crate::oo7::contents::Contents;
use crate::oo7::driver::Driver;
use crate::oo7::measure::{Change, Extent};
use crate::oo7::traversal::{Walk, t1};
use crate::oo7::visits::Visits;
use crate::outcome::Outcome;

/// The way in which a document begins, and how it begins after T5.
pub(super) const BEGINNINGS: [&[u8]; 2] = [b"I am", b"This is"];

/// Dates that are looked up in the index after an update: those that T3 makes beyond the generated
/// ones, and those of query 2.
pub(super) const DATES_LOOKED_AT: [std::ops::RangeInclusive<i32>; 2] = [999..=1_000, 1_990..=2_000];

/// The result of a writing operation: what it saw, and how many things it changed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Done {
    pub visits: Visits,
    pub updates: u64,
    pub calls: u64,
}

/// Write inside one clock, look at what is left, take it back, and prove that it is.
pub(super) fn writing<C: Driver>(
    asked: &mut Asked<'_, C>,
    write: impl Fn(&mut C) -> Result<Done, ClientError>,
    take_back: impl FnOnce(&mut C) -> Result<(), ClientError>,
) -> Result<Outcome, ClientError> {
    let (done, written) = clocked::writing(asked.driver, asked.meter, write)?;
    let left = look(asked.driver);
    within_transaction(asked.driver, take_back)?;
    prove_as_generated(asked)?;
    let Visits { count, checksum } = done.visits.leaving(done.updates, &left?);
    Ok(Outcome { visits: count, checksum, calls: done.calls, ..written })
}

/// Everything that is stored, and what the index on dates leads to.
fn look<C: Driver>(driver: &mut C) -> Result<Visits, ClientError> {
    let mut left = contents(driver)?;
    driver.begin()?;
    let looked = DATES_LOOKED_AT.into_iter().try_for_each(|dates| driver.dated(dates, &mut left));
    driver.end()?;
    looked.map(|()| left)
}

fn prove_as_generated<C: Driver>(asked: &mut Asked<'_, C>) -> Result<(), ClientError> {
    if !C::KEEPS {
        return Ok(());
    }
    let database = asked.database;
    let wanted = *asked.generated.get_or_insert_with(|| *Contents::generated(database).visits());
    let found = contents(asked.driver)?;
    if found == wanted {
        return Ok(());
    }
    let Visits { count, .. } = found;
    let what = format!("{count} objects, not as generated, after an update was taken back");
    Err(ClientError::Malformed { engine: C::ENGINE, what })
}

/// T2 and T3: each change is its own inverse, so that the same again takes it back.
pub fn traversal<C: Driver>(
    asked: &mut Asked<'_, C>,
    change: Change,
    extent: Extent,
) -> Result<Outcome, ClientError> {
    let again = |driver: &mut C| update(driver, change, extent, Done::default());
    writing(asked, again, |driver| again(driver).map(|_| ()))
}

/// T1, then T2a, in one transaction.
pub fn cached<C: Driver>(asked: &mut Asked<'_, C>) -> Result<Outcome, ClientError> {
    let both = |driver: &mut C| {
        let mut done = Done::default();
        done.calls = t1(driver, MODULE..=MODULE, &mut done.visits)?;
        update(driver, Change::Swap, Extent::Root, done)
    };
    writing(asked, both, |driver| {
        update(driver, Change::Swap, Extent::Root, Done::default()).map(|_| ())
    })
}

fn update<C: Driver>(
    driver: &mut C,
    change: Change,
    extent: Extent,
    mut done: Done,
) -> Result<Done, ClientError> {
    let mut walk = Walk::new(driver);
    walk.graphs(MODULE, |walk, it| {
        done.visits.part(&it.part);
        let times = match extent {
            Extent::Root => u32::from(it.is_root),
            Extent::Each => 1,
            Extent::Repeated(times) => times,
        };
        for _ in 0..times {
            match change {
                Change::Swap => walk.driver.swap(it.handle)?,
                Change::Date => walk.driver.toggle_date(it.handle)?,
            }
        }
        done.updates += u64::from(times);
        walk.calls += u64::from(times);
        Ok(())
    })?;
    done.calls += walk.calls;
    Ok(done)
}

/// T5do.
pub fn text_done<C: Driver>(asked: &mut Asked<'_, C>) -> Result<Outcome, ClientError> {
    let [before, after] = BEGINNINGS;
    writing(
        asked,
        |driver| begin_anew(driver, before, after),
        |driver| begin_anew(driver, after, before).map(|_| ()),
    )
}

/// T5undo, of what T5do did outside the clock.
pub fn text_undone<C: Driver>(asked: &mut Asked<'_, C>) -> Result<Outcome, ClientError> {
    let [before, after] = BEGINNINGS;
    undoing(
        asked,
        |driver| begin_anew(driver, before, after).map(|_| ()),
        |driver| begin_anew(driver, after, before),
    )
}

/// Undo inside the clock what is done outside it. Where that fails it is undone outside, too, so
/// that the next operation finds the database as generated, and is not blamed.
fn undoing<C: Driver>(
    asked: &mut Asked<'_, C>,
    prepare: impl FnOnce(&mut C) -> Result<(), ClientError>,
    undo: impl Fn(&mut C) -> Result<Done, ClientError>,
) -> Result<Outcome, ClientError> {
    within_transaction(asked.driver, prepare)?;
    let undone = writing(asked, &undo, |_| Ok(()));
    if undone.is_err() {
        // The first error is the one to report. Where it came after that, this finds nothing.
        _ = within_transaction(asked.driver, &undo);
    }
    undone
}

/// The place where a component's document begins with one text, make it begin with another.
fn begin_anew<C: Driver>(driver: &mut C, from: &[u8], to: &[u8]) -> Result<Done, ClientError> {
    let mut done = Done::default();
    let (mut text, mut changed) = (Vec::new(), Vec::new());
    let mut walk = Walk::new(driver);
    walk.components(MODULE, |walk, composite| {
        text.clear();
        walk.driver.document(composite, |piece| text.extend_from_slice(piece))?;
        walk.calls += 1;
        let begins = text.strip_prefix(from);
        done.visits.letters(u64::from(begins.is_some()), text.len() as u64);
        if let Some(rest) = begins {
            changed.clear();
            changed.extend_from_slice(to);
            changed.extend_from_slice(rest);
            walk.driver.rewrite(composite, &changed)?;
            walk.calls += 1;
            done.updates += 1;
        }
        Ok(())
    })?;
    done.calls = walk.calls;
    Ok(done)
}

/// S1: ten new composite parts, each for one base assembly.
pub fn insert<C: Driver>(asked: &mut Asked<'_, C>) -> Result<Outcome, ClientError> {
    let (database, receivers) = (asked.database, asked.database.receivers(asked.iteration));
    let ids = database.new_composites();
    let (made, gone) = (ids.clone(), ids);
    writing(
        asked,
        move |driver| {
            made.clone()
                .zip(&receivers)
                .try_for_each(|(id, &receiver)| driver.insert(database, id, receiver))?;
            Ok(changed(receivers.len()))
        },
        move |driver| gone.into_iter().try_for_each(|id| driver.delete(database, id)),
    )
}

/// S2: of what S1 made outside the clock.
pub fn delete<C: Driver>(asked: &mut Asked<'_, C>) -> Result<Outcome, ClientError> {
    let (database, receivers) = (asked.database, asked.database.receivers(asked.iteration));
    let ids = database.new_composites();
    undoing(
        asked,
        |driver| {
            let mut all = ids.clone().zip(&receivers);
            all.try_for_each(|(id, &receiver)| driver.insert(database, id, receiver))
        },
        |driver| {
            ids.clone().try_for_each(|id| driver.delete(database, id))?;
            Ok(changed(receivers.len()))
        },
    )
}

const fn changed(count: usize) -> Done {
    let none = Visits { count: 0, checksum: 0 };
    Done { visits: none, updates: count as u64, calls: count as u64 }
}
