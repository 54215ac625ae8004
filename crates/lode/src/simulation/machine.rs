//! The machine that a database runs on: one device with its two files, or two devices with a copy
//! each, of which one may be dead.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::disk::{Lie, Life, SlowDisk};
use crate::database::Database;
use crate::disk::Disk;
use crate::disk::simulated::{Image, Simulation};
use crate::error::Result;
use crate::mirror::{CopyDisks, Side, take_alone_on};
use crate::tactics::{Mirroring, Tactics};

/// The files of each copy: state, volume, log.
const FILES: [[&str; 3]; 2] = [["1-state", "1-volume", "1-log"], ["2-state", "2-volume", "2-log"]];

/// The devices.
#[derive(Clone)]
pub(super) struct Machine {
    pub(super) simulation: Simulation,
    lie: Option<Lie>,
    lives: [Life; 2],
}

impl Machine {
    pub(super) fn new(simulation: Simulation, lie: Option<Lie>) -> Self {
        Self { simulation, lie, lives: Default::default() }
    }

    /// Under `mirror=off` on the first device alone.
    pub(super) fn open(&self, tactics: &Tactics) -> Result<Database> {
        if tactics.mirror == Mirroring::Off {
            let of_volume = self.lie.filter(|lie| *lie != Lie::Synced);
            let of_log = self.lie.filter(|lie| *lie == Lie::Synced);
            let disk = |name, lie| {
                Arc::new(SlowDisk::over(self.simulation.disk(name), lie)) as Arc<dyn Disk>
            };
            return Database::on(disk("volume", of_volume), disk("log", of_log), tactics);
        }
        let machine = self.clone();
        // A copy that is to be filled gets a new device, on which the old bytes still lie.
        let attach = Box::new(move |side: Side| {
            machine.lives[side].store(false, Ordering::Relaxed);
            Ok(machine.copy(side))
        });
        Database::on_copies([self.copy(0), self.copy(1)], attach, tactics)
    }

    fn copy(&self, side: Side) -> CopyDisks {
        let [state, volume, log] = FILES[side].map(|name| self.file(side, name));
        CopyDisks { state, volume, log }
    }

    fn file(&self, side: Side, name: &'static str) -> Arc<dyn Disk> {
        let (life, below) = (Arc::clone(&self.lives[side]), self.simulation.disk(name));
        // Lies concern one device: the other would hide them.
        Arc::new(SlowDisk::on(life, below, self.lie))
    }

    pub(super) fn kill(&self, side: Side) {
        self.lives[side].store(true, Ordering::Relaxed);
    }

    /// A copy goes on with what it has.
    pub(super) fn take_alone(&self, side: Side) -> Result<()> {
        take_alone_on(&[Some(self.copy(0).state), Some(self.copy(1).state)], side)
    }
}

/// Whether both copies have the same bytes.
pub(super) fn are_alike(image: &Image) -> bool {
    let bytes = |name| {
        let disk = image.disk(name);
        let mut bytes = vec![0; disk.len_bytes().expect("memory has a length") as usize];
        disk.read(0, &mut bytes).expect("memory can be read");
        bytes
    };
    [1, 2].iter().all(|&file| bytes(FILES[0][file]) == bytes(FILES[1][file]))
}
