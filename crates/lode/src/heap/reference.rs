//! References: record ids as a field has them, with the place where the record lay; and how one is
//! followed without the page's slots.
//!
//! In front of each record stands its *record tag*: its id, mixed with a number of the volume's
//! own. A record that moves or goes leaves no tag behind ([`crate::slotted`] clears the first
//! word), and bytes put in equal one by chance only, once in 2^64. So a tag found is its record's,
//! and it is enough to look there: nothing has to be undone when the page changes or goes, and
//! nothing is kept in memory. The page's number gives its address ([`crate::buffer`]), the
//! reference the rest. OO1 (section 10) describes a system that has it; Moss, "Working with
//! Persistent Objects: To Swizzle or Not to Swizzle", 1992, has its kinds, of which this comes
//! nearest to the direct one.

use super::{Heap, RecordId, TAG_BYTES, nowhere};
use crate::error::{LodeError, Result};
use crate::page::PageNumber;
use crate::pages::PageRead;
use crate::view::View;

/// A record id, and in the upper 16 bits of the word, which an id leaves free, where in its page
/// the record's tag began when the reference was made: a multiple of 8, 0 for none: an
/// offset hint. One that no longer holds costs reading the slot, and nothing else. The word 0 is no
/// reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reference(pub u64);

impl Reference {
    const SHIFT: u32 = 48;

    /// To a record whose tag begins there in its page; 0 for no hint.
    pub const fn new(id: RecordId, tag_at: u16) -> Self {
        Self(id.to_u64() | (tag_at as u64) << Self::SHIFT)
    }

    /// To a record, without an offset hint.
    pub const fn to(id: RecordId) -> Self {
        Self::new(id, 0)
    }

    /// The place where the record's tag began.
    #[inline]
    pub const fn tag_at(self) -> u16 {
        (self.0 >> Self::SHIFT) as u16
    }

    /// Which record; `None` for a word that is no reference.
    #[inline]
    pub const fn id(self) -> Option<RecordId> {
        RecordId::of(self.number())
    }

    /// A number of the record's own, the same for all references to it: its id, whether it is one
    /// or not.
    #[inline]
    pub const fn number(self) -> u64 {
        self.0 & ((1 << Self::SHIFT) - 1)
    }

    /// Whether both lead to the same record.
    #[inline]
    pub const fn is_to_same(self, other: Self) -> bool {
        (self.0 ^ other.0) << (64 - Self::SHIFT) == 0
    }

    /// The page in which the record lies, or did: one that moved is followed from there.
    #[inline]
    pub const fn page(self) -> PageNumber {
        (self.0 >> 16) as PageNumber
    }

    /// Within a page, whatever the word.
    #[inline]
    const fn at(self) -> usize {
        self.tag_at() as usize & 0xff8
    }
}

/// A record's tag.
#[inline]
pub(super) const fn tag(id: RecordId, key: u64) -> u64 {
    id.to_u64() ^ key
}

/// The record that a tag names, if it is one.
pub(super) const fn id_of(tag: u64, key: u64) -> Option<RecordId> {
    RecordId::of(tag ^ key)
}

impl Heap {
    /// Read a record where its reference says that it lies; `inspect` gets the page and where the
    /// record begins, and not its length. `None` says nothing, [`Heap::read_at`] does: the record
    /// may lie elsewhere, or its page not be in memory.
    ///
    /// If the tactics do not swizzle, the record is found by its slot.
    #[expect(clippy::inline_always, reason = "what is read at should stay in registers")]
    #[inline(always)]
    pub fn try_read_at<R>(
        self,
        pages: &impl PageRead,
        reference: Reference,
        mut inspect: impl FnMut(View<'_>, usize) -> R,
    ) -> Option<R> {
        let id = RecordId { page: reference.page(), slot: reference.0 as u16 };
        let tag = tag(id, pages.salt());
        // Two closures: the one that swizzles is small enough to become part of the caller,
        // whatever the other needs, and what it answers stays in registers.
        let seen = if pages.swizzles() {
            let at = reference.at();
            pages.try_read(id.page, |view| {
                (view.u64(at) == tag).then(|| inspect(view, at + TAG_BYTES))
            })
        } else {
            pages.try_read(id.page, |view| self.home(view, id, tag).map(|at| inspect(view, at)))
        };
        seen.flatten()
    }

    /// Read a record of which one knows where its fields lie: `inspect` gets the page and where the
    /// record begins, as [`Heap::read`] says it, and not its length. Where the tactics swizzle and
    /// the reference is right, neither the page's header nor its slots are read. One that has moved
    /// away from its page is read through that page each time.
    #[expect(clippy::inline_always, reason = "what is read at should stay in registers")]
    #[inline(always)]
    pub fn read_at<R>(
        self,
        pages: &impl PageRead,
        reference: Reference,
        mut inspect: impl FnMut(View<'_>, usize) -> R,
    ) -> Result<R> {
        match self.try_read_at(pages, reference, &mut inspect) {
            Some(seen) => Ok(seen),
            None => self.read_slow(pages, reference, inspect),
        }
    }

    /// Apart, since what a call answers goes through memory.
    #[inline(never)]
    fn read_slow<R>(
        self,
        pages: &impl PageRead,
        reference: Reference,
        mut inspect: impl FnMut(View<'_>, usize) -> R,
    ) -> Result<R> {
        let id = reference.id().ok_or_else(|| LodeError::Missing {
            what: format!("record that the word {:#x} could name", reference.0),
        })?;
        self.read(pages, id, |view, at, _| inspect(view, at))
    }

    /// Prefetch a record from where its reference says that it lies.
    #[inline]
    pub fn prefetch(self, pages: &impl PageRead, reference: Reference) {
        pages.prefetch(reference.page(), reference.at());
    }

    /// The best reference to a record: to where it lies now, if that is in its own page.
    ///
    /// [`LodeError::Missing`] where there is no such record.
    pub fn reference(self, pages: &impl PageRead, id: RecordId) -> Result<Reference> {
        let tag = tag(id, pages.salt());
        let home = pages.read(id.page, |view| self.home(view, id, tag));
        match home.map_err(|error| nowhere(id, error))? {
            Some(at) => Ok(Reference::new(id, (at - TAG_BYTES) as u16)),
            None => self.read(pages, id, |_, _, _| ()).map(|()| Reference::to(id)),
        }
    }
}
