//! From the copies that are there to the two disks of a database.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::decision::{Decision, Knows, decide};
use super::disk::{AtOnce, Holds, MirroredDisk};
use super::pair::Pair;
use super::state::{Claim, State, StateFile};
use super::{Mirror, SIDES, Side, name_of};
use crate::aligned_bytes::AlignedBytes;
use crate::disk::Disk;
use crate::error::{LodeError, Result};
use crate::log::{Log, Lsn};
use crate::page::PAGE_BYTES;
use crate::superblock::Superblock;
use crate::tactics::Mirroring;

/// Compared and copied at once.
const PIECE_BYTES: usize = 1 << 20;

/// The three files of a copy.
#[derive(Clone)]
pub struct CopyDisks {
    /// The file in which it shows the state of both.
    pub state: Arc<dyn Disk>,
    /// Its volume.
    pub volume: Arc<dyn Disk>,
    /// Its log.
    pub log: Arc<dyn Disk>,
}

/// The parts of a copy that can be opened; or why not.
pub struct Found {
    /// The file in which it shows the state of both.
    pub state: Result<Arc<dyn Disk>, String>,
    /// Its volume and its log.
    pub data: Result<[Arc<dyn Disk>; 2], String>,
}

impl Found {
    /// A copy that is there.
    pub fn of(disks: &CopyDisks) -> Self {
        let CopyDisks { state, volume, log } = disks.clone();
        Self { state: Ok(state), data: Ok([volume, log]) }
    }

    /// One that is not.
    pub fn none(why: &str) -> Self {
        Self { state: Err(why.to_owned()), data: Err(why.to_owned()) }
    }
}

/// Makes the files of a copy anew, to be filled.
pub type Attach = dyn Fn(Side) -> Result<CopyDisks> + Send + Sync;

/// The way in which the copies are to be used.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    /// Which is read.
    pub policy: Mirroring,
    /// The calls that two threads make.
    pub at_once: AtOnce,
    /// Nothing is written.
    pub read_only: bool,
}

/// The two disks of a mirrored database.
pub struct Opened {
    /// The volume.
    pub volume: Arc<dyn Disk>,
    /// The log.
    pub log: Arc<dyn Disk>,
    /// The mirror behind them.
    pub mirror: Arc<Mirror>,
}

/// Two empty copies of a database that is yet to be made.
pub fn create(
    copies: [CopyDisks; 2],
    identity: [u8; 16],
    wish: Wish,
    attach: Box<Attach>,
) -> Result<Opened> {
    let mut files = [None, None];
    let mut data = [None, None];
    for (side, CopyDisks { state, volume, log }) in copies.into_iter().enumerate() {
        files[side] = Some(StateFile::open(state)?.0);
        data[side] = Some([volume, log]);
    }
    let pair = Pair::new(1, identity, files, [String::new(), String::new()]);
    pair.say_again()?;
    Ok(opened(pair, &data, wish, attach))
}

fn opened(
    pair: Pair,
    data: &[Option<[Arc<dyn Disk>; 2]>; 2],
    wish: Wish,
    attach: Box<Attach>,
) -> Opened {
    opened_with(pair, data, None, wish, attach)
}

/// If the logs were not made alike, because nothing may be written, one of them is read.
fn opened_with(
    pair: Pair,
    data: &[Option<[Arc<dyn Disk>; 2]>; 2],
    log_of: Option<Side>,
    wish: Wish,
    attach: Box<Attach>,
) -> Opened {
    let pair = Arc::new(pair);
    let volumes = SIDES.map(|side| data[side].as_ref().map(|[volume, _]| Arc::clone(volume)));
    let logs = SIDES.map(|side| {
        let is_read = log_of.is_none_or(|only| only == side);
        data[side].as_ref().filter(|_| is_read).map(|[_, log]| Arc::clone(log))
    });
    let volume = MirroredDisk::new(Arc::clone(&pair), volumes, Holds::Pages, wish);
    let log = MirroredDisk::new(Arc::clone(&pair), logs, Holds::Records, wish);
    let mirror = Mirror::of(pair, [Arc::clone(&volume), Arc::clone(&log)], attach);
    Opened { volume, log, mirror }
}

/// The facts about the copies before any is chosen.
struct Known {
    files: [Option<StateFile>; 2],
    states: [Option<State>; 2],
    data: [Option<[Arc<dyn Disk>; 2]>; 2],
    why: [String; 2],
}

impl Known {
    fn of(found: [Found; 2]) -> Result<Self> {
        let mut known = Self {
            files: [None, None],
            states: [None, None],
            data: [None, None],
            why: [String::new(), String::new()],
        };
        for (side, Found { state, data }) in found.into_iter().enumerate() {
            match state.map(StateFile::open) {
                Ok(Ok((file, state))) => {
                    (known.files[side], known.states[side]) = (Some(file), state);
                }
                Ok(Err(error @ LodeError::Version { .. })) => return Err(error),
                Ok(Err(error)) => known.why[side] = error.to_string(),
                Err(why) => known.why[side] = why,
            }
            match data {
                Ok(data) => known.data[side] = Some(data),
                Err(why) => known.why[side] = why,
            }
        }
        Ok(known)
    }

    fn epoch(&self) -> u64 {
        self.states.iter().flatten().map(|state| state.epoch).max().unwrap_or(0)
    }
}

/// The end of the log of a copy, and its epoch.
type Reach = (Lsn, u64);

/// The disks of the copies that are in step.
///
/// # Errors
///
/// [`LodeError::Mirror`] if none is, or nobody can know; what the volume and log of the one that
/// is have to say.
pub fn assemble(found: [Found; 2], path: &Path, wish: Wish, attach: Box<Attach>) -> Result<Opened> {
    let known = Known::of(found)?;
    let (chosen, aware) = match decide(&known.states) {
        Decision::Refused(what) => return Err(LodeError::Mirror { what }),
        Decision::InStep => return in_step(known, path, wish, attach),
        Decision::Alone(side, aware) => (side, aware),
        // It was never mirrored: the copies are the first and none.
        Decision::Plain => (0, Knows::NotYet),
    };
    let identity = identity_of(&known, chosen, path)?;
    alone(known, (chosen, aware), identity, wish, attach)
}

fn identity_of(known: &Known, side: Side, path: &Path) -> Result<[u8; 16]> {
    if let Some([volume, _]) = &known.data[side] {
        Ok(Superblock::open(&**volume, path, false)?.identity)
    } else {
        let what = format!(
            "the {} copy of the mirror, which alone has everything, cannot be used: {}",
            name_of(side),
            known.why[side]
        );
        Err(LodeError::Mirror { what })
    }
}

/// One copy goes on without the other.
fn alone(
    mut known: Known,
    (side, aware): (Side, Knows),
    identity: [u8; 16],
    wish: Wish,
    attach: Box<Attach>,
) -> Result<Opened> {
    let other = SIDES[1 - side];
    let epoch = known.epoch();
    let other_file = known.files[other].take();
    known.data[other] = None;
    if known.why[other].is_empty() {
        "it had missed something when the database was opened".clone_into(&mut known.why[other]);
    }
    if known.states[side].is_none() {
        "it has not been made yet".clone_into(&mut known.why[other]);
    }
    let pair = Pair::new(epoch, identity, known.files, known.why);
    if !wish.read_only && aware == Knows::Yes {
        pair.say_again()?;
    }
    if !wish.read_only && aware == Knows::NotYet {
        pair.go_on_alone(side)?;
        if let Some(mut file) = other_file
            && known.states[other].is_some()
        {
            let state = State { claim: Claim::Incomplete, epoch: epoch + 1, identity };
            // The one that goes on knows; this only helps who has the other alone one day.
            let _ = file.write(&state);
        }
    }
    Ok(opened(pair, &known.data, wish, attach))
}

/// Both copies have everything that was acknowledged, unless one turns out to be damaged.
fn in_step(known: Known, path: &Path, wish: Wish, attach: Box<Attach>) -> Result<Opened> {
    let identity = known.states.iter().flatten().next().map_or([0; 16], |state| state.identity);
    let mut reaches = [None, None];
    let mut why = known.why.clone();
    let mut first_error = None;
    for side in SIDES {
        match known.data[side].as_ref().map(|data| probe(data, identity, path)) {
            Some(Ok(reach)) => reaches[side] = Some(reach),
            Some(Err(error)) => {
                why[side] = error.to_string();
                first_error.get_or_insert(error);
            }
            None => {}
        }
    }
    let known = Known { why, ..known };
    let winner = match reaches {
        [Some(one), Some(two)] => Side::from(two > one),
        [Some(_), None] => return alone(known, (0, Knows::NotYet), identity, wish, attach),
        [None, Some(_)] => return alone(known, (1, Knows::NotYet), identity, wish, attach),
        [None, None] => {
            let what = format!("no copy of the mirror can be used: {}", known.why.join("; "));
            return Err(first_error.unwrap_or(LodeError::Mirror { what }));
        }
    };
    if wish.read_only {
        let pair = Pair::new(known.epoch(), identity, known.files, known.why);
        return Ok(opened_with(pair, &known.data, Some(winner), wish, attach));
    }
    if let [Some(one), Some(two)] = &known.data
        && let Err((failed, error)) = equalise([one, two], winner)
    {
        let mut known = known;
        known.why[failed] = error.to_string();
        return alone(known, (SIDES[1 - failed], Knows::NotYet), identity, wish, attach);
    }
    let epoch = known.epoch();
    let pair = Pair::new(epoch, identity, known.files, known.why);
    pair.say_again()?;
    Ok(opened(pair, &known.data, wish, attach))
}

/// The extent to which a copy's log reaches, if the copy can be used.
fn probe([volume, log]: &[Arc<dyn Disk>; 2], identity: [u8; 16], path: &Path) -> Result<Reach> {
    let superblock = Superblock::open(&**volume, path, false)?;
    if superblock.identity != identity {
        let what = "a copy of the mirror is another database's: put the right ones together";
        return Err(LodeError::Mirror { what: what.to_owned() });
    }
    let log = Log::open(Arc::clone(log), identity)?;
    Ok((log.end(), log.epoch()))
}

/// Give the volume that is shorter what the other has behind its end, and the other copy the
/// winner's log; an error with the copy that failed. Wherever this ends, each of the two is what a
/// crash could have left.
fn equalise(data: [&[Arc<dyn Disk>; 2]; 2], winner: Side) -> Result<(), (Side, io::Error)> {
    lengthen([&*data[0][0], &*data[1][0]])?;
    let loser = SIDES[1 - winner];
    let (log, other_log) = (&data[winner][1], &data[loser][1]);
    let of_winner = |error| (winner, error);
    let of_other = |error| (loser, error);
    let len_bytes = log.len_bytes().map_err(of_winner)?;
    if other_log.len_bytes().map_err(of_other)? != len_bytes {
        other_log.set_len(len_bytes).map_err(of_other)?;
    }
    let mut buffers = [AlignedBytes::new(PIECE_BYTES), AlignedBytes::new(PIECE_BYTES)];
    for offset in (0..len_bytes).step_by(PIECE_BYTES) {
        let count = (len_bytes - offset).min(PIECE_BYTES as u64) as usize;
        let [mine, its] = &mut buffers;
        let (mine, its) = (&mut mine.bytes()[..count], &mut its.bytes()[..count]);
        log.read(offset, mine).map_err(of_winner)?;
        other_log.read(offset, its).map_err(of_other)?;
        if mine != its {
            other_log.write(offset, mine).map_err(of_other)?;
        }
    }
    other_log.sync().map_err(of_other)
}

/// Copy the pages behind the end of the shorter volume. A volume only grows: the shorter one missed
/// a growth, or its device lost an end that may be in use, and the longer one lacks nothing.
fn lengthen(volumes: [&dyn Disk; 2]) -> Result<(), (Side, io::Error)> {
    let mut len_bytes = [0; 2];
    for side in SIDES {
        len_bytes[side] = volumes[side].len_bytes().map_err(|error| (side, error))?;
    }
    let [one, two] = len_bytes;
    if one == two {
        return Ok(());
    }
    let longer = Side::from(two > one);
    let shorter = SIDES[1 - longer];
    let of_shorter = |error| (shorter, error);
    let mut buffer = AlignedBytes::new(PIECE_BYTES);
    // From the page in which it ends.
    let mut offset = len_bytes[shorter] / PAGE_BYTES as u64 * PAGE_BYTES as u64;
    while offset < len_bytes[longer] {
        let count = (len_bytes[longer] - offset).min(PIECE_BYTES as u64) as usize;
        let bytes = &mut buffer.bytes()[..count];
        volumes[longer].read(offset, bytes).map_err(|error| (longer, error))?;
        // Piece by piece: what a crash leaves is shorter still, but for a piece.
        volumes[shorter].set_len(offset + count as u64).map_err(of_shorter)?;
        volumes[shorter].write(offset, bytes).map_err(of_shorter)?;
        offset += count as u64;
    }
    volumes[shorter].sync().map_err(of_shorter)
}
