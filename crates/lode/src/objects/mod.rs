//! Objects: byte strings of any length under an OID that they keep wherever they move.
//!
//! An object is a record of a [`Heap`], and its OID the record's id: home page and slot. In front
//! of its bytes stands a word that says whose they are, so that a direct reference can be checked
//! where it leads, without the page's slots.
//!
//! A reference is an OID in a field of an object. It is followed by [`Objects::read`], through the
//! home page's slots, or by [`Objects::look`], which swizzles: in memory only, it keeps where the
//! object lies for as long as its page is resident and unchanged ([`Pages::mark`]). Nothing has to
//! be undone when the page goes: its stamp is another then. This is indirect swizzling that leaves
//! the page as it is on disk (OO1's appendix A asks for the mechanism; Moss, "Working with
//! Persistent Objects: To Swizzle or Not to Swizzle", 1992, has the kinds).

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use crate::error::{LodeError, Result};
use crate::heap::{self, Heap};
use crate::page::{self, FileNumber, PageKind, PageNumber};
use crate::pages::Pages;
use crate::slotted;
use crate::view::View;

/// Names an object for as long as it lives; afterwards it may be another's. As a word
/// ([`RecordId::to_u64`]) it stands in references; 0 is none.
pub use crate::heap::RecordId as Oid;

/// The longest object.
pub const OBJECT_BYTES_MAX: usize = heap::RECORD_BYTES_MAX - HEADER_BYTES;

/// The word in front of an object's bytes.
const HEADER_BYTES: usize = size_of::<u64>();

/// The header's upper four bits, so that no reference, length or other small number looks like one.
const MARK: u64 = 0xA << 60;
const LENGTH_SHIFT: u32 = 48;

const _: () = assert!(OBJECT_BYTES_MAX < 1 << (60 - LENGTH_SHIFT));

/// The word in front of `len` bytes of an object.
const fn header(oid: Oid, len: usize) -> u64 {
    MARK | (len as u64) << LENGTH_SHIFT | oid.to_u64()
}

/// How many bytes follow, if this is the header of that object.
#[inline]
const fn length_of(header: u64, oid: Oid) -> Option<usize> {
    let rest = header ^ MARK ^ oid.to_u64();
    let is_its = rest & !(0xFFF << LENGTH_SHIFT) == 0;
    if is_its { Some((rest >> LENGTH_SHIFT) as usize) } else { None }
}

/// An OID as a reference may have it, with a guess at where in its home page the object lies: in
/// the upper 16 bits of the word, 0 for none. A guess is never wrong, only of no use any more: it
/// counts as far as a mark confirms it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guess(pub u64);

impl Guess {
    const SHIFT: u32 = 48;

    /// The OID; `None` for a word that has none.
    #[inline]
    pub const fn oid(self) -> Option<Oid> {
        Oid::of(self.0 & ((1 << Self::SHIFT) - 1))
    }

    #[inline]
    const fn at(self) -> usize {
        (self.0 >> Self::SHIFT) as usize & 0xff8
    }
}

/// A file of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Objects {
    file: FileNumber,
    heap: Heap,
}

impl Objects {
    /// A new file of objects, empty.
    pub fn create(pages: &mut impl Pages, file: FileNumber) -> Result<Self> {
        Ok(Self { file, heap: Heap::create(pages, file)? })
    }

    /// The file that was created with that root.
    pub const fn open(file: FileNumber, root: PageNumber) -> Self {
        Self { file, heap: Heap::open(file, root) }
    }

    /// The page to open it by; it never changes.
    pub const fn root(self) -> PageNumber {
        self.heap.root()
    }

    /// Look at an object: `look` gets the page, where the object's bytes begin (a multiple of 8)
    /// and how many there are. It may be called again, as [`Pages::read`] says. One page is read,
    /// or two where the object has moved.
    ///
    /// [`LodeError::Missing`] where there is no such object.
    #[inline]
    pub fn read<R>(
        self,
        pages: &impl Pages,
        oid: Oid,
        mut look: impl FnMut(View<'_>, usize, usize) -> R,
    ) -> Result<R> {
        let seen = self.heap.read(pages, oid, |view, at, len| {
            (length_of(view.u64(at), oid)? + HEADER_BYTES == len)
                .then(|| look(view, at + HEADER_BYTES, len - HEADER_BYTES))
        })?;
        seen.ok_or_else(|| amiss(oid))
    }

    /// Look at an object of which one knows where its fields lie: `look` gets the page and where
    /// the object's bytes begin, and not how many there are. Where the tactics swizzle and the
    /// object has been looked at so before, and its page is as it was, neither the page's slots nor
    /// any table is read. An object that has moved away from its home page is read through that
    /// page each time.
    #[expect(clippy::inline_always, reason = "what is looked at should stay in registers")]
    #[inline(always)]
    pub fn look<R>(
        self,
        pages: &impl Pages,
        oid: Oid,
        mut look: impl FnMut(View<'_>, usize) -> R,
    ) -> Result<R> {
        let seen = pages.read_marked(oid.page, oid.slot, |view, at| look(view, at + HEADER_BYTES));
        match seen {
            Some(result) => Ok(result),
            None => self.look_and_mark(pages, oid, look),
        }
    }

    /// Look at an object where it is guessed to lie, as [`Objects::look`] does; `None` says
    /// nothing, that one does. To follow such a reference nothing has to be read before the object.
    #[expect(clippy::inline_always, reason = "what is looked at should stay in registers")]
    #[inline(always)]
    pub fn glance<R>(
        self,
        pages: &impl Pages,
        Guess(word): Guess,
        mut look: impl FnMut(View<'_>, usize) -> R,
    ) -> Option<R> {
        let (page, slot) = ((word >> 16) as PageNumber, word as u16);
        let at = Guess(word).at();
        if pages.keeps_marks() {
            let look = |view: View<'_>, at| look(view, at + HEADER_BYTES);
            return pages.read_guessed(page, slot, at, look);
        }
        let seen = pages.glance(page, |view| {
            let record = self.record(view, Oid { page, slot })?;
            (record.at == at).then(|| look(view, at + HEADER_BYTES))
        });
        seen.flatten()
    }

    /// Let the processor fetch an object from where it is guessed to lie.
    #[inline]
    pub fn fetch(self, pages: &impl Pages, Guess(word): Guess) {
        pages.fetch((word >> 16) as PageNumber, Guess(word).at());
    }

    /// The reference to an object with the best guess: where it lies now, if that is at home.
    pub fn guess(self, pages: &impl Pages, oid: Oid) -> Result<Guess> {
        let home = pages.read(oid.page, |view| self.record(view, oid))?;
        let at = home.map_or(0, |record| record.at as u64);
        Ok(Guess(oid.to_u64() | at << Guess::SHIFT))
    }

    /// The record of an object in its home page, if it is at home.
    #[inline]
    fn record(self, view: View<'_>, oid: Oid) -> Option<slotted::Record> {
        let is_own =
            view.kind() == PageKind::Heap as u8 && view.u32(page::offset::FILE) == self.file;
        let record = slotted::find(view, oid.slot).ok().flatten().filter(|_| is_own)?;
        // Only an object that is at home has its own name here: see the mark in the header.
        let len = length_of(view.u64(record.at), oid)?;
        (len + HEADER_BYTES == record.len).then_some(record)
    }

    /// Look at an object through its slot, and keep where it lies.
    #[inline]
    fn look_and_mark<R>(
        self,
        pages: &impl Pages,
        oid: Oid,
        mut look: impl FnMut(View<'_>, usize) -> R,
    ) -> Result<R> {
        let (seen, stamp) = pages.read_and_stamp(oid.page, |view| {
            let record = self.record(view, oid)?;
            Some((look(view, record.at + HEADER_BYTES), record.at))
        })?;
        match seen {
            Some((result, at)) => {
                pages.mark(oid.page, oid.slot, stamp, at);
                Ok(result)
            }
            None => self.read(pages, oid, |view, at, _| look(view, at)),
        }
    }

    /// A copy of an object.
    pub fn get(self, pages: &impl Pages, oid: Oid) -> Result<Vec<u8>> {
        self.read(pages, oid, |view, at, len| {
            let mut object = Vec::with_capacity(len);
            view.append_to(&mut object, at, len);
            object
        })
    }

    /// Put an object in: into the page `near` if it has room (a page of this file; where the
    /// objects lie that will be read together with this one), else where objects are put in now.
    pub fn insert(
        self,
        pages: &mut impl Pages,
        object: &[u8],
        near: Option<PageNumber>,
    ) -> Result<Oid> {
        check_length(object)?;
        let oid = self.heap.insert(pages, &with_header(0, object), near)?;
        let word = header(oid, object.len()).to_le_bytes();
        self.heap.change(pages, oid, |record| record[..HEADER_BYTES].copy_from_slice(&word))?;
        Ok(oid)
    }

    /// Put other bytes, of any number, in the place of an object's. It keeps its OID.
    pub fn update(self, pages: &mut impl Pages, oid: Oid, object: &[u8]) -> Result<()> {
        check_length(object)?;
        self.read(pages, oid, |_, _, _| ())?;
        self.heap.update(pages, oid, &with_header(header(oid, object.len()), object))
    }

    /// Change bytes of an object in place. `change` gets all of them.
    pub fn change<R>(
        self,
        pages: &mut impl Pages,
        oid: Oid,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        let changed = self.heap.change(pages, oid, |record| {
            let (word, object) = record.split_first_chunk_mut()?;
            let len = length_of(u64::from_le_bytes(*word), oid)?;
            (len == object.len()).then(|| change(object))
        })?;
        changed.ok_or_else(|| amiss(oid))
    }

    /// Take an object out. References to it are the caller's to remove: its OID may be another's
    /// next.
    pub fn delete(self, pages: &mut impl Pages, oid: Oid) -> Result<()> {
        self.read(pages, oid, |_, _, _| ())?;
        self.heap.delete(pages, oid)
    }

    /// Show every object once: page by page in the order in which the pages were made, those that
    /// have moved where they lie now. `each` can end the scan.
    pub fn scan<B>(
        self,
        pages: &impl Pages,
        mut each: impl FnMut(Oid, &[u8]) -> Result<ControlFlow<B>>,
    ) -> Result<ControlFlow<B>> {
        self.heap
            .scan(pages, |oid, record| each(oid, content(oid, record).ok_or_else(|| amiss(oid))?))
    }

    /// Read the whole file and hold everything against each other; the number of objects.
    /// [`LodeError::Corrupt`] names the first contradiction.
    pub fn check(self, pages: &impl Pages) -> Result<u64> {
        let objects = self.heap.check(pages)?;
        let _: ControlFlow<()> = self.scan(pages, |_, _| Ok(ControlFlow::Continue(())))?;
        Ok(objects)
    }

    /// Give all pages back, the root, too.
    pub fn destroy(self, pages: &mut impl Pages) -> Result<()> {
        self.heap.destroy(pages)
    }
}

fn with_header(word: u64, object: &[u8]) -> Vec<u8> {
    [&word.to_le_bytes(), object].concat()
}

/// A record's bytes behind its header.
fn content(oid: Oid, record: &[u8]) -> Option<&[u8]> {
    let (word, object) = record.split_first_chunk()?;
    let len = length_of(u64::from_le_bytes(*word), oid)?;
    (len == object.len()).then_some(object)
}

fn check_length(object: &[u8]) -> Result<()> {
    if object.len() <= OBJECT_BYTES_MAX {
        return Ok(());
    }
    let (bytes, bytes_max) = (object.len(), OBJECT_BYTES_MAX);
    Err(LodeError::TooLong { what: "an object", bytes, bytes_max })
}

fn amiss(oid: Oid) -> LodeError {
    let how = "what lies there is another's".to_owned();
    LodeError::Corrupt { what: format!("object {oid}"), how }
}
