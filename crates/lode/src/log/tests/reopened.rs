//! Logs that are opened again on a machine that went on: what is read may never have reached the
//! disk.

use std::sync::Arc;

use super::{Body, IDENTITY, SIZES, append_all, bodies, image, transactions};
use crate::disk::Disk;
use crate::disk::simulated::{Call, CrashOptions, Failure, Image, Simulation};
use crate::log::blocks::{BLOCK_BYTES, Blocks};
use crate::log::{Log, Sync};

fn open_on(simulation: &Simulation) -> Log {
    Log::open_sized(Arc::new(simulation.disk("log")), IDENTITY, SIZES).unwrap()
}

fn open_image(image: &Image) -> Log {
    Log::open_sized(image.disk("log"), IDENTITY, SIZES).unwrap()
}

fn create_on(simulation: &Simulation) -> Log {
    Log::create_sized(Arc::new(simulation.disk("log")), IDENTITY, SIZES).unwrap()
}

fn commit(log: &Log, transaction: u64) {
    let lsn = log.append(&Body::Commit, transaction).unwrap();
    log.make_durable(lsn, Sync::Own).unwrap();
}

#[test]
fn an_epoch_whose_sync_failed_is_made_durable_before_it_is_used() {
    let simulation = Simulation::new();
    let log = create_on(&simulation);
    append_all(&log, &bodies());
    commit(&log, 1);
    simulation.fail(Failure::nth(Some(Call::Sync), 1));
    log.begin_anew().unwrap_err();
    drop(log);
    let log = open_on(&simulation);
    assert_eq!(log.end(), log.first());
    commit(&log, 2);
    assert_eq!(transactions(&open_image(&simulation.image(&[]))), [2]);
}

#[test]
fn an_epoch_that_was_not_synced_is_so_before_the_one_before_is_overwritten() {
    let simulation = Simulation::new();
    let log = create_on(&simulation);
    append_all(&log, &bodies());
    commit(&log, 9);
    let whole = transactions(&log);
    // As if the process had been killed just before it synced the next epoch's header.
    let other = simulation.killed().simulation();
    open_on(&other).begin_anew().unwrap();
    let mut header = Blocks::zeroed(BLOCK_BYTES);
    other.disk("log").read(0, &mut header).unwrap();
    simulation.disk("log").write(0, &header).unwrap();
    let log = open_on(&simulation);
    simulation.record();
    commit(&log, 10);
    for crash in simulation.trace().crashes(CrashOptions::new(1)) {
        let read = transactions(&open_image(&crash.image));
        assert!(read == whole || read.is_empty() || read == [10], "{crash}: {read:?}");
    }
    assert_eq!(transactions(&open_image(&simulation.image(&[]))), [10]);
}

#[test]
fn records_whose_sync_failed_are_durable_after_reopening() {
    let simulation = Simulation::new();
    let log = create_on(&simulation);
    commit(&log, 1);
    let lsn = log.append(&image(7, 7), 2).unwrap();
    simulation.fail(Failure::nth(Some(Call::Sync), 1));
    log.make_durable(lsn, Sync::Group).unwrap_err();
    drop(log);
    assert_eq!(transactions(&open_image(&simulation.image(&[]))), [1]);
    let log = open_on(&simulation);
    assert_eq!(transactions(&log), [1, 2]);
    log.rewrite().unwrap();
    assert_eq!(transactions(&open_image(&simulation.image(&[]))), [1, 2]);
}
