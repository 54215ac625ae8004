//! A transaction at a page server that reads and writes.

use std::mem;
use std::ops::Range;
use std::sync::Arc;

use super::client::Client;
use super::connections::lock;
use super::server_locks::ServerLocks;
use crate::aligned_page::AlignedPage;
use crate::error::{LodeError, Result};
use crate::lock::Mode;
use crate::lock::numbers::NumberMap;
use crate::log::{Ranges, Runs, difference, ranges};
use crate::page::{self, FileNumber, PAGE_BYTES, PageBytes, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::{PageRead, PageWrite, Pinned, Version};
use crate::space;
use crate::superblock;
use crate::tactics::{Grain, Logging, Prefetch, Swizzle};
use crate::transaction::{self, Allocating, Failure, LockSet};
use crate::view::View;
use crate::wire::{Access, Change, FRAME_BYTES_MAX, Reply, Request};

/// Changes are sent when they are so long.
const SENT_BYTES: usize = FRAME_BYTES_MAX / 4;

/// Pages of the cache that are not counted on for changes, so that a large one can still be read.
const PAGES_SPARED: usize = 8;

/// A transaction that changes pages, at a page server. [`RemoteWriting::commit`] makes its changes
/// one durable whole; dropping it forgets them, as [`RemoteWriting::rollback`] does, without the
/// server having heard of them.
///
/// A changed page is a copy beside the cache, with what it was before, until the transaction ends;
/// one that would have more of them than the cache has pages is reported
/// [`LodeError::CacheTooSmall`]. After an operation that failed nothing can be committed.
pub struct RemoteWriting {
    lock_set: LockSet<ServerLocks>,
    changed: NumberMap<PageNumber, Changed>,
    failure: Failure,
}

struct Changed {
    after: Box<AlignedPage>,
    before: Before,
}

/// The record of a page's changes, from which the server is reported.
enum Before {
    /// The page before them: `log=page-diff`.
    Page(Box<PageBytes>),
    /// Nothing, or that all of it may have changed.
    Unknown,
    /// The declared ranges: `log=set-range`.
    Ranges(Ranges),
}

impl Changed {
    /// The changes to report the server, in pieces that a record has room for.
    fn runs(&self) -> Vec<Runs> {
        match &self.before {
            Before::Page(before) => vec![difference(before, &self.after)],
            Before::Unknown => vec![Runs::whole(&self.after)],
            Before::Ranges(ranges) => ranges.redo(&self.after).collect(),
        }
    }

    /// Note that a range is about to change. All of a page is said once.
    fn say(&mut self, range: &Range<usize>) {
        match &mut self.before {
            Before::Ranges(_) if *range == ranges::WHOLE => self.before = Before::Unknown,
            Before::Ranges(ranges) => ranges.say_only(range),
            Before::Page(_) | Before::Unknown => {}
        }
    }
}

impl RemoteWriting {
    pub(super) fn begin(client: &Arc<Client>) -> Self {
        Self {
            lock_set: LockSet::empty(ServerLocks::new(client, Access::Writing)),
            changed: NumberMap::default(),
            failure: Failure::default(),
        }
    }

    /// Its share of the client.
    fn client(&self) -> &Client {
        self.lock_set.source().client()
    }

    /// Make the changes one whole, durable as the server's tactic `durability` says.
    ///
    /// # Errors
    ///
    /// After [`LodeError::Uncertain`] the transaction may be committed or not: the server was lost
    /// before it answered. After any other error it is rolled back.
    pub fn commit(mut self) -> Result<()> {
        self.client().check_owner()?;
        self.failure.check()?;
        let last = self.send_changes()?;
        if last.is_empty() || self.lock_set.source().is_unknown() {
            return Ok(());
        }
        let (connection, slot) = self.lock_set.source().name()?;
        let mut connection = lock(&connection);
        let reply = connection.ask(&Request::Commit { slot, changes: last });
        let reply = match reply {
            Err(LodeError::Server { what }) if connection.is_broken() => {
                Err(LodeError::Uncertain { why: format!("the page server {what}") })
            }
            Ok(Reply::Committed { position }) => Ok(position),
            Ok(_) => Err(LodeError::Uncertain { why: connection.nonsense().to_string() }),
            Err(error) => Err(error),
        };
        drop(connection);
        let position = reply?;
        self.refresh(position);
        self.lock_set.source().forget();
        Ok(())
    }

    /// Forget the changes.
    ///
    /// # Errors
    ///
    /// None: the server has not heard of them.
    pub fn rollback(self) -> Result<()> {
        Ok(())
    }

    /// Send what differs, but for the last part, which is empty only if nothing differs at all.
    fn send_changes(&self) -> Result<Vec<Change>> {
        let (mut part, mut bytes) = (Vec::new(), 0);
        let pages = self.changed.iter();
        let runs_of = |(&page, one): (&PageNumber, &Changed)| {
            one.runs().into_iter().map(move |runs| (page, runs))
        };
        for (page, runs) in pages.flat_map(runs_of) {
            if runs.is_empty() {
                continue;
            }
            if bytes > SENT_BYTES {
                let (connection, slot) = self.lock_set.source().name()?;
                let changes = mem::take(&mut part);
                lock(&connection).report(&Request::Changes { slot, changes })?;
                bytes = 0;
            }
            let change = Change { page, runs };
            bytes += change.wire_bytes();
            part.push(change);
        }
        Ok(part)
    }

    /// Bring the cache to what has been committed, where it has the pages and nothing newer: the
    /// locks are gone, and others may have been quick.
    fn refresh(&mut self, position: u64) {
        for (page, Changed { after, .. }) in mem::take(&mut self.changed) {
            self.client().buffer.refresh(page, |bytes| {
                let is_older = page::u64_at(bytes, page::offset::LSN) < position;
                if is_older {
                    bytes.put(0, &after[..]);
                    bytes.put_u64(page::offset::LSN, position);
                }
                is_older
            });
        }
        if self.client().tactics.locks == Grain::Database {
            // Nobody else has changed anything between our lock and this position.
            self.client().note_changes(Some(&[]), position);
        }
    }

    #[inline]
    fn lock(&self, page: PageNumber, mode: Mode) -> Result<()> {
        if self.lock_set.has_all() { Ok(()) } else { self.noted(self.lock_set.lock(page, mode)) }
    }

    /// Note that an operation failed.
    #[inline]
    fn noted<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| self.note(error))
    }

    #[cold]
    fn note(&self, error: LodeError) -> LodeError {
        self.failure.note(&error);
        error
    }

    fn copy_of(&mut self, page: PageNumber) -> Result<&mut Changed> {
        if !self.changed.contains_key(&page) {
            let cache_bytes = self.client().tactics.cache.0;
            let pages_max = cache_bytes as usize / PAGE_BYTES - PAGES_SPARED;
            if self.changed.len() >= pages_max {
                return Err(LodeError::CacheTooSmall { cache_bytes });
            }
            let copy = |view: View<'_>| Box::new(view.aligned_copy());
            let after = self.client().buffer.read(page, copy)?;
            let before = match self.client().tactics.log {
                Logging::PageDiff => Before::Page(Box::new(**after)),
                Logging::PageGrain => Before::Unknown,
                Logging::SetRange => Before::Ranges(Ranges::default()),
            };
            self.changed.insert(page, Changed { after, before });
        }
        Ok(self.changed.get_mut(&page).expect("it is there now"))
    }
}

impl Allocating for RemoteWriting {
    fn extent_pages(&self) -> u32 {
        self.client().extent_pages()
    }

    fn allocation_hint(&self, file: FileNumber) -> Option<PageNumber> {
        self.client().allocation_hint(file)
    }

    fn set_allocation_hint(&self, file: FileNumber, page: PageNumber) {
        self.client().set_allocation_hint(file, page);
    }

    fn lock_exclusively(&self, page: PageNumber) -> Result<()> {
        self.lock(page, Mode::Exclusive)
    }
}

impl PageRead for RemoteWriting {
    #[inline]
    fn read<R>(&self, page: PageNumber, mut inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
        self.lock(page, Mode::Shared)?;
        match self.changed.get(&page) {
            Some(changed) => Ok(inspect(View::of(&changed.after))),
            None => self.noted(self.client().buffer.read(page, inspect)),
        }
    }

    #[inline]
    fn try_read<R>(&self, page: PageNumber, mut inspect: impl FnMut(View<'_>) -> R) -> Option<R> {
        self.lock(page, Mode::Shared).ok()?;
        match self.changed.get(&page) {
            Some(changed) => Some(inspect(View::of(&changed.after))),
            None => self.client().buffer.try_read(page, inspect),
        }
    }

    #[inline]
    fn try_read_version<R>(
        &self,
        page: PageNumber,
        version: Version,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        self.lock(page, Mode::Shared).ok()?;
        if self.changed.contains_key(&page) {
            return None;
        }
        self.client().buffer.try_read_version(page, version, inspect)
    }

    fn pin(&self, page: PageNumber) -> Result<Pinned> {
        let copy = self.read(page, |view| Arc::new(view.aligned_copy()))?;
        Ok(Pinned::copy(page, copy))
    }

    fn salt(&self) -> u64 {
        superblock::salt(self.client().identity())
    }

    /// A page that this transaction has changed has no version.
    #[inline]
    fn read_with_version<R>(
        &self,
        page: PageNumber,
        mut inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Version)> {
        self.lock(page, Mode::Shared)?;
        match self.changed.get(&page) {
            Some(changed) => Ok((inspect(View::of(&changed.after)), Version::default())),
            None => self.noted(self.client().buffer.read_with_version(page, inspect)),
        }
    }

    fn swizzles(&self) -> bool {
        self.client().tactics.swizzle == Swizzle::On
    }

    fn prefetches(&self) -> bool {
        self.client().tactics.prefetch == Prefetch::On
    }

    /// The page as the server sent it: where this transaction has changed it, that is of no use.
    #[inline]
    fn prefetch(&self, page: PageNumber, at: usize) {
        self.client().buffer.prefetch(page, at);
    }

    fn read_ahead(&self, page: PageNumber) {
        self.client().buffer.expect(page);
    }

    fn note_prefetches(&self, count: u64) {
        self.client().buffer.note_prefetches(count);
    }
}

impl PageWrite for RemoteWriting {
    fn write<R>(
        &mut self,
        page: PageNumber,
        change: impl FnOnce(&mut PageMut<'_>) -> R,
    ) -> Result<R> {
        self.lock(page, Mode::Exclusive)?;
        match self.copy_of(page) {
            Ok(changed) => {
                changed.say(&ranges::WHOLE);
                Ok(change(&mut changed.after.page_mut()))
            }
            Err(error) => Err(self.note(error)),
        }
    }

    fn write_range<R>(
        &mut self,
        page: PageNumber,
        place: impl FnOnce(&PageBytes) -> Result<Range<usize>>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<Result<R>> {
        self.lock(page, Mode::Exclusive)?;
        match self.copy_of(page) {
            Ok(changed) => Ok(place(&changed.after).map(|range| {
                changed.say(&range);
                change(&mut changed.after[range])
            })),
            Err(error) => Err(self.note(error)),
        }
    }

    fn grow(&mut self, pages_total: PageNumber) -> Result<()> {
        self.lock(space::SPACE_PAGE, Mode::Exclusive)?;
        self.noted(self.client().buffer.grow(pages_total))
    }

    fn allocate(&mut self, file: FileNumber, kind: PageKind) -> Result<PageNumber> {
        self.noted(self.client().check_owner())?;
        let outcome = transaction::allocate(self, file, kind);
        self.noted(outcome)
    }

    fn free(&mut self, page: PageNumber) -> Result<()> {
        let outcome = transaction::free(self, page);
        self.noted(outcome)
    }
}
