//! Slotted pages: records of any length in one page, each under a slot number that it keeps.
//!
//! ```text
//! 0        32       64                                                         4096
//! | header | fields | records ->  (holes between them)  | gap |  <- slots ... 2 1 0 |
//! ```
//!
//! A record lies at a multiple of 8 and takes a multiple of 8, at least 8. A slot is four bytes:
//! u16 offset (0: free), u16 length in the lower 12 bits and four flags above, whose meaning is the
//! caller's. A page just formatted ([`page::format`]) is an empty slotted page, of whatever kind.
//! Of what a record leaves behind, when it is deleted or moves, the first eight bytes are cleared,
//! and no more, so that a difference of pages stays short.
//!
//! This module knows one page; chains of pages, and records that move between them, are the
//! caller's ([`crate::heap`], [`crate::objects`]).

mod change;
mod record_id;
#[cfg(test)]
mod tests;

use crate::error::LodeError;
use crate::page::{self, HEADER_BYTES, PAGE_BYTES, PageBytes, PageNumber};
use crate::page_mut::PageMut;
use crate::view::View;

pub use change::{Fit, check, delete, insert, insert_zeros, resize, update};
pub use record_id::RecordId;

/// Offsets of the fields behind the page's header.
pub mod offset {
    /// u16: bytes from [`super::RECORDS_AT`] to the end of the record that lies last.
    pub const EXTENT: usize = 32;
    /// u16: bytes of the extent that no record takes.
    pub const HOLES: usize = 34;
    /// u16: slots that are free.
    pub const SLOTS_FREE: usize = 36;
    /// Eight bytes for the caller's own: see [`crate::heap`].
    pub const OWN: usize = 40;
}

/// The place where the first record lies: at a processor's cache line, so that records of a
/// multiple of its length take no more lines than they must.
pub const RECORDS_AT: usize = 64;

/// Records lie at multiples of this and take multiples of it, so that fields within them can be
/// read in one piece, and a record id fits wherever a record lay.
pub const ALIGNMENT_BYTES: usize = 8;

/// A slot of the directory.
pub const SLOT_BYTES: usize = 4;

/// The longest record: alone in its page.
pub const RECORD_BYTES_MAX: usize =
    (PAGE_BYTES - RECORDS_AT - SLOT_BYTES) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;

/// The most slots that a page can have; slots are never more than the page has room for.
pub const SLOTS_MAX: usize = (PAGE_BYTES - RECORDS_AT) / SLOT_BYTES;

const LENGTH_BITS: u32 = 12;
const LENGTH_MASK: u32 = (1 << LENGTH_BITS) - 1;

const _: () = assert!(offset::EXTENT == HEADER_BYTES && offset::OWN + 8 <= RECORDS_AT);
const _: () = assert!(offset::OWN.is_multiple_of(8) && RECORDS_AT.is_multiple_of(ALIGNMENT_BYTES));
const _: () = assert!(RECORD_BYTES_MAX == 4024 && RECORD_BYTES_MAX <= LENGTH_MASK as usize);

/// A page, or a record, that contradicts itself or those around it, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corruption(pub &'static str);

impl Corruption {
    /// As an error that names the page.
    pub fn on(self, page: PageNumber) -> LodeError {
        LodeError::corrupt_page(page, self.0)
    }

    /// As an error that names the record.
    pub fn in_record(self, id: RecordId) -> LodeError {
        LodeError::Corrupt { what: id.to_string(), how: self.0.into() }
    }
}

/// The result of these functions.
pub type Result<T, E = Corruption> = std::result::Result<T, E>;

/// The place where a record lies in its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Offset in the page, a multiple of 8.
    pub at: usize,
    /// Length in bytes.
    pub len: usize,
    /// Four bits of the caller's.
    pub flags: u8,
}

impl Record {
    /// The record that a slot describes, on a page of `slots` slots.
    #[inline]
    fn of(word: u32, slots: usize) -> Result<Option<Self>> {
        let at = (word & 0xffff) as usize;
        if at == 0 {
            return Ok(None);
        }
        let len = (word >> 16 & LENGTH_MASK) as usize;
        let flags = (word >> (16 + LENGTH_BITS)) as u8;
        let within = at >= RECORDS_AT && at + len + slots * SLOT_BYTES <= PAGE_BYTES;
        if !within || !at.is_multiple_of(ALIGNMENT_BYTES) {
            return Err(Corruption("a record lies where none can"));
        }
        Ok(Some(Self { at, len, flags }))
    }

    const fn to_u32(self) -> u32 {
        self.at as u32 | (self.len as u32) << 16 | (self.flags as u32) << (16 + LENGTH_BITS)
    }

    /// Bytes that it takes.
    const fn span(self) -> usize {
        span(self.len)
    }

    const fn end(self) -> usize {
        self.at + self.span()
    }
}

/// Bytes that a record of this length takes.
const fn span(len: usize) -> usize {
    if len == 0 { ALIGNMENT_BYTES } else { len.next_multiple_of(ALIGNMENT_BYTES) }
}

/// The place where a slot lies; beyond the page for one that no page has.
#[inline]
const fn slot_at(slot: u16) -> usize {
    PAGE_BYTES.wrapping_sub((slot as usize + 1) * SLOT_BYTES)
}

/// Slots of a page, those that are free among them: the next one to be new.
#[inline]
pub fn slots(view: View<'_>) -> u16 {
    view.count().min(SLOTS_MAX as u16)
}

/// The record in a slot; `None` where the slot is free or there is none. Whatever the view reads,
/// the record lies within the page.
#[inline]
pub fn find(view: View<'_>, slot: u16) -> Result<Option<Record>> {
    find_among(view, view.count(), slot)
}

/// The same where the header's count was read already.
#[inline]
pub(crate) fn find_among(view: View<'_>, count: u16, slot: u16) -> Result<Option<Record>> {
    let slots = count.min(SLOTS_MAX as u16);
    if slot >= slots {
        return Ok(None);
    }
    Record::of(view.u32(slot_at(slot)), usize::from(slots))
}

/// The same for a page that is being changed.
#[inline]
pub fn find_in(bytes: &PageBytes, slot: u16) -> Result<Option<Record>> {
    let slots = usize::from(page::u16_at(bytes, page::offset::COUNT)).min(SLOTS_MAX);
    if usize::from(slot) >= slots {
        return Ok(None);
    }
    Record::of(page::u32_at(bytes, slot_at(slot)), slots)
}

/// The longest record that [`insert`] would take, a multiple of 8; 0: not even an empty one.
pub fn free_space(view: View<'_>) -> usize {
    let field = |at| usize::from(view.u16(at));
    Space {
        slots: usize::from(slots(view)),
        extent: field(offset::EXTENT),
        holes: field(offset::HOLES),
        slots_free: field(offset::SLOTS_FREE),
    }
    .free_space()
}

/// The same for a page that is being changed.
pub fn free_space_in(bytes: &PageBytes) -> Result<usize> {
    Ok(Space::of(bytes)?.free_space())
}

/// The way in which the page's bytes are shared out.
#[derive(Clone, Copy)]
struct Space {
    slots: usize,
    extent: usize,
    holes: usize,
    slots_free: usize,
}

impl Space {
    fn of(bytes: &PageBytes) -> Result<Self> {
        let field = |at| usize::from(page::u16_at(bytes, at));
        let space = Self {
            slots: field(page::offset::COUNT),
            extent: field(offset::EXTENT),
            holes: field(offset::HOLES),
            slots_free: field(offset::SLOTS_FREE),
        };
        if RECORDS_AT + space.extent + space.slots * SLOT_BYTES > PAGE_BYTES {
            return Err(Corruption("its records and its slots overlap"));
        }
        // An odd extent would let the next record lie where none can.
        if !(space.extent | space.holes).is_multiple_of(ALIGNMENT_BYTES) {
            return Err(Corruption("its records take no whole number of eight bytes"));
        }
        if space.holes > space.extent || space.slots_free > space.slots {
            return Err(Corruption("more of it is free than there is"));
        }
        Ok(space)
    }

    fn store(self, bytes: &mut PageMut<'_>) {
        bytes.put_u16(page::offset::COUNT, self.slots as u16);
        // They lie side by side, in one word: one store.
        let fields = [self.extent, self.holes, self.slots_free].map(|field| field as u64);
        bytes.put_field::<6>(offset::EXTENT, fields[0] | fields[1] << 16 | fields[2] << 32);
    }

    /// The place where the record that lies last ends.
    fn end(self) -> usize {
        RECORDS_AT + self.extent
    }

    /// Bytes between the records and the slots.
    fn gap(self) -> usize {
        (PAGE_BYTES - RECORDS_AT).saturating_sub(self.extent + self.slots * SLOT_BYTES)
    }

    /// Bytes that a new record's slot takes.
    fn slot_bytes(self) -> usize {
        if self.slots_free == 0 { SLOT_BYTES } else { 0 }
    }

    fn free_space(self) -> usize {
        let free = (self.gap() + self.holes).saturating_sub(self.slot_bytes());
        (free / ALIGNMENT_BYTES * ALIGNMENT_BYTES).min(RECORD_BYTES_MAX)
    }

    /// A record no longer takes these bytes.
    fn give_back(&mut self, at: usize, count: usize) {
        if at + count == self.end() {
            self.extent -= count;
        } else {
            self.holes += count;
        }
    }

    /// A free slot, or a new one where there is none.
    fn take_slot(&mut self, bytes: &PageBytes) -> Result<u16> {
        if self.slots_free == 0 {
            self.slots += 1;
            return Ok((self.slots - 1) as u16);
        }
        let is_free = |&slot: &u16| page::u32_at(bytes, slot_at(slot)) == 0;
        let free = (0..self.slots as u16).find(is_free);
        self.slots_free -= 1;
        free.ok_or(Corruption("none of its slots is free, against its header"))
    }
}
