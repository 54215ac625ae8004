//! Everything that must hold of a whole file of columns, and the walk along its chunks.

use std::collections::BTreeSet;

use super::change::copy;
use super::{Columns, Header, PAGES_MAX, header_in, root_offset, values_in};
use crate::error::{LodeError, Result};
use crate::page::{self, NO_PAGE, PageNumber};
use crate::pages::PageRead;
use crate::slotted::Corruption;

impl Columns {
    /// Show the header of every chunk, in the order in which they were made.
    pub(super) fn each_chunk(
        &self,
        pages: &impl PageRead,
        mut each: impl FnMut(PageNumber, Header<'_>) -> Result<()>,
    ) -> Result<()> {
        let (mut chunk, count) = self.chunks(pages)?;
        // The count ends a chain that bites its own tail.
        for _ in 0..count {
            if chunk == NO_PAGE {
                break;
            }
            let bytes = copy(pages, chunk)?;
            let header = header_in(&bytes, chunk, self.file, self.shape.rows())?;
            each(chunk, header)?;
            chunk = header.next();
        }
        Ok(())
    }

    /// Read the whole file and hold root, chunks, pages and list against each other; the number of
    /// rows. [`LodeError::Corrupt`] names the first contradiction.
    pub fn check(&self, pages: &impl PageRead) -> Result<u64> {
        self.check_widths(pages)?;
        let (mut rows, mut last, mut chunks) = (0, NO_PAGE, 0);
        let (mut seen, mut with_space) = (BTreeSet::new(), BTreeSet::new());
        self.each_chunk(pages, |chunk, header| {
            (chunks, last) = (chunks + 1, chunk);
            rows += header.live() as u64;
            if header.is_listed() {
                with_space.insert(chunk);
            }
            if !seen.insert(chunk) {
                return Err(Corruption("it is chained twice").on(chunk));
            }
            self.check_chunk(pages, chunk, header, &mut seen)
        })?;
        let found = self.read_root(pages, |view| {
            let pages = view.u32(root_offset::PAGES);
            (view.u32(root_offset::LAST), view.u32(root_offset::CHUNKS), pages)
        })?;
        if found != (last, chunks, seen.len() as u32) {
            return Err(Corruption("it counts other chunks or pages").on(self.root));
        }
        let mut chunk = self.read_root(pages, |view| view.u32(root_offset::WITH_SPACE))?;
        while chunk != NO_PAGE {
            if !with_space.remove(&chunk) {
                return Err(Corruption("a list of chunks with room leads there").on(chunk));
            }
            chunk = pages.read(chunk, |view| view.u32(page::offset::PREVIOUS))?;
        }
        match with_space.first() {
            None => Ok(rows),
            Some(&chunk) => Err(Corruption("it is on no list, against its header").on(chunk)),
        }
    }

    fn check_widths(&self, pages: &impl PageRead) -> Result<()> {
        let columns = self.shape.columns();
        let is_equal = self.read_root(pages, |view| {
            usize::from(view.count()) == columns.len()
                && usize::from(view.u16(root_offset::ROWS)) == self.shape.rows()
                && columns
                    .iter()
                    .zip((root_offset::WIDTHS..).step_by(2))
                    .all(|(column, at)| usize::from(view.u16(at)) == column.width)
        })?;
        if is_equal { Ok(()) } else { Err(Corruption("it has other columns").on(self.root)) }
    }

    fn check_chunk(
        &self,
        pages: &impl PageRead,
        chunk: PageNumber,
        header: Header<'_>,
        seen: &mut BTreeSet<PageNumber>,
    ) -> Result<()> {
        let live: Vec<_> = (0..self.shape.rows()).filter(|&at| header.is_live(at)).collect();
        if live.len() != header.live() || live.last().is_some_and(|&at| at >= header.positions()) {
            return Err(Corruption("its rows and their number differ").on(chunk));
        }
        if header.is_listed() != (live.len() < self.shape.rows()) {
            return Err(Corruption("that it has room and the list differ").on(chunk));
        }
        for position in live {
            for piece in self.shape.pieces(position) {
                header.page(piece.place)?;
            }
        }
        for place in 0..PAGES_MAX {
            let page = header.listed(place);
            if page == NO_PAGE {
                continue;
            }
            values_in(&*copy(pages, page)?, page, self.file, (chunk, place))?;
            if !seen.insert(page) {
                return Err(LodeError::corrupt_page(page, "two places of chunks lead to it"));
            }
        }
        Ok(())
    }
}
