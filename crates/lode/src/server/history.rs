//! Which pages were changed when: what shows a client which of its pages still hold.
//!
//! A commit's pages are noted while they are locked, before others can lock them. So who has locked
//! a page and asks then learns of every change there was.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::lock::numbers::NumberMap;
use crate::page::PageNumber;
use crate::wire::Stale;

/// Changes that are remembered. A client that knows none of them drops its cache, which is about
/// as large as what this many pages take; and so many numbers fit a frame.
const CHANGES_MAX: usize = 65_536;

/// The changes of late.
pub(crate) struct History {
    recent: Mutex<Recent>,
    changes_max: usize,
}

struct Recent {
    /// Of the last commit. The first is 1, so that 0 is before everything.
    position: u64,
    /// Nothing is known of changes up to this.
    oldest: u64,
    changes: VecDeque<(u64, PageNumber)>,
    /// The position of each page's last change, for those in `changes`.
    last: NumberMap<PageNumber, u64>,
}

impl History {
    pub(super) fn new() -> Self {
        Self::remembering(CHANGES_MAX)
    }

    /// So many changes and no more.
    pub(crate) fn remembering(changes_max: usize) -> Self {
        let (changes, last) = (VecDeque::new(), NumberMap::default());
        let recent = Recent { position: 1, oldest: 1, changes, last };
        Self { recent: Mutex::new(recent), changes_max }
    }

    /// Of the last commit.
    pub(super) fn position(&self) -> u64 {
        self.recent().position
    }

    /// Pages are about to be committed that are still locked: the position of that.
    pub(super) fn note(&self, pages: &[PageNumber]) -> u64 {
        let mut recent = self.recent();
        let recent = &mut *recent;
        if pages.is_empty() {
            return recent.position;
        }
        recent.position += 1;
        for &page in pages {
            recent.changes.push_back((recent.position, page));
            recent.last.insert(page, recent.position);
        }
        while recent.changes.len() > self.changes_max
            && let Some((position, page)) = recent.changes.pop_front()
        {
            recent.oldest = position;
            if recent.last.get(&page) == Some(&position) {
                recent.last.remove(&page);
            }
        }
        recent.position
    }

    /// The changes after a position, and the position now.
    pub(super) fn since(&self, known: u64) -> (u64, Stale) {
        let recent = self.recent();
        if known == recent.position {
            return (recent.position, Stale::Nothing);
        }
        if known < recent.oldest || known > recent.position {
            return (recent.position, Stale::All);
        }
        let later = recent.changes.iter().rev().take_while(|&&(position, _)| position > known);
        let mut pages: Vec<PageNumber> = later.map(|&(_, page)| page).collect();
        pages.sort_unstable();
        pages.dedup();
        (recent.position, Stale::Some(pages))
    }

    /// The position at which a page was changed last, or before which it was.
    pub(super) fn changed(&self, page: PageNumber) -> u64 {
        let recent = self.recent();
        recent.last.get(&page).copied().unwrap_or(recent.oldest)
    }

    /// Each change is made whole before the next panic could come.
    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_since_a_version_are_reported() {
        let history = History::remembering(100);
        let start = history.position();
        let first = history.note(&[7, 5]);
        let second = history.note(&[5, 9]);
        assert_eq!(history.since(second), (second, Stale::Nothing));
        assert_eq!(history.since(first), (second, Stale::Some(vec![5, 9])));
        assert_eq!(history.since(start), (second, Stale::Some(vec![5, 7, 9])));
        assert_eq!([5, 7, 9, 11].map(|page| history.changed(page)), [second, first, second, start]);
    }

    #[test]
    fn a_commit_without_pages_is_no_change() {
        let history = History::remembering(100);
        let start = history.position();
        assert_eq!(history.note(&[]), start);
        assert_eq!(history.since(start), (start, Stale::Nothing));
    }

    #[test]
    fn forgotten_pages_count_as_changed() {
        let history = History::remembering(3);
        let start = history.position();
        let first = history.note(&[1, 2]);
        let second = history.note(&[3, 4]);
        // Of the first commit one page is left: too little to answer for the time before it.
        assert_eq!(history.since(start), (second, Stale::All));
        assert_eq!(history.since(first), (second, Stale::Some(vec![3, 4])));
        assert_eq!(history.changed(1), first);
        assert_eq!(history.changed(2), first);
        assert_eq!(history.changed(99), first);
        assert_eq!(history.changed(3), second);
    }

    #[test]
    fn who_knows_of_the_future_knows_nothing() {
        let history = History::new();
        assert_eq!(history.since(50), (1, Stale::All));
        assert_eq!(history.since(0), (1, Stale::All));
    }
}
