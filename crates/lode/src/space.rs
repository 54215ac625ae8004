//! Which pages of the volume are in use, and by which file; `docs/reference/lode-format.md` draws
//! it.
//!
//! Pages are given out by extents, so that what one file holds lies together however many files
//! grow at once: a scan of it reads long runs. What a page holds is not known here, nor where a
//! file begins: that is [`crate::catalog`]'s.
//!
//! An allocation beside a page whose extent has room reads and writes one space page. Only when the
//! extent is full are other groups read, and of these at most [`PROBES_MAX`] for room in
//! extents that the file has already.

mod extents;
mod group;
mod summary;
#[cfg(test)]
mod tests;

pub use extents::{FilePages, Usage, usage};
pub(crate) use extents::{each_used, growth_pages_max, owner};

use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, NO_PAGE, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::{PageRead, PageWrite};
use extents::{find_beside, find_elsewhere, take_extent};
use group::{Entry, Geometry, change_entry, read_group};
use summary::Map;

/// The space page of the first group.
pub const SPACE_PAGE: PageNumber = 3;

/// The number of other groups that are searched for a page that the file freed, before it is given
/// a new extent: each costs the reading of a page, once an extent at most.
pub const PROBES_MAX: usize = 4;

/// Write the first space page of an empty volume and make it one extent long. Its first
/// pages belong to the superblock, the catalog and the space page itself.
pub fn format(pages: &mut impl PageWrite, extent_pages: u32) -> Result<()> {
    let geometry = Geometry::of(extent_pages)?;
    pages.grow(extent_pages)?;
    pages.write(SPACE_PAGE, |bytes| {
        geometry.format(bytes, 1);
        bytes.put_u32(page::offset::PREVIOUS, SPACE_PAGE);
    })?;
    summary::put(pages, Map::Free, 0, true)
}

/// Take a free page for `file` and format it as `kind`. `hint` is the file's page that was
/// allocated last, or 0 for a file without pages; one that was given back since is as good.
///
/// In this order: the extent of `hint`, behind it first; other extents of the file in that group;
/// extents of the file in other groups where pages were freed ([`PROBES_MAX`]); the extent right
/// behind; any free one; the volume grows.
pub fn allocate(
    pages: &mut impl PageWrite,
    extent_pages: u32,
    file: FileNumber,
    hint: PageNumber,
    kind: PageKind,
) -> Result<PageNumber> {
    if file == 0 {
        return Err(LodeError::corrupt_page(SPACE_PAGE, "a page is wanted for file 0"));
    }
    let geometry = Geometry::of(extent_pages)?;
    let mut found = None;
    if hint != NO_PAGE {
        found = find_beside(pages, geometry, file, geometry.place(hint))?;
        if found.is_none() {
            found = find_elsewhere(pages, geometry, file, geometry.place(hint).group)?;
        }
    }
    let (place, entry) = match found {
        Some(found) => found,
        None => take_extent(pages, geometry, hint)?,
    };
    let page = geometry.page(place)?;
    let taken = Entry { file, used: entry.used | 1 << place.index };
    change_entry(pages, geometry, place, taken)?;
    pages.write(page, |bytes| {
        if bytes[page::offset::KIND] != PageKind::Free as u8 {
            return Err(LodeError::corrupt_page(page, "it is in use but free in its extent"));
        }
        page::format(bytes, kind, file);
        Ok(())
    })??;
    Ok(page)
}

/// Give a page back; with its last page, an extent belongs to nobody again.
pub fn free(pages: &mut impl PageWrite, extent_pages: u32, page: PageNumber) -> Result<()> {
    let geometry = Geometry::of(extent_pages)?;
    let place = geometry.place(page);
    let entry = read_group(pages, geometry, place.group, |group| group.entry(place.extent))?;
    let bit = 1 << place.index;
    if entry.file == 0 || entry.used & bit & !Geometry::reserved(place.extent) == 0 {
        return Err(LodeError::corrupt_page(page, "it is given back but not in use"));
    }
    pages.write(page, |bytes| mark_free(bytes, page, entry.file))??;
    let used = entry.used & !bit;
    if used == Geometry::reserved(place.extent) {
        change_entry(pages, geometry, place, Entry { file: 0, used })?;
        summary::put(pages, Map::Free, place.group, true)
    } else {
        change_entry(pages, geometry, place, Entry { file: entry.file, used })?;
        summary::put(pages, Map::Partial, place.group, true)
    }
}

/// Only the header changes: the bytes of a page that nobody will read need not be logged.
fn mark_free(bytes: &mut PageMut<'_>, page: PageNumber, file: FileNumber) -> Result<()> {
    let owner = page::u32_at(bytes, page::offset::FILE);
    if owner != file || bytes[page::offset::KIND] == PageKind::Free as u8 {
        let how = format!("its header names file {owner} but its extent belongs to file {file}");
        return Err(LodeError::corrupt_page(page, how));
    }
    bytes.put_u8(page::offset::KIND, PageKind::Free as u8);
    bytes.put_u32(page::offset::FILE, 0);
    Ok(())
}

/// Give back all pages of a file.
pub fn free_file(pages: &mut impl PageWrite, extent_pages: u32, file: FileNumber) -> Result<()> {
    let mut of_file = FilePages::new(extent_pages, file)?;
    while let Some(page) = of_file.next(pages)? {
        free(pages, extent_pages, page)?;
    }
    Ok(())
}

/// The page of a file with the highest number, 0 if it has none: where to look for room in a file
/// of which nothing is known yet. Every space page is read.
pub fn last_page(pages: &impl PageRead, extent_pages: u32, file: FileNumber) -> Result<PageNumber> {
    let mut of_file = FilePages::new(extent_pages, file)?;
    let mut last = NO_PAGE;
    while let Some(page) = of_file.next(pages)? {
        last = page;
    }
    Ok(last)
}

/// The space page that describes a page. Who is going to allocate or free locks it exclusive at
/// once: two who only shared it, and then both wanted more, would be a deadlock.
pub fn space_page_of(extent_pages: u32, page: PageNumber) -> Result<PageNumber> {
    let geometry = Geometry::of(extent_pages)?;
    geometry.space_page(geometry.place(page).group)
}

/// The number of pages that the volume has: what the space pages know of. The file may be longer
/// after a growth that was rolled back, never shorter.
pub fn pages_total(pages: &impl PageRead, extent_pages: u32) -> Result<PageNumber> {
    let geometry = Geometry::of(extent_pages)?;
    let last = extents::last_group(pages, geometry)?;
    let extents = read_group(pages, geometry, last, |group| Ok(group.extents()))?;
    geometry.end(last, extents)
}
