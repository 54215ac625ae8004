//! The names of files: a chain of pages that begins at page 2, drawn in
//! `docs/reference/lode-format.md`.
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
    check_name(name)?;
    if files.iter().any(|entry| entry.name == name) {
        return Err(LodeError::Exists { what: format!("file called `{name}`") });
    }
    let entry = Entry {
        name: name.to_owned(),
        file: least_free(files.iter().map(|entry| entry.file)),
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

/// The least number from 1 that is not among these, of which each comes once.
pub fn least_free(taken: impl ExactSizeIterator<Item = u32>) -> u32 {
    let mut is_taken = vec![false; taken.len() + 1];
    for number in taken {
        if let Some(place) = is_taken.get_mut((number as usize).wrapping_sub(1)) {
            *place = true;
        }
    }
    let free = is_taken.iter().position(|is_taken| !is_taken);
    free.expect("of so many numbers and one more, one is free") as u32 + 1
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
    let mut padded = Vec::from(name);
    padded.resize(NAME_BYTES_MAX.max(name.len()), 0);
    let is_named = |view: View<'_>, at: usize, spare: &mut Vec<u8>| {
        spare.clear();
        view.append_to(spare, at + offset::NAME, NAME_BYTES_MAX);
        *spare == padded
    };
    let (page, position) = place(pages, is_named)?.ok_or_else(|| missing(name))?;
    let found = pages.read(page, |view| entry(view, position))?;
    found.map_err(|how| LodeError::corrupt_page(page, how))
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
    each_page(pages, entries, |_, found| {
        files.extend(found);
        true
    })?;
    let mut names: Vec<&str> = files.iter().map(|entry| entry.name.as_str()).collect();
    let mut numbers: Vec<FileNumber> = files.iter().map(|entry| entry.file).collect();
    names.sort_unstable();
    numbers.sort_unstable();
    if names.is_sorted_by(|one, next| one < next) && numbers.is_sorted_by(|one, next| one < next) {
        return Ok(files);
    }
    Err(twice(pages)?)
}

/// That a file is in the catalog twice, where it is the second time.
#[cold]
fn twice(pages: &impl PageRead) -> Result<LodeError> {
    let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    let mut error = None;
    each_page(pages, entries, |page, found| {
        let again =
            |entry: &&Entry| !names.insert(entry.name.clone()) | !numbers.insert(entry.file);
        let twice = found.iter().find(again);
        error = twice.map(|entry| (page, format!("it has the file `{}` twice", entry.name)));
        error.is_none()
    })?;
    let (page, how) = error.expect("a file was found twice");
    Ok(LodeError::corrupt_page(page, how))
}

/// Go through the chain, page by page, for as long as `see` says so of what `read` finds in one.
fn each_page<T>(
    pages: &impl PageRead,
    mut read: impl FnMut(View<'_>, usize) -> Result<T, &'static str>,
    mut see: impl FnMut(PageNumber, T) -> bool,
) -> Result<()> {
    let (mut page, mut before) = (CATALOG_PAGE, NO_PAGE);
    let mut seen = BTreeSet::new();
    while page != NO_PAGE {
        if !seen.insert(page) {
            return Err(LodeError::corrupt_page(before, "the catalog's pages go in a circle"));
        }
        let found = pages.read(page, |view| {
            let count = count(view, page)?;
            Ok((read(view, count)?, count, view.next()))
        })?;
        let (found, count, next) = found.map_err(|how: &str| LodeError::corrupt_page(page, how))?;
        if next != NO_PAGE && count < ENTRIES_MAX && has_entries(pages, next)? {
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

/// The number of entries of a page of the chain.
fn count(view: View<'_>, page: PageNumber) -> Result<usize, &'static str> {
    let owner = if page == CATALOG_PAGE { 0 } else { CATALOG_FILE };
    if view.kind() != PageKind::Catalog as u8 || view.u32(page::offset::FILE) != owner {
        return Err("it is no catalog");
    }
    let count = usize::from(view.count());
    if count > ENTRIES_MAX {
        return Err("a page of the catalog cannot have as many entries");
    }
    Ok(count)
}

/// The entries of one page of the chain.
fn entries(view: View<'_>, count: usize) -> Result<Vec<Entry>, &'static str> {
    (0..count).map(|position| entry(view, position)).collect()
}

/// Page and position of the first entry that `fits`, by the bytes at a place; None if none does.
fn place(
    pages: &impl PageRead,
    fits: impl Fn(View<'_>, usize, &mut Vec<u8>) -> bool,
) -> Result<Option<(PageNumber, usize)>> {
    let (mut found, mut spare) = (None, Vec::new());
    let position = |view: View<'_>, count: usize| {
        Ok((0..count).find(|&position| fits(view, entry_at(position), &mut spare)))
    };
    each_page(pages, position, |page, position| {
        found = position.map(|position| (page, position));
        found.is_none()
    })?;
    Ok(found)
}

/// Page and position of the entry with that number; [`LodeError::Missing`] if there is none.
fn place_of(pages: &impl PageRead, file: FileNumber) -> Result<(PageNumber, usize)> {
    let is_it = |view: View<'_>, at: usize, _: &mut Vec<u8>| view.u32(at + offset::FILE) == file;
    place(pages, is_it)?.ok_or_else(|| missing_number(file))
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
