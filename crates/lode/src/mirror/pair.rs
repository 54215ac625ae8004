//! The copies that are in step while both are open, and what each is reported when that changes.

use std::io;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::state::{Claim, State, StateFile};
use super::{SIDES, Side, name_of};
use crate::error::{LodeError, Result};
use crate::sync::{Mutex, MutexGuard};

/// The way in which a copy stands, for those who read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Standing {
    /// It is neither read nor written.
    Gone,
    /// It is written up to the cursor, and not read.
    Filling,
    /// It is read and written.
    Live,
}

impl Standing {
    pub fn is_live(self) -> bool {
        self == Self::Live
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Filling => "being filled",
            Self::Live => "in step",
        }
    }
}

/// Both copies of an open database.
pub struct Pair {
    standings: [AtomicU8; 2],
    known: Mutex<Known>,
    mended: AtomicU64,
}

/// The facts written to the states. A thread that changes a standing holds this.
struct Known {
    /// The highest that was found or written.
    epoch: u64,
    /// The epoch that a live copy is known to say. A copy that is incomplete says no higher one: it
    /// would be taken for one that was filled from a newer copy than there is.
    durable_epoch: u64,
    /// The copy that was to say that it is alone, and could not. It may say so after a crash all
    /// the same, so the other must never say it: nobody could determine then which one is right.
    /// Besides, the other had failed a call, so it does not have all that this one has.
    may_be_alone: Option<Side>,
    identity: [u8; 16],
    files: [Option<StateFile>; 2],
    why: [String; 2],
}

impl Pair {
    /// Of these states' files, `None` for a copy that is gone, with the reason.
    pub fn new(
        epoch: u64,
        identity: [u8; 16],
        files: [Option<StateFile>; 2],
        why: [String; 2],
    ) -> Self {
        let standing = |file: &Option<StateFile>| match file {
            Some(_) => Standing::Live,
            None => Standing::Gone,
        };
        Self {
            standings: [0, 1].map(|side: Side| AtomicU8::new(standing(&files[side]) as u8)),
            known: Mutex::new(Known {
                epoch,
                durable_epoch: epoch,
                may_be_alone: None,
                identity,
                files,
                why,
            }),
            mended: AtomicU64::new(0),
        }
    }

    pub fn standing(&self, side: Side) -> Standing {
        match self.standings[side].load(Ordering::Acquire) {
            2 => Standing::Live,
            1 => Standing::Filling,
            _ => Standing::Gone,
        }
    }

    /// The copies that are there say, durably, what they are. Also when they said so before: what
    /// was found may only have come from the system's cache, because a process was killed before
    /// its sync.
    ///
    /// # Errors
    ///
    /// If no copy is left that can.
    pub fn say_again(&self) -> Result<()> {
        let is_mirrored = SIDES.iter().all(|&side| self.standing(side).is_live());
        let claim = if is_mirrored { Claim::Both } else { Claim::Alone };
        for side in SIDES {
            if !self.standing(side).is_live() {
                continue;
            }
            // The guard must be given back before another copy is reported.
            let said = self.lock().say(side, claim);
            if let Err(error) = said {
                self.lose(side, &error, || true).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// One copy goes on alone, and says so.
    pub fn go_on_alone(&self, side: Side) -> Result<()> {
        let mut known = self.lock();
        known.say_alone(side).map_err(failed)
    }

    /// A copy has failed a call, which the other has done. Returns when the other says that it is
    /// alone: before that, nobody may be reported that the call succeeded. Nothing happens unless
    /// the call's file `is_current`: a thread may come late with what the device did that was there
    /// before, when another is being filled in its place or has been.
    ///
    /// # Errors
    ///
    /// If the other is gone or cannot say so: then no copy has what the call did. Also where
    /// this one may say that it is alone, because an earlier loss of the other came to nothing.
    pub fn lose(
        &self,
        side: Side,
        error: &io::Error,
        is_current: impl FnOnce() -> bool,
    ) -> io::Result<()> {
        let mut known = self.lock();
        match self.standing(side) {
            Standing::Gone => return Ok(()),
            _ if !is_current() => return Ok(()),
            Standing::Filling => {
                known.why[side] = error.to_string();
                self.set(side, Standing::Gone);
                return Ok(());
            }
            Standing::Live => {}
        }
        let other = SIDES[1 - side];
        if !self.standing(other).is_live() || known.may_be_alone == Some(side) {
            let what = format!("both copies of the mirror have failed; the {}: ", name_of(side));
            return Err(io::Error::new(error.kind(), format!("{what}{error}")));
        }
        known.say_alone(other)?;
        known.why[side] = error.to_string();
        self.set(side, Standing::Gone);
        // A copy opened alone later must not pass for whole. Where this fails, the other knows.
        let _ = known.say(side, Claim::Incomplete);
        Ok(())
    }

    /// A copy is going to be filled. It says so first.
    pub fn begin_filling(&self, side: Side, file: StateFile) -> Result<()> {
        let mut known = self.lock();
        assert!(self.standing(side) == Standing::Gone, "only a copy that is gone is filled");
        known.files[side] = Some(file);
        known.say(side, Claim::Incomplete).map_err(failed)
    }

    /// Writes go there from now on.
    pub fn start_filling(&self, side: Side) {
        let known = self.lock();
        self.set(side, Standing::Filling);
        drop(known);
    }

    /// A copy has everything, durably. Both say so, and it is read from now on.
    ///
    /// # Errors
    ///
    /// If it has failed a call meanwhile, or a state cannot be written; it is gone then.
    pub fn end_filling(&self, side: Side) -> Result<()> {
        let mut known = self.lock();
        if self.standing(side) != Standing::Filling {
            let why = known.why[side].clone();
            return Err(failed(io::Error::other(why)));
        }
        known.epoch += 1;
        let other = SIDES[1 - side];
        if let Err(error) = known.say(other, Claim::Both) {
            // Whether or not that is durable, this one says that it is incomplete.
            self.give_up(&mut known, side, &error);
            return known.say_alone(other).and(Err(error)).map_err(failed);
        }
        // What it says now comes behind whatever it could not say before.
        known.may_be_alone = None;
        if let Err(error) = known.say(side, Claim::Both) {
            // It may say so, and must not be believed once it has missed something. Until the
            // other can say that, it has everything and is written.
            match known.say_alone(other) {
                Ok(()) => self.give_up(&mut known, side, &error),
                Err(_) => self.set(side, Standing::Live),
            }
            return Err(failed(error));
        }
        known.why[side].clear();
        self.set(side, Standing::Live);
        Ok(())
    }

    fn give_up(&self, known: &mut Known, side: Side, error: &io::Error) {
        known.why[side] = error.to_string();
        self.set(side, Standing::Gone);
    }

    /// Give up filling a copy.
    pub fn stop_filling(&self, side: Side, why: &str) {
        let mut known = self.lock();
        if self.standing(side) != Standing::Live {
            why.clone_into(&mut known.why[side]);
            self.set(side, Standing::Gone);
        }
    }

    pub fn count_mended(&self) {
        self.mended.fetch_add(1, Ordering::Relaxed);
    }

    pub fn mended(&self) -> u64 {
        self.mended.load(Ordering::Relaxed)
    }

    /// The epoch, and why copies are gone.
    pub fn reported(&self) -> (u64, [String; 2]) {
        let known = self.lock();
        (known.epoch, known.why.clone())
    }

    fn set(&self, side: Side, standing: Standing) {
        self.standings[side].store(standing as u8, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn say(&mut self, side: Side, claim: Claim) -> io::Result<()> {
        let epoch = match claim {
            Claim::Incomplete => self.durable_epoch,
            Claim::Both | Claim::Alone => self.epoch,
        };
        let state = State { claim, epoch, identity: self.identity };
        let Some(file) = &mut self.files[side] else {
            return Err(io::Error::other(format!("the {} copy is not there", name_of(side))));
        };
        file.write(&state)?;
        self.durable_epoch = epoch;
        Ok(())
    }

    /// A copy says that the other has missed something, in an epoch of its own.
    fn say_alone(&mut self, side: Side) -> io::Result<()> {
        self.epoch += 1;
        self.may_be_alone = Some(side);
        self.say(side, Claim::Alone)?;
        self.may_be_alone = None;
        Ok(())
    }
}

fn failed(source: io::Error) -> LodeError {
    LodeError::io("writing the state of the mirror", source)
}
