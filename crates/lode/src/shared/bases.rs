//! Pages that recovery would rebuild from the log alone, whatever lies in their places: half of one
//! does no harm there, so they are written without an image before.
//!
//! The rule stands in `docs/reference/lode-format.md` (what recovery may rely on). A base counts
//! from the moment at which it is appended until the place of every page that was written because
//! of it was synced. A checkpoint among running transactions therefore retires those that it will
//! forget before it looks which pages are dirty: a page that another thread writes from then on may
//! be on its way when the checkpoint syncs, and has an image that will be read.

use super::changes::Changes;
use super::table::Table;
use crate::buffer::Occasion;
use crate::log::Lsn;
use crate::page::PageNumber;

impl Changes {
    /// A checkpoint begins, after which recovery will need nothing before this position: only what
    /// the checkpoint writes itself may still count on bases before it.
    pub(crate) fn retire_bases(&self, before: Lsn) {
        self.table().retired_before = before;
    }

    /// Recovery needs nothing before this position any more. The volume was synced since nobody but
    /// the checkpoint counts on a base before it.
    pub(crate) fn forget_bases(&self, before: Lsn) {
        let mut table = self.table();
        table.bases.retain(|_, base| *base >= before);
        table.retired_before = before;
    }
}

impl Table {
    /// The record that must be durable before a page is written that recovery would rebuild from
    /// the log: its base, or behind that the last commit, which may have changed the page. `None`
    /// where the log has no base of it, or more is needed than a base, because a running
    /// transaction has changed the page.
    pub(super) fn rebuilt_by(&self, page: PageNumber, occasion: Occasion) -> Option<Lsn> {
        let base = *self.bases.get(&page)?;
        let counts = occasion == Occasion::Checkpoint || base >= self.retired_before;
        let is_settled = !self.changed.contains_key(&page);
        (counts && is_settled).then(|| self.committed.map_or(base, |commit| commit.max(base)))
    }
}
