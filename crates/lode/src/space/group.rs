//! The space page of one group of extents: its fields, and what may not stand there.

use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, HEADER_BYTES, PAGE_BYTES, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::{PageRead, PageWrite};
use crate::space::SPACE_PAGE;
use crate::view::View;

/// Extents of a group: as many as a space page has entries.
pub(super) const EXTENTS: usize = 254;

/// Pages at the beginning of a group that are never given out.
const RESERVED: u64 = 0b1111;

mod offset {
    /// u32 in an entry: the file that owns the extent.
    pub(super) const FILE: usize = 0;
    /// u32 in an entry of the first group: see [`crate::space::summary`].
    pub(super) const SUMMARY: usize = 4;
    /// u64 in an entry: the pages in use.
    pub(super) const USED: usize = 8;
}

const ENTRY_BYTES: usize = 16;
const _: () = assert!(HEADER_BYTES + EXTENTS * ENTRY_BYTES == PAGE_BYTES);
const _: () = assert!(offset::USED + size_of::<u64>() == ENTRY_BYTES);
const _: () = assert!(RESERVED.count_ones() == SPACE_PAGE + 1);

/// The place where the entry of an extent begins.
const fn entry_at(extent: usize) -> usize {
    HEADER_BYTES + extent * ENTRY_BYTES
}

/// The place where the summary word in the entry of an extent lies.
pub(super) const fn summary_at(extent: usize) -> usize {
    entry_at(extent) + offset::SUMMARY
}

/// The way in which pages are divided into extents and groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry {
    extent_pages: u32,
}

/// A page by group, extent in the group and index in the extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) group: u32,
    pub(super) extent: usize,
    pub(super) index: u32,
}

/// A space page's entry of one extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// 0 for none.
    pub(super) file: FileNumber,
    /// Bit k: page k is in use.
    pub(super) used: u64,
}

impl Geometry {
    pub(super) fn of(extent_pages: u32) -> Result<Self> {
        if extent_pages.is_power_of_two() && (4..=64).contains(&extent_pages) {
            return Ok(Self { extent_pages });
        }
        Err(LodeError::Corrupt {
            what: "the superblock".to_owned(),
            how: format!("extents of {extent_pages} pages"),
        })
    }

    fn group_pages(self) -> u32 {
        EXTENTS as u32 * self.extent_pages
    }

    pub(super) fn place(self, page: PageNumber) -> Place {
        let in_group = page % self.group_pages();
        Place {
            group: page / self.group_pages(),
            extent: (in_group / self.extent_pages) as usize,
            index: in_group % self.extent_pages,
        }
    }

    /// The number of the page there; `Limit` where numbers end.
    pub(super) fn page(self, place: Place) -> Result<PageNumber> {
        let first = u64::from(place.group) * u64::from(self.group_pages());
        let page = first + place.extent as u64 * u64::from(self.extent_pages);
        let page = page + u64::from(place.index);
        PageNumber::try_from(page).map_err(|_| LodeError::Limit {
            what: "page numbers end here: put the rest into another database".to_owned(),
        })
    }

    /// The number of pages up to the end of that many extents of a group.
    pub(super) fn end(self, group: u32, extents: usize) -> Result<PageNumber> {
        self.page(Place { group, extent: extents, index: 0 })
    }

    pub(super) fn space_page(self, group: u32) -> Result<PageNumber> {
        self.page(Place { group, extent: 0, index: SPACE_PAGE })
    }

    /// All pages of an extent.
    pub(super) fn full(self) -> u64 {
        u64::MAX >> (u64::BITS - self.extent_pages)
    }

    /// The pages of an extent that are never given out.
    pub(super) fn reserved(extent: usize) -> u64 {
        if extent == 0 { RESERVED } else { 0 }
    }

    /// Make an empty space page of a group with that many extents.
    pub(super) fn format(self, bytes: &mut PageMut<'_>, extents: usize) {
        page::format(bytes, PageKind::Space, 0);
        bytes.put_u8(page::offset::LEVEL, self.extent_pages as u8);
        bytes.put_u16(page::offset::COUNT, extents as u16);
        bytes.put_u64(entry_at(0) + offset::USED, Geometry::reserved(0));
    }
}

/// The way in which a space page contradicts itself, or the caller's finding.
pub(super) type Seen<R> = Result<R, &'static str>;

/// A space page to read.
#[derive(Clone, Copy)]
pub(super) struct Group<'a> {
    view: View<'a>,
    geometry: Geometry,
}

impl Group<'_> {
    /// Extents that the volume has of the group.
    pub(super) fn extents(self) -> usize {
        usize::from(self.view.count()).min(EXTENTS)
    }

    /// The last group's space page; only the first group knows.
    pub(super) fn last_space_page(self) -> PageNumber {
        self.view.previous()
    }

    pub(super) fn summary(self, extent: usize) -> u32 {
        self.view.u32(summary_at(extent))
    }

    pub(super) fn entry(self, extent: usize) -> Seen<Entry> {
        if extent >= self.extents() {
            return Err("an extent beyond the end of the volume is requested");
        }
        let at = entry_at(extent);
        let file = self.view.u32(at + offset::FILE);
        let used = self.view.u64(at + offset::USED);
        let reserved = Geometry::reserved(extent);
        if used & !self.geometry.full() != 0 || used & reserved != reserved {
            return Err("the pages in use of an extent cannot be these");
        }
        if (file == 0) != (used == reserved) {
            return Err("an extent has pages in use but no owner, or an owner but none in use");
        }
        Ok(Entry { file, used })
    }

    /// The first extent from `from` on of which `wanted` holds.
    pub(super) fn find(
        self,
        from: usize,
        mut wanted: impl FnMut(Entry) -> bool,
    ) -> Seen<Option<(usize, Entry)>> {
        for extent in from..self.extents() {
            let entry = self.entry(extent)?;
            if wanted(entry) {
                return Ok(Some((extent, entry)));
            }
        }
        Ok(None)
    }
}

/// Read the space page of a group.
pub(super) fn read_group<R>(
    pages: &impl PageRead,
    geometry: Geometry,
    group: u32,
    mut inspect: impl FnMut(Group<'_>) -> Seen<R>,
) -> Result<R> {
    let page = geometry.space_page(group)?;
    let seen = pages.read(page, |view| {
        if view.kind() != PageKind::Space as u8 {
            return Err("it is no space page");
        }
        if u32::from(view.level()) != geometry.extent_pages {
            return Err("its extents are of another size");
        }
        if !(1..=EXTENTS).contains(&usize::from(view.count())) {
            return Err("a group cannot have as many extents");
        }
        inspect(Group { view, geometry })
    })?;
    seen.map_err(|how| LodeError::corrupt_page(page, how))
}

/// Write what the space page says of the extent at a place.
pub(super) fn change_entry(
    pages: &mut impl PageWrite,
    geometry: Geometry,
    place: Place,
    entry: Entry,
) -> Result<()> {
    pages.write(geometry.space_page(place.group)?, |bytes| {
        let at = entry_at(place.extent);
        bytes.put_u32(at + offset::FILE, entry.file);
        bytes.put_u64(at + offset::USED, entry.used);
    })
}
