//! A transaction that cannot be taken back because the database has failed, while another thread is
//! in the middle of a checkpoint that it began before. Recovery must find what it needs.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use super::history;
use super::machine::Machine;
use super::model::FILES;
use super::scheduler::{self, Interleaving, Job, Moment};
use crate::disk::simulated::{Call, Failure, Simulation};
use crate::error::LodeError;
use crate::page::{PageKind, PageNumber};
use crate::pages::{PageRead, PageWrite};
use crate::random::Random;

/// The places of the pages' two values.
const AT: usize = 2_048;
const OTHER_AT: usize = 3_072;

/// The tactics under which what takes a page back is kept in different ways.
const TACTICS: [&str; 4] = [
    "log=page-diff",
    "log=page-diff&shadows=cache",
    "log=page-grain&bulk=logged",
    "log=set-range&bulk=logged",
];

/// So many interleavings of each: where such a transaction counted as ended, one in ten lost what
/// takes back a page that was being written, and one in fifty what takes back a written one.
const INTERLEAVINGS: u64 = 200;

const PAGES: usize = 8;

fn change(pages: &mut impl PageWrite, page: PageNumber, at: usize, value: u64) {
    pages.write(page, |bytes| bytes.put_u64(at, value)).expect("nothing is against it");
}

fn wait_for(moment: &Cell<bool>) {
    while !moment.get() {
        scheduler::reach(Moment::Waiting);
    }
}

fn value(pages: &impl PageRead, page: PageNumber, at: usize) -> u64 {
    pages.read(page, |view| view.u64(at)).expect("it is there")
}

/// The state in which the rollback finds the pages, and the moment at which it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    /// The pages were changed and not written; the database fails before the rollback.
    Unwritten,
    /// They were written; likewise.
    Written,
    /// They were written and changed again; the log cannot be read when the first page has been
    /// restored in part.
    HalfRestored,
}

/// The values of pages after recovery that a transaction had changed from 1 to 2, and could not
/// take back.
fn recovered(tactics: &str, case: Case, seed: u64) -> [u64; PAGES] {
    let machine = Machine::new(Simulation::new(), None);
    let database = Rc::new(machine.open(&history::tactics(tactics)).expect("it can be made"));
    let mut writing = database.writing();
    let pages = [(); PAGES].map(|()| {
        let page = writing.allocate(FILES[0], PageKind::Heap).expect("there is room");
        change(&mut writing, page, AT, 1);
        change(&mut writing, page, OTHER_AT, 1);
        page
    });
    writing.commit().expect("nothing is against it");
    database.checkpoint().expect("nothing is against it");

    let (has_changed, writes_now) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(false)));
    let fails = {
        let (database, has_changed) = (Rc::clone(&database), Rc::clone(&has_changed));
        let (writes_now, simulation) = (Rc::clone(&writes_now), machine.simulation.clone());
        move || {
            let mut writing = database.writing();
            for page in pages {
                change(&mut writing, page, AT, 2);
            }
            if case != Case::Unwritten {
                database.checkpoint().expect("nothing is against it");
            }
            if case == Case::HalfRestored {
                for page in pages {
                    change(&mut writing, page, OTHER_AT, 2);
                }
            }
            has_changed.set(true);
            wait_for(&writes_now);
            if case == Case::HalfRestored {
                simulation.fail(Failure::nth(Some(Call::Read), 1).for_ever());
            } else {
                let error = LodeError::io("reading", io::Error::other("it is broken"));
                database.changes().set_broken(&error);
            }
            drop(writing);
            simulation.mend();
        }
    };
    let writes = {
        let database = Rc::clone(&database);
        move || {
            wait_for(&has_changed);
            writes_now.set(true);
            // It fails, or comes before the failure.
            _ = database.checkpoint();
        }
    };
    let (random, inspect_at) = (Random::new(seed), Vec::new());
    let one_in = [2, 5, 20][seed as usize % 3];
    let interleaving = Interleaving { random, one_in, inspect_at, inspect: Rc::new(|| ()) };
    scheduler::run(interleaving, vec![Box::new(fails) as Job, Box::new(writes) as Job]);
    Rc::into_inner(database).expect("the threads have ended").abandon();
    let killed = Machine::new(machine.simulation.killed().simulation(), None);
    let opened = killed.open(&history::tactics(tactics)).expect("it can be recovered");
    let found = pages.map(|page| {
        let values = [AT, OTHER_AT].map(|at| value(&opened.reading(), page, at));
        values.into_iter().max().expect("there are two")
    });
    opened.abandon();
    found
}

#[test]
fn what_could_not_be_taken_back_is_taken_back_by_recovery() {
    for tactics in TACTICS {
        for case in [Case::Unwritten, Case::Written, Case::HalfRestored] {
            for seed in 1..=INTERLEAVINGS {
                let found = recovered(tactics, case, seed);
                assert_eq!(found, [1; PAGES], "{tactics}, {case:?}, seed {seed}");
            }
        }
    }
}
