//! Pages that others have changed on disk: a page server's clients have such. Their pages are never
//! dirty, so that dropping one loses nothing.

use super::{Buffer, Wait};
use crate::page::PageNumber;
use crate::page_mut::PageMut;
use crate::view::View;

impl Buffer {
    /// Read a page only if it is in memory; it does not count as a use. Waits while the page is
    /// on its way there or away.
    pub(crate) fn peek<R>(
        &self,
        page: PageNumber,
        mut inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        let state = self.state(page)?;
        let mut wait = Wait::new(self);
        loop {
            let word = state.load();
            if word.is_evicted() {
                return None;
            }
            if word.is_readable() {
                let seen = inspect(self.view(page));
                if state.is_as(word) {
                    return Some(seen);
                }
            }
            wait.once_for(page);
        }
    }

    /// Put newer bytes where a page is in memory, which are on disk, too; where `refresh` answers
    /// that it did. The page has a new version then, and is not dirty.
    pub(crate) fn refresh(&self, page: PageNumber, refresh: impl FnOnce(&mut PageMut<'_>) -> bool) {
        let Some(state) = self.state(page) else { return };
        if !self.latch_resident(page) {
            return;
        }
        // SAFETY: as in `Latched::page_mut`.
        #[expect(unsafe_code, reason = "a latched page is its owner's to change")]
        let mut bytes = unsafe { PageMut::at(self.pages.page(page)) };
        if refresh(&mut bytes) {
            state.unlatch_refreshed();
        } else {
            state.unlatch(false);
        }
    }

    /// Drop from memory those of the pages (in ascending order; all, if `None`) that are
    /// stale. Waits for those that others read or hold now.
    pub(crate) fn drop_stale(
        &self,
        pages: Option<&[PageNumber]>,
        is_stale: impl Fn(View<'_>) -> bool,
    ) {
        let concerns =
            |page: PageNumber| pages.is_none_or(|pages| pages.binary_search(&page).is_ok());
        // The list of slots is as long as the cache is large; where there is nothing to drop, it
        // is not gone through.
        let is_there = |&page: &PageNumber| self.peek(page, &is_stale) == Some(true);
        if pages.is_some_and(|pages| !pages.iter().any(&is_there)) {
            return;
        }
        let mut any = false;
        for (slot, page) in self.budget.resident() {
            if !concerns(page) || !is_there(&page) || !self.latch_resident(page) {
                continue;
            }
            if self.budget.page_in(slot) == Some(page) && is_stale(self.view(page)) {
                self.drop_latched(slot, page);
                drop(self.budget.permit(1));
                any = true;
            } else {
                self.state_of(page).unlatch(false);
            }
        }
        if any {
            self.tactic.forget_absent(&self.budget);
        }
    }

    /// Latch a page if it is in memory.
    fn latch_resident(&self, page: PageNumber) -> bool {
        let state = self.state_of(page);
        let mut wait = Wait::new(self);
        loop {
            let word = state.load();
            if word.is_evicted() {
                return false;
            }
            if state.latch(word, false) {
                return true;
            }
            wait.once_for(page);
        }
    }
}
