//! The place where a heap has room.
//!
//! Records go into the *current* page until one does not fit. Then the page is put on the list of
//! its class of room, and another becomes current: one from a list whose every page has enough, or
//! a new one. So an insertion reads the root and one page, and freed room is found again
//! without a search.
//!
//! A page that gains room (a record was deleted or has shrunk) moves to a higher class at once. One
//! that loses room keeps its class until it is taken from the list, and is then put where it
//! belongs: only an insertion near a given page and a record that grows do this, and they do not
//! have to touch the root.

use super::reference::tag;
use super::{Heap, RecordId, flag};
use crate::emptied;
use crate::error::Result;
use crate::page::{self, FileNumber, NO_PAGE, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::{PageRead, PageWrite};
use crate::slotted::{self, Corruption};

/// Offsets of a heap's own fields.
pub(super) mod offset {
    /// u32, on a page of records: the page made after it, 0 for none.
    pub(crate) const FOLLOWING: usize = crate::slotted::offset::OWN;

    /// u32, on the root: the page made first.
    pub(crate) const FIRST: usize = 32;
    /// u32, on the root: the page made last.
    pub(crate) const LAST: usize = 36;
    /// u32, on the root: the page into which records go.
    pub(crate) const CURRENT: usize = 40;
    /// u32, on the root: how many pages there are but the root.
    pub(crate) const PAGES: usize = 44;
    /// u32 for each class, on the root: the first page of its list.
    pub(crate) const LISTS: usize = 48;
}

/// The values of the header's `level`: the class on whose list a page is, or one of these.
pub(super) mod page_state {
    /// On no list.
    pub(crate) const UNLISTED: u8 = 0;
    /// The current page, on no list.
    pub(crate) const CURRENT: u8 = 254;
    /// The root, which holds no records.
    pub(crate) const ROOT: u8 = 255;
}

/// Classes of room, from 1: class k has room for a record of k × 512 bytes, the last for the
/// longest there is. A page with less than the first is left alone: an eighth at most is lost.
pub(super) const CLASSES: u8 = 8;
const CLASS_BYTES: usize = 512;

const _: () = assert!(offset::FIRST == page::HEADER_BYTES && offset::LISTS.is_multiple_of(4));
const _: () = assert!((CLASSES as usize - 1) * CLASS_BYTES < slotted::RECORD_BYTES_MAX);
const _: () = assert!(CLASSES as usize * CLASS_BYTES > slotted::RECORD_BYTES_MAX);
const _: () = assert!(CLASSES < page_state::CURRENT);

/// The highest class that a page with room for a record of that length belongs to.
pub(super) fn class_of(free_bytes: usize) -> u8 {
    if free_bytes >= slotted::RECORD_BYTES_MAX { CLASSES } else { (free_bytes / CLASS_BYTES) as u8 }
}

/// The lowest class in which a record of that length fits for certain.
fn class_for(len: usize) -> u8 {
    (len.div_ceil(CLASS_BYTES).max(1) as u8).min(CLASSES)
}

pub(super) fn list_at(class: u8) -> usize {
    offset::LISTS + (usize::from(class) - 1) * size_of::<PageNumber>()
}

/// Make a root.
pub(super) fn create(pages: &mut impl PageWrite, file: FileNumber) -> Result<PageNumber> {
    let root = pages.allocate(file, PageKind::Heap)?;
    pages.write(root, |bytes| bytes.put_u8(page::offset::LEVEL, page_state::ROOT))?;
    Ok(root)
}

/// Write one u32 field of a page.
fn put(pages: &mut impl PageWrite, page: PageNumber, at: usize, value: PageNumber) -> Result<()> {
    pages.write(page, |bytes| bytes.put_u32(at, value))
}

impl Heap {
    /// A field of the root.
    pub(super) fn root_field(self, pages: &impl PageRead, at: usize) -> Result<u32> {
        self.root_fields(pages, [at]).map(|[field]| field)
    }

    /// Fields of the root, of one moment.
    pub(super) fn root_fields<const FIELDS: usize>(
        self,
        pages: &impl PageRead,
        places: [usize; FIELDS],
    ) -> Result<[u32; FIELDS]> {
        let fields = pages.read(self.root, |view| {
            let is_own = view.kind() == PageKind::Heap as u8
                && view.u32(page::offset::FILE) == self.file
                && view.level() == page_state::ROOT;
            is_own.then(|| places.map(|at| view.u32(at)))
        })?;
        fields.ok_or_else(|| {
            let amiss = Corruption("it is not the root of this heap").on(self.root);
            emptied::or(pages, self.root, amiss)
        })
    }

    /// Put a record of whatever sort where there is room for it. One that is not a relocated record
    /// gets its tag here, where its id is found.
    pub(super) fn put(
        self,
        pages: &mut impl PageWrite,
        record: &[u8],
        flags: u8,
        allocation_hint: Option<PageNumber>,
    ) -> Result<RecordId> {
        if let Some(allocation_hint) = allocation_hint {
            // Read first, so that a page without room is not marked as changed.
            let free_bytes = pages.read(allocation_hint, |view| {
                let file = view.u32(page::offset::FILE);
                let is_own = self.owns(view.kind(), file, view.level());
                if is_own { slotted::free_space(view) } else { 0 }
            })?;
            if free_bytes > 0
                && free_bytes >= record.len()
                && let Some(slot) = self.insert_into(pages, allocation_hint, record, flags)?
            {
                return Ok(RecordId { page: allocation_hint, slot });
            }
        }
        let mut current = self.root_field(pages, offset::CURRENT)?;
        if current != NO_PAGE {
            if let Some(slot) = self.insert_into(pages, current, record, flags)? {
                return Ok(RecordId { page: current, slot });
            }
            self.retire(pages, current)?;
        }
        current = self.take_page(pages, record.len())?;
        match self.insert_into(pages, current, record, flags)? {
            Some(slot) => Ok(RecordId { page: current, slot }),
            None => Err(Corruption("it has less free space than its class").on(current)),
        }
    }

    fn insert_into(
        self,
        pages: &mut impl PageWrite,
        page: PageNumber,
        record: &[u8],
        flags: u8,
    ) -> Result<Option<u16>> {
        let key = pages.salt();
        self.change_page(pages, page, |bytes| {
            let Some(slot) = slotted::insert(bytes, record, flags)? else { return Ok(None) };
            if flags == flag::RECORD
                && let Some(place) = slotted::find_in(bytes, slot)?
            {
                bytes.put_u64(place.at, tag(RecordId { page, slot }, key));
            }
            Ok(Some(slot))
        })
    }

    /// Change records of a page, and put it on the list of a higher class if it has gained room.
    pub(super) fn change_page<R>(
        self,
        pages: &mut impl PageWrite,
        page: PageNumber,
        change: impl FnOnce(&mut PageMut<'_>) -> slotted::Result<R>,
    ) -> Result<R> {
        let changed = pages.write(page, |bytes| {
            if !self.owns_bytes(bytes) {
                return Err(Corruption("it is not one of its heap's pages"));
            }
            let result = change(bytes)?;
            Ok((result, bytes[page::offset::LEVEL], class_of(slotted::free_space_in(bytes)?)))
        })?;
        let (result, listed, class) = changed.map_err(|corruption| corruption.on(page))?;
        if listed < class {
            if listed != page_state::UNLISTED {
                self.unlist(pages, page, listed)?;
            }
            self.list(pages, page, class)?;
        }
        Ok(result)
    }

    /// The current page is full: put it on a list.
    pub(super) fn retire(self, pages: &mut impl PageWrite, current: PageNumber) -> Result<()> {
        let class = pages.write(current, |bytes| {
            bytes.put_u8(page::offset::LEVEL, page_state::UNLISTED);
            slotted::free_space_in(bytes).map(class_of)
        })?;
        match class.map_err(|corruption| corruption.on(current))? {
            0 => Ok(()),
            class => self.list(pages, current, class),
        }
    }

    /// Make a page current that has room for a record of that length.
    fn take_page(self, pages: &mut impl PageWrite, len: usize) -> Result<PageNumber> {
        let page = match self.take_listed(pages, len)? {
            Some(page) => page,
            None => self.add_page(pages)?,
        };
        pages.write(page, |bytes| bytes.put_u8(page::offset::LEVEL, page_state::CURRENT))?;
        put(pages, self.root, offset::CURRENT, page)?;
        Ok(page)
    }

    /// Take a page from the lists, of the class that fits best.
    fn take_listed(self, pages: &mut impl PageWrite, len: usize) -> Result<Option<PageNumber>> {
        for class in class_for(len)..=CLASSES {
            // Each round makes the list shorter: pages that have lost room go to lower ones.
            loop {
                let page = self.root_field(pages, list_at(class))?;
                if page == NO_PAGE {
                    break;
                }
                let now = class_of(pages.read(page, slotted::free_space)?);
                self.unlist(pages, page, class)?;
                if now >= class {
                    return Ok(Some(page));
                }
                if now != page_state::UNLISTED {
                    self.list(pages, page, now)?;
                }
            }
        }
        Ok(None)
    }

    /// A new page at the chain's end, on no list.
    fn add_page(self, pages: &mut impl PageWrite) -> Result<PageNumber> {
        let page = pages.allocate(self.file, PageKind::Heap)?;
        match self.root_field(pages, offset::LAST)? {
            NO_PAGE => put(pages, self.root, offset::FIRST, page)?,
            last => put(pages, last, offset::FOLLOWING, page)?,
        }
        pages.write(self.root, |bytes| {
            let count = page::u32_at(bytes, offset::PAGES);
            bytes.put_u32(offset::PAGES, count.saturating_add(1));
            bytes.put_u32(offset::LAST, page);
        })?;
        Ok(page)
    }

    /// Put a page that is on no list on the list of a class.
    pub(super) fn list(
        self,
        pages: &mut impl PageWrite,
        page: PageNumber,
        class: u8,
    ) -> Result<()> {
        let next = self.root_field(pages, list_at(class))?;
        pages.write(page, |bytes| {
            bytes.put_u8(page::offset::LEVEL, class);
            bytes.put_u32(page::offset::NEXT, next);
            bytes.put_u32(page::offset::PREVIOUS, NO_PAGE);
        })?;
        if next != NO_PAGE {
            relink(pages, (next, page::offset::PREVIOUS), NO_PAGE, page)?;
        }
        put(pages, self.root, list_at(class), page)
    }

    /// Take a page from the list of its class.
    fn unlist(self, pages: &mut impl PageWrite, page: PageNumber, class: u8) -> Result<()> {
        let neighbours = pages.write(page, |bytes| {
            if !self.owns_bytes(bytes) || bytes[page::offset::LEVEL] != class {
                return None;
            }
            let next = page::u32_at(bytes, page::offset::NEXT);
            let previous = page::u32_at(bytes, page::offset::PREVIOUS);
            bytes.put_u8(page::offset::LEVEL, page_state::UNLISTED);
            bytes.put_u32(page::offset::NEXT, NO_PAGE);
            bytes.put_u32(page::offset::PREVIOUS, NO_PAGE);
            Some((next, previous))
        })?;
        let (next, previous) =
            neighbours.ok_or_else(|| Corruption("it is on the list of another class").on(page))?;
        let to_it = match previous {
            NO_PAGE => (self.root, list_at(class)),
            previous => (previous, page::offset::NEXT),
        };
        relink(pages, to_it, page, next)?;
        if next != NO_PAGE {
            relink(pages, (next, page::offset::PREVIOUS), page, previous)?;
        }
        Ok(())
    }
}

/// Let a link that leads to `before` lead to `after`; one that does not is damaged, and the page
/// that it lies in may be anyone's.
fn relink(
    pages: &mut impl PageWrite,
    (page, at): (PageNumber, usize),
    before: PageNumber,
    after: PageNumber,
) -> Result<()> {
    let found = pages.read(page, |view| view.u32(at))?;
    if found != before {
        return Err(Corruption("its neighbours on a list do not link to it").on(before));
    }
    put(pages, page, at, after)
}
