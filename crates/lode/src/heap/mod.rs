//! Heaps: files of records, each under an id that it keeps wherever it moves.
//!
//! A record lives in a slot of a page ([`crate::slotted`]), and page and slot are its id, as in
//! System R and in INDEX (OO1, section 7). A record that outgrows its page leaves a
//! *forwarding stub* in its slot and becomes a *relocated record* elsewhere; a stub leads to a
//! relocated record and never to another stub, so that a record is at most two pages away. In front
//! of each record stands its *record tag*, which shows its id: so a scan takes a relocated record
//! where it lies, and a [`Reference`] can be checked where it leads.
//!
//! All pages of a heap form a chain from the first to the last made, which a scan follows. Which
//! pages have free space stands in the root page: see `free_space`. A heap keeps its pages until it
//! is destroyed.

mod appender;
mod chain;
mod check;
mod cursor;
mod free_space;
mod reference;
#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range};

use crate::emptied;
use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, PageBytes, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::{PageRead, PageWrite};
use crate::slotted::{self, Corruption, Fit};
use crate::view::{Own, View};

pub use self::appender::Appender;
pub use self::cursor::{Cursor, PinnedPage, RecordPlace};
pub use self::reference::Reference;
pub use crate::slotted::RecordId;

use self::reference::{id_of, tag};

/// The longest record, behind its tag.
pub const RECORD_BYTES_MAX: usize = slotted::RECORD_BYTES_MAX - TAG_BYTES;

/// The word in front of a record.
const TAG_BYTES: usize = size_of::<u64>();

/// The kinds of a slot's content: a slot's flags.
mod flag {
    /// A tag, and the record that carries it.
    pub(super) const RECORD: u8 = 0;
    /// A forwarding stub: the id of a relocated record.
    pub(super) const STUB: u8 = 1;
    /// A relocated record: a tag, and the record, whose id is that of its stub.
    pub(super) const RELOCATED: u8 = 2;
}

/// A file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heap {
    file: FileNumber,
    root: PageNumber,
}

/// The content that a slot turned out to have.
enum Seen<R> {
    Record(R),
    Stub(RecordId),
    Nothing,
    Corrupt(Corruption),
}

impl Heap {
    /// A new heap of that file, without a record.
    pub fn create(pages: &mut impl PageWrite, file: FileNumber) -> Result<Self> {
        let root = free_space::create(pages, file)?;
        Ok(Self { file, root })
    }

    /// The heap that was created with that root.
    pub const fn open(file: FileNumber, root: PageNumber) -> Self {
        Self { file, root }
    }

    /// The page to open it by; it never changes.
    pub const fn root(self) -> PageNumber {
        self.root
    }

    /// The file that its pages belong to.
    pub const fn file(self) -> FileNumber {
        self.file
    }

    /// Read a record: `inspect` gets the page, where the record begins (a multiple of 8) and its
    /// length in bytes. It may be called again, as [`PageRead::read`] says. One page is read, or
    /// two where the record has moved.
    ///
    /// [`LodeError::Missing`] where there is no such record.
    pub fn read<R>(
        self,
        pages: &impl PageRead,
        id: RecordId,
        mut inspect: impl FnMut(View<'_>, usize, usize) -> R,
    ) -> Result<R> {
        let tag = tag(id, pages.salt());
        let seen = pages.read(id.page, |view| self.see(view, id.slot, tag, &mut inspect));
        match seen.map_err(|error| nowhere(id, error))? {
            Seen::Record(result) => Ok(result),
            Seen::Stub(relocated) => {
                let seen = pages.read(relocated.page, |view| {
                    self.see_relocated(view, tag, relocated, &mut inspect)
                });
                seen?.map_err(|how| emptied::or(pages, relocated.page, how.on(relocated.page)))
            }
            Seen::Nothing => Err(emptied::or(pages, id.page, missing(id))),
            Seen::Corrupt(corruption) => Err(corruption.on(id.page)),
        }
    }

    /// A copy of a record.
    pub fn get(self, pages: &impl PageRead, id: RecordId) -> Result<Vec<u8>> {
        self.read(pages, id, |view, at, len| {
            let mut record = Vec::with_capacity(len);
            view.append_to(&mut record, at, len);
            record
        })
    }

    #[inline]
    fn see<R>(
        self,
        view: View<'_>,
        slot: u16,
        tag: u64,
        inspect: &mut impl FnMut(View<'_>, usize, usize) -> R,
    ) -> Seen<R> {
        let Own { kind, level, count, file } = view.own();
        if !self.owns(kind, file, level) {
            return Seen::Nothing;
        }
        match slotted::find_among(view, count, slot) {
            Ok(Some(record)) => match record.flags {
                flag::RECORD => match content(view, record, tag) {
                    Some((at, len)) => Seen::Record(inspect(view, at, len)),
                    None => Seen::Corrupt(Corruption("a record carries another's tag")),
                },
                flag::STUB => match RecordId::of(view.u64(record.at)) {
                    Some(relocated) => Seen::Stub(relocated),
                    None => Seen::Corrupt(Corruption("a forwarding stub leads nowhere")),
                },
                // A relocated record has no id but that of its stub.
                flag::RELOCATED => Seen::Nothing,
                _ => Seen::Corrupt(Corruption("a slot holds something unknown")),
            },
            Ok(None) => Seen::Nothing,
            Err(corruption) => Seen::Corrupt(corruption),
        }
    }

    /// The place where a record begins that lies in its own page.
    #[inline]
    fn home(self, view: View<'_>, id: RecordId, tag: u64) -> Option<usize> {
        match self.see(view, id.slot, tag, &mut |_, at, _| at) {
            Seen::Record(at) => Some(at),
            _ => None,
        }
    }

    fn see_relocated<R>(
        self,
        view: View<'_>,
        tag: u64,
        relocated: RecordId,
        inspect: &mut impl FnMut(View<'_>, usize, usize) -> R,
    ) -> slotted::Result<R> {
        let amiss = Corruption("it has no relocated record for a stub that leads to it");
        if !self.owns(view.kind(), view.u32(page::offset::FILE), view.level()) {
            return Err(amiss);
        }
        let record =
            slotted::find(view, relocated.slot)?.filter(|record| record.flags == flag::RELOCATED);
        let (at, len) = record.and_then(|record| content(view, record, tag)).ok_or(amiss)?;
        Ok(inspect(view, at, len))
    }

    /// Whether a page with these words in its header holds records of this heap.
    #[inline]
    fn owns(self, kind: u8, file: FileNumber, level: u8) -> bool {
        kind == PageKind::Heap as u8 && file == self.file && level != free_space::page_state::ROOT
    }

    fn owns_bytes(self, bytes: &PageBytes) -> bool {
        let file = page::u32_at(bytes, page::offset::FILE);
        self.owns(bytes[page::offset::KIND], file, bytes[page::offset::LEVEL])
    }

    /// Put a record in: into the page `near` if it has room (a page of this heap; where the
    /// records lie that will be read together with this one), else where records are put in now.
    pub fn insert(
        self,
        pages: &mut impl PageWrite,
        record: &[u8],
        allocation_hint: Option<PageNumber>,
    ) -> Result<RecordId> {
        check_length(record.len())?;
        self.put(pages, &tagged(0, record), flag::RECORD, allocation_hint)
    }

    /// Put another record, of any length, in the place of one. It keeps its id.
    pub fn update(self, pages: &mut impl PageWrite, id: RecordId, record: &[u8]) -> Result<()> {
        check_length(record.len())?;
        let tagged = tagged(tag(id, pages.salt()), record);
        let put_home = |bytes: &mut PageMut<'_>| {
            slotted::update(bytes, id.slot, &tagged, flag::RECORD).map(is_done)
        };
        let Some(relocated) = self.relocated_place(pages, id)? else {
            if !self.change_page(pages, id.page, put_home)? {
                let relocated = self.put(pages, &tagged, flag::RELOCATED, None)?;
                self.put_stub(pages, id, relocated)?;
            }
            return Ok(());
        };
        let put_relocated = |bytes: &mut PageMut<'_>| {
            slotted::update(bytes, relocated.slot, &tagged, flag::RELOCATED).map(is_done)
        };
        if self.change_page(pages, relocated.page, put_relocated)? {
            return Ok(());
        }
        if !self.change_page(pages, id.page, put_home)? {
            let relocated = self.put(pages, &tagged, flag::RELOCATED, None)?;
            self.put_stub(pages, id, relocated)?;
        }
        self.take_out(pages, relocated)
    }

    /// Change bytes of a record in place. `change` gets the whole record.
    pub fn change<R>(
        self,
        pages: &mut impl PageWrite,
        id: RecordId,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        let place = self.relocated_place(pages, id)?.unwrap_or(id);
        let record = |bytes: &PageBytes| record_in(bytes, place);
        pages.write_range(place.page, record, change)?
    }

    /// Change a range of a record in place. `change` gets these bytes and no others; they are what
    /// is logged with `log=set-range`, however often they are changed.
    ///
    /// # Errors
    ///
    /// [`LodeError::TooLong`] where the record ends before the range, of which nothing has changed
    /// then.
    pub fn change_range<R>(
        self,
        pages: &mut impl PageWrite,
        id: RecordId,
        range: Range<usize>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        let place = self.relocated_place(pages, id)?.unwrap_or(id);
        let within = |bytes: &PageBytes| {
            let record = record_in(bytes, place)?;
            let (bytes, bytes_max) = (range.end, record.len());
            if range.start > range.end || bytes > bytes_max {
                return Err(LodeError::TooLong { what: "a range of a record", bytes, bytes_max });
            }
            Ok(record.start + range.start..record.start + range.end)
        };
        pages.write_range(place.page, within, change)?
    }

    /// Take a record out. Its id may be another record's next.
    pub fn delete(self, pages: &mut impl PageWrite, id: RecordId) -> Result<()> {
        if let Some(relocated) = self.relocated_place(pages, id)? {
            self.take_out(pages, relocated)?;
        }
        self.take_out(pages, id)
    }

    /// Show every record once: page by page in the order in which the pages were made, those that
    /// have moved where they lie now. `each` can end the scan.
    pub fn scan<B>(
        self,
        pages: &impl PageRead,
        mut each: impl FnMut(RecordId, &[u8]) -> Result<ControlFlow<B>>,
    ) -> Result<ControlFlow<B>> {
        let (key, mut chain) = (pages.salt(), self.chain(pages)?);
        while let Some(page) = chain.next_page(pages)? {
            let bytes = copy(pages, page)?;
            for slot in 0..page::u16_at(&bytes, page::offset::COUNT) {
                let found = slotted::find_in(&bytes, slot).map_err(|how| how.on(page))?;
                let Some(record) = found else { continue };
                let tagged = &bytes[record.at..record.at + record.len];
                let id = match (record.flags, owner(tagged, key)) {
                    (flag::RECORD, Some(id)) if id == (RecordId { page, slot }) => id,
                    (flag::RELOCATED, Some(id)) => id,
                    (flag::STUB, _) => continue,
                    _ => return Err(GONE.on(page)),
                };
                let shown = each(id, &tagged[TAG_BYTES..])?;
                if shown.is_break() {
                    return Ok(shown);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Give all pages back, the root, too.
    pub fn destroy(self, pages: &mut impl PageWrite) -> Result<()> {
        let mut chain = self.chain(pages)?;
        let mut all = vec![self.root];
        while let Some(page) = chain.next_page(pages)? {
            all.push(page);
        }
        all.into_iter().try_for_each(|page| pages.free(page))
    }

    /// The place where the record of an id lies if it has moved.
    fn relocated_place(self, pages: &impl PageRead, id: RecordId) -> Result<Option<RecordId>> {
        let tag = tag(id, pages.salt());
        let seen = pages.read(id.page, |view| self.see(view, id.slot, tag, &mut |_, _, _| ()));
        match seen.map_err(|error| nowhere(id, error))? {
            Seen::Record(()) => Ok(None),
            Seen::Nothing => Err(emptied::or(pages, id.page, missing(id))),
            Seen::Corrupt(corruption) => Err(corruption.on(id.page)),
            Seen::Stub(relocated) => {
                // Read before anything is changed by it.
                let seen = pages.read(relocated.page, |v| {
                    self.see_relocated(v, tag, relocated, &mut |_, _, _| ())
                });
                seen?.map_err(|corruption| corruption.on(relocated.page))?;
                Ok(Some(relocated))
            }
        }
    }

    fn put_stub(self, pages: &mut impl PageWrite, id: RecordId, relocated: RecordId) -> Result<()> {
        let word = relocated.to_u64().to_le_bytes();
        let is_put = self.change_page(pages, id.page, |bytes| {
            slotted::update(bytes, id.slot, &word, flag::STUB).map(is_done)
        })?;
        // Every record takes eight bytes at least: see `slotted`.
        if is_put { Ok(()) } else { Err(GONE.on(id.page)) }
    }

    fn take_out(self, pages: &mut impl PageWrite, place: RecordId) -> Result<()> {
        let was = self.change_page(pages, place.page, |bytes| slotted::delete(bytes, place.slot));
        if was? { Ok(()) } else { Err(GONE.on(place.page)) }
    }
}

const GONE: Corruption = Corruption("a slot does not hold what leads to it");

/// The place where in its page the record lies that is in a slot, behind its tag.
fn record_in(bytes: &PageBytes, place: RecordId) -> Result<Range<usize>> {
    let found = || {
        let record = slotted::find_in(bytes, place.slot)?.ok_or(GONE)?;
        let range = record.at + TAG_BYTES..record.at + record.len;
        bytes.get(range.clone()).map(|_| range).ok_or(GONE)
    };
    found().map_err(|corruption: Corruption| corruption.on(place.page))
}

/// A record's bytes behind its tag.
fn tagged(tag: u64, record: &[u8]) -> Vec<u8> {
    [&tag.to_le_bytes(), record].concat()
}

/// The record that these bytes belong to, if they begin with a tag.
#[inline]
fn owner(tagged: &[u8], key: u64) -> Option<RecordId> {
    id_of(u64::from_le_bytes(*tagged.first_chunk()?), key)
}

/// The place where the record begins that is in a slot, and its length, if it carries that tag.
#[inline]
fn content(view: View<'_>, record: slotted::Record, tag: u64) -> Option<(usize, usize)> {
    let len = record.len.checked_sub(TAG_BYTES)?;
    (view.u64(record.at) == tag).then_some((record.at + TAG_BYTES, len))
}

/// All of a page, as it was at one moment.
fn copy(pages: &impl PageRead, page: PageNumber) -> Result<Box<PageBytes>> {
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method serves one lifetime of a view, the closure serves every"
    )]
    pages.read(page, |view| view.copy())
}

fn is_done(fit: Fit) -> bool {
    matches!(fit, Fit::Done(_))
}

/// An id may be anybody's number: that the volume does not reach so far is no damage to it.
#[cold]
fn nowhere(id: RecordId, error: LodeError) -> LodeError {
    if error.is_beyond(id.page) { missing(id) } else { error }
}

fn missing(id: RecordId) -> LodeError {
    LodeError::Missing { what: id.to_string() }
}

fn check_length(bytes: usize) -> Result<()> {
    if bytes > RECORD_BYTES_MAX {
        let bytes_max = RECORD_BYTES_MAX;
        return Err(LodeError::TooLong { what: "a record", bytes, bytes_max });
    }
    Ok(())
}
