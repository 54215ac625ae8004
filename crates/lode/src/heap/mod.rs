//! Heaps: files of records, each under an id that it keeps wherever it moves.
//!
//! A record lives in a slot of a page ([`crate::slotted`]), and page and slot are its id, as in
//! System R and in INDEX (OO1, section 7). A record that outgrows its page leaves a *forward* in
//! its slot and lives on as a *body* elsewhere; a forward leads to a body and never to another
//! forward, so that a record is at most two pages away. In front of each record stands its label,
//! which tells its id: so a scan takes a body where it lies, and a [`Reference`] can be checked
//! where it leads.
//!
//! All pages of a heap form a chain from the first to the last made, which a scan follows. Where
//! there is room stands in the root page: see `room`. A heap keeps its pages until it is
//! destroyed.

mod check;
mod reference;
mod room;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, NO_PAGE, PageBytes, PageKind, PageNumber};
use crate::pages::Pages;
use crate::slotted::{self, Damaged, Fit};
use crate::view::View;

pub use self::reference::Reference;
pub use crate::slotted::RecordId;

pub(crate) use self::reference::label_key;

use self::reference::{id_of, label};

/// The longest record, behind its label.
pub const RECORD_BYTES_MAX: usize = slotted::RECORD_BYTES_MAX - LABEL_BYTES;

/// The word in front of a record.
const LABEL_BYTES: usize = size_of::<u64>();

/// What a slot holds: a slot's flags.
mod flag {
    /// A label, and the record that bears it.
    pub(super) const RECORD: u8 = 0;
    /// The id of a body.
    pub(super) const FORWARD: u8 = 1;
    /// The same for a record whose id is a forward's.
    pub(super) const BODY: u8 = 2;
}

/// A file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heap {
    file: FileNumber,
    root: PageNumber,
}

/// What a slot turned out to hold.
enum Seen<R> {
    Record(R),
    Forward(RecordId),
    Nothing,
    Damaged(Damaged),
}

impl Heap {
    /// A new heap of that file, without a record.
    pub fn create(pages: &mut impl Pages, file: FileNumber) -> Result<Self> {
        let root = room::create(pages, file)?;
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

    /// Look at a record: `look` gets the page, where the record begins (a multiple of 8) and its
    /// length in bytes. It may be called again, as [`Pages::read`] says. One page is read, or two
    /// where the record has moved.
    ///
    /// [`LodeError::Missing`] where there is no such record.
    pub fn read<R>(
        self,
        pages: &impl Pages,
        id: RecordId,
        mut look: impl FnMut(View<'_>, usize, usize) -> R,
    ) -> Result<R> {
        let label = label(id, pages.label_key());
        let seen = pages.read(id.page, |view| self.see(view, id.slot, label, &mut look));
        match seen.map_err(|error| nowhere(id, error))? {
            Seen::Record(result) => Ok(result),
            Seen::Forward(body) => {
                let seen =
                    pages.read(body.page, |view| self.see_body(view, label, body, &mut look));
                seen?.map_err(|damaged| damaged.on(body.page))
            }
            Seen::Nothing => Err(missing(id)),
            Seen::Damaged(damaged) => Err(damaged.on(id.page)),
        }
    }

    /// A copy of a record.
    pub fn get(self, pages: &impl Pages, id: RecordId) -> Result<Vec<u8>> {
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
        label: u64,
        look: &mut impl FnMut(View<'_>, usize, usize) -> R,
    ) -> Seen<R> {
        if !self.owns(view.kind(), view.u32(page::offset::FILE), view.level()) {
            return Seen::Nothing;
        }
        match slotted::find(view, slot) {
            Ok(Some(record)) => match record.flags {
                flag::RECORD => match content(view, record, label) {
                    Some((at, len)) => Seen::Record(look(view, at, len)),
                    None => Seen::Damaged(Damaged("a record bears another's label")),
                },
                flag::FORWARD => match RecordId::of(view.u64(record.at)) {
                    Some(body) => Seen::Forward(body),
                    None => Seen::Damaged(Damaged("a forward leads nowhere")),
                },
                // A body has no id but the one of its forward.
                flag::BODY => Seen::Nothing,
                _ => Seen::Damaged(Damaged("a slot holds something unknown")),
            },
            Ok(None) => Seen::Nothing,
            Err(damaged) => Seen::Damaged(damaged),
        }
    }

    /// Where a record begins that lies in its own page.
    #[inline]
    fn home(self, view: View<'_>, id: RecordId, label: u64) -> Option<usize> {
        match self.see(view, id.slot, label, &mut |_, at, _| at) {
            Seen::Record(at) => Some(at),
            _ => None,
        }
    }

    fn see_body<R>(
        self,
        view: View<'_>,
        label: u64,
        body: RecordId,
        look: &mut impl FnMut(View<'_>, usize, usize) -> R,
    ) -> slotted::Result<R> {
        let amiss = Damaged("it has no body for a forward that leads to it");
        if !self.owns(view.kind(), view.u32(page::offset::FILE), view.level()) {
            return Err(amiss);
        }
        let record = slotted::find(view, body.slot)?.filter(|record| record.flags == flag::BODY);
        let (at, len) = record.and_then(|record| content(view, record, label)).ok_or(amiss)?;
        Ok(look(view, at, len))
    }

    /// Whether a page with these words in its header holds records of this heap.
    #[inline]
    fn owns(self, kind: u8, file: FileNumber, level: u8) -> bool {
        kind == PageKind::Heap as u8 && file == self.file && level != room::mark::ROOT
    }

    fn owns_bytes(self, bytes: &PageBytes) -> bool {
        let file = page::u32_at(bytes, page::offset::FILE);
        self.owns(bytes[page::offset::KIND], file, bytes[page::offset::LEVEL])
    }

    /// Put a record in: into the page `near` if it has room (a page of this heap; where the
    /// records lie that will be read together with this one), else where records are put in now.
    pub fn insert(
        self,
        pages: &mut impl Pages,
        record: &[u8],
        near: Option<PageNumber>,
    ) -> Result<RecordId> {
        check_length(record)?;
        self.put(pages, &labelled(0, record), flag::RECORD, near)
    }

    /// Put another record, of any length, in the place of one. It keeps its id.
    pub fn update(self, pages: &mut impl Pages, id: RecordId, record: &[u8]) -> Result<()> {
        check_length(record)?;
        let labelled = labelled(label(id, pages.label_key()), record);
        let put_home = |bytes: &mut PageBytes| {
            slotted::update(bytes, id.slot, &labelled, flag::RECORD).map(is_done)
        };
        let Some(body) = self.body_of(pages, id)? else {
            if !self.change_page(pages, id.page, put_home)? {
                let body = self.put(pages, &labelled, flag::BODY, None)?;
                self.put_forward(pages, id, body)?;
            }
            return Ok(());
        };
        let put_body = |bytes: &mut PageBytes| {
            slotted::update(bytes, body.slot, &labelled, flag::BODY).map(is_done)
        };
        if self.change_page(pages, body.page, put_body)? {
            return Ok(());
        }
        if !self.change_page(pages, id.page, put_home)? {
            let body = self.put(pages, &labelled, flag::BODY, None)?;
            self.put_forward(pages, id, body)?;
        }
        self.take_out(pages, body)
    }

    /// Change bytes of a record in place. `change` gets the whole record.
    pub fn change<R>(
        self,
        pages: &mut impl Pages,
        id: RecordId,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        let place = self.body_of(pages, id)?.unwrap_or(id);
        let changed = pages.write(place.page, |bytes| {
            let record = slotted::find_in(bytes, place.slot)?.ok_or(GONE)?;
            let place = record.at + LABEL_BYTES..record.at + record.len;
            let record = bytes.get_mut(place).ok_or(GONE)?;
            Ok(change(record))
        })?;
        changed.map_err(|damaged: Damaged| damaged.on(place.page))
    }

    /// Take a record out. Its id may be another record's next.
    pub fn delete(self, pages: &mut impl Pages, id: RecordId) -> Result<()> {
        if let Some(body) = self.body_of(pages, id)? {
            self.take_out(pages, body)?;
        }
        self.take_out(pages, id)
    }

    /// Show every record once: page by page in the order in which the pages were made, those that
    /// have moved where they lie now. `each` can end the scan.
    pub fn scan<B>(
        self,
        pages: &impl Pages,
        mut each: impl FnMut(RecordId, &[u8]) -> Result<ControlFlow<B>>,
    ) -> Result<ControlFlow<B>> {
        let (key, mut chain) = (pages.label_key(), self.chain(pages)?);
        while let Some(page) = chain.next_page(pages)? {
            let bytes = copy(pages, page)?;
            for slot in 0..page::u16_at(&bytes, page::offset::COUNT) {
                let found = slotted::find_in(&bytes, slot).map_err(|how| how.on(page))?;
                let Some(record) = found else { continue };
                let labelled = &bytes[record.at..record.at + record.len];
                let id = match (record.flags, owner(labelled, key)) {
                    (flag::RECORD, Some(id)) if id == (RecordId { page, slot }) => id,
                    (flag::BODY, Some(id)) => id,
                    (flag::FORWARD, _) => continue,
                    _ => return Err(GONE.on(page)),
                };
                let shown = each(id, &labelled[LABEL_BYTES..])?;
                if shown.is_break() {
                    return Ok(shown);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Give all pages back, the root, too.
    pub fn destroy(self, pages: &mut impl Pages) -> Result<()> {
        let mut chain = self.chain(pages)?;
        let mut all = vec![self.root];
        while let Some(page) = chain.next_page(pages)? {
            all.push(page);
        }
        all.into_iter().try_for_each(|page| pages.free(page))
    }

    /// Where the record of an id lies if it has moved.
    fn body_of(self, pages: &impl Pages, id: RecordId) -> Result<Option<RecordId>> {
        let label = label(id, pages.label_key());
        let seen = pages.read(id.page, |view| self.see(view, id.slot, label, &mut |_, _, _| ()));
        match seen.map_err(|error| nowhere(id, error))? {
            Seen::Record(()) => Ok(None),
            Seen::Nothing => Err(missing(id)),
            Seen::Damaged(damaged) => Err(damaged.on(id.page)),
            Seen::Forward(body) => {
                // Looked at before anything is changed by it.
                let seen =
                    pages.read(body.page, |v| self.see_body(v, label, body, &mut |_, _, _| ()));
                seen?.map_err(|damaged| damaged.on(body.page))?;
                Ok(Some(body))
            }
        }
    }

    fn put_forward(self, pages: &mut impl Pages, id: RecordId, body: RecordId) -> Result<()> {
        let word = body.to_u64().to_le_bytes();
        let is_put = self.change_page(pages, id.page, |bytes| {
            slotted::update(bytes, id.slot, &word, flag::FORWARD).map(is_done)
        })?;
        // Every record takes eight bytes at least: see `slotted`.
        if is_put { Ok(()) } else { Err(GONE.on(id.page)) }
    }

    fn take_out(self, pages: &mut impl Pages, place: RecordId) -> Result<()> {
        let was = self.change_page(pages, place.page, |bytes| slotted::delete(bytes, place.slot));
        if was? { Ok(()) } else { Err(GONE.on(place.page)) }
    }
}

const GONE: Damaged = Damaged("a slot does not hold what leads to it");

/// A record's bytes behind its label.
fn labelled(label: u64, record: &[u8]) -> Vec<u8> {
    [&label.to_le_bytes(), record].concat()
}

/// Whose bytes these are, if they begin with a label.
fn owner(labelled: &[u8], key: u64) -> Option<RecordId> {
    id_of(u64::from_le_bytes(*labelled.first_chunk()?), key)
}

/// Where the record begins that is in a slot, and its length, if it bears that label.
#[inline]
fn content(view: View<'_>, record: slotted::Record, label: u64) -> Option<(usize, usize)> {
    let len = record.len.checked_sub(LABEL_BYTES)?;
    (view.u64(record.at) == label).then_some((record.at + LABEL_BYTES, len))
}

/// All of a page, as it was at one moment.
fn copy(pages: &impl Pages, page: PageNumber) -> Result<Box<PageBytes>> {
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

fn check_length(record: &[u8]) -> Result<()> {
    if record.len() > RECORD_BYTES_MAX {
        let (bytes, bytes_max) = (record.len(), RECORD_BYTES_MAX);
        return Err(LodeError::TooLong { what: "a record", bytes, bytes_max });
    }
    Ok(())
}

/// A walk along all pages of a heap.
struct Chain {
    next: PageNumber,
    left: u32,
    heap: Heap,
}

impl Chain {
    /// The next page, which is one of the heap's.
    fn next_page(&mut self, pages: &impl Pages) -> Result<Option<PageNumber>> {
        let page = self.next;
        if page == NO_PAGE {
            return match self.left {
                0 => Ok(None),
                _ => Err(Damaged("fewer pages follow than it counts").on(self.heap.root)),
            };
        }
        let (is_own, next) = pages.read(page, |view| {
            let file = view.u32(page::offset::FILE);
            let is_own = self.heap.owns(view.kind(), file, view.level());
            (is_own, view.u32(room::offset::FOLLOWING))
        })?;
        // The count ends a chain that bites its own tail.
        self.left = match self.left.checked_sub(1) {
            Some(left) if is_own => left,
            _ => return Err(Damaged("its heap's chain leads astray").on(page)),
        };
        self.next = next;
        Ok(Some(page))
    }
}
