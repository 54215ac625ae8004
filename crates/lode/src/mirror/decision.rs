//! Which copies may be read, by what they say of each other: a function of that and nothing else.

use super::state::{Claim, State};
use super::{SIDES, Side, name_of};

/// The use that can be made of the copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// No copy says anything: the database was never mirrored.
    Plain,
    /// Both have everything.
    InStep,
    /// One has everything; whether it knows that the other has not.
    Alone(Side, Knows),
    /// None may be read: why, and what helps.
    Refused(String),
}

/// Whether a copy that goes on alone has said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knows {
    Yes,
    /// It must, before anything is written.
    NotYet,
}

/// By the states that were found; `None` for a copy that is not there or cannot be read.
pub fn decide(states: &[Option<State>; 2]) -> Decision {
    match states {
        [None, None] => Decision::Plain,
        [Some(one), Some(two)] if one.identity != two.identity => {
            let what = "the two copies are of two databases: put the right ones together";
            Decision::Refused(what.to_owned())
        }
        [Some(one), Some(two)] => {
            let pairs = [(0, one, two), (1, two, one)];
            let chosen = pairs.into_iter().find_map(|(side, mine, other)| {
                stands(mine, other).map(|knows| Decision::Alone(side, knows))
            });
            match (one.claim, two.claim) {
                (Claim::Both, Claim::Both) if one.epoch == two.epoch => Decision::InStep,
                (Claim::Alone, Claim::Alone) => Decision::Refused(choose(
                    "each copy records that the other missed its changes: they diverged",
                )),
                _ => chosen.unwrap_or_else(|| Decision::Refused(incomplete())),
            }
        }
        [Some(one), None] => by_itself(0, one),
        [None, Some(one)] => by_itself(1, one),
    }
}

/// Whether a copy has everything though the other is there, too, and says something else.
fn stands(mine: &State, other: &State) -> Option<Knows> {
    let knows = match mine.claim {
        Claim::Both => Knows::NotYet,
        Claim::Alone => Knows::Yes,
        Claim::Incomplete => return None,
    };
    let is_newer = match other.claim {
        // It was filled from a copy of its epoch: one of an earlier epoch is older than that.
        Claim::Incomplete => mine.epoch >= other.epoch,
        Claim::Both | Claim::Alone => mine.epoch > other.epoch,
    };
    is_newer.then_some(knows)
}

fn by_itself(side: Side, state: &State) -> Decision {
    match state.claim {
        Claim::Alone => Decision::Alone(side, Knows::Yes),
        Claim::Incomplete => Decision::Refused(incomplete()),
        Claim::Both => {
            let (here, gone) = (name_of(side), name_of(SIDES[1 - side]));
            Decision::Refused(choose(&format!(
                "the {gone} copy of the mirror is not there or cannot be read, and the {here} \
                 does not say whether it missed something since",
            )))
        }
    }
}

fn choose(why: &str) -> String {
    format!(
        "{why}: bring the missing copy back, or, if one copy is to go on alone with what it has, \
         say which: `loadstone lode mirror NAME --alone first` or `second`"
    )
}

fn incomplete() -> String {
    "no copy of the mirror that is there is complete: bring back the one from which the other was \
     being filled, or restore the database from a backup"
        .to_owned()
}
