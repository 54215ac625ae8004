//! Copying a database: what one transaction sees becomes a database of its own.
//!
//! The copy is made of pages and not of files, so that it does not matter who changes the database
//! meanwhile: it is as the transaction sees it, and needs no recovery. A program that copies the
//! two files of a database that is in use gets halves of transactions.
//!
//! Pages that belong to nobody are zeros in the copy. It has the same identity, by which its own
//! references are known.

use std::io;
use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use crate::database::Database;
use crate::disk::Disk;
use crate::emptied;
use crate::error::{LodeError, Result};
use crate::files::{self, Files};
use crate::log::{Log, Sizes};
use crate::page::{self, PAGE_BYTES, PageBytes, PageKind, PageNumber};
use crate::pages::PageRead;
use crate::remote::Remote;
use crate::space;
use crate::superblock::Superblock;
use crate::tactics::Tactics;

/// Pages that are written at once.
const RUN_PAGES: usize = 64;

/// The size of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// Pages in use, each of which was read again from the copy and compared.
    pub pages: u64,
    /// The length of the copy's volume.
    pub volume_bytes: u64,
}

impl Database {
    /// Copy what is committed to a new database at `path`, while others go on; they wait where they
    /// would wait for any transaction that reads everything. It waits for those that are changing
    /// something: not for one of the calling thread, or both wait for ever.
    ///
    /// # Errors
    ///
    /// As of a reading transaction, [`LodeError::Deadlock`] among them, and of
    /// [`Database::create`]. Then no copy is left.
    pub fn backup(&self, path: &Path) -> Result<Copied> {
        self.changes().check_owner()?;
        copy(&self.reading(), self.extent_pages(), self.identity(), path)
    }
}

impl Remote {
    /// As [`Database::backup`], of a database that is served: the copy is made here.
    ///
    /// # Errors
    ///
    /// As there, and as of every remote transaction.
    pub fn backup(&self, path: &Path) -> Result<Copied> {
        self.check_owner()?;
        copy(&self.reading(), self.extent_pages(), self.identity(), path)
    }
}

fn copy(
    pages: &impl PageRead,
    extent_pages: u32,
    identity: [u8; 16],
    path: &Path,
) -> Result<Copied> {
    let files = files::create_files(path)?;
    let copied = copy_into(pages, extent_pages, identity, &files);
    let checked = copied.and_then(|copied| check(path, files, &copied));
    checked.inspect_err(|_| files::remove_files(path))
}

/// The superblock comes last: before it is there, this is no database.
fn copy_into(
    pages: &impl PageRead,
    extent_pages: u32,
    identity: [u8; 16],
    files: &Files,
) -> Result<Seen> {
    let failed = |source| LodeError::io("writing the copy", source);
    let pages_total = space::pages_total(pages, extent_pages)?;
    let volume_bytes = u64::from(pages_total) * PAGE_BYTES as u64;
    files.volume.set_len(volume_bytes).map_err(failed)?;
    let mut seen = Seen { pages: 0, pages_total, sum: Xxh3::new() };
    let mut run = Run { volume: &*files.volume, first: 0, bytes: Vec::new() };
    space::each_used(pages, extent_pages, |page| {
        let mut bytes = copy_of(pages, page)?;
        if bytes[page::offset::KIND] == PageKind::Free as u8 {
            let amiss = LodeError::corrupt_page(page, "it is empty, and in use");
            return Err(emptied::or(pages, page, amiss));
        }
        seen.note(page, &bytes);
        page::put_u64(&mut bytes, page::offset::LSN, 0);
        page::seal(&mut bytes, page);
        run.put(page, &bytes).map_err(failed)
    })?;
    run.write().map_err(failed)?;
    Log::create_sized(Arc::clone(&files.log), identity, Sizes::default())?;
    files.volume.sync().map_err(failed)?;
    Superblock::create(&*files.volume, extent_pages, identity)?;
    Ok(seen)
}

/// The pages copied, in order, to be compared with those found in the copy.
struct Seen {
    pages: u64,
    pages_total: PageNumber,
    sum: Xxh3,
}

impl Seen {
    /// Checksum and log position are not the page's own: where the page came from decides them.
    fn note(&mut self, page: PageNumber, bytes: &PageBytes) {
        self.pages += 1;
        self.sum.update(&page.to_le_bytes());
        self.sum.update(&bytes[page::offset::KIND..]);
    }
}

/// Pages that are written by one call.
struct Run<'a> {
    volume: &'a dyn Disk,
    first: PageNumber,
    bytes: Vec<u8>,
}

impl Run<'_> {
    fn put(&mut self, page: PageNumber, bytes: &PageBytes) -> io::Result<()> {
        let count = self.bytes.len() / PAGE_BYTES;
        if count == RUN_PAGES || page != self.first + count as PageNumber {
            self.write()?;
            self.first = page;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        if !self.bytes.is_empty() {
            self.volume.write(u64::from(self.first) * PAGE_BYTES as u64, &self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }
}

/// Open the copy as anybody would, and read every page of it.
fn check(path: &Path, files: Files, copied: &Seen) -> Result<Copied> {
    drop(files);
    let database = Database::open_read_only(path, &Tactics::default())?;
    let mut found = Seen { pages: 0, pages_total: copied.pages_total, sum: Xxh3::new() };
    let reading = database.reading();
    space::each_used(&reading, database.extent_pages(), |page| {
        found.note(page, &*copy_of(&reading, page)?);
        Ok(())
    })?;
    if (found.pages, found.sum.digest()) != (copied.pages, copied.sum.digest()) {
        let how = "what was read again is not what was written; look what the system's log \
                   (`dmesg`) says of its disk";
        return Err(LodeError::Corrupt { what: "the copy".to_owned(), how: how.to_owned() });
    }
    let volume_bytes = u64::from(copied.pages_total) * PAGE_BYTES as u64;
    Ok(Copied { pages: copied.pages, volume_bytes })
}

fn copy_of(pages: &impl PageRead, page: PageNumber) -> Result<Box<PageBytes>> {
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method serves one lifetime of a view, the closure serves every"
    )]
    pages.read(page, |view| view.copy())
}
