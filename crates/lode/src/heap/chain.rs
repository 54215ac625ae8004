//! The chain of a heap's pages, from the first to the last made.

use super::{Heap, free_space};
use crate::emptied;
use crate::error::Result;
use crate::page::{self, NO_PAGE, PageNumber};
use crate::pages::PageRead;
use crate::slotted::Corruption;

/// A walk along all pages of a heap.
pub(super) struct Chain {
    next: PageNumber,
    left: u32,
    pub(super) heap: Heap,
}

impl Heap {
    /// The numbers of its pages that hold records, in the order in which they were made: to be
    /// mapped as memory.
    ///
    /// # Errors
    ///
    /// As of a scan.
    pub fn pages(self, pages: &impl PageRead) -> Result<Vec<PageNumber>> {
        let mut chain = self.chain(pages)?;
        std::iter::from_fn(|| chain.next_page(pages).transpose()).collect()
    }

    /// The first of its pages that hold records, [`NO_PAGE`] where there is none, and their number.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Corrupt`] if its root is no such page: one of zeros would be taken for
    /// that of a heap without records.
    pub fn first_and_count(self, pages: &impl PageRead) -> Result<(PageNumber, u32)> {
        let [first, count] =
            self.root_fields(pages, [free_space::offset::FIRST, free_space::offset::PAGES])?;
        Ok((first, count))
    }

    /// A walk along all pages.
    pub(super) fn chain(self, pages: &impl PageRead) -> Result<Chain> {
        let (next, left) = self.first_and_count(pages)?;
        Ok(Chain { next, left, heap: self })
    }
}

impl Chain {
    /// The next page, which is one of the heap's.
    pub(super) fn next_page(&mut self, pages: &impl PageRead) -> Result<Option<PageNumber>> {
        let Some(page) = self.here()? else { return Ok(None) };
        let (is_own, next) = pages.read(page, |view| {
            let file = view.u32(page::offset::FILE);
            let is_own = self.heap.owns(view.kind(), file, view.level());
            (is_own, view.u32(free_space::offset::FOLLOWING))
        })?;
        self.go_on(page, is_own, next).map_err(|error| emptied::or(pages, page, error))?;
        Ok(Some(page))
    }

    /// The page that comes next, if there is one.
    pub(super) fn here(&self) -> Result<Option<PageNumber>> {
        match (self.next, self.left) {
            (NO_PAGE, 0) => Ok(None),
            (NO_PAGE, _) => Err(Corruption("fewer pages follow than it counts").on(self.heap.root)),
            (page, _) => Ok(Some(page)),
        }
    }

    /// Go on from `page`, if it is one of the heap's, to the one that it says follows.
    pub(super) fn go_on(&mut self, page: PageNumber, is_own: bool, next: PageNumber) -> Result<()> {
        // The count ends a chain that bites its own tail.
        self.left = match self.left.checked_sub(1) {
            Some(left) if is_own => left,
            _ => return Err(Corruption("its heap's chain leads astray").on(page)),
        };
        self.next = next;
        Ok(())
    }
}
