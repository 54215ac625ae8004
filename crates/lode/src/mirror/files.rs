//! The place where the files of both copies lie, and what of them can be reported without opening
//! the database.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::decision::{Decision, Knows, decide};
use super::disk::AtOnce;
use super::opening::{Attach, CopyDisks, Found, Opened, Wish, assemble, create};
use super::state::{Claim, State, StateFile};
use super::{SIDES, Side, name_of};
use crate::disk::{BufferedFile, Disk, Memory};
use crate::error::{LodeError, Result};
use crate::files::{Files, log_path, open_file, open_file_read_only};
use crate::page::PAGE_BYTES;
use crate::superblock::{COPIES, Superblock};
use crate::tactics::{Mirroring, Opening, Tactics};

/// The paths of a database that is, or may be, mirrored.
#[derive(Debug, Clone)]
pub(crate) struct MirroredFiles {
    first: PathBuf,
}

/// The way in which files are opened.
type Open = fn(&Path, Opening) -> Result<Arc<dyn Disk>>;

/// The state of a copy that nobody has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyReported {
    /// Its volume.
    pub path: PathBuf,
    /// In words: `both copies are in step`, say.
    pub says: String,
    /// Counts the changes of who is in step; 0 where it says nothing.
    pub epoch: u64,
}

/// The state of a mirror that nobody has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The first copy and the second.
    pub copies: [CopyReported; 2],
    /// The outcome that opening would have.
    pub verdict: String,
}

/// Whether there is a database at that path, or the second copy of one.
pub fn is_there(path: &Path) -> bool {
    path.exists() || MirroredFiles::of(path).path(1).exists()
}

/// The state of the copies; `None` for a database that was never mirrored. Nobody is kept from
/// using it meanwhile.
///
/// # Errors
///
/// The system's error, of a state that is there and cannot be read; [`LodeError::NotADatabase`] of
/// another file.
pub fn inspect(path: &Path) -> Result<Option<Inspection>> {
    let files = MirroredFiles::of(path);
    let mut states = [None, None];
    let mut says = [String::new(), String::new()];
    for side in SIDES {
        let state = files.state_path(side);
        match fs::read(&state) {
            Ok(bytes) => match reported(&bytes) {
                Ok(state) => states[side] = state,
                Err(error) => says[side] = error.to_string(),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(LodeError::io(format!("reading {}", state.display()), error));
            }
        }
    }
    let verdict = match decide(&states) {
        Decision::Plain => {
            check_is_database(path)?;
            return Ok(None);
        }
        Decision::InStep => "both copies are in step".to_owned(),
        Decision::Alone(side, _) => format!(
            "the {} copy goes on alone: re-mirroring fills the {}",
            name_of(side),
            name_of(SIDES[1 - side])
        ),
        Decision::Refused(why) => why,
    };
    let copies = SIDES.map(|side| CopyReported {
        path: files.path(side),
        says: match (&states[side], says[side].is_empty()) {
            (_, false) => says[side].clone(),
            (None, _) => "nothing: it is not there".to_owned(),
            (Some(state), _) => match state.claim {
                Claim::Both => "it and the other have everything".to_owned(),
                Claim::Alone => "it has everything, the other has not".to_owned(),
                Claim::Incomplete => "it is incomplete".to_owned(),
            },
        },
        epoch: states[side].map_or(0, |state| state.epoch),
    });
    Ok(Some(Inspection { copies, verdict }))
}

/// Refuse a file that is there and is no database: "not mirrored" would hold of it, too. It is
/// read without a lock: a process that has the database open writes one superblock at a time.
fn check_is_database(path: &Path) -> Result<()> {
    let reading = |source| LodeError::io(format!("reading {}", path.display()), source);
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(file) => {
            let mut superblocks = file.take(u64::from(COPIES) * PAGE_BYTES as u64);
            superblocks.read_to_end(&mut bytes).map_err(reading)?
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(reading(error)),
    };
    let disk = Memory::new();
    disk.write(0, &bytes).map_err(reading)?;
    Superblock::open(&disk, path, false).map(drop)
}

fn reported(bytes: &[u8]) -> Result<Option<State>> {
    let disk = Memory::new();
    disk.write(0, bytes).map_err(|source| LodeError::io("reading a copy's state", source))?;
    Ok(StateFile::open(Arc::new(disk))?.1)
}

/// Let a copy go on alone with what it has, where no file can know whether it missed something.
///
/// # Errors
///
/// [`LodeError::Mirror`] of a copy that is not there, or says itself that it is incomplete;
/// [`LodeError::InUse`] while the database is open.
pub fn take_alone(path: &Path, side: Side) -> Result<()> {
    let files = MirroredFiles::of(path);
    let refused = |what: &str| {
        let what = format!("the {} copy {what}", name_of(side));
        Err(LodeError::Mirror { what })
    };
    if !files.path(side).exists() {
        return refused("is not there: name the other, or restore the database from a backup");
    }
    // A process that has the database open has locked this.
    let volume = BufferedFile::open(&files.path(side))?;
    let opened = SIDES.map(|side| {
        let opened = BufferedFile::open(&files.state_path(side));
        opened.ok().map(|disk| Arc::new(disk) as Arc<dyn Disk>)
    });
    take_alone_on(&opened, side)?;
    drop(volume);
    Ok(())
}

/// The same with the disks of the states that are there.
///
/// # Errors
///
/// As of [`take_alone`].
pub fn take_alone_on(disks: &[Option<Arc<dyn Disk>>; 2], side: Side) -> Result<()> {
    let refused = |what: &str| {
        let what = format!("the {} copy {what}", name_of(side));
        Err(LodeError::Mirror { what })
    };
    let [mut mine, mut others] = [side, SIDES[1 - side]]
        .map(|side| disks[side].clone().and_then(|disk| StateFile::open(disk).ok()));
    let epochs = [&mine, &others].into_iter().flatten().filter_map(|(_, state)| state.as_ref());
    let epoch = epochs.map(|state| state.epoch).max().unwrap_or(0) + 1;
    let Some((file, Some(state))) = &mut mine else {
        return refused("does not say of which mirror it is: name the other");
    };
    if state.claim == Claim::Incomplete {
        return refused("is incomplete: name the other, or restore the database from a backup");
    }
    let failed = |source| LodeError::io("writing the state of the mirror", source);
    file.write(&State { claim: Claim::Alone, epoch, ..*state }).map_err(failed)?;
    if let Some((file, Some(state))) = &mut others {
        // The one that goes on knows; this only helps who has the other alone one day.
        let _ = file.write(&State { claim: Claim::Incomplete, epoch, ..*state });
    }
    Ok(())
}

impl MirroredFiles {
    pub(crate) fn of(path: &Path) -> Self {
        Self { first: path.to_owned() }
    }

    /// A copy's volume.
    fn path(&self, side: Side) -> PathBuf {
        match side {
            0 => self.first.clone(),
            _ => self.folder().join(self.first.file_name().unwrap_or_default()),
        }
    }

    /// The place where the second copy lies.
    fn folder(&self) -> PathBuf {
        with_ending(&self.first, "-mirror")
    }

    fn state_path(&self, side: Side) -> PathBuf {
        with_ending(&self.path(side), "-state")
    }

    /// Whether a copy has a state: then the database is mirrored, or was.
    pub(crate) fn are_mirrored(&self) -> bool {
        SIDES.iter().any(|&side| self.state_path(side).exists())
    }

    /// The disks of a new database, all of them or none.
    pub(crate) fn create(&self, tactics: &Tactics, identity: [u8; 16]) -> Result<Opened> {
        let first = self.make(0, tactics.disk)?;
        let second = self.make(1, tactics.disk).inspect_err(|_| self.remove(0))?;
        let created =
            create([first, second], identity, wish(tactics, false), self.attach(tactics.disk));
        created.inspect_err(|_| self.remove_both())
    }

    /// The disks of the copies that are in step.
    pub(crate) fn open(&self, tactics: &Tactics, read_only: bool) -> Result<Opened> {
        let open: Open = if read_only { open_file_read_only } else { open_file };
        let found = if self.are_mirrored() {
            [self.found(0, open, tactics)?, self.found(1, open, tactics)?]
        } else {
            [self.found_plain(open, tactics)?, Found::none("it has not been made yet")]
        };
        assemble(found, &self.first, wish(tactics, read_only), self.attach(tactics.disk))
    }

    /// The first copy is to be opened without the second, which is left behind.
    pub(crate) fn leave_second(&self, read_only: bool) -> Result<()> {
        let mut states = [None, None];
        let mut opened = [None, None];
        for side in SIDES {
            let open = if read_only { BufferedFile::open_read_only } else { BufferedFile::open };
            match open(&self.state_path(side)).map(|disk| StateFile::open(Arc::new(disk))) {
                Ok(Ok((file, state))) => (opened[side], states[side]) = (Some(file), state),
                Ok(Err(error)) | Err(error) if !is_gone(&error) => return Err(error),
                _ => {}
            }
        }
        let what = match decide(&states) {
            Decision::Plain | Decision::Alone(0, Knows::Yes) => return Ok(()),
            Decision::InStep | Decision::Alone(0, Knows::NotYet) if read_only => return Ok(()),
            Decision::InStep | Decision::Alone(0, Knows::NotYet) => {
                drop(opened);
                return take_alone(&self.first, 0);
            }
            Decision::Alone(..) => {
                "the second copy of the mirror alone has everything: open the database with \
                 mirror=idle, which reads that one, and re-mirror it"
                    .to_owned()
            }
            Decision::Refused(what) => what,
        };
        Err(LodeError::Mirror { what })
    }

    /// A copy as it is; an error only where it is in use, or cannot be opened as the tactics say.
    fn found(&self, side: Side, open: Open, tactics: &Tactics) -> Result<Found> {
        let path = self.path(side);
        let state = reported_why(open(&self.state_path(side), Opening::Buffered))?;
        let files = Files::open(&path, |path| open(path, tactics.disk));
        let data = reported_why(files.map(|files| [files.volume, files.log]))?;
        Ok(Found { state, data })
    }

    /// The first copy of a database that was never mirrored. What is no database gets no state.
    fn found_plain(&self, open: Open, tactics: &Tactics) -> Result<Found> {
        let Files { volume, log } = Files::open(&self.first, |path| open(path, tactics.disk))?;
        Superblock::open(&*volume, &self.first, false)?;
        let state = create_file(&self.state_path(0))?;
        Ok(Found { state: Ok(state), data: Ok([volume, log]) })
    }

    fn attach(&self, opening: Opening) -> Box<Attach> {
        let files = self.clone();
        Box::new(move |side| {
            files.remove(side);
            files.make(side, opening)
        })
    }

    /// Make a copy's files; none is left where one fails. The state comes first: a volume without
    /// one would be taken for a database that was never mirrored.
    fn make(&self, side: Side, opening: Opening) -> Result<CopyDisks> {
        if side == 1 {
            let folder = self.folder();
            if !folder.is_dir() {
                let failed = |error| LodeError::io(format!("making {}", folder.display()), error);
                fs::create_dir(&folder).map_err(failed)?;
            }
        }
        let state = create_file(&self.state_path(side))?;
        let files = Files::create(&self.path(side), opening);
        let files = files.inspect_err(|_| drop(fs::remove_file(self.state_path(side))))?;
        Ok(CopyDisks { state, volume: files.volume, log: files.log })
    }

    pub(crate) fn remove_both(&self) {
        for side in SIDES {
            self.remove(side);
        }
    }

    /// Remove a copy. What is not there need not be removed, and what cannot be is found when it
    /// is to be made.
    fn remove(&self, side: Side) {
        let path = self.path(side);
        for file in [path.clone(), log_path(&path), self.state_path(side)] {
            let _ = fs::remove_file(file);
        }
        if side == 1 {
            // Only if nothing else is in it.
            let _ = fs::remove_dir(self.folder());
        }
    }
}

/// The use that a program makes of both copies.
const fn wish(tactics: &Tactics, read_only: bool) -> Wish {
    let at_once = match tactics.disk {
        Opening::Buffered => AtOnce::Syncs,
        Opening::Direct => AtOnce::All,
    };
    let policy = match tactics.mirror {
        Mirroring::Off => Mirroring::First,
        policy => policy,
    };
    Wish { policy, at_once, read_only }
}

/// A copy that cannot be opened is gone; but not one that somebody uses.
fn reported_why<T>(opened: Result<T>) -> Result<Result<T, String>> {
    match opened {
        Ok(opened) => Ok(Ok(opened)),
        Err(error) if is_gone(&error) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

const fn is_gone(error: &LodeError) -> bool {
    use LodeError::{Corrupt, Files, Io, NotADatabase};
    matches!(error, Io { .. } | Files { .. } | NotADatabase { .. } | Corrupt { .. })
}

fn create_file(path: &Path) -> Result<Arc<dyn Disk>> {
    Ok(Arc::new(BufferedFile::create(path)?))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(ending);
    PathBuf::from(name)
}
