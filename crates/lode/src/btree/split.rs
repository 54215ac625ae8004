//! Splitting an overfull page of a B+tree in two, and merging two that are nearly empty.

use std::ops::Range;

use crate::page::PAGE_BYTES;

use super::layout::{Corruption, shared_bytes, slot_bytes};
use super::unpacked_node::{Item, UnpackedNode};

/// The place where a full page is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bias {
    /// In the middle.
    Middle,
    /// Behind all that was there: keys come in ascending order, and the page stays full.
    End,
    /// Before all that was there: keys come in descending order.
    Start,
}

/// A page split in two.
pub(super) struct Split {
    pub left: UnpackedNode,
    /// Above all keys on the left, and not above any on the right.
    pub separator: Vec<u8>,
    pub right: UnpackedNode,
}

impl UnpackedNode {
    /// Split an overfull page in two that fit. The first entry of an inner page's right half gives
    /// its key to the separator and its child to the half.
    ///
    /// There is always a place to split, also where a new key shares less than the others do and so
    /// makes all of them longer: it is then the first or the last, and it and its neighbour fit
    /// into one page, all others into another.
    pub fn split(&self, bias: Bias) -> Result<Split, Corruption> {
        let inner = usize::from(self.level > 0);
        let count = self.count();
        let fits = |at: usize| {
            self.range_bytes(&(0..at)) <= PAGE_BYTES
                && self.range_bytes(&(at + inner..count)) <= PAGE_BYTES
        };
        let (first, last) = (1, count.saturating_sub(1 + inner));
        let aim = match bias {
            Bias::Middle => self.middle().clamp(first, last.max(first)),
            Bias::End => last,
            Bias::Start => first,
        };
        let near = if bias == Bias::Middle { count / 16 } else { 0 };
        let best = (aim.saturating_sub(near).max(first)..=(aim + near).min(last))
            .min_by_key(|&at| (self.separator_bytes(at), at.abs_diff(aim)))
            .filter(|&at| fits(at));
        let at = best
            .or_else(|| {
                let mut others = (first..=last).collect::<Vec<_>>();
                others.sort_by_key(|at| at.abs_diff(aim));
                others.into_iter().find(|&at| fits(at))
            })
            .ok_or("its entries cannot be split in two pages")?;
        Ok(self.split_at(at, inner))
    }

    fn split_at(&self, at: usize, inner: usize) -> Split {
        let mut left = self.part(0..at);
        let mut right = self.part(at + inner..self.count());
        left.first_child = self.first_child;
        left.previous = self.previous;
        right.next = self.next;
        if inner > 0 {
            right.first_child = self.child(at + 1);
        }
        Split { left, separator: self.key(at)[..self.separator_bytes(at)].to_vec(), right }
    }

    /// The position at which about half of the bytes are on either side.
    fn middle(&self) -> usize {
        let bytes = |position| {
            let item = self.item(position);
            slot_bytes(self.level) + item.key.len() + item.value.len()
        };
        let total = (0..self.count()).map(bytes).sum::<usize>();
        let mut before = 0;
        let mut halves = (0..self.count()).map(|position| {
            before += bytes(position);
            before * 2 >= total
        });
        halves.position(|half| half).unwrap_or(0)
    }

    /// The length of the shortest separator in front of an entry: one byte more than its key shares
    /// with the one before (Bayer and Unterauer 1977, *Prefix B-trees*). Inner pages' keys are
    /// separators already.
    fn separator_bytes(&self, at: usize) -> usize {
        if self.level > 0 {
            return self.key(at).len();
        }
        separator_bytes(self.key(at - 1), self.key(at))
    }

    fn part(&self, range: Range<usize>) -> Self {
        let mut part = Self::new(self.level, self.file);
        for position in range {
            part.push(&self.item(position));
        }
        part
    }

    /// The entries of this page and of its right neighbour, with the separator between them.
    pub fn merged(&self, separator: &[u8], right: &Self) -> Self {
        let mut merged = self.part(0..self.count());
        merged.first_child = self.first_child;
        merged.previous = self.previous;
        merged.next = right.next;
        if self.level > 0 {
            merged.push(&Item::child(separator, right.first_child));
        }
        for position in 0..right.count() {
            merged.push(&right.item(position));
        }
        merged
    }
}

/// The length of the shortest beginning of `above` that is still above `below`.
pub(super) fn separator_bytes(below: &[u8], above: &[u8]) -> usize {
    shared_bytes(below, above) + 1
}
