//! A scan that hands out pages: each pinned, with the places of its records, so that a
//! program that evaluates something over many records reads them where they lie.

use super::chain::Chain;
use super::{GONE, Heap, RecordId, TAG_BYTES, flag, owner};
use crate::emptied;
use crate::error::Result;
use crate::page::{self, PageNumber};
use crate::pages::{PageRead, Pinned};
use crate::slotted;

/// The place where a record lies in its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordPlace {
    /// The record's id: of a record that has moved here from another page, the id there.
    pub id: RecordId,
    /// Offset in the page in bytes, a multiple of 8.
    pub at: u16,
    /// Length in bytes.
    pub len: u16,
}

/// A page of a heap, pinned, and its records.
#[derive(Debug)]
pub struct PinnedPage {
    page: Pinned,
    records: Vec<RecordPlace>,
}

impl PinnedPage {
    /// The records, in the order of their slots.
    pub fn records(&self) -> &[RecordPlace] {
        &self.records
    }

    /// A record's bytes.
    pub fn record(&self, place: RecordPlace) -> &[u8] {
        &self.page[usize::from(place.at)..][..usize::from(place.len)]
    }

    /// The page, and the places apart from it.
    pub fn into_parts(self) -> (Pinned, Vec<RecordPlace>) {
        (self.page, self.records)
    }
}

/// A walk along the pages of a heap, in the order in which they were made. It shows what
/// [`Heap::scan`] shows, and checks what that checks.
pub struct Cursor {
    chain: Chain,
}

impl Heap {
    /// A walk along all pages, before the first.
    pub fn cursor(self, pages: &impl PageRead) -> Result<Cursor> {
        Ok(Cursor { chain: self.chain(pages)? })
    }

    /// Pin a page of this heap, and list its records in place of what `places` held. For threads
    /// that share out the numbers of [`Cursor::next_number`].
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Corrupt`] for a page that is no such page; as [`PageRead::pin`].
    pub fn pin_page(
        self,
        pages: &impl PageRead,
        page: PageNumber,
        places: &mut Vec<RecordPlace>,
    ) -> Result<Pinned> {
        let pinned = pages.pin(page)?;
        if !self.owns_bytes(&pinned) {
            return Err(slotted::Corruption("it is not one of its heap's pages").on(page));
        }
        list(&pinned, pages.salt(), places).map_err(|corruption| corruption.on(page))?;
        Ok(pinned)
    }
}

impl Cursor {
    /// The next page, until there are no more.
    ///
    /// # Errors
    ///
    /// As [`Heap::scan`] and [`PageRead::pin`].
    pub fn next_page(&mut self, pages: &impl PageRead) -> Result<Option<PinnedPage>> {
        let mut records = Vec::new();
        let page = self.next_page_into(pages, &mut records)?;
        Ok(page.map(|page| PinnedPage { page, records }))
    }

    /// The same, into a list of the caller's, which loses what it held: no memory is requested
    /// again and again.
    ///
    /// # Errors
    ///
    /// As [`Cursor::next_page`].
    pub fn next_page_into(
        &mut self,
        pages: &impl PageRead,
        places: &mut Vec<RecordPlace>,
    ) -> Result<Option<Pinned>> {
        places.clear();
        let Some(page) = self.chain.here()? else { return Ok(None) };
        let pinned = pages.pin(page)?;
        let next = page::u32_at(&pinned, super::free_space::offset::FOLLOWING);
        let is_own = self.chain.heap.owns_bytes(&pinned);
        let passed = self.chain.go_on(page, is_own, next);
        passed.map_err(|error| emptied::or(pages, page, error))?;
        list(&pinned, pages.salt(), places).map_err(|corruption| corruption.on(page))?;
        Ok(Some(pinned))
    }

    /// The number of the next page, which only its header is read for.
    ///
    /// # Errors
    ///
    /// As [`Heap::scan`].
    pub fn next_number(&mut self, pages: &impl PageRead) -> Result<Option<PageNumber>> {
        self.chain.next_page(pages)
    }
}

/// The records of a page.
fn list(page: &Pinned, key: u64, places: &mut Vec<RecordPlace>) -> slotted::Result<()> {
    places.clear();
    let number = page.page();
    let slots = page::u16_at(page, page::offset::COUNT);
    for slot in 0..slots.min(slotted::SLOTS_MAX as u16) {
        let Some(record) = slotted::find_in(page, slot)? else { continue };
        let home = RecordId { page: number, slot };
        let id = match (record.flags, owner(&page[record.at..record.at + record.len], key)) {
            (flag::RECORD, Some(id)) if id == home => id,
            (flag::RELOCATED, Some(id)) => id,
            (flag::STUB, _) => continue,
            _ => return Err(GONE),
        };
        let (at, len) = (record.at + TAG_BYTES, record.len - TAG_BYTES);
        places.push(RecordPlace { id, at: at as u16, len: len as u16 });
    }
    Ok(())
}
