//! That each way finds the pages that were stored to, and no others.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::found::Found;
use super::{Area, faults, prepare};
use crate::page::PAGE_BYTES;
use crate::tactics::Detect;

const PAGES: usize = 64;

/// The number of mappings there may be is one number for the process.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Those of the two that this machine has; what it has not says so.
fn ways() -> Vec<Detect> {
    let mut ways = vec![Detect::Sigsegv];
    match prepare(Detect::Kernel) {
        Ok(()) => ways.push(Detect::Kernel),
        Err(error) => assert!(error.to_string().contains("choose detect=sigsegv"), "{error}"),
    }
    ways
}

fn area(detect: Detect, pages: usize) -> Area {
    let mut area = Area::new(pages).unwrap();
    area.bytes_mut().fill(7);
    area.watch(detect).unwrap();
    area
}

fn sure(pages: impl IntoIterator<Item = usize>) -> Vec<Found> {
    pages.into_iter().map(|at| Found { at, is_sure: true }).collect()
}

#[test]
fn a_store_is_found_and_reading_is_not() {
    let _alone = alone();
    for way in ways() {
        let mut area = area(way, PAGES);
        assert_eq!(area.found().unwrap(), [], "{way:?}");
        assert!(area.bytes().iter().all(|&byte| byte == 7));
        assert_eq!(area.found().unwrap(), [], "{way:?}");
        for at in [0, 3, 4, PAGES - 1] {
            for offset in [0, 2_000, PAGE_BYTES - 1] {
                area.bytes_mut()[at * PAGE_BYTES + offset] = at as u8;
            }
        }
        assert_eq!(area.found().unwrap(), sure([0, 3, 4, PAGES - 1]), "{way:?}");
        assert_eq!(area.bytes()[4 * PAGE_BYTES + 2_000], 4);
        assert_eq!(area.bytes()[4 * PAGE_BYTES + 2_001], 7);
    }
}

#[test]
fn threads_store_to_one_area_and_to_many() {
    let _alone = alone();
    for way in ways() {
        let mut areas: Vec<Area> = (0..8).map(|_| area(way, PAGES)).collect();
        thread::scope(|scope| {
            for area in &mut areas {
                // Neighbours of one page are stored to by two threads at once.
                for (number, piece) in area.bytes_mut().chunks_mut(5_000).enumerate() {
                    if number % 3 != 2 {
                        scope.spawn(move || piece[..100].fill(number as u8));
                    }
                }
            }
        });
        let stored = |at: usize| {
            (0..PAGES * PAGE_BYTES / 5_000).any(|number| {
                let (first, last) = (number * 5_000, number * 5_000 + 99);
                number % 3 != 2 && (first / PAGE_BYTES..=last / PAGE_BYTES).contains(&at)
            })
        };
        let expected = sure((0..PAGES).filter(|&at| stored(at)));
        for area in &areas {
            let found = area.found().unwrap();
            let found: Vec<Found> = found.into_iter().filter(|one| one.at < PAGES - 2).collect();
            let expected: Vec<Found> =
                expected.iter().copied().filter(|one| one.at < PAGES - 2).collect();
            assert_eq!(found, expected, "{way:?}");
        }
    }
}

#[test]
fn where_mappings_run_out_the_area_is_opened_and_nothing_is_lost() {
    let _alone = alone();
    prepare(Detect::Sigsegv).unwrap();
    let before = faults::set_mappings_max(8);
    let mut area = area(Detect::Sigsegv, PAGES);
    for at in (0..PAGES).step_by(2) {
        area.bytes_mut()[at * PAGE_BYTES] = 1;
    }
    faults::set_mappings_max(before);
    let found = area.found().unwrap();
    assert_eq!(found.len(), PAGES, "each may have been stored to");
    let of_those_before: Vec<usize> =
        found.iter().filter(|one| one.is_sure).map(|one| one.at).collect();
    assert_eq!(of_those_before, [0, 2, 4, 6, 8]);
    assert!((0..PAGES).all(|at| (area.bytes()[at * PAGE_BYTES] == 1) == (at % 2 == 0)));
    // The mappings of the first area are given back: the next one has all that it may have.
    drop(area);
    let mut next = self::area(Detect::Sigsegv, PAGES);
    next.bytes_mut()[PAGE_BYTES] = 1;
    assert_eq!(next.found().unwrap(), sure([1]));
}

#[test]
fn areas_come_and_go() {
    let _alone = alone();
    for way in ways() {
        for round in 0..600_usize {
            let mut area = area(way, 1 + round % 5);
            let last = area.bytes().len() - 1;
            area.bytes_mut()[last] = 1;
            assert_eq!(area.found().unwrap(), sure([round % 5]), "{way:?}");
        }
    }
}
