//! Changing a page of a B+tree in place.

use crate::page::{self, PAGE_BYTES, PageBytes, u16_at, u32_at};
use crate::page_mut::PageMut;

use super::layout::{
    Corruption, Header, LENGTH_BYTES, USABLE_BYTES, VALUE_BYTES_MAX, body_bytes, offset, slot,
    slot_bytes,
};
use super::unpacked_node::{Item, UnpackedNode, write_entry};

/// A page that is used less than this should be merged with a neighbour.
const UNDERFULL_BYTES: usize = offset::PREFIX + USABLE_BYTES / 3;

/// Put an entry at `position`, in place of the one there with the same key if `replace`. Answers
/// the overfull node, unpacked, if there is no room; the page is then as it was or lacks the
/// replaced entry.
pub(super) fn put(
    bytes: &mut PageMut<'_>,
    position: usize,
    replace: bool,
    item: &Item<'_>,
) -> Result<Option<UnpackedNode>, Corruption> {
    if replace {
        if overwrite(bytes, position, item.value)? {
            return Ok(None);
        }
        remove(bytes, position)?;
    }
    if insert(bytes, position, item)? {
        return Ok(None);
    }
    let mut unpacked = UnpackedNode::of(bytes)?;
    unpacked.put(item);
    if unpacked.page_bytes() > PAGE_BYTES {
        return Ok(Some(unpacked));
    }
    unpacked.write_to(bytes);
    Ok(None)
}

/// Put a value in place of one of the same length, if it is.
fn overwrite(bytes: &mut PageMut<'_>, position: usize, value: &[u8]) -> Result<bool, Corruption> {
    let (at, body_bytes) = body(bytes, &Header::of(bytes)?, position)?;
    let same = body_bytes > 0 && usize::from(u16_at(bytes, at)) == value.len();
    if same {
        bytes.put(at + LENGTH_BYTES, value);
    }
    Ok(same)
}

/// Insert without moving other entries, if the key has the page's prefix and there is room.
fn insert(bytes: &mut PageMut<'_>, position: usize, item: &Item<'_>) -> Result<bool, Corruption> {
    let header = Header::of(bytes)?;
    if position > header.count {
        return Err("it changed under the lock");
    }
    let prefix = &bytes[offset::PREFIX..][..header.prefix_bytes];
    let slot_bytes = slot_bytes(header.level);
    let slots_end = header.slots_end();
    if header.count == 0 || !item.key.starts_with(prefix) {
        return Ok(false);
    }
    let key_bytes = item.key.len() - header.prefix_bytes;
    let body_bytes = body_bytes(header.level, key_bytes, item.value.len());
    if slots_end + slot_bytes + body_bytes > header.bodies {
        return Ok(false);
    }
    let at = header.slot_at(position);
    bytes.copy_within(at..slots_end, at + slot_bytes);
    let body = write_entry(bytes, header.level, at, header.bodies, item, header.prefix_bytes);
    bytes.put_u16(offset::BODIES, body as u16);
    bytes.put_u16(page::offset::COUNT, header.count as u16 + 1);
    Ok(true)
}

/// The place where an entry's body lies, and its length, which is 0 if there is none.
fn body(bytes: &PageBytes, header: &Header, position: usize) -> Result<(usize, usize), Corruption> {
    if position >= header.count {
        return Err("it changed under the lock");
    }
    let at = header.slot_at(position);
    let body = usize::from(u16_at(bytes, at + slot::BODY));
    let key_bytes = usize::from(u16_at(bytes, at + slot::KEY_BYTES));
    let mut value_bytes = 0;
    if header.level == 0 {
        if body < header.bodies || body > PAGE_BYTES - LENGTH_BYTES {
            return Err("an entry lies outside");
        }
        value_bytes = usize::from(u16_at(bytes, body));
    }
    let body_bytes = body_bytes(header.level, key_bytes, value_bytes);
    let outside = body < header.bodies || body + body_bytes > PAGE_BYTES;
    if value_bytes > VALUE_BYTES_MAX || body_bytes > 0 && outside {
        return Err("an entry lies outside");
    }
    Ok((body, body_bytes))
}

/// Remove an entry; an inner page's with its child.
pub(super) fn remove(bytes: &mut PageMut<'_>, position: usize) -> Result<(), Corruption> {
    let header = Header::of(bytes)?;
    let (body, body_bytes) = body(bytes, &header, position)?;
    let (at, slots_end) = (header.slot_at(position), header.slots_end());
    let slot_bytes = slot_bytes(header.level);
    bytes.copy_within(at + slot_bytes..slots_end, at);
    bytes.clear(slots_end - slot_bytes..slots_end);
    bytes.put_u16(page::offset::COUNT, header.count as u16 - 1);
    if header.count == 1 {
        bytes.put_u16(offset::BODIES, PAGE_BYTES as u16);
        bytes.put_u16(offset::GARBAGE_BYTES, 0);
    } else if body_bytes > 0 && body == header.bodies {
        bytes.put_u16(offset::BODIES, (body + body_bytes) as u16);
    } else {
        let garbage_bytes = header.garbage_bytes + body_bytes;
        bytes.put_u16(offset::GARBAGE_BYTES, garbage_bytes as u16);
    }
    Ok(())
}

/// The rest of a page after something was removed from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Enough.
    Enough,
    /// So little that it should be merged with a neighbour.
    Little,
    /// No entry of a leaf, no child of an inner page.
    Nothing,
}

/// Remove an entry of a leaf.
pub(super) fn remove_entry(bytes: &mut PageMut<'_>, position: usize) -> Result<Left, Corruption> {
    remove(bytes, position)?;
    let header = Header::of(bytes)?;
    Ok(match header.count {
        0 => Left::Nothing,
        _ => left(&header),
    })
}

/// Remove a child of an inner page: 0 is the first.
pub(super) fn remove_child(bytes: &mut PageMut<'_>, index: usize) -> Result<Left, Corruption> {
    let header = Header::of(bytes)?;
    match index.checked_sub(1) {
        Some(position) => remove(bytes, position)?,
        None if header.count == 0 => return Ok(Left::Nothing),
        None => {
            let second = u32_at(bytes, header.slot_at(0) + slot::CHILD);
            remove(bytes, 0)?;
            bytes.put_u32(offset::FIRST_CHILD, second);
        }
    }
    Ok(left(&Header::of(bytes)?))
}

const fn left(header: &Header) -> Left {
    if header.used_bytes() < UNDERFULL_BYTES { Left::Little } else { Left::Enough }
}
