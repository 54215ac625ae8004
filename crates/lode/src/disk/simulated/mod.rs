//! Disks that crash, tear, fail and fill up on demand, and the same way each time.
//!
//! Several simulated files belong to one [`Simulation`] and so to one order of events: a volume
//! and its log lose power at the same moment. Reads see what was written, as through a cache; a
//! crash leaves what was synced and any part of what was not ([`Survival`]).
//!
//! ```
//! use lode::internals::disk::Disk;
//! use lode::internals::disk::simulated::{CrashOptions, Simulation};
//!
//! let simulation = Simulation::new();
//! simulation.record();
//! let log = simulation.disk("log");
//! log.write(0, b"begin")?;
//! log.sync()?;
//! simulation.mark(1);
//! log.write(5, b"end")?;
//! for crash in simulation.trace().crashes(CrashOptions::new(7)) {
//!     let log = crash.image.disk("log");
//!     assert!(crash.mark < Some(1) || log.len_bytes()? >= 5, "{crash}");
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

mod choices;
mod crashes;
mod failure;
mod medium;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use crashes::{Crash, CrashOptions, Crashes, Trace};
pub use failure::{Call, Failure};
pub use medium::{Image, SECTOR_BYTES, Survival, Tear};

use crate::disk::contents::{Contents, Patch};
use crate::disk::{Destination, Disk};
use crate::random::Random;
use failure::Failures;
use medium::{Change, Event, Medium};

/// Files that lose power together. Copies are handles to the same one.
#[derive(Clone, Default)]
pub struct Simulation(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    names: Vec<&'static str>,
    /// The bytes that reads see.
    cache: Vec<Contents>,
    medium: Medium,
    /// Since recording began: where it began, and what happened.
    recorded: Option<(Medium, Vec<Event>)>,
    failures: Failures,
    capacity_bytes: Option<u64>,
}

impl Simulation {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// The files of an image, all of it durable: what a program finds after the crash, ready to
    /// crash again.
    pub fn of(image: &Image) -> Self {
        let medium = Medium::of(image.files.clone());
        let (names, cache) = (image.names.clone(), image.files.clone());
        Self(Arc::new(Mutex::new(State { names, cache, medium, ..State::default() })))
    }

    /// The file of that name; an empty one if there was none.
    pub fn disk(&self, name: &'static str) -> SimulatedDisk {
        let mut state = self.state();
        let known = state.names.iter().position(|&known| known == name);
        let file = known.unwrap_or_else(|| {
            state.names.push(name);
            state.cache.push(Contents::default());
            state.names.len() - 1
        });
        SimulatedDisk { simulation: self.clone(), file }
    }

    /// Let a call fail. Several may be planned at once.
    pub fn fail(&self, failure: Failure) {
        self.state().failures.plan(failure);
    }

    /// Forget the failures that were planned.
    pub fn mend(&self) {
        self.state().failures.forget();
    }

    /// The number of calls of this kind, failed ones too; of all kinds with `None`. So a
    /// first run shows how many [`Failure`]s there are to try.
    pub fn calls(&self, call: Option<Call>) -> u64 {
        self.state().failures.calls(call)
    }

    /// From now on all files together have this room; `None` for as much as they like. Growth
    /// beyond it is [`io::ErrorKind::StorageFull`], after as many sectors as fit.
    pub fn set_capacity_bytes(&self, capacity_bytes: Option<u64>) {
        self.state().capacity_bytes = capacity_bytes;
    }

    /// Begin a trace, in place of one that was begun before. It keeps every byte written.
    pub fn record(&self) {
        let mut state = self.state();
        state.recorded = Some((state.medium.clone(), Vec::new()));
    }

    /// Note in the trace how far the program has come: what it has promised, say.
    pub fn mark(&self, mark: u64) {
        self.state().happen(Event::Mark(mark));
    }

    /// The changes since [`Simulation::record`]; nothing if that was never called.
    pub fn trace(&self) -> Trace {
        let state = self.state();
        let (start, events) =
            state.recorded.clone().unwrap_or_else(|| (state.medium.clone(), Vec::new()));
        Trace { names: state.names.clone(), start, events }
    }

    /// The number of changes that are not durable now: as many [`Survival`]s there are to give.
    pub fn pending_count(&self) -> usize {
        self.state().medium.pending.len()
    }

    /// The files that a crash now would leave. Changes beyond the end of `survivals` are lost.
    pub fn image(&self, survivals: &[Survival]) -> Image {
        let state = self.state();
        state.medium.image(&state.names, survivals)
    }

    /// The files that a crash now might leave, chosen by the options' seed.
    pub fn random_image(&self, options: &CrashOptions) -> Image {
        let state = self.state();
        let mut random = Random::new(options.seed);
        let survivals = choices::random(&state.medium.pending, options, &mut random);
        state.medium.image(&state.names, &survivals)
    }

    /// The files when the program is killed and the machine goes on: all that was written.
    pub fn killed(&self) -> Image {
        let state = self.state();
        Image { names: state.names.clone(), files: state.cache.clone() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn happen(&mut self, event: Event) {
        self.medium.happen(&event);
        if let Some((_, events)) = &mut self.recorded {
            events.push(event);
        }
    }

    /// Change the cache now and the medium some time.
    fn change(&mut self, file: usize, change: Change) -> io::Result<()> {
        match &change {
            Change::Write(patch) => self.cache[file].apply(patch, 0..patch.count())?,
            Change::SetLen(len_bytes) => self.cache[file].set_len(*len_bytes)?,
        }
        self.happen(Event::Change { file, change });
        Ok(())
    }

    /// To which length the file could grow.
    fn len_bytes_max(&self, file: usize) -> u64 {
        let Some(capacity_bytes) = self.capacity_bytes else { return u64::MAX };
        let others = self.cache.iter().enumerate().filter(|(other, _)| *other != file);
        capacity_bytes.saturating_sub(others.map(|(_, contents)| contents.len_bytes()).sum())
    }

    fn write(&mut self, file: usize, offset: u64, from: &[u8]) -> io::Result<()> {
        let mut whole_bytes = from.len();
        let mut result = Ok(());
        if let Err(error) = self.failures.call(Call::Write) {
            // Some of it may have been written: here, the first half of its sectors.
            whole_bytes = whole_bytes / 2 / SECTOR_BYTES * SECTOR_BYTES;
            result = Err(error);
        }
        let len_bytes = self.cache[file].len_bytes();
        let capacity_bytes = self.len_bytes_max(file).max(len_bytes).saturating_sub(offset);
        if whole_bytes as u64 > capacity_bytes {
            whole_bytes = capacity_bytes as usize / SECTOR_BYTES * SECTOR_BYTES;
            result = Err(io::ErrorKind::StorageFull.into());
        }
        if whole_bytes > 0 {
            self.change(file, Change::Write(Patch::new(offset, &from[..whole_bytes])))?;
        }
        result
    }

    fn sync(&mut self, file: usize) -> io::Result<()> {
        let called = self.failures.call(Call::Sync);
        let event = match called {
            Ok(()) => Event::Sync { file },
            Err(_) => Event::SyncFailed { file },
        };
        self.happen(event);
        called
    }

    fn set_len(&mut self, file: usize, len_bytes: u64) -> io::Result<()> {
        self.failures.call(Call::SetLen)?;
        if len_bytes > self.len_bytes_max(file).max(self.cache[file].len_bytes()) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.change(file, Change::SetLen(len_bytes))
    }
}

/// One file of a [`Simulation`].
///
/// A failing write leaves the first half of its sectors written. A failing sync leaves every write
/// since the last one unsynced, and no later sync makes up for it, as in Linux: they may be lost
/// until the same sectors are written and synced again.
#[derive(Clone)]
pub struct SimulatedDisk {
    simulation: Simulation,
    file: usize,
}

impl Disk for SimulatedDisk {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.simulation.state().cache[self.file].len_bytes())
    }

    fn read_into(&self, offset: u64, into: Destination<'_>) -> io::Result<()> {
        let mut state = self.simulation.state();
        state.failures.call(Call::Read)?;
        state.cache[self.file].read(offset, into)
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.simulation.state().write(self.file, offset, from)
    }

    fn sync(&self) -> io::Result<()> {
        self.simulation.state().sync(self.file)
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.simulation.state().set_len(self.file, len_bytes)
    }
}
