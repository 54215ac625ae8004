//! Many records at a heap's end: each page is filled beside the buffer and put there whole.
//!
//! So a page is requested, written and logged once, however many records it takes, and the root is
//! written once at the end. Until then the heap shows nothing of what was appended.

use super::free_space::{class_of, offset, page_state};
use super::reference::tag;
use super::{Heap, RecordId, TAG_BYTES, check_length, flag};
use crate::aligned_page::AlignedPage;
use crate::error::Result;
use crate::page::{self, NO_PAGE, PageKind, PageNumber};
use crate::pages::PageWrite;
use crate::slotted;

/// Appends records to a heap; [`Appender::finish`] makes them part of it.
///
/// Dropped without that, they are lost, and the pages that they took stay taken unless the
/// transaction is rolled back.
#[must_use = "what is appended becomes part of the heap at `finish`"]
pub struct Appender {
    heap: Heap,
    /// The page that is being filled, and its number; no page before the first record.
    filling: Box<AlignedPage>,
    page: PageNumber,
    first: PageNumber,
    pages_full: u32,
}

impl Heap {
    /// Append many records with little work for each. Until it is finished, the heap is not to be
    /// changed otherwise.
    pub fn appender(self) -> Appender {
        let filling = Box::new(AlignedPage::zeros());
        Appender { heap: self, filling, page: NO_PAGE, first: NO_PAGE, pages_full: 0 }
    }
}

impl Appender {
    /// Append a record.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::TooLong`] beyond [`super::RECORD_BYTES_MAX`]; what `pages` says.
    pub fn append(&mut self, pages: &mut impl PageWrite, record: &[u8]) -> Result<RecordId> {
        self.append_with(pages, record.len(), |bytes| bytes.copy_from_slice(record))
    }

    /// Append a record of `len` bytes, which are zeros until `fill` puts something there.
    ///
    /// # Errors
    ///
    /// As [`Appender::append`].
    pub fn append_with(
        &mut self,
        pages: &mut impl PageWrite,
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<RecordId> {
        check_length(len)?;
        if self.page == NO_PAGE {
            self.page = self.begin(pages)?;
            self.first = self.page;
        }
        let slot = if let Some(slot) = self.reserve(len)? {
            slot
        } else {
            self.next_page(pages)?;
            self.reserve(len)?.expect("a record that is not too long fits an empty page")
        };
        let id = RecordId { page: self.page, slot };
        let place = slotted::find_in(&self.filling, slot).ok().flatten();
        let place = place.expect("the slot was filled just now");
        page::put_u64(&mut self.filling, place.at, tag(id, pages.salt()));
        fill(&mut self.filling[place.at + TAG_BYTES..][..len]);
        Ok(id)
    }

    /// Make what was appended part of the heap. Records that are inserted next go on behind it.
    ///
    /// # Errors
    ///
    /// The error of `pages`.
    pub fn finish(mut self, pages: &mut impl PageWrite) -> Result<()> {
        if self.page == NO_PAGE {
            return Ok(());
        }
        let heap = self.heap;
        let current = heap.root_field(pages, offset::CURRENT)?;
        if current != NO_PAGE {
            heap.retire(pages, current)?;
        }
        self.put(pages, page_state::CURRENT)?;
        let before = heap.root_field(pages, offset::LAST)?;
        let (first, last, count) = (self.first, self.page, self.pages_full + 1);
        if before != NO_PAGE {
            pages.write(before, |bytes| bytes.put_u32(offset::FOLLOWING, first))?;
        }
        pages.write(heap.root, |bytes| {
            if before == NO_PAGE {
                bytes.put_u32(offset::FIRST, first);
            }
            bytes.put_u32(offset::LAST, last);
            bytes.put_u32(offset::CURRENT, last);
            let total = page::u32_at(bytes, offset::PAGES).saturating_add(count);
            bytes.put_u32(offset::PAGES, total);
        })
    }

    /// The first page, for a heap that is one.
    fn begin(&mut self, pages: &mut impl PageWrite) -> Result<PageNumber> {
        self.heap.root_field(pages, offset::PAGES)?;
        let page = pages.allocate(self.heap.file, PageKind::Heap)?;
        self.clear();
        Ok(page)
    }

    /// Put the full page in its place, and begin the next.
    fn next_page(&mut self, pages: &mut impl PageWrite) -> Result<()> {
        let next = pages.allocate(self.heap.file, PageKind::Heap)?;
        self.filling.page_mut().put_u32(offset::FOLLOWING, next);
        self.put(pages, page_state::UNLISTED)?;
        self.pages_full += 1;
        self.page = next;
        self.clear();
        Ok(())
    }

    fn clear(&mut self) {
        page::format(&mut self.filling.page_mut(), PageKind::Heap, self.heap.file);
    }

    /// A slot for a record in the page that is being filled.
    fn reserve(&mut self, len: usize) -> Result<Option<u16>> {
        let reserved =
            slotted::insert_zeros(&mut self.filling.page_mut(), TAG_BYTES + len, flag::RECORD);
        reserved.map_err(|corruption| corruption.on(self.page))
    }

    /// Put the page that was filled in its place; on a list, if it has room enough and is not the
    /// current one.
    fn put(&mut self, pages: &mut impl PageWrite, state: u8) -> Result<()> {
        let filled = &mut *self.filling;
        filled[page::offset::LEVEL] = state;
        let class = class_of(slotted::free_space_in(filled).map_err(|how| how.on(self.page))?);
        // The checksum and the position in the log are the layer's below.
        let own = page::offset::KIND..;
        pages.write(self.page, |bytes| bytes.put(own.start, &filled[own]))?;
        if state == page_state::UNLISTED && class != page_state::UNLISTED {
            self.heap.list(pages, self.page, class)?;
        }
        Ok(())
    }
}
