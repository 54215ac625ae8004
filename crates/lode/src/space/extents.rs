//! Extents: finding one with room, taking a new one, going through those of a file.

use crate::catalog::CATALOG_PAGE;
use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, NO_PAGE, PageKind, PageNumber};
use crate::pages::{PageRead, PageWrite};
use crate::space::group::{EXTENTS, Entry, Geometry, Place, Seen, read_group};
use crate::space::summary::{self, Map};
use crate::space::{PROBES_MAX, SPACE_PAGE};

/// The volume grows by an eighth, so that a large load asks the operating system seldom; by this
/// many extents at most, so that little lies idle.
const GROWTH_EXTENTS_MAX: usize = 64;

/// Pages by which a volume grows at most for one transaction's next extent, its group's first
/// extent and the rounding by the layer that keeps the file ([`crate::buffer`]) included.
pub(crate) const fn growth_pages_max(extent_pages: u32) -> u32 {
    (GROWTH_EXTENTS_MAX as u32 + 2) * extent_pages + 64
}

/// The free page of an extent that comes first behind `index`, or first at all.
fn free_index(geometry: Geometry, entry: Entry, index: u32) -> Option<u32> {
    let free = geometry.full() & !entry.used;
    let behind = free & (u64::MAX << index);
    let from = if behind == 0 { free } else { behind };
    (from != 0).then(|| from.trailing_zeros())
}

/// A free page in the extents that a file has in the group of `hint`, its own extent first.
pub(super) fn find_beside(
    pages: &impl PageRead,
    geometry: Geometry,
    file: FileNumber,
    hint: Place,
) -> Result<Option<(Place, Entry)>> {
    let has_space = |entry: Entry| entry.file == file && entry.used != geometry.full();
    let found = read_group(pages, geometry, hint.group, |group| {
        let entry = group.entry(hint.extent)?;
        if has_space(entry) {
            return Ok(Some((hint.extent, entry)));
        }
        group.find(0, has_space)
    })?;
    Ok(found.and_then(|(extent, entry)| {
        let from = if extent == hint.extent { hint.index } else { 0 };
        let index = free_index(geometry, entry, from)?;
        Some((Place { group: hint.group, extent, index }, entry))
    }))
}

/// A free page in the extents that a file has in groups other than `group`, if one of the next
/// [`PROBES_MAX`] in which pages were freed has any.
pub(super) fn find_elsewhere(
    pages: &mut impl PageWrite,
    geometry: Geometry,
    file: FileNumber,
    group: u32,
) -> Result<Option<(Place, Entry)>> {
    let mut probes = 0;
    for (mut from, end) in [(group + 1, u32::MAX), (0, group)] {
        while let Some(other) = summary::next(pages, geometry, Map::Partial, from)? {
            if other >= end {
                break;
            }
            if probes == PROBES_MAX {
                return Ok(None);
            }
            probes += 1;
            from = other + 1;
            let mut any = false;
            let found = read_group(pages, geometry, other, |group| {
                any = false;
                group.find(0, |entry| {
                    let has_space = entry.file != 0 && entry.used != geometry.full();
                    any |= has_space;
                    has_space && entry.file == file
                })
            })?;
            if let Some((extent, entry)) = found
                && let Some(index) = free_index(geometry, entry, 0)
            {
                return Ok(Some((Place { group: other, extent, index }, entry)));
            }
            if !any {
                summary::put(pages, Map::Partial, other, false)?;
            }
        }
    }
    Ok(None)
}

/// An extent without owner: the next one behind `hint`, else any, else a new one.
pub(super) fn take_extent(
    pages: &mut impl PageWrite,
    geometry: Geometry,
    hint: PageNumber,
) -> Result<(Place, Entry)> {
    let is_free = |entry: Entry| entry.file == 0 && entry.used != geometry.full();
    let found = |group, (extent, entry)| {
        free_index(geometry, entry, 0).map(|index| (Place { group, extent, index }, entry))
    };
    let hint = if hint == NO_PAGE { None } else { Some(geometry.place(hint)) };
    if let Some(hint) = hint {
        let behind =
            read_group(pages, geometry, hint.group, |group| group.find(hint.extent + 1, is_free))?;
        if let Some(found) = behind.and_then(|behind| found(hint.group, behind)) {
            return Ok(found);
        }
    }
    for first in [hint.map_or(0, |hint| hint.group + 1), 0] {
        let mut from = first;
        while let Some(group) = summary::next(pages, geometry, Map::Free, from)? {
            let any = read_group(pages, geometry, group, |group| group.find(0, is_free))?;
            if let Some(found) = any.and_then(|any| found(group, any)) {
                return Ok(found);
            }
            summary::put(pages, Map::Free, group, false)?;
            from = group + 1;
        }
    }
    grow(pages, geometry)
}

/// The last group of the volume, which alone may have fewer than all its extents.
pub(super) fn last_group(pages: &impl PageRead, geometry: Geometry) -> Result<u32> {
    let page = read_group(pages, geometry, 0, |first| Ok(first.last_space_page()))?;
    let last = geometry.place(page).group;
    if geometry.space_page(last)? != page {
        return Err(LodeError::corrupt_page(SPACE_PAGE, "the last group has its page elsewhere"));
    }
    Ok(last)
}

/// Make the volume longer; the first of the new extents is answered.
fn grow(pages: &mut impl PageWrite, geometry: Geometry) -> Result<(Place, Entry)> {
    let last = last_group(pages, geometry)?;
    let extents = read_group(pages, geometry, last, |group| Ok(group.extents()))?;
    let step = (last as usize).saturating_mul(EXTENTS).saturating_add(extents) / 8;
    // Where no bit can determine that extents are free, none may be left over.
    let step = if last + 1 < summary::GROUPS { step.clamp(1, GROWTH_EXTENTS_MAX) } else { 1 };
    let place = if extents < EXTENTS {
        let extents_new = (extents + step).min(EXTENTS);
        pages.grow(geometry.end(last, extents_new)?)?;
        pages.write(geometry.space_page(last)?, |bytes| {
            bytes.put_u16(page::offset::COUNT, extents_new as u16);
        })?;
        Place { group: last, extent: extents, index: 0 }
    } else {
        let group = last + 1;
        // The first extent may hold nothing but the reserved pages.
        let extents_new = step.max(2);
        let space_page = geometry.space_page(group)?;
        pages.grow(geometry.end(group, extents_new)?)?;
        pages.write(space_page, |bytes| geometry.format(bytes, extents_new))?;
        pages.write(SPACE_PAGE, |bytes| {
            bytes.put_u32(page::offset::PREVIOUS, space_page);
        })?;
        let extent = usize::from(Geometry::reserved(0) == geometry.full());
        Place { group, extent, index: Geometry::reserved(extent).trailing_ones() }
    };
    summary::put(pages, Map::Free, place.group, true)?;
    Ok((place, Entry { file: 0, used: Geometry::reserved(place.extent) }))
}

/// The pages of a file in the order of their numbers, one at a time. Pages that are allocated or
/// given back while it goes on may be among them or not.
#[derive(Debug, Clone)]
pub struct FilePages {
    geometry: Geometry,
    file: FileNumber,
    /// The extent whose pages are answered now, index 0.
    place: Place,
    /// Those of its pages that are still to come.
    used: u64,
    /// The extent at which the search goes on in this group.
    extent_next: usize,
}

impl FilePages {
    /// Before the first page of a file.
    pub fn new(extent_pages: u32, file: FileNumber) -> Result<Self> {
        Ok(Self {
            geometry: Geometry::of(extent_pages)?,
            file,
            place: Place { group: 0, extent: 0, index: 0 },
            used: 0,
            extent_next: 0,
        })
    }

    /// The next page, `None` behind the last.
    pub fn next(&mut self, pages: &impl PageRead) -> Result<Option<PageNumber>> {
        while self.used == 0 {
            let (group, from, file) = (self.place.group, self.extent_next, self.file);
            let found = read_group(pages, self.geometry, group, |group| {
                group.find(from, |entry| entry.file == file && file != 0)
            })?;
            if let Some((extent, entry)) = found {
                self.place.extent = extent;
                self.extent_next = extent + 1;
                self.used = entry.used & !Geometry::reserved(extent);
            } else if group >= last_group(pages, self.geometry)? {
                return Ok(None);
            } else {
                self.place.group = group + 1;
                self.extent_next = 0;
            }
        }
        let index = self.used.trailing_zeros();
        self.used &= self.used - 1;
        self.geometry.page(Place { index, ..self.place }).map(Some)
    }
}

/// The fill of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Extents that the volume has.
    pub extents: u64,
    /// Those that belong to no file.
    pub extents_free: u64,
    /// Pages that belong to files and are in use.
    pub pages_used: u64,
}

/// The fill of the volume; every space page is read and checked.
pub fn usage(pages: &impl PageRead, extent_pages: u32) -> Result<Usage> {
    let geometry = Geometry::of(extent_pages)?;
    let mut usage = Usage::default();
    for group in 0..=last_group(pages, geometry)? {
        let seen = read_group(pages, geometry, group, |group| {
            let mut seen = Usage::default();
            for extent in 0..group.extents() {
                let entry = group.entry(extent)?;
                let of_files = entry.used & !Geometry::reserved(extent);
                seen.extents += 1;
                seen.extents_free += u64::from(entry.file == 0);
                seen.pages_used += u64::from(of_files.count_ones());
            }
            Seen::Ok(seen)
        })?;
        usage.extents += seen.extents;
        usage.extents_free += seen.extents_free;
        usage.pages_used += seen.pages_used;
    }
    Ok(usage)
}

/// The file that has a page in use, as the space pages say; none where there are no space pages.
pub(crate) fn owner(pages: &impl PageRead, page: PageNumber) -> Result<Option<FileNumber>> {
    let head = pages.read(SPACE_PAGE, |view| (view.kind(), view.level()))?;
    if head.0 != PageKind::Space as u8 {
        return Ok(None);
    }
    let geometry = Geometry::of(u32::from(head.1))?;
    let place = geometry.place(page);
    let group = place.group;
    if group > last_group(pages, geometry)? {
        return Ok(None);
    }
    let entry = read_group(pages, geometry, group, |group| {
        if place.extent < group.extents() { group.entry(place.extent).map(Some) } else { Ok(None) }
    })?;
    // The reserved pages of an extent are nobody's, even where a file has the others.
    let of_file = |entry: &Entry| entry.used & !Geometry::reserved(place.extent);
    let is_used = |entry: &Entry| entry.file != 0 && of_file(entry) >> place.index & 1 == 1;
    Ok(entry.filter(is_used).map(|entry| entry.file))
}

/// Each page that holds something, in the order of their numbers: the catalog, the space pages, and
/// those of all files. Superblocks are no transaction's to read, and the other reserved pages hold
/// nothing.
pub(crate) fn each_used(
    pages: &impl PageRead,
    extent_pages: u32,
    mut see: impl FnMut(PageNumber) -> Result<()>,
) -> Result<()> {
    let geometry = Geometry::of(extent_pages)?;
    for group in 0..=last_group(pages, geometry)? {
        if group == 0 {
            see(CATALOG_PAGE)?;
        }
        see(geometry.space_page(group)?)?;
        let mut from = 0;
        loop {
            let owned = |entry: Entry| entry.file != 0;
            let found = read_group(pages, geometry, group, |group| group.find(from, owned))?;
            let Some((extent, entry)) = found else { break };
            from = extent + 1;
            let mut used = entry.used & !Geometry::reserved(extent);
            while used != 0 {
                see(geometry.page(Place { group, extent, index: used.trailing_zeros() })?)?;
                used &= used - 1;
            }
        }
    }
    Ok(())
}
