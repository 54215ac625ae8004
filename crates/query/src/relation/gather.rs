//! The values of one column of a chunk, copied from its pages into tuples.

use lode::PageRead;
use lode::internals::columns::{self, Column, Header};
use lode::internals::page::{FileNumber, PageNumber};

use super::batch::HeldPage;
use super::reads::Reads;
use crate::error::Result;
use crate::tuple::copy_tuple;

/// Positions of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Positions<'p> {
    pub each: &'p [u16],
    /// Whether each follows the one before it without a gap.
    are_dense: bool,
}

impl<'p> Positions<'p> {
    pub fn of(each: &'p [u16]) -> Self {
        Self { each, are_dense: each.windows(2).all(|pair| pair[0] + 1 == pair[1]) }
    }

    /// The number from that one on that lie between two positions, until one does not.
    fn run(self, from: usize, first: usize, end: usize) -> usize {
        let rest = &self.each[from..];
        let Some(&start) = rest.first() else { return 0 };
        if self.are_dense && usize::from(start) >= first {
            return rest.len().min(end.saturating_sub(start.into()));
        }
        rest.iter().take_while(|&&one| (first..end).contains(&usize::from(one))).count()
    }
}

/// One column of a chunk, page after page.
pub(super) struct Values<'a, P> {
    pages: &'a P,
    file: FileNumber,
    chunk: (PageNumber, Header<'a>),
    column: Column,
    /// The page of the column that was read last, and its number among them.
    held: Option<(usize, HeldPage)>,
    reads: &'a mut Reads,
}

impl<'a, P: PageRead> Values<'a, P> {
    /// Of a chunk of that file, which has that header.
    pub fn new(
        pages: &'a P,
        file: FileNumber,
        chunk: (PageNumber, Header<'a>),
        column: Column,
        reads: &'a mut Reads,
    ) -> Self {
        Self { pages, file, chunk, column, held: None, reads }
    }

    /// Have a page of the column, and give its values.
    fn page(&mut self, number: usize) -> Result<&[u8; columns::VALUE_BYTES]> {
        let (place, (chunk, header)) = (self.column.place + number, self.chunk);
        if self.held.as_ref().is_none_or(|(held, _)| *held != number) {
            self.held = Some((number, HeldPage::read(self.pages, header.page(place)?)?));
            self.reads.pages += 1;
        }
        let (_, held) = self.held.as_ref().expect("it was put there just now");
        Ok(columns::values_in(held.bytes(), held.page, self.file, (chunk, place))?)
    }

    /// Put the values at some positions, which ascend or do not, into tuples that begin so far from
    /// one another, at that offset. Nothing else of `into` is changed.
    pub fn gather(
        &mut self,
        positions: Positions<'_>,
        into: &mut [u8],
        (stride, at): (usize, usize),
    ) -> Result<()> {
        let column = self.column;
        let mut done = 0;
        while let Some(&position) = positions.each.get(done) {
            let (page, _) = column.start(position.into());
            // Positions that begin in this page, and end there, too.
            let (first, end) = whole_in(column, page);
            let run = positions.run(done, first, end);
            let into = &mut into[done * stride + at..];
            if run == 0 {
                self.straddling(position, &mut into[..column.width])?;
                done += 1;
                continue;
            }
            let own = Positions { each: &positions.each[done..done + run], ..positions };
            copy(self.page(page)?, column, page, own, into, stride);
            done += run;
        }
        Ok(())
    }

    /// A value that begins in one page and ends in the next.
    fn straddling(&mut self, position: u16, into: &mut [u8]) -> Result<()> {
        let (page, from) = self.column.start(position.into());
        let (head, tail) = into.split_at_mut(columns::VALUE_BYTES - from);
        head.copy_from_slice(&self.page(page)?[from..]);
        let rest = tail.len();
        tail.copy_from_slice(&self.page(page + 1)?[..rest]);
        Ok(())
    }
}

/// The first position whose value lies within a page of a column from its first byte to its last,
/// and the first behind it that does not.
fn whole_in(column: Column, page: usize) -> (usize, usize) {
    let from = page * columns::VALUE_BYTES;
    (from.div_ceil(column.width), (from + columns::VALUE_BYTES) / column.width)
}

/// Copy values that lie within one page to where the first of them goes, and on by a stride.
fn copy(
    values: &[u8; columns::VALUE_BYTES],
    column: Column,
    page: usize,
    Positions { each: positions, are_dense }: Positions<'_>,
    into: &mut [u8],
    stride: usize,
) {
    let base = page * columns::VALUE_BYTES;
    if stride == column.width && are_dense {
        let from = usize::from(positions[0]) * column.width - base;
        let bytes = positions.len() * column.width;
        into[..bytes].copy_from_slice(&values[from..from + bytes]);
        return;
    }
    match column.width {
        1 => copy_each::<1>(values, base, positions, into, stride),
        2 => copy_each::<2>(values, base, positions, into, stride),
        4 => copy_each::<4>(values, base, positions, into, stride),
        8 => copy_each::<8>(values, base, positions, into, stride),
        width @ 32..=64 => copy_ends::<32>(values, (base, width), positions, into, stride),
        width @ 65..=128 => copy_ends::<64>(values, (base, width), positions, into, stride),
        width => {
            for (value_at, &position) in (0..).step_by(stride).zip(positions) {
                let from = usize::from(position) * width - base;
                copy_tuple(&values[from..from + width], &mut into[value_at..value_at + width]);
            }
        }
    }
}

/// Values of `BYTES` to twice as many: their first bytes and their last ones, which may overlap. A
/// call for each value would take longer than its copy.
fn copy_ends<const BYTES: usize>(
    values: &[u8; columns::VALUE_BYTES],
    (base, width): (usize, usize),
    positions: &[u16],
    into: &mut [u8],
    stride: usize,
) {
    let last = width - BYTES;
    for (value_at, &position) in (0..).step_by(stride).zip(positions) {
        let from = usize::from(position) * width - base;
        let (value, into) = (&values[from..from + width], &mut into[value_at..value_at + width]);
        into[..BYTES].copy_from_slice(&value[..BYTES]);
        into[last..last + BYTES].copy_from_slice(&value[last..last + BYTES]);
    }
}

fn copy_each<const WIDTH: usize>(
    values: &[u8; columns::VALUE_BYTES],
    base: usize,
    positions: &[u16],
    into: &mut [u8],
    stride: usize,
) {
    for (value_at, &position) in (0..).step_by(stride).zip(positions) {
        let from = usize::from(position) * WIDTH - base;
        into[value_at..value_at + WIDTH].copy_from_slice(&values[from..from + WIDTH]);
    }
}
