//! Creating and opening a database.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Database;
use crate::buffer::{Buffer, BufferOptions, Prefetcher, WriteBack};
use crate::disk::{BufferedFile, DirectFile, Disk};
use crate::error::{LodeError, Result};
use crate::log::{Log, Sizes};
use crate::page::{PAGE_BYTES, PageNumber};
use crate::recovery::recover;
use crate::shared::{Changes, Shared};
use crate::superblock::{self, Superblock};
use crate::tactics::{self, HugePages, Opening, Tactics};
use crate::{catalog, space};

/// The largest volume: 64 GiB. Only addresses are reserved for it.
pub(crate) const PAGES_MAX: PageNumber = 1 << 24;

/// The log's file grows in steps of a part of what it may become, so that a small one stays small.
const LOG_GROWTHS: u64 = 16;

const LOG_GROWTH_BYTES_MIN: u64 = 64 << 10;
const LOG_GROWTH_BYTES_MAX: u64 = 1 << 20;

/// The two files.
pub(crate) struct Files {
    pub(crate) volume: Arc<dyn Disk>,
    pub(crate) log: Arc<dyn Disk>,
}

impl Database {
    /// Make a new database: `path`, and beside it its log, `path` with `-log` behind. Where that
    /// fails neither is left.
    ///
    /// # Errors
    ///
    /// [`LodeError::Io`] if one of the files is there already; what the tactics or the disk say.
    pub fn create(path: &Path, tactics: &Tactics) -> Result<Self> {
        tactics.check()?;
        let files = Files::create(path, tactics.disk)?;
        let created = Self::format(&files, tactics).inspect_err(|_| remove_files(path));
        created.map(Self::with_prefetcher)
    }

    /// Open a database, and recover it if it was not closed.
    ///
    /// # Errors
    ///
    /// [`LodeError::InUse`] if another process has it open; [`LodeError::NotADatabase`],
    /// [`LodeError::Version`] or [`LodeError::Corrupt`] for what it is instead.
    pub fn open(path: &Path, tactics: &Tactics) -> Result<Self> {
        let open: Open = match tactics.disk {
            Opening::Buffered => |path| Ok(Arc::new(BufferedFile::open(path)?)),
            Opening::Direct => |path| Ok(Arc::new(DirectFile::open(path)?)),
        };
        let files = Files::open(path, open)?;
        Self::assemble(&files, path, tactics, false).map(Self::with_prefetcher)
    }

    /// Open a database only to read it; several processes may do so at once.
    ///
    /// # Errors
    ///
    /// As [`Database::open`], and [`LodeError::Unrecovered`] if it was not closed.
    pub fn open_read_only(path: &Path, tactics: &Tactics) -> Result<Self> {
        let open: Open = match tactics.disk {
            Opening::Buffered => |path| Ok(Arc::new(BufferedFile::open_read_only(path)?)),
            Opening::Direct => |path| Ok(Arc::new(DirectFile::open_read_only(path)?)),
        };
        let files = Files::open(path, open)?;
        Self::assemble(&files, path, tactics, true).map(Self::with_prefetcher)
    }

    /// The database on these disks: a new one if the volume is empty. The tactic `disk` decides
    /// nothing then.
    ///
    /// # Errors
    ///
    /// As [`Database::create`] and [`Database::open`].
    pub fn on(volume: Arc<dyn Disk>, log: Arc<dyn Disk>, tactics: &Tactics) -> Result<Self> {
        tactics.check()?;
        let len_bytes = volume.len_bytes().map_err(|source| LodeError::io("opening", source))?;
        let files = Files { volume, log };
        if len_bytes == 0 {
            return Self::format(&files, tactics);
        }
        Self::assemble(&files, Path::new("the volume"), tactics, false)
    }

    /// The superblock comes last: before it is there, this is no database.
    fn format(files: &Files, tactics: &Tactics) -> Result<Self> {
        let identity = identity();
        let log = Log::create_sized(Arc::clone(&files.log), identity, log_sizes(tactics))?;
        let extent_pages = tactics.extent.0;
        let superblock = Superblock { extent_pages, generation: 0, identity };
        let mut database = Self::new(files, log, superblock, tactics)?;
        let mut writing = database.writing();
        space::format(&mut writing, extent_pages)?;
        catalog::format(&mut writing)?;
        writing.commit()?;
        database.checkpoint()?;
        let superblock = Superblock::create(&*files.volume, extent_pages, identity)?;
        database.own().superblock = superblock;
        Ok(database)
    }

    fn assemble(files: &Files, path: &Path, tactics: &Tactics, read_only: bool) -> Result<Self> {
        tactics.check()?;
        let superblock = Superblock::open(&*files.volume, path, !read_only)?;
        // The extent is what it was created with, whatever was asked for now: what depends on it
        // is known here, before anything is written.
        let extent = tactics::ExtentPages(superblock.extent_pages);
        Tactics { extent, ..*tactics }.check()?;
        let sizes = log_sizes(tactics);
        let log = Log::open_sized(Arc::clone(&files.log), superblock.identity, sizes)?;
        let recovery = if log.end() == log.first() {
            None
        } else if read_only {
            return Err(LodeError::Unrecovered { path: path.to_owned() });
        } else {
            let pages_max = (tactics.cache.0 / PAGE_BYTES as u64) as usize;
            Some(recover(&*files.volume, &log, pages_max)?)
        };
        let mut database = Self::new(files, log, superblock, tactics)?;
        database.own().read_only = read_only;
        database.recovery = recovery;
        // Every use begins with the catalog, and the check with the space page behind it.
        database.buffer().bring(superblock::COPIES..space::SPACE_PAGE + 1);
        database.check_length()?;
        Ok(database)
    }

    /// Let it read ahead by itself. Not on any disks ([`Database::on`]): there each read is an
    /// answer to a call, so that what is simulated can be repeated.
    fn with_prefetcher(mut self) -> Self {
        self.prefetcher = Some(Prefetcher::of(&self.shared.buffer));
        self
    }

    /// A growth of the file is durable before any page of it is in use.
    fn check_length(&self) -> Result<()> {
        let pages_total = space::pages_total(&self.reading(), self.extent_pages())?;
        let pages_there = self.buffer().pages_total();
        if pages_total <= pages_there {
            return Ok(());
        }
        let how = format!("it ends after {pages_there} of its {pages_total} pages");
        Err(LodeError::Corrupt { what: "the volume".to_owned(), how })
    }

    fn new(files: &Files, log: Log, superblock: Superblock, tactics: &Tactics) -> Result<Self> {
        let options = BufferOptions {
            cache_bytes: tactics.cache.0,
            replacement: tactics.replacement,
            huge_pages: tactics.huge_pages == HugePages::On,
            read_ahead_pages: match tactics.read_ahead_pages() {
                0 => 0,
                _ => superblock.extent_pages,
            },
            pages_max: PAGES_MAX,
        };
        let buffer = Arc::new(Buffer::new(Arc::clone(&files.volume), &options)?);
        let changes = Arc::new(Changes::new(log, tactics));
        buffer.set_write_back(Arc::clone(&changes) as Arc<dyn WriteBack>);
        let extent = tactics::ExtentPages(superblock.extent_pages);
        let tactics = Tactics { extent, ..*tactics };
        let shared = Arc::new(Shared::new(buffer, changes, superblock, tactics));
        Ok(Self { prefetcher: None, shared, recovery: None })
    }

    /// What is shared, before anybody shares it.
    fn own(&mut self) -> &mut Shared {
        Arc::get_mut(&mut self.shared).expect("no transaction runs while a database is opened")
    }
}

fn create_file(path: &Path, opening: Opening) -> Result<Arc<dyn Disk>> {
    Ok(match opening {
        Opening::Buffered => Arc::new(BufferedFile::create(path)?),
        Opening::Direct => Arc::new(DirectFile::create(path)?),
    })
}

/// The two files of a database that is yet to be written.
pub(crate) fn create_files(path: &Path) -> Result<Files> {
    Files::create(path, Opening::Buffered)
}

/// Remove them again.
pub(crate) fn remove_files(path: &Path) {
    remove(path);
    remove(&log_path(path));
}

/// Remove a file that was just created. Who learns why it is not wanted need not learn that it
/// could not be removed either.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

/// How one of the files is opened.
type Open = fn(&Path) -> Result<Arc<dyn Disk>>;

impl Files {
    /// Two new files, or none.
    fn create(path: &Path, opening: Opening) -> Result<Self> {
        let volume = create_file(path, opening).map_err(|error| not_created(path, error))?;
        let log_path = log_path(path);
        let log = create_file(&log_path, opening)
            .inspect_err(|_| remove(path))
            .map_err(|error| log_not_created(path, &log_path, error))?;
        Ok(Self { volume, log })
    }

    /// The volume of that name, and its log.
    fn open(path: &Path, open: Open) -> Result<Self> {
        let volume = open(path)?;
        let log_path = log_path_of(path);
        match open(&log_path) {
            Ok(log) => Ok(Self { volume, log }),
            Err(LodeError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                // What is no volume has no log.
                Superblock::open(&*volume, path, false)?;
                let what = format!(
                    "the log {} is not there, without which {} is half a database: put it back \
                     beside it, or restore both files from a backup",
                    log_path.display(),
                    path.display()
                );
                Err(LodeError::Files { what })
            }
            Err(error) => Err(error),
        }
    }
}

/// Where the log lies of a volume that is there: beside it. Where the volume was named by a
/// symbolic link with no log beside it, beside what the link leads to.
fn log_path_of(path: &Path) -> PathBuf {
    let beside = log_path(path);
    if beside.exists() {
        return beside;
    }
    let led = path.canonicalize().map(|led| log_path(&led));
    led.ok().filter(|led| led.exists()).unwrap_or(beside)
}

/// Why the volume could not be made, and what helps.
fn not_created(path: &Path, error: LodeError) -> LodeError {
    let LodeError::Io { source, .. } = &error else { return error };
    let name = path.display();
    let what = match source.kind() {
        io::ErrorKind::NotFound => format!("{name} cannot be made: make its folder first"),
        io::ErrorKind::AlreadyExists if !path.exists() => {
            format!("{name} is a symbolic link that leads nowhere: remove it, or choose another")
        }
        _ => return error,
    };
    LodeError::Files { what }
}

/// The same of the log, while there was no volume.
fn log_not_created(path: &Path, log_path: &Path, error: LodeError) -> LodeError {
    match &error {
        LodeError::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
            let (path, log_path) = (path.display(), log_path.display());
            let what = format!(
                "the log {log_path} is there, its volume {path} is not: put the volume back beside \
                 it; if nobody needs what was in it, remove the log"
            );
            LodeError::Files { what }
        }
        _ => error,
    }
}

fn log_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push("-log");
    PathBuf::from(name)
}

fn log_sizes(tactics: &Tactics) -> Sizes {
    let growth_bytes = (tactics.checkpoint.0 / LOG_GROWTHS)
        .clamp(LOG_GROWTH_BYTES_MIN, LOG_GROWTH_BYTES_MAX)
        .next_multiple_of(PAGE_BYTES as u64);
    Sizes { growth_bytes, tail_bytes_max: growth_bytes as usize }
}

/// 16 bytes that no other volume has: the seeds that the standard library draws for its hash maps.
fn identity() -> [u8; 16] {
    let mut identity = [0; 16];
    for half in identity.chunks_exact_mut(8) {
        half.copy_from_slice(&RandomState::new().build_hasher().finish().to_le_bytes());
    }
    identity
}
