//! Dirty pages on their way to disk.

use std::io;
use std::sync::{Arc, Weak};

use super::latched::Pinned;
use super::{Buffer, Wait};
use crate::aligned_bytes::AlignedBytes;
use crate::error::{LodeError, Result};
use crate::page::{self, PAGE_BYTES, PageBytes, PageNumber};

/// Dirty pages written together: one image of each in the log and one sync of it for all.
pub(super) const BATCH_PAGES_MAX: usize = 64;

/// The occasion for which pages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// A checkpoint: the disk is synced afterwards, before anything is forgotten in the log.
    Checkpoint,
    /// Room is needed, or a commit wants its pages in their places: a checkpoint may be under way,
    /// and does not wait for this write before it syncs.
    Other,
}

/// The steps before pages are written over older ones on disk: the log's part.
pub trait WriteBack: Send + Sync {
    /// Log what these pages need (undo of changes that are not committed, images against tears) and
    /// sync the log. They are as they will be written, checksums included, in ascending order.
    /// While this runs, and until they are written, nobody can change them, so that what is logged
    /// here and what is logged of their next change are in the right order; everyone may read.
    ///
    /// Called by whichever thread needs room, within any call of the buffer that may bring a page
    /// to memory, while pages may be latched by that thread and others. So it must not ask the
    /// buffer for pages, and must take no lock that another holds while doing so.
    ///
    /// After an error the pages stay dirty and in memory, and the thread that needed the frame
    /// learns of it.
    fn before_write(&self, pages: &[(PageNumber, &PageBytes)], occasion: Occasion) -> Result<()>;
}

impl Buffer {
    /// Say who is asked before pages are written. Once, and before the first change that the log
    /// has to know of: without it, pages are written without asking. Not kept alive by this; once
    /// it is gone, no page can be written.
    #[expect(clippy::needless_pass_by_value, reason = "the caller gives one of its own away")]
    pub fn set_write_back(&self, write_back: Arc<dyn WriteBack>) {
        let set = self.write_back.set(Arc::downgrade(&write_back));
        assert!(set.is_ok(), "the write back is set once");
    }

    /// Write all pages that are dirty at the call, and sync the disk. Waits for pages that are
    /// latched: the caller has none. At an error, what was not written stays dirty.
    pub fn write_dirty(&self) -> Result<()> {
        let resident = self.budget.resident().map(|(_, page)| page);
        let mut pages: Vec<_> = resident.filter(|&page| self.is_dirty(page)).collect();
        pages.sort_unstable();
        self.write_all(pages, Occasion::Checkpoint)?;
        self.sync_disk("syncing the volume")
    }

    /// Write those of these pages that are dirty, and sync the disk. All that nobody changes
    /// meanwhile are in their places then, also those that another thread wrote. The caller has
    /// latched none. Without pages nothing happens.
    pub fn place(&self, mut pages: Vec<PageNumber>) -> Result<()> {
        if pages.is_empty() {
            return Ok(());
        }
        pages.retain(|&page| self.is_dirty(page));
        pages.sort_unstable();
        self.write_all(pages, Occasion::Other)?;
        self.sync_disk("syncing new pages")
    }

    /// Write those of these pages that are dirty.
    fn write_all(&self, mut pages: Vec<PageNumber>, occasion: Occasion) -> Result<()> {
        while !pages.is_empty() {
            let missed = self.write_unless_in_use(&pages, occasion)?;
            if missed.len() == pages.len() {
                self.wait_while_in_use(missed[0]);
            }
            pages = missed;
        }
        Ok(())
    }

    pub(super) fn sync_disk(&self, doing: &str) -> Result<()> {
        let synced = self.syncs.run(|| self.disk.sync());
        synced.map_err(|error| LodeError::io(doing, error))
    }

    fn is_dirty(&self, page: PageNumber) -> bool {
        // A latched page may become dirty, or was so before the latch.
        let word = self.state_of(page).load();
        !word.is_evicted() && (word.is_dirty() || !word.is_readable())
    }

    /// Write those of the pages that are dirty. The ones that others latch or hold now come back:
    /// to wait for them while one holds some would be a deadlock.
    fn write_unless_in_use(
        &self,
        pages: &[PageNumber],
        occasion: Occasion,
    ) -> Result<Vec<PageNumber>> {
        let mut missed = Vec::new();
        for batch in pages.chunks(BATCH_PAGES_MAX) {
            let mut pinned = Vec::with_capacity(batch.len());
            for &page in batch {
                match Pinned::try_pin(self, page) {
                    Some(one) if self.is_dirty(page) => pinned.push(one),
                    None if self.is_dirty(page) => missed.push(page),
                    _ => {}
                }
            }
            self.write_pinned(&mut pinned, occasion)?;
        }
        Ok(missed)
    }

    fn wait_while_in_use(&self, page: PageNumber) {
        let mut wait = Wait::new(self);
        loop {
            let word = self.state_of(page).load();
            if word.is_evicted() || (word.is_readable() && !word.is_pinned()) {
                return;
            }
            wait.once_for(page);
        }
    }

    /// Write pinned pages: the log first, then copies with their checksums, in ascending order,
    /// adjacent ones by one call. Each is marked as it is written.
    pub(super) fn write_pinned(&self, pinned: &mut [Pinned<'_>], occasion: Occasion) -> Result<()> {
        if pinned.is_empty() {
            return Ok(());
        }
        let mut in_order: Vec<_> = pinned.iter_mut().collect();
        in_order.sort_unstable_by_key(|one| one.page());
        let mut buffer = AlignedBytes::new(in_order.len() * PAGE_BYTES);
        let copies = buffer.bytes();
        for (copy, one) in copies.chunks_exact_mut(PAGE_BYTES).zip(&in_order) {
            let copy = <&mut PageBytes>::try_from(copy).expect("a chunk is as long as a page");
            copy.copy_from_slice(&one[..]);
            page::seal(copy, one.page());
        }
        self.ask_write_back(&in_order, copies, occasion)?;
        self.events.batches.add(1);
        let mut copies: &[u8] = copies;
        for run in in_order.chunk_by_mut(|one, next| one.page() + 1 == next.page()) {
            let (bytes, rest) = copies.split_at(run.len() * PAGE_BYTES);
            copies = rest;
            self.write_run(run[0].page(), bytes)?;
            for one in run {
                one.set_written();
            }
        }
        Ok(())
    }

    fn ask_write_back(
        &self,
        pages: &[&mut Pinned<'_>],
        copies: &[u8],
        occasion: Occasion,
    ) -> Result<()> {
        let Some(write_back) = self.write_back.get() else { return Ok(()) };
        let write_back = Weak::upgrade(write_back).ok_or_else(|| {
            LodeError::io("writing pages back", io::Error::other("the log is closed already"))
        })?;
        let numbers = pages.iter().map(|one| one.page());
        let copies = copies.chunks_exact(PAGE_BYTES);
        let copies = copies.map(|copy| copy.try_into().expect("a chunk is as long as a page"));
        let pages: Vec<(PageNumber, &PageBytes)> = numbers.zip(copies).collect();
        write_back.before_write(&pages, occasion)
    }

    fn write_run(&self, first: PageNumber, bytes: &[u8]) -> Result<()> {
        self.events.writes.add(1);
        self.events.pages_written.add(bytes.len() / PAGE_BYTES);
        let written = self.disk.write(u64::from(first) * PAGE_BYTES as u64, bytes);
        written.map_err(|error| LodeError::io(format!("writing page {first}"), error))
    }
}
