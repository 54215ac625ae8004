//! Heaps: files of records, each under an id that it keeps wherever it moves.
//!
//! A record lives in a slot of a page ([`crate::slotted`]), and page and slot are its id, as in
//! System R and in INDEX (OO1, section 7.1). A record that outgrows its page leaves a *forward* in
//! its slot and lives on as a *body* elsewhere; a forward leads to a body and never to another
//! forward, so that a record is at most two pages away. A body knows its id, so that a scan takes
//! it where it lies.
//!
//! All pages of a heap form a chain from the first to the last made, which a scan follows. Where
//! there is room stands in the root page: see `room`. A heap keeps its pages until it is
//! destroyed.

mod check;
mod room;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, NO_PAGE, PageBytes, PageKind, PageNumber};
use crate::pages::Pages;
use crate::slotted::{self, Damaged, Fit};
use crate::view::View;

pub use crate::slotted::RecordId;

/// The longest record: one that has moved takes eight bytes more, for its id.
pub const RECORD_BYTES_MAX: usize = slotted::RECORD_BYTES_MAX - BODY_AT;

/// Where a body's record begins, behind its id.
const BODY_AT: usize = size_of::<u64>();

/// What a slot holds: a slot's flags.
mod flag {
    /// A record.
    pub(super) const RECORD: u8 = 0;
    /// The id of a body.
    pub(super) const FORWARD: u8 = 1;
    /// An id, and the record that has it.
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
        match pages.read(id.page, |view| self.see(view, id.slot, &mut look))? {
            Seen::Record(result) => Ok(result),
            Seen::Forward(body) => {
                let seen = pages.read(body.page, |view| self.see_body(view, id, body, &mut look));
                seen?.map_err(|damaged| damaged.on(body.page))
            }
            Seen::Nothing => Err(missing(id)),
            Seen::Damaged(damaged) => Err(damaged.on(id.page)),
        }
    }

    /// Look at a record of which one knows where its fields lie: `look` gets the page and where the
    /// record begins, as [`Heap::read`] says it, and not its length. Where the tactics swizzle and
    /// the record has been looked at so before, neither the page's header nor its slots are read
    /// (nor, therefore, whether the page is this heap's: an id must be one that this heap gave).
    #[expect(clippy::inline_always, reason = "what is looked at should stay in registers")]
    #[inline(always)]
    pub fn look<R>(
        self,
        pages: &impl Pages,
        id: RecordId,
        mut look: impl FnMut(View<'_>, usize) -> R,
    ) -> Result<R> {
        if let Some(seen) = pages.read_marked(id.page, id.slot, &mut look) {
            return Ok(seen);
        }
        self.look_and_mark(pages, id, look)
    }

    #[inline]
    fn look_and_mark<R>(
        self,
        pages: &impl Pages,
        id: RecordId,
        mut look: impl FnMut(View<'_>, usize) -> R,
    ) -> Result<R> {
        let (seen, stamp) = pages.read_and_stamp(id.page, |view| {
            self.see(view, id.slot, &mut |view, at, _| (look(view, at), at))
        })?;
        match seen {
            Seen::Record((result, at)) => {
                pages.mark(id.page, id.slot, stamp, at);
                Ok(result)
            }
            _ => self.read(pages, id, |view, at, _| look(view, at)),
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
        look: &mut impl FnMut(View<'_>, usize, usize) -> R,
    ) -> Seen<R> {
        if !self.owns(view.kind(), view.u32(page::offset::FILE), view.level()) {
            return Seen::Nothing;
        }
        match slotted::find(view, slot) {
            Ok(Some(record)) => match record.flags {
                flag::RECORD => Seen::Record(look(view, record.at, record.len)),
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

    fn see_body<R>(
        self,
        view: View<'_>,
        id: RecordId,
        body: RecordId,
        look: &mut impl FnMut(View<'_>, usize, usize) -> R,
    ) -> slotted::Result<R> {
        let amiss = Damaged("it has no body for a forward that leads to it");
        if !self.owns(view.kind(), view.u32(page::offset::FILE), view.level()) {
            return Err(amiss);
        }
        let record = slotted::find(view, body.slot)?.ok_or(amiss)?;
        let is_body = record.flags == flag::BODY && record.len >= BODY_AT;
        if !is_body || view.u64(record.at) != id.to_u64() {
            return Err(amiss);
        }
        Ok(look(view, record.at + BODY_AT, record.len - BODY_AT))
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
        self.put(pages, record, flag::RECORD, near)
    }

    /// Put another record, of any length, in the place of one. It keeps its id.
    pub fn update(self, pages: &mut impl Pages, id: RecordId, record: &[u8]) -> Result<()> {
        check_length(record)?;
        let put_home = |bytes: &mut PageBytes| {
            slotted::update(bytes, id.slot, record, flag::RECORD).map(is_done)
        };
        let with_id = || [&id.to_u64().to_le_bytes(), record].concat();
        let Some(body) = self.body_of(pages, id)? else {
            if !self.change_page(pages, id.page, put_home)? {
                let body = self.put(pages, &with_id(), flag::BODY, None)?;
                self.put_forward(pages, id, body)?;
            }
            return Ok(());
        };
        let moved = with_id();
        let put_body = |bytes: &mut PageBytes| {
            slotted::update(bytes, body.slot, &moved, flag::BODY).map(is_done)
        };
        if self.change_page(pages, body.page, put_body)? {
            return Ok(());
        }
        if !self.change_page(pages, id.page, put_home)? {
            let body = self.put(pages, &moved, flag::BODY, None)?;
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
        let (place, skipped) = match self.body_of(pages, id)? {
            None => (id, 0),
            Some(body) => (body, BODY_AT),
        };
        let changed = pages.write(place.page, |bytes| {
            let record = slotted::find_in(bytes, place.slot)?.ok_or(GONE)?;
            let record = bytes.get_mut(record.at + skipped..record.at + record.len).ok_or(GONE)?;
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
        let mut chain = self.chain(pages)?;
        while let Some(page) = chain.next_page(pages)? {
            let bytes = copy(pages, page)?;
            for slot in 0..page::u16_at(&bytes, page::offset::COUNT) {
                let found = slotted::find_in(&bytes, slot).map_err(|how| how.on(page))?;
                let Some(record) = found else { continue };
                let content = &bytes[record.at..record.at + record.len];
                let shown = match (record.flags, content.split_first_chunk()) {
                    (flag::RECORD, _) => each(RecordId { page, slot }, content)?,
                    (flag::BODY, Some((id, content))) => {
                        let id = RecordId::of(u64::from_le_bytes(*id));
                        each(id.ok_or_else(|| GONE.on(page))?, content)?
                    }
                    (flag::FORWARD, _) => continue,
                    _ => return Err(GONE.on(page)),
                };
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
        match pages.read(id.page, |view| self.see(view, id.slot, &mut |_, _, _| ()))? {
            Seen::Record(()) => Ok(None),
            Seen::Nothing => Err(missing(id)),
            Seen::Damaged(damaged) => Err(damaged.on(id.page)),
            Seen::Forward(body) => {
                // Looked at before anything is changed by it.
                let seen =
                    pages.read(body.page, |view| self.see_body(view, id, body, &mut |_, _, _| ()));
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
