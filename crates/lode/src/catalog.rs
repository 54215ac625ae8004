//! The names of files: a chain of pages that begins at page 2, drawn in `docs/lode-format.md`.
//!
//! The catalog knows what a file is called, what kind it is and where it begins; not what lies in
//! it, nor which pages it has ([`crate::space`]). All of its pages but the last that has entries
//! are full: a place that is freed goes to the last entry.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, HEADER_BYTES, NO_PAGE, PAGE_BYTES, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::{PageRead, PageWrite};
use crate::view::View;

/// The page at which the catalog begins.
pub const CATALOG_PAGE: PageNumber = 2;

/// The longest name, in bytes of UTF-8.
pub const NAME_BYTES_MAX: usize = 16;

/// Entries of one page.
const ENTRIES_MAX: usize = (PAGE_BYTES - HEADER_BYTES) / offset::ENTRY_BYTES;

/// The owner of the catalog's pages behind the first: no file that has a name.
const CATALOG_FILE: FileNumber = FileNumber::MAX;

/// Offsets within an entry.
mod offset {
    pub(super) const NAME: usize = 0;
    pub(super) const FILE: usize = 16;
    pub(super) const KIND: usize = 20;
    pub(super) const ROOT: usize = 24;
    pub(super) const UNUSED: usize = 28;
    pub(super) const WORDS: usize = 32;
    pub(super) const ENTRY_BYTES: usize = 48;
}

const _: () = assert!(offset::NAME + NAME_BYTES_MAX == offset::FILE);
const _: () = assert!(offset::UNUSED + size_of::<u32>() == offset::WORDS);
const _: () = assert!(offset::WORDS + 2 * size_of::<u64>() == offset::ENTRY_BYTES);
const _: () = assert!(offset::ENTRY_BYTES.is_multiple_of(8) && ENTRIES_MAX == 84);

/// Which access method a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum FileKind {
    /// Slotted records.
    Heap = 1,
    /// A B+tree.
    Btree = 2,
    /// A hash index.
    Hash = 3,
    /// Objects.
    Objects = 4,
    /// Rows column by column.
    Columns = 5,
    /// A program's own bytes.
    Region = 6,
}

impl FileKind {
    /// The kind of this number, if there is one.
    pub const fn of(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Heap,
            2 => Self::Btree,
            3 => Self::Hash,
            4 => Self::Objects,
            5 => Self::Columns,
            6 => Self::Region,
            _ => return None,
        })
    }
}

/// A file's entry in the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name: 1 to [`NAME_BYTES_MAX`] bytes without a zero among them.
    pub name: String,
    /// Its number, from 1, which stands in the headers of its pages.
    pub file: FileNumber,
    /// Its access method.
    pub kind: FileKind,
    /// Its root or first page, 0 as long as it has none.
    pub root: PageNumber,
    /// Two words of the access method's own.
    pub words: [u64; 2],
}

/// Write an empty catalog into an empty volume.
pub fn format(pages: &mut impl PageWrite) -> Result<()> {
    pages.write(CATALOG_PAGE, |bytes| page::format(bytes, PageKind::Catalog, 0))
}

/// Give a new file a name and a number. [`LodeError::Exists`] if the name is taken,
/// [`LodeError::TooLong`] if it does not fit.
pub fn create(pages: &mut impl PageWrite, name: &str, kind: FileKind) -> Result<Entry> {
    let files = all(pages)?;
    create_beside(pages, &files, name, kind)
}

/// The same beside the files that there are, for a caller that has just requested [`all`].
pub(crate) fn create_beside(
    pages: &mut impl PageWrite,
    files: &[Entry],
    name: &str,
    kind: FileKind,
) -> Result<Entry> {
    check_name(name)?;
    if files.iter().any(|entry| entry.name == name) {
        return Err(LodeError::Exists { what: format!("file called `{name}`") });
    }
    let entry = Entry {
        name: name.to_owned(),
        file: free_number(files),
        kind,
        root: NO_PAGE,
        words: [0; 2],
    };
    let (page, position) = place_behind(pages, files.len())?;
    pages.write(page, |bytes| {
        put_entry(bytes, position, &entry);
        bytes.put_u16(page::offset::COUNT, position as u16 + 1);
    })?;
    Ok(entry)
}

/// The least number that no file has.
fn free_number(files: &[Entry]) -> FileNumber {
    let taken: BTreeSet<FileNumber> = files.iter().map(|entry| entry.file).collect();
    (1..CATALOG_FILE).find(|number| !taken.contains(number)).expect("more numbers than entries")
}

/// The place where the entry behind so many others belongs: page and position. A page is added to
/// the chain where its last one is full.
fn place_behind(pages: &mut impl PageWrite, entries: usize) -> Result<(PageNumber, usize)> {
    let mut page = CATALOG_PAGE;
    for _ in 0..entries / ENTRIES_MAX {
        let next = pages.read(page, |view| view.u32(page::offset::NEXT))?;
        page = if next == NO_PAGE { extend(pages, page)? } else { next };
    }
    Ok((page, entries % ENTRIES_MAX))
}

/// Add a page to the chain, behind its last.
fn extend(pages: &mut impl PageWrite, last: PageNumber) -> Result<PageNumber> {
    let page = pages.allocate(CATALOG_FILE, PageKind::Catalog)?;
    pages.write(page, |bytes| bytes.put_u32(page::offset::PREVIOUS, last))?;
    pages.write(last, |bytes| bytes.put_u32(page::offset::NEXT, page))?;
    Ok(page)
}

/// The file of that name; [`LodeError::Missing`] if there is none.
pub fn find(pages: &impl PageRead, name: &str) -> Result<Entry> {
    let mut found = None;
    each_page(pages, |_, entries| {
        found = entries.into_iter().find(|entry| entry.name == name);
        found.is_none()
    })?;
    found.ok_or_else(|| missing(name))
}

/// Note the root of the file of that number.
pub(crate) fn put_root(
    pages: &mut impl PageWrite,
    file: FileNumber,
    root: PageNumber,
) -> Result<()> {
    let (page, position) = place_of(pages, file)?;
    let at = entry_at(position) + offset::ROOT;
    pages.write(page, |bytes| bytes.put_u32(at, root))
}

/// Change what the catalog says of the file with the entry's number; also its name, if that is
/// free. [`LodeError::Missing`] if there is no such file.
pub fn put(pages: &mut impl PageWrite, entry: &Entry) -> Result<()> {
    check_name(&entry.name)?;
    let (page, position) = place_of(pages, entry.file)?;
    let files = all(pages)?;
    if files.iter().any(|other| other.file != entry.file && other.name == entry.name) {
        return Err(LodeError::Exists { what: format!("file called `{}`", entry.name) });
    }
    pages.write(page, |bytes| put_entry(bytes, position, entry))
}

/// Forget the file of that name and answer what was known of it. Its pages are the caller's to
/// give back, before or after; its number goes to the next file that is created. A page that the
/// chain no longer needs stays in it, empty.
pub fn remove(pages: &mut impl PageWrite, name: &str) -> Result<Entry> {
    let mut files = all(pages)?;
    let freed = files.iter().position(|entry| entry.name == name);
    let freed = freed.ok_or_else(|| missing(name))?;
    let removed = files.swap_remove(freed);
    if let Some(moved) = files.get(freed) {
        let (page, position) = place_behind(pages, freed)?;
        pages.write(page, |bytes| put_entry(bytes, position, moved))?;
    }
    let (page, position) = place_behind(pages, files.len())?;
    pages.write(page, |bytes| {
        let end = entry_at(position);
        bytes.clear(end..end + offset::ENTRY_BYTES);
        bytes.put_u16(page::offset::COUNT, position as u16);
    })?;
    Ok(removed)
}

/// All files, in no particular order.
pub fn all(pages: &impl PageRead) -> Result<Vec<Entry>> {
    let mut files: Vec<Entry> = Vec::new();
    let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    let mut twice = None;
    each_page(pages, |page, entries| {
        let again =
            |entry: &&Entry| !names.insert(entry.name.clone()) | !numbers.insert(entry.file);
        twice = entries.iter().find(again).map(|entry| (page, entry.name.clone()));
        files.extend(entries);
        twice.is_none()
    })?;
    match twice {
        Some((page, name)) => {
            Err(LodeError::corrupt_page(page, format!("it has the file `{name}` twice")))
        }
        None => Ok(files),
    }
}

/// Go through the chain, page by page, for as long as `see` says so.
fn each_page(
    pages: &impl PageRead,
    mut see: impl FnMut(PageNumber, Vec<Entry>) -> bool,
) -> Result<()> {
    let (mut page, mut before) = (CATALOG_PAGE, NO_PAGE);
    let mut seen = BTreeSet::new();
    while page != NO_PAGE {
        if !seen.insert(page) {
            return Err(LodeError::corrupt_page(before, "the catalog's pages go in a circle"));
        }
        let read = pages.read(page, |view| Ok((entries(view, page)?, view.next())))?;
        let (found, next) = read.map_err(|how: &str| LodeError::corrupt_page(page, how))?;
        if next != NO_PAGE && found.len() < ENTRIES_MAX && has_entries(pages, next)? {
            return Err(LodeError::corrupt_page(page, "it has room before the catalog's end"));
        }
        if !see(page, found) {
            return Ok(());
        }
        (before, page) = (page, next);
    }
    Ok(())
}

fn has_entries(pages: &impl PageRead, page: PageNumber) -> Result<bool> {
    pages.read(page, |view| view.count() > 0)
}

/// The entries of one page of the chain.
fn entries(view: View<'_>, page: PageNumber) -> Result<Vec<Entry>, &'static str> {
    let owner = if page == CATALOG_PAGE { 0 } else { CATALOG_FILE };
    if view.kind() != PageKind::Catalog as u8 || view.u32(page::offset::FILE) != owner {
        return Err("it is no catalog");
    }
    let count = usize::from(view.count());
    if count > ENTRIES_MAX {
        return Err("a page of the catalog cannot have as many entries");
    }
    (0..count).map(|position| entry(view, position)).collect()
}

/// Page and position of the entry with that number; [`LodeError::Missing`] if there is none.
fn place_of(pages: &impl PageRead, file: FileNumber) -> Result<(PageNumber, usize)> {
    let mut place = None;
    each_page(pages, |page, entries| {
        let position = entries.iter().position(|entry| entry.file == file);
        place = position.map(|position| (page, position));
        place.is_none()
    })?;
    place.ok_or_else(|| missing_number(file))
}

fn entry_at(position: usize) -> usize {
    HEADER_BYTES + position * offset::ENTRY_BYTES
}

fn entry(view: View<'_>, position: usize) -> Result<Entry, &'static str> {
    let at = entry_at(position);
    let mut name = Vec::with_capacity(NAME_BYTES_MAX);
    view.append_to(&mut name, at + offset::NAME, NAME_BYTES_MAX);
    name.truncate(name.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
    let name = String::from_utf8(name).map_err(|_| "a name is no UTF-8")?;
    if name.is_empty() || name.contains('\0') {
        return Err("a name is empty or has a zero in it");
    }
    let file = view.u32(at + offset::FILE);
    if file == 0 || file == CATALOG_FILE {
        return Err("a file has a number that no file has");
    }
    let kind = FileKind::of(view.u32(at + offset::KIND)).ok_or("a file is of no known kind")?;
    let words = [view.u64(at + offset::WORDS), view.u64(at + offset::WORDS + 8)];
    let root = view.u32(at + offset::ROOT);
    Ok(Entry { name, file, kind, root, words })
}

/// The name was checked.
fn put_entry(bytes: &mut PageMut<'_>, position: usize, entry: &Entry) {
    let at = entry_at(position);
    let mut name = [0; NAME_BYTES_MAX];
    name[..entry.name.len()].copy_from_slice(entry.name.as_bytes());
    bytes.put(at + offset::NAME, &name);
    bytes.put_u32(at + offset::FILE, entry.file);
    bytes.put_u32(at + offset::KIND, entry.kind as u32);
    bytes.put_u32(at + offset::ROOT, entry.root);
    bytes.put_u32(at + offset::UNUSED, 0);
    bytes.put_u64(at + offset::WORDS, entry.words[0]);
    bytes.put_u64(at + offset::WORDS + 8, entry.words[1]);
}

fn check_name(name: &str) -> Result<()> {
    if name.len() > NAME_BYTES_MAX {
        let (bytes, bytes_max) = (name.len(), NAME_BYTES_MAX);
        return Err(LodeError::TooLong { what: "a file's name", bytes, bytes_max });
    }
    if name.is_empty() || name.contains('\0') {
        return Err(LodeError::Missing { what: "name for the file: give it letters".to_owned() });
    }
    Ok(())
}

fn missing(name: &str) -> LodeError {
    LodeError::Missing { what: format!("file called `{name}`") }
}

fn missing_number(file: FileNumber) -> LodeError {
    LodeError::Missing { what: format!("file number {file}") }
}
