//! A bucket: one page that is an open-addressed table with linear probing by groups.
//!
//! 63 groups of 4 slots of 16 bytes, from offset 64, so that a group is a cache line; in front a
//! bitmap of the slots in use. An empty slot is zeros. `search.rs` looks into it under no latch;
//! here is what a latched page is asked and reported.
//! A removed entry's place is filled by those behind it (after Knuth, volume 3, 6.4, algorithm R),
//! so no tombstones gather.

use std::ops::Range;

use super::mixing::mix;
use crate::page::{
    self, HEADER_BYTES, PAGE_BYTES, PageBytes, PageKind, PageNumber, u16_at, u32_at, u64_at,
};
use crate::page_mut::PageMut;

/// Slots of the table.
pub(super) const SLOTS: usize = GROUPS * GROUP_SLOTS;

/// Groups of slots that are searched as one.
pub(super) const GROUPS: usize = 63;

/// The group at which the search for a key begins: the low half of the hash, scaled to the table.
/// The multiplication takes the half's upper bits, into which all of the key went.
#[inline]
pub(super) const fn home(hash: u64) -> usize {
    (((hash & 0xFFFF_FFFF) * GROUPS as u64) >> 32) as usize
}

/// Slots of a group.
pub(super) const GROUP_SLOTS: usize = 4;

/// Entries that a page takes before it is divided or gets another behind it: 85 % of the slots.
/// More would save pages and make searches that find nothing long.
pub(super) const ENTRIES_MAX: usize = 214;

/// Two sibling buckets that both hold fewer become one.
pub(super) const QUARTER: usize = SLOTS / 4;

/// Offsets within a bucket.
pub(super) mod offset {
    /// 4 x u64: bit k of the whole is set where slot k is in use.
    pub(in super::super) const USED: usize = 32;
    /// The slots: each u64 key, u64 value.
    pub(in super::super) const SLOTS: usize = 64;
    /// In a slot.
    pub(in super::super) const VALUE: usize = 8;
}

pub(super) const SLOT_BYTES: usize = 16;
pub(super) const GROUP_FULL: u64 = (1 << GROUP_SLOTS) - 1;
const USED_WORDS: usize = SLOTS.div_ceil(64);

const _: () = assert!(offset::USED == HEADER_BYTES);
const _: () = assert!(offset::USED + USED_WORDS * 8 == offset::SLOTS);
const _: () = assert!(offset::SLOTS + SLOTS * SLOT_BYTES == PAGE_BYTES);
const _: () = assert!(64 % GROUP_SLOTS == 0);
const _: () = assert!(ENTRIES_MAX < SLOTS && 2 * QUARTER <= ENTRIES_MAX);

/// The outcome of a change to one page.
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

/// Put an entry in, if the page is not full.
pub(super) fn insert(bytes: &mut PageMut<'_>, (key, value): Entry) -> Change {
    if !is_bucket(bytes) {
        return Change::Foreign;
    }
    let (count, next) = (count(bytes), next(bytes));
    let free = slots_from(home(mix(key))).find(|&slot| !is_used(bytes, slot));
    let Some(slot) = free.filter(|_| count < ENTRIES_MAX) else {
        return Change::Not { next };
    };
    set(bytes, slot, (key, value));
    bytes.put_u16(page::offset::COUNT, count as u16 + 1);
    Change::Done { count: count + 1, next }
}

/// Take one such entry out, if there is one.
pub(super) fn remove(bytes: &mut PageMut<'_>, entry: Entry) -> Change {
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
pub(super) fn remove_any(bytes: &mut PageMut<'_>) -> Option<Entry> {
    let slot = (0..SLOTS).find(|&slot| is_used(bytes, slot))?;
    let taken = entry(bytes, slot);
    remove_at(bytes, slot);
    Some(taken)
}

/// Make the page hold these entries, at most [`ENTRIES_MAX`], and nothing else.
pub(super) fn fill(bytes: &mut PageMut<'_>, depth: u32, next: PageNumber, entries: &[Entry]) {
    assert!(entries.len() <= ENTRIES_MAX, "who fills a page has divided the entries");
    bytes.clear(HEADER_BYTES..PAGE_BYTES);
    bytes.put_u16(page::offset::COUNT, 0);
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

/// The number of first bits that all hashes in the bucket share.
pub(super) fn depth(bytes: &PageBytes) -> u32 {
    u32::from(bytes[page::offset::LEVEL])
}

/// The bucket's next page, or 0.
pub(super) fn next(bytes: &PageBytes) -> PageNumber {
    u32_at(bytes, page::offset::NEXT)
}

/// Say how many first bits all hashes in the bucket share.
pub(super) fn set_depth(bytes: &mut PageMut<'_>, depth: u32) {
    bytes.put_u8(page::offset::LEVEL, depth as u8);
}

/// Say which page follows.
pub(super) fn set_next(bytes: &mut PageMut<'_>, next: PageNumber) {
    bytes.put_u32(page::offset::NEXT, next);
}

/// The defect of the page's table, if it has one.
pub(super) fn corruption(bytes: &PageBytes) -> Option<&'static str> {
    let used = (0..SLOTS).filter(|&slot| is_used(bytes, slot)).count();
    let bits: u32 = (0..USED_WORDS).map(|word| used_word(bytes, word).count_ones()).sum();
    let is_reached = |slot: usize| {
        let (home, group) = (home(mix(entry(bytes, slot).0)), slot / GROUP_SLOTS);
        (0..distance(home, group)).all(|step| is_full(bytes, (home + step) % GROUPS))
    };
    if used != bits as usize {
        Some("it has slots in use that it does not have")
    } else if used != count(bytes) || used > ENTRIES_MAX {
        Some("it has another number of entries than its header")
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
fn remove_at(bytes: &mut PageMut<'_>, slot: usize) {
    let mut hole = slot;
    clear(bytes, hole);
    let mut group = slot / GROUP_SLOTS;
    for _ in 1..GROUPS {
        // Nothing has gone on beyond a group that had room before this.
        let empty = slots_of(group).filter(|&slot| slot != hole && !is_used(bytes, slot)).count();
        if empty > 0 {
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
    bytes.put_u16(page::offset::COUNT, count as u16);
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

/// The next group, the first behind the last.
#[inline]
pub(super) const fn behind(group: usize) -> usize {
    if group + 1 == GROUPS { 0 } else { group + 1 }
}

/// The place where a slot begins in the page.
#[inline]
pub(super) const fn slot_at(slot: usize) -> usize {
    offset::SLOTS + slot * SLOT_BYTES
}

fn entry(bytes: &PageBytes, slot: usize) -> Entry {
    (u64_at(bytes, slot_at(slot)), u64_at(bytes, slot_at(slot) + offset::VALUE))
}

fn set(bytes: &mut PageMut<'_>, slot: usize, (key, value): Entry) {
    bytes.put_u64(slot_at(slot), key);
    bytes.put_u64(slot_at(slot) + offset::VALUE, value);
    let used = used_word(bytes, slot / 64) | 1 << (slot % 64);
    bytes.put_u64(offset::USED + slot / 64 * 8, used);
}

fn clear(bytes: &mut PageMut<'_>, slot: usize) {
    bytes.put_u64(slot_at(slot), 0);
    bytes.put_u64(slot_at(slot) + offset::VALUE, 0);
    let used = used_word(bytes, slot / 64) & !(1 << (slot % 64));
    bytes.put_u64(offset::USED + slot / 64 * 8, used);
}

fn used_word(bytes: &PageBytes, word: usize) -> u64 {
    u64_at(bytes, offset::USED + word * 8)
}

fn is_used(bytes: &PageBytes, slot: usize) -> bool {
    used_word(bytes, slot / 64) >> (slot % 64) & 1 != 0
}
