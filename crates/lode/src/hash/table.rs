//! A bucket: one page that is an open-addressed table with linear probing by groups.
//!
//! 63 groups of 4 slots of 16 bytes, from offset 64, so that a group is a cache line; in front a
//! bitmap of the slots in use. A search compares a whole group at once, without a branch that
//! would be mispredicted, and as a rule the first group decides. An empty slot is zeros, so the
//! bitmap is read only where 0 is met: a hit touches the group's cache line and no other.
//! A removed entry's place is filled by those behind it (after Knuth, volume 3, 6.4, algorithm R),
//! so no tombstones gather.

use std::ops::Range;

use super::mixing::{home, mix};
use crate::page::{
    self, HEADER_BYTES, PAGE_BYTES, PageBytes, PageKind, PageNumber, put_u16, put_u32, put_u64,
    u16_at, u32_at, u64_at,
};
use crate::view::View;

/// Slots of the table.
pub(super) const SLOTS: usize = GROUPS * GROUP_SLOTS;

/// Groups of slots that are searched as one.
pub(super) const GROUPS: usize = 63;

/// Slots of a group.
pub(super) const GROUP_SLOTS: usize = 4;

/// Entries that a page takes before it is divided or gets another behind it: 85 % of the slots.
/// More would save pages and make searches that find nothing long.
pub(super) const ENTRIES_MAX: usize = 214;

/// Two sibling buckets that both hold fewer become one.
pub(super) const QUARTER: usize = SLOTS / 4;

/// Values of a key that are read at once; a key has few as a rule.
const BATCH: usize = 8;

/// Offsets within a bucket.
mod offset {
    /// 4 x u64: bit k of the whole is set where slot k is in use.
    pub(super) const USED: usize = 32;
    /// The slots: each u64 key, u64 value.
    pub(super) const SLOTS: usize = 64;
    /// In a slot.
    pub(super) const VALUE: usize = 8;
}

const SLOT_BYTES: usize = 16;
const GROUP_FULL: u64 = (1 << GROUP_SLOTS) - 1;
const USED_WORDS: usize = SLOTS.div_ceil(64);

const _: () = assert!(offset::USED == HEADER_BYTES);
const _: () = assert!(offset::USED + USED_WORDS * 8 == offset::SLOTS);
const _: () = assert!(offset::SLOTS + SLOTS * SLOT_BYTES == PAGE_BYTES);
const _: () = assert!(64 % GROUP_SLOTS == 0 && GROUP_SLOTS <= BATCH);
const _: () = assert!(ENTRIES_MAX < SLOTS && 2 * QUARTER <= ENTRIES_MAX);

/// What a search in one page met.
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
    /// Groups looked at so far, where there may be more values in this page.
    pub(super) resume: Option<usize>,
    pub(super) next: PageNumber,
    pub(super) foreign: bool,
}

/// What became of a change to one page.
pub(super) enum Change {
    /// Done: entries in the page now, and the next page of the bucket.
    Done { count: usize, next: PageNumber },
    /// Nothing was changed: the page is full, or the entry is not there.
    Not { next: PageNumber },
    /// Nothing was changed: the page is something else.
    Foreign,
}

/// An entry.
pub(super) type Entry = (u64, u64);

/// Groups in which a key is looked for at a glance.
const GLANCE_GROUPS: usize = 2;

/// At a glance, stands for no value; a value like this is met by [`probe`]. An `or` of the
/// comparisons in its place would become branches.
const NOTHING: u64 = u64::MAX;

/// Look for a value of a key near its home; the value, and its offset. `None` says nothing,
/// [`probe`] does. A hit reads the group's line and no other.
///
/// Which slot of a group has the key is as good as random, so nothing here branches on it: who
/// looks several keys up has them under way together.
#[expect(clippy::inline_always, reason = "its answer should stay in registers")]
#[inline(always)]
pub(super) fn glance(view: View<'_>, key: u64, hash: u64) -> Option<(u64, usize)> {
    if key == 0 {
        // Empty slots match it.
        return None;
    }
    let mut group = home(hash);
    for _ in 0..GLANCE_GROUPS {
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
#[expect(clippy::inline_always, reason = "what is looked at should stay in registers")]
#[inline(always)]
pub(super) fn probe(view: View<'_>, key: u64, hash: u64) -> Probe {
    if let Some((value, at)) = glance(view, key, hash) {
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

/// Put an entry in, if the page is not full.
pub(super) fn insert(bytes: &mut PageBytes, (key, value): Entry) -> Change {
    if !is_bucket(bytes) {
        return Change::Foreign;
    }
    let (count, next) = (count(bytes), next(bytes));
    let free = slots_from(home(mix(key))).find(|&slot| !is_used(bytes, slot));
    let Some(slot) = free.filter(|_| count < ENTRIES_MAX) else {
        return Change::Not { next };
    };
    set(bytes, slot, (key, value));
    put_u16(bytes, page::offset::COUNT, count as u16 + 1);
    Change::Done { count: count + 1, next }
}

/// Take one such entry out, if there is one.
pub(super) fn remove(bytes: &mut PageBytes, entry: Entry) -> Change {
    if !is_bucket(bytes) {
        return Change::Foreign;
    }
    match find(bytes, entry) {
        Some(slot) => {
            remove_at(bytes, slot);
            Change::Done { count: count(bytes), next: next(bytes) }
        }
        None => Change::Not { next: next(bytes) },
    }
}

/// Whether the page has such an entry.
pub(super) fn has(bytes: &PageBytes, entry: Entry) -> bool {
    find(bytes, entry).is_some()
}

/// Take any entry out.
pub(super) fn remove_any(bytes: &mut PageBytes) -> Option<Entry> {
    let slot = (0..SLOTS).find(|&slot| is_used(bytes, slot))?;
    let taken = entry(bytes, slot);
    remove_at(bytes, slot);
    Some(taken)
}

/// Make the page hold these entries, at most [`ENTRIES_MAX`], and nothing else.
pub(super) fn fill(bytes: &mut PageBytes, depth: u32, next: PageNumber, entries: &[Entry]) {
    assert!(entries.len() <= ENTRIES_MAX, "who fills a page has divided the entries");
    bytes[HEADER_BYTES..].fill(0);
    put_u16(bytes, page::offset::COUNT, 0);
    set_depth(bytes, depth);
    set_next(bytes, next);
    for &entry in entries {
        insert(bytes, entry);
    }
}

/// All entries of the page.
pub(super) fn entries(bytes: &PageBytes) -> impl Iterator<Item = Entry> {
    (0..SLOTS).filter(|&slot| is_used(bytes, slot)).map(|slot| entry(bytes, slot))
}

/// Whether the page is a bucket at all.
pub(super) fn is_bucket(bytes: &PageBytes) -> bool {
    bytes[page::offset::KIND] == PageKind::HashBucket as u8
}

/// Entries in this page.
pub(super) fn count(bytes: &PageBytes) -> usize {
    usize::from(u16_at(bytes, page::offset::COUNT))
}

/// How many first bits all hashes in the bucket share.
pub(super) fn depth(bytes: &PageBytes) -> u32 {
    u32::from(bytes[page::offset::LEVEL])
}

/// The bucket's next page, or 0.
pub(super) fn next(bytes: &PageBytes) -> PageNumber {
    u32_at(bytes, page::offset::NEXT)
}

/// Say how many first bits all hashes in the bucket share.
pub(super) fn set_depth(bytes: &mut PageBytes, depth: u32) {
    bytes[page::offset::LEVEL] = depth as u8;
}

/// Say which page follows.
pub(super) fn set_next(bytes: &mut PageBytes, next: PageNumber) {
    put_u32(bytes, page::offset::NEXT, next);
}

/// What is wrong with the page's table, if anything is.
pub(super) fn fault(bytes: &PageBytes) -> Option<&'static str> {
    let used = (0..SLOTS).filter(|&slot| is_used(bytes, slot)).count();
    let bits: u32 = (0..USED_WORDS).map(|word| used_word(bytes, word).count_ones()).sum();
    let is_reached = |slot: usize| {
        let (home, group) = (home(mix(entry(bytes, slot).0)), slot / GROUP_SLOTS);
        (0..distance(home, group)).all(|step| is_full(bytes, (home + step) % GROUPS))
    };
    if used != bits as usize {
        Some("it has slots in use that it does not have")
    } else if used != count(bytes) || used > ENTRIES_MAX {
        Some("it has another number of entries than it says")
    } else if !(0..SLOTS).all(|slot| is_used(bytes, slot) || entry(bytes, slot) == (0, 0)) {
        Some("an empty slot is not zero")
    } else if !(0..SLOTS).all(|slot| !is_used(bytes, slot) || is_reached(slot)) {
        Some("an entry is cut off from its home by a group with room")
    } else {
        None
    }
}

fn find(bytes: &PageBytes, sought: Entry) -> Option<usize> {
    let home = home(mix(sought.0));
    for step in 0..GROUPS {
        let group = (home + step) % GROUPS;
        let is_there = |&slot: &usize| entry(bytes, slot) == sought && is_used(bytes, slot);
        if let Some(slot) = slots_of(group).find(is_there) {
            return Some(slot);
        }
        if !is_full(bytes, group) {
            break;
        }
    }
    None
}

/// Empty a slot, and move up those that would be cut off by that.
fn remove_at(bytes: &mut PageBytes, slot: usize) {
    let mut hole = slot;
    clear(bytes, hole);
    let mut group = slot / GROUP_SLOTS;
    for _ in 1..GROUPS {
        // Nothing has gone on beyond a group that had room before this.
        let room = slots_of(group).filter(|&slot| slot != hole && !is_used(bytes, slot)).count();
        if room > 0 {
            break;
        }
        group = behind(group);
        // An entry may move to the hole if its search passes there.
        let passed = |slot: usize| {
            let steps = distance(home(mix(entry(bytes, slot).0)), group);
            steps >= distance(hole / GROUP_SLOTS, group)
        };
        if let Some(from) = slots_of(group).find(|&slot| is_used(bytes, slot) && passed(slot)) {
            set(bytes, hole, entry(bytes, from));
            clear(bytes, from);
            hole = from;
        }
    }
    let count = count(bytes).saturating_sub(1);
    put_u16(bytes, page::offset::COUNT, count as u16);
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

fn is_full(bytes: &PageBytes, group: usize) -> bool {
    slots_of(group).all(|slot| is_used(bytes, slot))
}

fn slots_of(group: usize) -> Range<usize> {
    group * GROUP_SLOTS..(group + 1) * GROUP_SLOTS
}

/// All slots, in the order in which they are filled.
fn slots_from(group: usize) -> impl Iterator<Item = usize> {
    (0..SLOTS).map(move |step| (group * GROUP_SLOTS + step) % SLOTS)
}

/// Steps from one group forwards to another.
const fn distance(from: usize, to: usize) -> usize {
    (to + GROUPS - from) % GROUPS
}

#[inline]
const fn behind(group: usize) -> usize {
    if group + 1 == GROUPS { 0 } else { group + 1 }
}

#[inline]
const fn slot_at(slot: usize) -> usize {
    offset::SLOTS + slot * SLOT_BYTES
}

fn entry(bytes: &PageBytes, slot: usize) -> Entry {
    (u64_at(bytes, slot_at(slot)), u64_at(bytes, slot_at(slot) + offset::VALUE))
}

fn set(bytes: &mut PageBytes, slot: usize, (key, value): Entry) {
    put_u64(bytes, slot_at(slot), key);
    put_u64(bytes, slot_at(slot) + offset::VALUE, value);
    let used = used_word(bytes, slot / 64) | 1 << (slot % 64);
    put_u64(bytes, offset::USED + slot / 64 * 8, used);
}

fn clear(bytes: &mut PageBytes, slot: usize) {
    put_u64(bytes, slot_at(slot), 0);
    put_u64(bytes, slot_at(slot) + offset::VALUE, 0);
    let used = used_word(bytes, slot / 64) & !(1 << (slot % 64));
    put_u64(bytes, offset::USED + slot / 64 * 8, used);
}

fn used_word(bytes: &PageBytes, word: usize) -> u64 {
    u64_at(bytes, offset::USED + word * 8)
}

fn is_used(bytes: &PageBytes, slot: usize) -> bool {
    used_word(bytes, slot / 64) >> (slot % 64) & 1 != 0
}
