//! Reading pages of a B+tree in place: the search, and what an entry says.
//!
//! Most comparisons need only the slots: all keys of a page share its prefix, and four bytes behind
//! it stand in the slot as a number (Graefe and Larson 2001, *B-tree indexes and CPU caches*, call
//! it the poor man's normalized key). Everything here runs on pages that may be evicted meanwhile.

use std::cmp::Ordering;
use std::ops::Range;

use crate::emptied;
use crate::error::{LodeError, Result};
use crate::page::{NO_PAGE, PAGE_BYTES, PageKind, PageNumber};
use crate::pages::PageRead;
use crate::view::{Own, View};

use super::bytes::{Bytes, append, compare};
use super::layout::{
    Corruption, HEAD_BYTES, INNER_SLOT_BYTES, KEY_BYTES_MAX, LEAF_SLOT_BYTES, LENGTH_BYTES,
    LEVELS_MAX, VALUE_BYTES_MAX, head, offset, slot, slots_at,
};

/// Into how many parts a round of the search splits what is left.
const WAYS: usize = 4;

/// The number of heads read before and behind the place that interpolation names.
const REACH: usize = 3;

/// Entries read one by one before a range's end is searched for.
const NEXT_FEW: usize = 4;

/// The values of some entries of a leaf, to be read where they lie. One that cannot be there reads
/// as no bytes.
pub struct Values<'a> {
    view: View<'a>,
    positions: Range<usize>,
}

impl<'a> Values<'a> {
    /// Of the entries at these positions.
    #[inline]
    pub(super) const fn of(view: View<'a>, positions: Range<usize>) -> Self {
        Self { view, positions }
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Bytes<'a>;

    #[inline]
    fn next(&mut self) -> Option<Bytes<'a>> {
        let nothing = Bytes::of(self.view, 0, 0);
        self.positions.next().map(|position| value(self.view, position).unwrap_or(nothing))
    }
}

/// The slots of a page, as far as they can be there.
#[derive(Clone, Copy)]
struct Slots<'a, const SLOT_BYTES: usize> {
    view: View<'a>,
    at: usize,
}

impl<const SLOT_BYTES: usize> Slots<'_, SLOT_BYTES> {
    #[inline]
    fn head(self, position: usize) -> u32 {
        if SLOT_BYTES == size_of::<u64>() {
            // All heads of a leaf lie in the same half of their words.
            let word = self.view.word_or_zero(self.at / SLOT_BYTES + position);
            return (word >> (8 * (self.at % SLOT_BYTES))) as u32;
        }
        self.view.u32(self.at + position * SLOT_BYTES + slot::HEAD)
    }

    #[inline]
    fn body(self, position: usize) -> usize {
        usize::from(self.view.u16(self.at + position * SLOT_BYTES + slot::BODY))
    }

    #[inline]
    fn key_bytes(self, position: usize) -> usize {
        usize::from(self.view.u16(self.at + position * SLOT_BYTES + slot::KEY_BYTES))
    }

    /// The first position whose head is not below `limit`, if that is about where it would be were
    /// all heads equally far from each other: keys often are, such as numbers given out one after
    /// another. The search by rounds waits for a few lines of the processor's cache one after
    /// another, this for two (Graefe 2006, *B-tree indexes, interpolation search, and skew*).
    #[inline]
    fn interpolated(self, count: usize, limit: u32) -> Option<usize> {
        if count <= 2 * REACH {
            return None;
        }
        let last = count - 1;
        let (lowest, highest) = (self.head(0), self.head(last));
        if limit <= lowest || limit > highest {
            return None;
        }
        let share = u64::from(limit - lowest) * last as u64 / u64::from(highest - lowest);
        let from = (share as usize).saturating_sub(REACH).min(last - 2 * REACH);
        let passed = |at| usize::from(self.head(from + at) < limit);
        let passed = (0..=2 * REACH).map(passed).sum::<usize>();
        // Heads before the first that was read, and behind the last, are not known.
        let is_known = passed <= 2 * REACH && (passed > 0 || from == 0);
        is_known.then_some(from + passed)
    }

    /// The first position from `from` on whose head is not below `limit`. Each round reads seven
    /// heads that do not depend on each other, so that the processor fetches them at once, and how
    /// many rounds there are follows from `count` alone, so that it predicts every branch.
    #[inline]
    fn bound(self, from: usize, count: usize, limit: u64) -> usize {
        let passed = |position| usize::from(u64::from(self.head(position)) < limit);
        let (mut position, mut size) = (from, count.saturating_sub(from));
        while size >= WAYS {
            let step = size / WAYS;
            let steps = (1..WAYS).map(|way| passed(position + way * step - 1)).sum::<usize>();
            position += steps * step;
            size -= (WAYS - 1) * step;
        }
        position + (0..size).map(|at| passed(position + at)).sum::<usize>()
    }

    /// The way in which an entry compares with a key whose head is the same; both without the
    /// prefix.
    #[inline]
    fn compare(self, position: usize, key: &[u8]) -> Ordering {
        let key_bytes = self.key_bytes(position);
        if key_bytes.min(key.len()) <= HEAD_BYTES {
            // A key no longer than the head begins the other, whose next bytes are zeros.
            return key_bytes.cmp(&key.len());
        }
        let body = self.body(position);
        let at = if SLOT_BYTES == LEAF_SLOT_BYTES {
            body + LENGTH_BYTES + value_bytes(self.view, body)
        } else {
            body
        };
        compare(self.view, at, key_bytes - HEAD_BYTES, &key[HEAD_BYTES..])
    }
}

#[inline]
fn value_bytes(view: View<'_>, body: usize) -> usize {
    usize::from(view.u16_unaligned(body))
}

#[inline]
fn count<const SLOT_BYTES: usize>(view: View<'_>) -> usize {
    usize::from(view.count()).min((PAGE_BYTES - offset::PREFIX) / SLOT_BYTES)
}

#[inline]
fn prefix_bytes(view: View<'_>) -> usize {
    usize::from(view.u16(offset::PREFIX_BYTES)).min(KEY_BYTES_MAX)
}

/// The way in which a page's prefix compares with the beginning of a key; a key that is only a part
/// of the prefix is below it.
#[inline]
fn compare_prefix(view: View<'_>, prefix_bytes: usize, key: &[u8]) -> Ordering {
    if let (1..=8, Some(first)) = (prefix_bytes, key.first_chunk()) {
        // The most frequent case at once: both lie in a word.
        let beyond = 64 - 8 * prefix_bytes;
        let theirs = view.u64(offset::PREFIX).swap_bytes() >> beyond;
        return theirs.cmp(&(u64::from_be_bytes(*first) >> beyond));
    }
    compare(view, offset::PREFIX, prefix_bytes, &key[..prefix_bytes.min(key.len())])
}

/// The number of keys of the page that are below `key`, and whether it is there itself.
#[inline]
fn find<const SLOT_BYTES: usize>(view: View<'_>, key: &[u8]) -> (usize, bool) {
    let count = count::<SLOT_BYTES>(view);
    let prefix_bytes = prefix_bytes(view);
    match compare_prefix(view, prefix_bytes, key) {
        Ordering::Equal => {}
        Ordering::Less => return (count, false),
        Ordering::Greater => return (0, false),
    }
    let head = head(key, prefix_bytes);
    let key = &key[prefix_bytes..];
    let slots = Slots::<SLOT_BYTES> { view, at: slots_at(prefix_bytes) };
    let mut low = match slots.interpolated(count, head) {
        Some(position) => position,
        None => slots.bound(0, count, u64::from(head)),
    };
    if low >= count || slots.head(low) != head {
        return (low, false);
    }
    match slots.compare(low, key) {
        Ordering::Equal => return (low, true),
        Ordering::Greater => return (low, false),
        Ordering::Less => low += 1,
    }
    let mut high = slots.bound(low, count, u64::from(head) + 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        match slots.compare(middle, key) {
            Ordering::Equal => return (middle, true),
            Ordering::Greater => high = middle,
            Ordering::Less => low = middle + 1,
        }
    }
    (low, false)
}

/// The number of keys of a leaf that are below `key`, and whether it is there itself.
#[inline]
pub(super) fn find_in_leaf(view: View<'_>, key: &[u8]) -> (usize, bool) {
    find::<LEAF_SLOT_BYTES>(view, key)
}

/// The number of keys of a leaf that are below `key`, of which so many are known to be: looked for
/// among the next few first.
#[inline]
pub(super) fn find_in_leaf_from(view: View<'_>, from: usize, key: &[u8]) -> usize {
    let count = leaf_count(view);
    let prefix_bytes = prefix_bytes(view);
    if compare_prefix(view, prefix_bytes, key) == Ordering::Equal {
        let head = head(key, prefix_bytes);
        let slots = Slots::<LEAF_SLOT_BYTES> { view, at: slots_at(prefix_bytes) };
        let passed = |at| usize::from(from + at < count && slots.head(from + at) < head);
        let passed = (0..NEXT_FEW).map(passed).sum::<usize>();
        let position = from + passed;
        if passed < NEXT_FEW && (position >= count || slots.head(position) != head) {
            return position;
        }
    }
    find_in_leaf(view, key).0
}

/// Entries of a leaf.
#[inline]
pub(super) fn leaf_count(view: View<'_>) -> usize {
    count::<LEAF_SLOT_BYTES>(view)
}

/// Which child of an inner page has the keys around `key`: 0 is the first.
#[inline]
pub(super) fn find_child(view: View<'_>, key: &[u8]) -> usize {
    let (position, equal) = find::<INNER_SLOT_BYTES>(view, key);
    position + usize::from(equal)
}

/// Which child of an inner page is the last.
pub(super) fn last_child(view: View<'_>) -> usize {
    count::<INNER_SLOT_BYTES>(view)
}

/// The page of a child.
#[inline]
fn child(view: View<'_>, index: usize) -> PageNumber {
    match index.checked_sub(1) {
        None => view.u32(offset::FIRST_CHILD),
        Some(position) => {
            let slots_at = slots_at(prefix_bytes(view));
            view.u32(slots_at + position * INNER_SLOT_BYTES + slot::CHILD)
        }
    }
}

/// The value of a leaf's entry.
#[inline]
pub(super) fn value(view: View<'_>, position: usize) -> Result<Bytes<'_>, Corruption> {
    let slots = Slots::<LEAF_SLOT_BYTES> { view, at: slots_at(prefix_bytes(view)) };
    let body = slots.body(position);
    let count = value_bytes(view, body);
    let at = body + LENGTH_BYTES;
    if body < offset::PREFIX || count > VALUE_BYTES_MAX || at + count > PAGE_BYTES {
        return Err("an entry lies outside");
    }
    Ok(Bytes::of(view, at, count))
}

/// Append the key of a leaf's entry.
pub(super) fn append_key(
    view: View<'_>,
    position: usize,
    into: &mut Vec<u8>,
) -> Result<(), Corruption> {
    let prefix_bytes = prefix_bytes(view);
    let slots = Slots::<LEAF_SLOT_BYTES> { view, at: slots_at(prefix_bytes) };
    let (body, key_bytes) = (slots.body(position), slots.key_bytes(position));
    if prefix_bytes + key_bytes > KEY_BYTES_MAX {
        return Err("a key is too long");
    }
    append(view, offset::PREFIX, prefix_bytes, into);
    let head = slots.head(position).to_be_bytes();
    into.extend_from_slice(&head[..key_bytes.min(HEAD_BYTES)]);
    if let Some(rest) = key_bytes.checked_sub(HEAD_BYTES).filter(|&rest| rest > 0) {
        let at = body + LENGTH_BYTES + value_bytes(view, body);
        if at + rest > PAGE_BYTES {
            return Err("an entry lies outside");
        }
        append(view, at, rest, into);
    }
    Ok(())
}

enum Step<R> {
    Inner { level: u8, index: usize, child: PageNumber },
    Leaf { level: u8, result: Result<R, Corruption> },
    Stranger,
}

/// Walk from the root to a leaf. `choose` says which child to follow, `visit` hears of each inner
/// page and the child's index, `inspect` reads the leaf. Each page is one level below the one
/// that named it, so the walk ends whatever the pages hold.
#[inline]
pub(super) fn descend<P: PageRead, R>(
    pages: &P,
    root: PageNumber,
    mut choose: impl FnMut(View<'_>) -> usize,
    mut visit: impl FnMut(PageNumber, usize),
    mut inspect: impl FnMut(View<'_>) -> Result<R, Corruption>,
) -> Result<(PageNumber, R)> {
    let mut page = root;
    let mut level_due = None;
    loop {
        let step = pages.read(page, |view| {
            let Own { kind, level, .. } = view.own();
            if kind == PageKind::BtreeInner as u8 {
                let index = choose(view);
                Step::Inner { level, index, child: child(view, index) }
            } else if kind == PageKind::BtreeLeaf as u8 {
                Step::Leaf { level, result: inspect(view) }
            } else {
                Step::Stranger
            }
        })?;
        match step {
            Step::Leaf { level: 0, result } if level_due.is_none_or(|due| due == 0) => {
                return match result {
                    Ok(result) => Ok((page, result)),
                    Err(corruption) => Err(LodeError::corrupt_page(page, corruption)),
                };
            }
            Step::Inner { level, index, child }
                if level_due.is_none_or(|due| due == level)
                    && (1..=LEVELS_MAX).contains(&level)
                    && child != NO_PAGE =>
            {
                visit(page, index);
                level_due = Some(level - 1);
                page = child;
            }
            _ => return Err(emptied::or(pages, page, stranger(page))),
        }
    }
}

#[cold]
fn stranger(page: PageNumber) -> LodeError {
    LodeError::corrupt_page(page, "it is not the page of a B+tree that belongs there")
}
