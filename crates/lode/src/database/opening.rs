//! Creating and opening a database.

use std::path::Path;
use std::sync::Arc;

use super::Database;
use crate::buffer::{Buffer, BufferOptions, Prefetcher, WriteBack};
use crate::disk::Disk;
use crate::error::{LodeError, Result};
use crate::files::{Files, open_file, open_file_read_only, remove_files};
use crate::log::{Log, Sizes};
use crate::mirror::{self, AtOnce, Attach, CopyDisks, MirroredFiles, Opened, Wish};
use crate::page::{PAGE_BYTES, PageNumber};
use crate::recovery::recover;
use crate::shared::{Changes, Shared};
use crate::superblock::{self, Superblock};
use crate::tactics::{self, HugePages, Mirroring, Tactics};
use crate::{catalog, mapped, random, space};

/// The largest volume: 64 GiB. Only addresses are reserved for it.
pub(crate) const PAGES_MAX: PageNumber = 1 << 24;

/// The log's file grows in steps of a part of what it may become, so that a small one stays small.
const LOG_GROWTHS: u64 = 16;

const LOG_GROWTH_BYTES_MIN: u64 = 64 << 10;
const LOG_GROWTH_BYTES_MAX: u64 = 1 << 20;

impl Database {
    /// Make a new database: `path`, and beside it its log, `path` with `-log` behind. Where that
    /// fails neither is left.
    ///
    /// # Errors
    ///
    /// [`LodeError::Io`] if one of the files is there already; what the tactics or the disk say.
    pub fn create(path: &Path, tactics: &Tactics) -> Result<Self> {
        tactics.check()?;
        let copies = MirroredFiles::of(path);
        if copies.are_mirrored() {
            let path = path.display();
            let what = format!(
                "files of a mirrored database are there under the name {path}, so none is made: \
                 open it with `mirror=idle`; if it was, one of its copies has gone: \
                 `loadstone lode mirror {path}` says which, bring it back"
            );
            return Err(LodeError::Mirror { what });
        }
        let identity = identity()?;
        if tactics.mirror != Mirroring::Off {
            let opened = copies.create(tactics, identity)?;
            let files = Files { volume: opened.volume, log: opened.log };
            let made = Self::format(&files, tactics, identity);
            let mut made = made.inspect_err(|_| copies.remove_both())?;
            made.mirror = Some(opened.mirror);
            return Ok(made.with_prefetcher());
        }
        let files = Files::create(path, tactics.disk)?;
        let created = Self::format(&files, tactics, identity).inspect_err(|_| remove_files(path));
        created.map(Self::with_prefetcher)
    }

    /// Open a database, and recover it if it was not closed.
    ///
    /// # Errors
    ///
    /// [`LodeError::InUse`] if another process has it open; [`LodeError::NotADatabase`],
    /// [`LodeError::Version`] or [`LodeError::Corrupt`] for what it is instead.
    pub fn open(path: &Path, tactics: &Tactics) -> Result<Self> {
        Self::open_files(path, tactics, false)
    }

    /// Open a database only to read it; several processes may do so at once.
    ///
    /// # Errors
    ///
    /// As [`Database::open`], and [`LodeError::Unrecovered`] if it was not closed.
    pub fn open_read_only(path: &Path, tactics: &Tactics) -> Result<Self> {
        Self::open_files(path, tactics, true)
    }

    fn open_files(path: &Path, tactics: &Tactics, read_only: bool) -> Result<Self> {
        let copies = MirroredFiles::of(path);
        let is_mirrored = copies.are_mirrored();
        // An opening that only reads makes no state.
        if tactics.mirror != Mirroring::Off && (is_mirrored || !read_only) {
            let Opened { volume, log, mirror } = copies.open(tactics, read_only)?;
            let mut opened = Self::assemble(&Files { volume, log }, path, tactics, read_only)?;
            opened.mirror = Some(mirror);
            return Ok(opened.with_prefetcher());
        }
        if is_mirrored {
            copies.leave_second(read_only)?;
        }
        let files = if read_only {
            Files::open(path, |path| open_file_read_only(path, tactics.disk))?
        } else {
            Files::open(path, |path| open_file(path, tactics.disk))?
        };
        Self::assemble(&files, path, tactics, read_only).map(Self::with_prefetcher)
    }

    /// The database on these copies, for tests: a new one if neither says anything. `attach` makes
    /// one of them anew.
    ///
    /// # Errors
    ///
    /// As [`Database::create`] and [`Database::open`].
    pub fn on_copies(
        copies: [CopyDisks; 2],
        attach: Box<Attach>,
        tactics: &Tactics,
    ) -> Result<Self> {
        tactics.check()?;
        let wish = Wish { policy: tactics.mirror, at_once: AtOnce::Never, read_only: false };
        let is_new =
            copies.iter().all(|copy| copy.volume.len_bytes().is_ok_and(|bytes| bytes == 0));
        let (opened, identity) = if is_new {
            let identity = identity()?;
            (mirror::create(copies, identity, wish, attach)?, Some(identity))
        } else {
            let found = copies.map(|copy| mirror::Found::of(&copy));
            (mirror::assemble(found, Path::new("the volume"), wish, attach)?, None)
        };
        let files = Files { volume: opened.volume, log: opened.log };
        let mut database = match identity {
            Some(identity) => Self::format(&files, tactics, identity)?,
            None => Self::assemble(&files, Path::new("the volume"), tactics, false)?,
        };
        database.mirror = Some(opened.mirror);
        Ok(database)
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
            return Self::format(&files, tactics, identity()?);
        }
        Self::assemble(&files, Path::new("the volume"), tactics, false)
    }

    /// The superblock comes last: before it is there, this is no database.
    fn format(files: &Files, tactics: &Tactics, identity: [u8; 16]) -> Result<Self> {
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
        // The extent is what it was created with, whatever was requested now: what depends on it
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
        mapped::prepare(tactics.detect)?;
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
        let changes = Arc::new(Changes::new(log, tactics, &buffer));
        buffer.set_write_back(Arc::clone(&changes) as Arc<dyn WriteBack>);
        let extent = tactics::ExtentPages(superblock.extent_pages);
        let tactics = Tactics { extent, ..*tactics };
        let shared = Arc::new(Shared::new(buffer, changes, superblock, tactics));
        Ok(Self { prefetcher: None, shared, recovery: None, mirror: None })
    }

    /// The shared part, before anybody shares it.
    fn own(&mut self) -> &mut Shared {
        Arc::get_mut(&mut self.shared).expect("no transaction runs while a database is opened")
    }
}

fn log_sizes(tactics: &Tactics) -> Sizes {
    let growth_bytes = (tactics.checkpoint.0 / LOG_GROWTHS)
        .clamp(LOG_GROWTH_BYTES_MIN, LOG_GROWTH_BYTES_MAX)
        .next_multiple_of(PAGE_BYTES as u64);
    Sizes { growth_bytes, tail_bytes_max: growth_bytes as usize }
}

/// 16 bytes that no other volume has.
fn identity() -> Result<[u8; 16]> {
    let mut identity = [0; 16];
    random::fill(&mut identity)?;
    Ok(identity)
}
