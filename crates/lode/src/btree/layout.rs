//! The places of what lies in a page of a B+tree; drawn in `docs/reference/lode-format.md`.

use crate::page::{self, PAGE_BYTES, PageBytes, PageKind};

/// The longest key.
pub const KEY_BYTES_MAX: usize = 512;

/// The longest value: a quarter of a page.
pub const VALUE_BYTES_MAX: usize = PAGE_BYTES / 4;

/// More levels than a tree has: one is added only where a root of seven entries or more is split,
/// so that 24 would take more pages than there are numbers. A page that claims more is damaged.
pub(super) const LEVELS_MAX: u8 = 64;

/// The way in which the first of a key's bytes are kept where the search runs.
pub(super) const HEAD_BYTES: usize = 4;

/// Offsets in a page, behind the header.
pub(super) mod offset {
    /// u16: length of what all keys of the page begin with.
    pub const PREFIX_BYTES: usize = 32;
    /// u16: where the lowest body begins; bodies grow down from the page's end.
    pub const BODIES: usize = 34;
    /// u16: bytes among the bodies that belong to none any more.
    pub const GARBAGE_BYTES: usize = 36;
    /// u32: in an inner page, the child with the keys below the first entry's.
    pub const FIRST_CHILD: usize = 40;
    /// The prefix itself; then, at the next multiple of 4, the slots.
    pub const PREFIX: usize = 48;
}

/// Offsets in a slot.
pub(super) mod slot {
    /// u32, the number that the four bytes make if the first is the highest: the key's first bytes
    /// behind the prefix, filled with zeros.
    pub const HEAD: usize = 0;
    /// u16: where the body begins, 0 if there is none.
    pub const BODY: usize = 4;
    /// u16: length of the key behind the prefix.
    pub const KEY_BYTES: usize = 6;
    /// u32, in inner pages only: the child with the keys from this one on.
    pub const CHILD: usize = 8;
}

/// Bytes of a leaf's slot.
pub(super) const LEAF_SLOT_BYTES: usize = 8;

/// Bytes of an inner page's slot.
pub(super) const INNER_SLOT_BYTES: usize = 12;

/// Bytes of a value's length, with which a leaf's body begins.
pub(super) const LENGTH_BYTES: usize = 2;

/// The bytes that a page has for its prefix, its slots and its bodies.
pub(super) const USABLE_BYTES: usize = PAGE_BYTES - offset::PREFIX;

const _: () = {
    assert!(offset::PREFIX_BYTES == page::HEADER_BYTES);
    assert!(
        offset::GARBAGE_BYTES + 2 <= offset::FIRST_CHILD && offset::FIRST_CHILD.is_multiple_of(4)
    );
    assert!(offset::FIRST_CHILD + 4 <= offset::PREFIX && offset::PREFIX.is_multiple_of(8));
    assert!(slot::KEY_BYTES + 2 == LEAF_SLOT_BYTES && slot::CHILD == LEAF_SLOT_BYTES);
    assert!(slot::CHILD + 4 == INNER_SLOT_BYTES);
    // An overfull page can always be split in two that fit: the split may lie anywhere between what
    // is too much for one side and what is too much for the other, and no entry is longer than
    // that. Three bytes are lost at most in front of the slots.
    let entry = LEAF_SLOT_BYTES + LENGTH_BYTES + KEY_BYTES_MAX + VALUE_BYTES_MAX;
    assert!(2 * (USABLE_BYTES - 3) - (USABLE_BYTES + entry) >= entry);
};

/// The place where the slots begin behind a prefix of that length.
#[inline]
pub(super) const fn slots_at(prefix_bytes: usize) -> usize {
    (offset::PREFIX + prefix_bytes + 3) & !3
}

/// Bytes of a slot of a page at that level.
#[inline]
pub(super) const fn slot_bytes(level: u8) -> usize {
    if level == 0 { LEAF_SLOT_BYTES } else { INNER_SLOT_BYTES }
}

/// The kind of a page at that level.
pub(super) const fn kind(level: u8) -> PageKind {
    if level == 0 { PageKind::BtreeLeaf } else { PageKind::BtreeInner }
}

/// Bytes of the body of an entry: a leaf's has the value and its length, both have what does not
/// fit into the head.
pub(super) const fn body_bytes(level: u8, key_bytes: usize, value_bytes: usize) -> usize {
    let rest = key_bytes.saturating_sub(HEAD_BYTES);
    if level == 0 { LENGTH_BYTES + value_bytes + rest } else { rest }
}

/// The head of a key behind its first `prefix_bytes`, which it must have.
#[inline]
pub(super) fn head(key: &[u8], prefix_bytes: usize) -> u32 {
    let rest = &key[prefix_bytes..];
    if let Some(first) = rest.first_chunk::<HEAD_BYTES>() {
        return u32::from_be_bytes(*first);
    }
    if let (Some(last), 1..) = (key.last_chunk::<8>(), rest.len()) {
        // Of a key of eight bytes or more, the last ones are read as one number.
        return (u64::from_be_bytes(*last) << (64 - 8 * rest.len()) >> 32) as u32;
    }
    let mut first = [0; HEAD_BYTES];
    first[..rest.len()].copy_from_slice(rest);
    u32::from_be_bytes(first)
}

/// The number of bytes that two keys share at their beginning.
pub(super) fn shared_bytes(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// A page's own account of its bytes, checked so far that what it says lies within the page.
pub(super) struct Header {
    pub level: u8,
    pub count: usize,
    pub prefix_bytes: usize,
    pub bodies: usize,
    pub garbage_bytes: usize,
}

/// The defect of a page.
pub(super) type Corruption = &'static str;

impl Header {
    /// Read it.
    pub fn of(bytes: &PageBytes) -> Result<Self, Corruption> {
        let level = bytes[page::offset::LEVEL];
        let header = Self {
            level,
            count: usize::from(page::u16_at(bytes, page::offset::COUNT)),
            prefix_bytes: usize::from(page::u16_at(bytes, offset::PREFIX_BYTES)),
            bodies: usize::from(page::u16_at(bytes, offset::BODIES)),
            garbage_bytes: usize::from(page::u16_at(bytes, offset::GARBAGE_BYTES)),
        };
        if bytes[page::offset::KIND] != kind(level) as u8 || level > LEVELS_MAX {
            return Err("it is no page of a B+tree");
        }
        if header.prefix_bytes > KEY_BYTES_MAX
            || header.slots_end() > header.bodies
            || header.bodies > PAGE_BYTES
            || header.garbage_bytes > PAGE_BYTES - header.bodies
        {
            return Err("its slots and entries overlap");
        }
        Ok(header)
    }

    /// The place where a slot begins.
    pub const fn slot_at(&self, position: usize) -> usize {
        slots_at(self.prefix_bytes) + position * slot_bytes(self.level)
    }

    /// The place where the slots end.
    pub const fn slots_end(&self) -> usize {
        self.slot_at(self.count)
    }

    /// Bytes that are in use, with the page's header.
    pub const fn used_bytes(&self) -> usize {
        self.slots_end() + PAGE_BYTES - self.bodies - self.garbage_bytes
    }
}
