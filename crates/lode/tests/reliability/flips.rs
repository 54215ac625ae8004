//! Every byte of a small database changed, one at a time: what was written is read, or an error
//! says that it is damaged.
//!
//! A log that was not emptied ends where a record does not fit, because after a crash blocks may
//! have arrived in any order; it is damaged if a later record says that it was synced further. So
//! a changed byte can take back the transaction that was synced last, of which no record says so,
//! and never half of it.

use std::sync::Arc;

use lode::internals::disk::Disk;
use lode::internals::disk::simulated::{Image, Simulation};
use lode::internals::error::Result;
use lode::internals::page::{HEADER_BYTES, PAGE_BYTES};
use lode::{Database, Tactics};

use crate::contents::{Contents, tactics};
use crate::operations::{Operator, commit_some};
use crate::random::show;
use crate::reading::{is_damage, read_and_check};

/// In the default run, so many bytes are skipped: a prime number, so that no field is always
/// skipped. The header of each page never is.
const STRIDE: usize = 509;

const TACTICS: &str = "cache=262144&checkpoint=262144&extent=4&swizzle=on";

#[test]
fn a_changed_byte_is_seen_or_does_no_harm() {
    flip(STRIDE);
}

#[test]
#[ignore = "looks at some hundred thousand databases: minutes in a release build"]
fn every_changed_byte_is_seen_or_does_no_harm() {
    flip(1);
}

fn flip(stride: usize) {
    for is_closed in [true, false] {
        let small = Small::new(is_closed);
        let volume = small.flip_all("volume", stride);
        assert!(volume.refused > 0 && volume.right > 0, "{volume:?}");
        let log = small.flip_all("log", stride);
        let is_open = log.refused > 0 && log.shorter > 0;
        assert!(log.right > 0 && is_closed != is_open, "{log:?}");
        show(format!("volume: {volume:?}, log: {log:?}"));
    }
}

/// A database, as it lies on its disks.
struct Small {
    image: Image,
    tactics: Tactics,
    /// The committed states.
    states: Vec<Contents>,
}

/// The outcomes of the changed images.
#[derive(Debug, Clone, Copy, Default)]
struct Outcomes {
    right: u32,
    refused: u32,
    /// The state before the last, where the log ended early.
    shorter: u32,
}

impl Small {
    /// All of everything, and if it is not closed a log with a few transactions.
    fn new(is_closed: bool) -> Self {
        let tactics = tactics(TACTICS);
        let simulation = Simulation::new();
        let disk = |name| Arc::new(simulation.disk(name));
        let database = Database::on(disk("volume"), disk("log"), &tactics).unwrap();
        let mut operator = Operator::new(3);
        let mut contents = Contents::create(&database).unwrap();
        commit_some(&mut operator, &database, &mut contents, 50).unwrap();
        database.checkpoint().unwrap();
        let mut states = vec![contents.clone()];
        for _ in 0..4 {
            commit_some(&mut operator, &database, &mut contents, 6).unwrap();
            states.push(contents.clone());
        }
        if is_closed {
            database.close().unwrap();
            states = vec![contents];
        } else {
            database.abandon();
        }
        Self { image: simulation.killed(), tactics, states }
    }

    fn flip_all(&self, name: &str, stride: usize) -> Outcomes {
        let mut outcomes = Outcomes::default();
        let len_bytes = self.image.disk(name).len_bytes().unwrap() as usize;
        let mut next = 0;
        for at in 0..len_bytes {
            // A log's pages have no headers, but for its own.
            let in_header = at % PAGE_BYTES < HEADER_BYTES && (name == "volume" || at < PAGE_BYTES);
            if at < next && !in_header {
                continue;
            }
            if at >= next {
                next = at + stride;
            }
            // All bits of a byte here, one there.
            let mask = if at.is_multiple_of(3) { 0xff } else { 1 << (at % 8) };
            self.flip_one(name, at, mask, &mut outcomes);
        }
        outcomes
    }

    fn flip_one(&self, name: &str, at: usize, mask: u8, outcomes: &mut Outcomes) {
        let (volume, log) = (self.image.disk("volume"), self.image.disk("log"));
        let disk = if name == "volume" { &volume } else { &log };
        let mut byte = [0];
        disk.read(at as u64, &mut byte).unwrap();
        disk.write(at as u64, &[byte[0] ^ mask]).unwrap();
        let reported = || format!("byte {at} of the {name}, changed by {mask:#x}");
        match self.read(volume, log) {
            Ok(Some(found)) if Some(&found) == self.states.last() => outcomes.right += 1,
            Ok(Some(found)) if name == "log" && self.states.iter().rev().nth(1) == Some(&found) => {
                outcomes.shorter += 1;
            }
            Ok(found) => panic!("{}: a wrong answer: {found:?}", reported()),
            Err(error) => {
                assert!(is_damage(&error), "{}: {error}", reported());
                outcomes.refused += 1;
            }
        }
    }

    fn read(
        &self,
        volume: Arc<impl Disk + 'static>,
        log: Arc<impl Disk + 'static>,
    ) -> Result<Option<Contents>> {
        let database = Database::on(volume, log, &self.tactics)?;
        let found = read_and_check(&database);
        database.abandon();
        found
    }
}
