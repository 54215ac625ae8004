//! A page of a B+tree taken apart, to be put together anew: what splits, merges, compaction and
//! bulk loading work on.
//!
//! It holds whole keys. How long a prefix they share, and so how much room they take, follows when
//! the page is written: all keys between the first and the last share what these two share.

use std::ops::Range;

use crate::error::{LodeError, Result};
use crate::page::{
    self, FileNumber, NO_PAGE, PAGE_BYTES, PageBytes, PageNumber, put_u16, put_u32, u16_at, u32_at,
};
use crate::page_mut::PageMut;
use crate::pages::PageRead;

use super::layout::{
    Corruption, HEAD_BYTES, Header, INNER_SLOT_BYTES, KEY_BYTES_MAX, LENGTH_BYTES, VALUE_BYTES_MAX,
    body_bytes, head, kind, offset, shared_bytes, slot, slot_bytes, slots_at,
};

/// An entry to be put into a page: of a leaf a key and its value, of an inner page a key and the
/// child with the keys from it on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub key: &'a [u8],
    pub value: &'a [u8],
    pub child: PageNumber,
}

impl<'a> Item<'a> {
    pub const fn value(key: &'a [u8], value: &'a [u8]) -> Self {
        Self { key, value, child: NO_PAGE }
    }

    pub const fn child(key: &'a [u8], child: PageNumber) -> Self {
        Self { key, value: &[], child }
    }
}

/// The place where in the node's text an entry lies: its value follows its key.
#[derive(Clone, Copy)]
struct Entry {
    at: usize,
    key_bytes: usize,
    value_bytes: usize,
    child: PageNumber,
}

/// The contents of a page.
pub(super) struct UnpackedNode {
    pub level: u8,
    pub file: FileNumber,
    pub next: PageNumber,
    pub previous: PageNumber,
    pub first_child: PageNumber,
    text: Vec<u8>,
    entries: Vec<Entry>,
}

/// The size of a page with the prefix of that length.
#[derive(Clone, Copy, Default)]
pub(super) struct Size {
    pub prefix_bytes: usize,
    pub page_bytes: usize,
}

impl UnpackedNode {
    /// An empty page.
    pub const fn new(level: u8, file: FileNumber) -> Self {
        Self {
            level,
            file,
            next: NO_PAGE,
            previous: NO_PAGE,
            first_child: NO_PAGE,
            text: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// Take a page apart. Everything about it is checked, so that nothing can fail later.
    pub fn of(bytes: &PageBytes) -> Result<Self, Corruption> {
        let header = Header::of(bytes)?;
        let mut unpacked = Self::new(header.level, u32_at(bytes, page::offset::FILE));
        unpacked.next = u32_at(bytes, page::offset::NEXT);
        unpacked.previous = u32_at(bytes, page::offset::PREVIOUS);
        unpacked.first_child = u32_at(bytes, offset::FIRST_CHILD);
        if (header.level == 0) != (unpacked.first_child == NO_PAGE) {
            return Err("its first child does not fit its level");
        }
        let mut bodies_bytes = 0;
        unpacked.text.reserve(PAGE_BYTES + header.count * header.prefix_bytes);
        unpacked.entries.reserve(header.count + 1);
        for position in 0..header.count {
            bodies_bytes += unpacked.take_entry(bytes, &header, position)?;
            if position > 0 && unpacked.key(position - 1) >= unpacked.key(position) {
                return Err("its keys are out of order");
            }
        }
        if bodies_bytes + header.garbage_bytes != PAGE_BYTES - header.bodies {
            return Err("its entries do not fill their room");
        }
        Ok(unpacked)
    }

    /// Append an entry of a page, and answer the length of its body.
    fn take_entry(
        &mut self,
        bytes: &PageBytes,
        header: &Header,
        position: usize,
    ) -> Result<usize, Corruption> {
        let at = header.slot_at(position);
        let body = usize::from(u16_at(bytes, at + slot::BODY));
        let suffix_bytes = usize::from(u16_at(bytes, at + slot::KEY_BYTES));
        let key_bytes = header.prefix_bytes + suffix_bytes;
        let leaf = header.level == 0;
        if key_bytes > KEY_BYTES_MAX {
            return Err("a key is too long");
        }
        let has_body = leaf || suffix_bytes > HEAD_BYTES;
        let least_bytes = if leaf { LENGTH_BYTES } else { 0 };
        if has_body && (body < header.bodies || body + least_bytes > PAGE_BYTES) {
            return Err("an entry lies outside");
        }
        let value_bytes = if leaf { usize::from(u16_at(bytes, body)) } else { 0 };
        let body_bytes = body_bytes(header.level, suffix_bytes, value_bytes);
        if value_bytes > VALUE_BYTES_MAX || has_body && body + body_bytes > PAGE_BYTES {
            return Err("an entry lies outside");
        }
        let child = if leaf { NO_PAGE } else { u32_at(bytes, at + slot::CHILD) };
        if !leaf && child == NO_PAGE {
            return Err("a child is missing");
        }
        let head = u32_at(bytes, at + slot::HEAD).to_be_bytes();
        let value_at = if leaf { body + LENGTH_BYTES } else { body };
        let entry = Entry { at: self.text.len(), key_bytes, value_bytes, child };
        self.text.extend_from_slice(&bytes[offset::PREFIX..][..header.prefix_bytes]);
        self.text.extend_from_slice(&head[..suffix_bytes.min(HEAD_BYTES)]);
        if suffix_bytes > HEAD_BYTES {
            let rest = &bytes[value_at + value_bytes..][..suffix_bytes - HEAD_BYTES];
            self.text.extend_from_slice(rest);
        }
        self.text.extend_from_slice(&bytes[value_at..][..value_bytes]);
        self.entries.push(entry);
        Ok(body_bytes)
    }

    /// Take apart a page by its number.
    pub fn read(pages: &impl PageRead, page: PageNumber) -> Result<Self> {
        let unpacked = pages.read(page, |view| Self::of(&view.copy()))?;
        unpacked.map_err(|corruption| LodeError::corrupt_page(page, corruption))
    }

    /// The number of entries.
    pub const fn count(&self) -> usize {
        self.entries.len()
    }

    /// The key of an entry.
    pub fn key(&self, position: usize) -> &[u8] {
        let entry = &self.entries[position];
        &self.text[entry.at..][..entry.key_bytes]
    }

    /// The child of an entry, or with 0 the first: one more than there are entries.
    pub fn child(&self, index: usize) -> PageNumber {
        index.checked_sub(1).map_or(self.first_child, |position| self.entries[position].child)
    }

    /// An entry.
    pub fn item(&self, position: usize) -> Item<'_> {
        let entry = &self.entries[position];
        let (key, rest) = self.text[entry.at..].split_at(entry.key_bytes);
        Item { key, value: &rest[..entry.value_bytes], child: entry.child }
    }

    /// Put an entry where it belongs, in place of one with the same key.
    pub fn put(&mut self, item: &Item<'_>) {
        match self
            .entries
            .binary_search_by(|entry| self.text[entry.at..][..entry.key_bytes].cmp(item.key))
        {
            Ok(position) => {
                self.entries.remove(position);
                self.insert(position, item);
            }
            Err(position) => self.insert(position, item),
        }
    }

    /// Append an entry whose key is above all others.
    pub fn push(&mut self, item: &Item<'_>) {
        self.insert(self.entries.len(), item);
    }

    fn insert(&mut self, position: usize, item: &Item<'_>) {
        let entry = Entry {
            at: self.text.len(),
            key_bytes: item.key.len(),
            value_bytes: item.value.len(),
            child: item.child,
        };
        self.text.extend_from_slice(item.key);
        self.text.extend_from_slice(item.value);
        self.entries.insert(position, entry);
    }

    /// The length of what the keys of some entries share.
    fn prefix_bytes(&self, range: &Range<usize>) -> usize {
        if range.is_empty() {
            return 0;
        }
        shared_bytes(self.key(range.start), self.key(range.end - 1))
    }

    fn entry_bytes(&self, entry: &Entry, prefix_bytes: usize) -> usize {
        let suffix_bytes = entry.key_bytes - prefix_bytes;
        slot_bytes(self.level) + body_bytes(self.level, suffix_bytes, entry.value_bytes)
    }

    fn size_of(&self, range: &Range<usize>, prefix_bytes: usize) -> Size {
        let entries = self.entries[range.clone()].iter();
        let entries_bytes =
            entries.map(|entry| self.entry_bytes(entry, prefix_bytes)).sum::<usize>();
        Size { prefix_bytes, page_bytes: slots_at(prefix_bytes) + entries_bytes }
    }

    /// The page's size, to the byte.
    pub fn page_bytes(&self) -> usize {
        self.range_bytes(&(0..self.count()))
    }

    /// The size of a page with these entries.
    pub fn range_bytes(&self, range: &Range<usize>) -> usize {
        self.size_of(range, self.prefix_bytes(range)).page_bytes
    }

    /// The page's size with one more entry at its end, if it is `now` without it: counted anew only
    /// when the prefix becomes shorter.
    pub fn size_with(&self, item: &Item<'_>, now: Size) -> Size {
        let key_bytes = item.key.len();
        let prefix_bytes =
            if self.count() == 0 { key_bytes } else { shared_bytes(self.key(0), item.key) };
        let now = if prefix_bytes == now.prefix_bytes && self.count() > 0 {
            now
        } else {
            self.size_of(&(0..self.count()), prefix_bytes)
        };
        let body_bytes = body_bytes(self.level, key_bytes - prefix_bytes, item.value.len());
        let page_bytes = now.page_bytes + slot_bytes(self.level) + body_bytes;
        Size { prefix_bytes, page_bytes }
    }

    /// Write the page, all but the two fields of its header that are not an access method's. It
    /// must fit. It is put together aside, so that a field costs no more than its bytes.
    pub fn write_to(&self, page: &mut PageMut<'_>) {
        let own = page::offset::KIND;
        let mut bytes: PageBytes = [0; PAGE_BYTES];
        self.pack(&mut bytes);
        page.put(own, &bytes[own..]);
    }

    /// The same to zeros that nobody else has.
    fn pack(&self, bytes: &mut PageBytes) {
        let prefix_bytes = self.prefix_bytes(&(0..self.count()));
        let mut body = PAGE_BYTES;
        let mut at = slots_at(prefix_bytes);
        if let Some(first) = self.entries.first() {
            bytes[offset::PREFIX..][..prefix_bytes]
                .copy_from_slice(&self.text[first.at..][..prefix_bytes]);
        }
        for position in 0..self.count() {
            let item = self.item(position);
            body = write_entry(bytes, self.level, at, body, &item, prefix_bytes);
            at += slot_bytes(self.level);
        }
        bytes[page::offset::KIND] = kind(self.level) as u8;
        bytes[page::offset::LEVEL] = self.level;
        put_u16(bytes, page::offset::COUNT, self.count() as u16);
        put_u32(bytes, page::offset::FILE, self.file);
        put_u32(bytes, page::offset::NEXT, self.next);
        put_u32(bytes, page::offset::PREVIOUS, self.previous);
        put_u16(bytes, offset::PREFIX_BYTES, prefix_bytes as u16);
        put_u16(bytes, offset::BODIES, body as u16);
        put_u32(bytes, offset::FIRST_CHILD, self.first_child);
    }
}

/// The target of an entry: a page, or bytes that are going to be one.
pub(super) trait Put {
    /// Put bytes there.
    fn put(&mut self, at: usize, bytes: &[u8]);
}

impl Put for PageMut<'_> {
    #[inline]
    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.put(at, bytes);
    }
}

impl Put for PageBytes {
    #[inline]
    fn put(&mut self, at: usize, bytes: &[u8]) {
        self[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

/// Write an entry's slot at `at` and its body so that it ends at `body_end`; answers where the
/// body begins.
pub(super) fn write_entry(
    bytes: &mut impl Put,
    level: u8,
    at: usize,
    body_end: usize,
    item: &Item<'_>,
    prefix_bytes: usize,
) -> usize {
    let key = &item.key[prefix_bytes..];
    let rest = key.get(HEAD_BYTES..).unwrap_or_default();
    let body = body_end - body_bytes(level, key.len(), item.value.len());
    // The slot's fields lie side by side, in the order of their bytes.
    let fields = u64::from(head(item.key, prefix_bytes))
        | if body < body_end { (body as u64) << (8 * slot::BODY) } else { 0 }
        | (key.len() as u64) << (8 * slot::KEY_BYTES);
    bytes.put(at + slot::HEAD, &fields.to_le_bytes());
    let mut to = body;
    if level == 0 {
        bytes.put(body, &(item.value.len() as u16).to_le_bytes());
        to += LENGTH_BYTES;
        bytes.put(to, item.value);
        to += item.value.len();
    } else {
        debug_assert!(slot_bytes(level) == INNER_SLOT_BYTES);
        bytes.put(at + slot::CHILD, &item.child.to_le_bytes());
    }
    bytes.put(to, rest);
    body
}
