//! Looking into a bucket's table while others may change it: what is seen counts only if the page
//! has stayed as it was, which the caller asks.
//!
//! A search compares a whole group at once, without a branch that would be mispredicted, and as a
//! rule the first group decides. The bitmap of slots in use is read only where 0 is met: a hit
//! touches the group's cache line and no other.

use super::table::{GROUP_FULL, GROUP_SLOTS, GROUPS, SLOT_BYTES, behind, home, offset, slot_at};
use crate::page::{PageKind, PageNumber};
use crate::view::View;

/// Values of a key that are read at once; a key has few as a rule.
const BATCH: usize = 8;

const _: () = assert!(GROUP_SLOTS <= BATCH);

/// The entry, or the end, that a search in one page met.
#[derive(Clone, Copy)]
pub(super) enum Probe {
    /// The key's first value, and the offset of that value.
    Found { value: u64, at: usize },
    /// The key is not in this page; the next page of the bucket, or 0.
    Absent { next: PageNumber },
    /// The page is something else.
    Foreign,
}

/// Some of a key's values in one page.
pub(super) struct Batch {
    pub(super) values: [u64; BATCH],
    pub(super) count: usize,
    /// Groups read so far, where there may be more values in this page.
    pub(super) resume: Option<usize>,
    pub(super) next: PageNumber,
    pub(super) foreign: bool,
}

/// Groups in which [`try_find`] looks for a key.
const STEP_GROUPS: usize = 2;

/// Stands for no value in [`try_find`]; a value like this is found by [`probe`]. An `or` of the
/// comparisons in its place would become branches.
const NOTHING: u64 = u64::MAX;

/// Look for a value of a key near its home; the value, and its offset. `None` says nothing,
/// [`probe`] does. A hit reads the group's line and no other.
///
/// Which slot of a group has the key is as good as random, so nothing here branches on it: who
/// looks several keys up has them under way together.
#[expect(clippy::inline_always, reason = "its answer should stay in registers")]
#[inline(always)]
pub(super) fn try_find(view: View<'_>, key: u64, hash: u64) -> Option<(u64, usize)> {
    if key == 0 {
        // Empty slots match it.
        return None;
    }
    let mut group = home(hash);
    for _ in 0..STEP_GROUPS {
        let first = slot_at(group * GROUP_SLOTS);
        let words: [u64; 2 * GROUP_SLOTS] = view.words(first)?;
        let (mut value, mut at) = (NOTHING, 0);
        for (slot, &[other, its]) in words.as_chunks::<2>().0.iter().enumerate() {
            value = if other == key { its } else { value };
            at = if other == key { slot * SLOT_BYTES + offset::VALUE } else { at };
        }
        if value != NOTHING {
            return Some((value, first + at));
        }
        group = behind(group);
    }
    None
}

/// Look for a key's first value. The header is read only where that is not found: the headers of
/// all pages fall into the same few lines of a processor's cache and drive each other out.
#[expect(clippy::inline_always, reason = "what is read should stay in registers")]
#[inline(always)]
pub(super) fn probe(view: View<'_>, key: u64, hash: u64) -> Probe {
    if let Some((value, at)) = try_find(view, key, hash) {
        return Probe::Found { value, at };
    }
    let mut group = home(hash);
    for _ in 0..GROUPS {
        let used = used_of(view, group);
        let matching = matching(view, group, key) & used;
        if matching != 0 {
            let slot = group * GROUP_SLOTS + matching.trailing_zeros() as usize;
            let at = slot_at(slot) + offset::VALUE;
            return Probe::Found { value: view.u64(at), at };
        }
        if used != GROUP_FULL {
            break;
        }
        group = behind(group);
    }
    if view.kind() == PageKind::HashBucket as u8 {
        Probe::Absent { next: view.next() }
    } else {
        Probe::Foreign
    }
}

/// The key's values, from `resume` groups behind its home on.
pub(super) fn values_of(view: View<'_>, key: u64, hash: u64, resume: usize) -> Batch {
    let mut batch = Batch {
        values: [0; BATCH],
        count: 0,
        resume: None,
        next: view.next(),
        foreign: view.kind() != PageKind::HashBucket as u8,
    };
    for step in resume..GROUPS {
        if batch.count + GROUP_SLOTS > BATCH {
            batch.resume = Some(step);
            break;
        }
        let group = (home(hash) + step) % GROUPS;
        let used = used_of(view, group);
        let mut matching = matching(view, group, key) & used;
        while matching != 0 {
            let slot = group * GROUP_SLOTS + matching.trailing_zeros() as usize;
            batch.values[batch.count] = view.u64(slot_at(slot) + offset::VALUE);
            batch.count += 1;
            matching &= matching - 1;
        }
        if used != GROUP_FULL {
            break;
        }
    }
    batch
}

/// Bits of the slots of a group that hold the key.
#[inline]
fn matching(view: View<'_>, group: usize, key: u64) -> u64 {
    let is_in = |place: usize| view.u64(slot_at(group * GROUP_SLOTS + place)) == key;
    (0..GROUP_SLOTS).map(|place| u64::from(is_in(place)) << place).sum()
}

/// Bits of the slots of a group that are in use.
#[inline]
fn used_of(view: View<'_>, group: usize) -> u64 {
    let first = group * GROUP_SLOTS;
    view.u64(offset::USED + first / 64 * 8) >> (first % 64) & GROUP_FULL
}
