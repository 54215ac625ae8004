//! Two copies on simulated disks, of which each can die.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lode::internals::disk::simulated::{Image, Simulation};
use lode::internals::disk::{Destination, Disk};
use lode::internals::error::Result;
use lode::internals::mirror::{CopyDisks, Side, take_alone_on};
use lode::{Database, LodeError, Tactics};

/// The files of each copy: state, volume, log.
pub const FILES: [[&str; 3]; 2] =
    [["1-state", "1-volume", "1-log"], ["2-state", "2-volume", "2-log"]];

/// The life of a copy's device.
#[derive(Default)]
pub struct Life {
    /// Calls that it still does, plus 1; 0 for as many as are asked.
    calls_left: AtomicU64,
}

const DEAD: u64 = 1;

impl Life {
    /// It dies after so many calls.
    pub fn end_after(&self, calls: u64) {
        self.calls_left.store(calls + 1, Ordering::Relaxed);
    }

    pub fn is_over(&self) -> bool {
        self.calls_left.load(Ordering::Relaxed) == DEAD
    }

    /// The device is replaced.
    pub fn begin(&self) {
        self.calls_left.store(0, Ordering::Relaxed);
    }

    fn call(&self) -> io::Result<()> {
        match self.calls_left.load(Ordering::Relaxed) {
            0 => Ok(()),
            DEAD => Err(io::Error::other("the device is dead")),
            left => {
                self.calls_left.store(left - 1, Ordering::Relaxed);
                Ok(())
            }
        }
    }
}

/// A file on a device that can die.
struct Mortal {
    below: Arc<dyn Disk>,
    life: Arc<Life>,
}

impl Disk for Mortal {
    fn len_bytes(&self) -> io::Result<u64> {
        // No call of the device as long as it lives: so each death comes between two others.
        if self.life.is_over() {
            self.life.call()?;
        }
        self.below.len_bytes()
    }

    fn read_into(&self, offset: u64, into: Destination<'_>) -> io::Result<()> {
        if self.life.is_over() {
            self.life.call()?;
        }
        self.below.read_into(offset, into)
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.life.call()?;
        self.below.write(offset, from)
    }

    fn sync(&self) -> io::Result<()> {
        self.life.call()?;
        self.below.sync()
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.life.call()?;
        self.below.set_len(len_bytes)
    }
}

/// A machine with two devices.
#[derive(Clone)]
pub struct Machine {
    pub simulation: Simulation,
    pub lives: [Arc<Life>; 2],
}

impl Machine {
    pub fn on(simulation: Simulation) -> Self {
        Self { simulation, lives: [Arc::default(), Arc::default()] }
    }

    fn disk(&self, side: Side, name: &'static str) -> Arc<dyn Disk> {
        let below = Arc::new(self.simulation.disk(name));
        Arc::new(Mortal { below, life: Arc::clone(&self.lives[side]) })
    }

    pub fn copy(&self, side: Side) -> CopyDisks {
        let [state, volume, log] = FILES[side].map(|name| self.disk(side, name));
        CopyDisks { state, volume, log }
    }

    /// A copy that is to be filled gets a new device, on which the old bytes still lie.
    pub fn open(&self, tactics: &Tactics) -> Result<Database> {
        let machine = self.clone();
        let attach = Box::new(move |side: Side| {
            machine.lives[side].begin();
            Ok(machine.copy(side))
        });
        Database::on_copies([self.copy(0), self.copy(1)], attach, tactics)
    }

    /// A copy goes on with what it has.
    pub fn take_alone(&self, side: Side) -> Result<(), LodeError> {
        take_alone_on(&[Some(self.copy(0).state), Some(self.copy(1).state)], side)
    }

    /// All of a copy's files are empty: another device is there.
    pub fn replace(&self, side: Side) {
        for name in FILES[side] {
            self.simulation.disk(name).set_len(0).unwrap();
        }
    }
}

/// Every byte of both copies' volumes and logs is the same.
pub fn are_alike(image: &Image) -> bool {
    let bytes = |name| {
        let disk = image.disk(name);
        let mut bytes = vec![0; disk.len_bytes().unwrap() as usize];
        disk.read(0, &mut bytes).unwrap();
        bytes
    };
    [1, 2].iter().all(|&file| bytes(FILES[0][file]) == bytes(FILES[1][file]))
}
