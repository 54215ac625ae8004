//! Some tuples of a relation at once, where they lie.

use std::fmt;

use lode::internals::page::{self, PAGE_BYTES, PageBytes, PageNumber};
use lode::internals::slotted::{self, SLOT_BYTES};
use lode::{LodeError, PageRead, Pinned, RecordId};

use crate::error::Result;
use crate::table::prefetch;

/// The word in front of a heap's record: its tag.
pub(super) const TAG_BYTES: usize = size_of::<u64>();

/// The slot's flags of a record that lies in its own page. Tuples of a relation all have one
/// length, so none ever has to move.
const IS_RECORD: u8 = 0;

/// Tuples of one relation, and the pages that they lie in, which it keeps.
#[derive(Default)]
pub struct TupleBatch {
    tuple_bytes: usize,
    tuples: Vec<*const u8>,
    ids: Vec<u64>,
    pages: Vec<HeldPage>,
    near: Option<Near>,
    /// Tuples that were put together from columns, and how many pages they came from.
    room: Vec<u8>,
    pages_left: usize,
}

/// Two offsets of each tuple, maybe the same, whose lines are brought into the processor's caches
/// as the tuple is taken: what reads them there then waits less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Near(pub usize, pub usize);

/// A page as it was when it was read, for as long as the batch is used.
pub(super) struct HeldPage {
    pub(super) page: PageNumber,
    bytes: PageHold,
}

/// The way in which a page is kept.
enum PageHold {
    /// In the buffer.
    Pinned(Pinned),
    /// Outside it: so many pages of the cache are pinned already that others would find no room.
    Copied(Box<PageBytes>),
}

impl HeldPage {
    pub(super) fn read(pages: &impl PageRead, page: PageNumber) -> Result<Self> {
        let bytes = match pages.pin(page) {
            Ok(pinned) => PageHold::Pinned(pinned),
            Err(LodeError::PinsFull { .. }) => PageHold::Copied(Self::copied(pages, page)?),
            Err(error) => return Err(error.into()),
        };
        Ok(Self { page, bytes })
    }

    /// Apart from the way that pages go nearly always: a copy needs a page of the stack.
    #[cold]
    #[inline(never)]
    fn copied(pages: &impl PageRead, page: PageNumber) -> Result<Box<PageBytes>> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method serves one lifetime of a view, the closure every one"
        )]
        let copied = pages.read(page, |view| view.copy())?;
        Ok(copied)
    }

    pub(super) fn bytes(&self) -> &PageBytes {
        match &self.bytes {
            PageHold::Pinned(pinned) => pinned.bytes(),
            PageHold::Copied(copied) => copied,
        }
    }
}

// SAFETY: the pointers lead into pages and room that the batch owns and nobody changes, wherever
// the batch goes; `PageHold` may go to another thread by itself, which the line below requests.
#[expect(unsafe_code, reason = "the pointers go together with what they lead into")]
unsafe impl Send for TupleBatch {}

const _: fn() = || {
    fn may_go_to_another_thread<T: Send>() {}
    may_go_to_another_thread::<PageHold>();
};

impl TupleBatch {
    /// Without tuples.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bring that part of each tuple near from now on.
    pub fn bring_near(&mut self, near: Option<Near>) {
        self.near = near;
    }

    /// The number of tuples that it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.tuples.len()
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tuples.is_empty()
    }

    /// The length of each tuple in bytes.
    #[inline]
    pub fn tuple_bytes(&self) -> usize {
        self.tuple_bytes
    }

    /// A tuple.
    #[inline]
    pub fn tuple(&self, at: usize) -> &[u8] {
        let start = self.tuples[at];
        // SAFETY: `take` and `put_together` put in only pointers to `tuple_bytes` bytes in a page,
        // or the room, that the batch owns and nobody changes; page and pointer go together in
        // `clear`, which needs the batch alone.
        #[expect(unsafe_code, reason = "the tuples lie in pages that the batch keeps")]
        unsafe {
            std::slice::from_raw_parts(start, self.tuple_bytes)
        }
    }

    /// The first byte of each tuple; [`TupleBatch::tuple_bytes`] may be read from each for as long
    /// as the batch is neither filled again, cleared nor dropped.
    #[inline]
    pub fn tuples(&self) -> &[*const u8] {
        &self.tuples
    }

    /// A tuple's record id, which names it until it is deleted, or its key changes in a clustered
    /// relation.
    #[inline]
    pub fn record_id(&self, at: usize) -> u64 {
        self.ids[at]
    }

    /// The record id of each tuple.
    #[inline]
    pub fn record_ids(&self) -> &[u64] {
        &self.ids
    }

    /// The number of pages that its tuples lie in.
    pub fn page_count(&self) -> usize {
        self.pages.len() + self.pages_left
    }

    /// Drop all tuples but those at these positions, which ascend.
    pub fn select(&mut self, positions: &[u16]) {
        for (kept, at) in positions.iter().map(|at| usize::from(*at)).enumerate() {
            self.tuples[kept] = self.tuples[at];
            self.ids[kept] = self.ids[at];
        }
        self.tuples.truncate(positions.len());
        self.ids.truncate(positions.len());
    }

    /// Let go of all tuples and of their pages.
    pub fn clear(&mut self) {
        self.tuples.clear();
        self.ids.clear();
        self.pages.clear();
        self.pages_left = 0;
    }

    /// Begin to fill it with tuples of that length.
    pub(super) fn begin(&mut self, tuple_bytes: usize) {
        self.clear();
        self.tuple_bytes = tuple_bytes;
    }

    /// Begin to fill it with these tuples of so many bytes, which begin so far from one another.
    /// `fill` puts together what is wanted of them; it answers from how many pages it did.
    ///
    /// # Errors
    ///
    /// The error of `fill`; the batch is empty then.
    pub(super) fn put_together(
        &mut self,
        (tuple_bytes, stride): (usize, usize),
        ids: impl Iterator<Item = u64>,
        fill: impl FnOnce(&mut [u8]) -> Result<usize>,
    ) -> Result<()> {
        self.begin(tuple_bytes);
        self.ids.extend(ids);
        let bytes = self.ids.len() * stride + tuple_bytes;
        if self.room.len() < bytes {
            self.room.resize(bytes, 0);
        }
        match fill(&mut self.room[..bytes]) {
            Ok(pages) => self.pages_left = pages,
            Err(error) => {
                self.ids.clear();
                return Err(error);
            }
        }
        let start = self.room.as_ptr();
        // SAFETY: `room` has a stride for each id and a whole tuple behind the last, and stays as
        // it is until the batch is filled again, which needs it alone.
        #[expect(unsafe_code, reason = "the tuples lie in memory that the batch owns")]
        self.tuples.extend((0..self.ids.len()).map(|at| unsafe { start.add(at * stride) }));
        Ok(())
    }

    /// The page whose tuples came last.
    pub(super) fn last_page(&self) -> Option<&HeldPage> {
        self.pages.last()
    }

    /// Keep a page for the tuples that [`TupleBatch::take`] will take from it.
    pub(super) fn keep(&mut self, page: HeldPage) {
        self.pages.push(page);
    }

    /// Take the tuples in slots `from` to `to` of the page kept last, until the batch has
    /// `tuples_max`. The first slot that was not looked at.
    ///
    /// # Errors
    ///
    /// [`LodeError::Corrupt`] where a slot holds no tuple of this relation's.
    pub(super) fn take(&mut self, from: u16, to: u16, tuples_max: usize) -> Result<u16> {
        let Some(held) = self.pages.last() else { return Ok(from) };
        let bytes = held.bytes();
        let record_bytes = TAG_BYTES + self.tuple_bytes;
        let slots = usize::from(page::u16_at(bytes, page::offset::COUNT)).min(slotted::SLOTS_MAX);
        let last_at = (PAGE_BYTES - slots * SLOT_BYTES).checked_sub(record_bytes);
        let first_id = RecordId { page: held.page, slot: 0 }.to_u64();
        self.tuples.reserve(usize::from(to.saturating_sub(from)));
        self.ids.reserve(usize::from(to.saturating_sub(from)));
        let mut slot = from;
        while slot < to && self.tuples.len() < tuples_max {
            // A record of the right length without flags, which nearly every slot has, is reported
            // by one comparison.
            let number = usize::from(slot);
            let word = if number < slots {
                page::u32_at(bytes, PAGE_BYTES - (number + 1) * SLOT_BYTES)
            } else {
                0
            };
            let at = (word & 0xffff) as usize;
            let is_plain = (word >> 16) as usize == record_bytes;
            let found = if is_plain && at >= slotted::RECORDS_AT && Some(at) <= last_at {
                Some(at + TAG_BYTES)
            } else {
                tuple_at(held, slot, self.tuple_bytes)?
            };
            if let Some(at) = found {
                let tuple = bytes[at..].as_ptr();
                if let Some(Near(one, other)) = self.near {
                    prefetch(tuple.wrapping_add(one));
                    prefetch(tuple.wrapping_add(other));
                }
                self.tuples.push(tuple);
                self.ids.push(first_id | u64::from(slot));
            }
            slot += 1;
        }
        Ok(slot)
    }

    /// Drop the tuples for which this does not hold.
    pub(super) fn retain(&mut self, from: usize, mut keeps: impl FnMut(&[u8]) -> bool) {
        let mut kept = from;
        for at in from..self.len() {
            if keeps(self.tuple(at)) {
                self.tuples[kept] = self.tuples[at];
                self.ids[kept] = self.ids[at];
                kept += 1;
            }
        }
        self.tuples.truncate(kept);
        self.ids.truncate(kept);
    }
}

/// The place where a tuple begins in its page; None for a slot that is free.
fn tuple_at(held: &HeldPage, slot: u16, tuple_bytes: usize) -> Result<Option<usize>> {
    let found = slotted::find_in(held.bytes(), slot).map_err(|how| how.on(held.page))?;
    let Some(record) = found else { return Ok(None) };
    if record.flags != IS_RECORD || record.len != TAG_BYTES + tuple_bytes {
        let how = "a slot holds no tuple of its relation";
        return Err(LodeError::corrupt_page(held.page, how).into());
    }
    debug_assert!(record.at + record.len <= PAGE_BYTES);
    Ok(Some(record.at + TAG_BYTES))
}

impl fmt::Debug for TupleBatch {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("TupleBatch")
            .field("tuples", &self.len())
            .field("tuple_bytes", &self.tuple_bytes)
            .field("pages", &self.pages.len())
            .finish_non_exhaustive()
    }
}
