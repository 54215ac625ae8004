//! Changes of a slotted page, and its check.

use super::{
    ALIGNMENT_BYTES, Corruption, RECORD_BYTES_MAX, RECORDS_AT, Record, Result, SLOTS_MAX, Space,
    find_in, slot_at, span,
};
use crate::page::{self, PageBytes};
use crate::page_mut::PageMut;

/// Put a record in; its slot, or `None` where [`room`] is less than its length.
pub fn insert(bytes: &mut PageMut<'_>, record: &[u8], flags: u8) -> Result<Option<u16>> {
    let Some((slot, place)) = take(bytes, record.len(), flags)? else { return Ok(None) };
    fill(bytes, place, record);
    Ok(Some(slot))
}

/// Put a record of that many zeros in; as [`insert`].
pub fn insert_zeros(bytes: &mut PageMut<'_>, len: usize, flags: u8) -> Result<Option<u16>> {
    let Some((slot, place)) = take(bytes, len, flags)? else { return Ok(None) };
    bytes.clear(place.at..place.end());
    Ok(Some(slot))
}

/// Find a slot and a place for a new record of that length.
fn take(bytes: &mut PageMut<'_>, len: usize, flags: u8) -> Result<Option<(u16, Record)>> {
    let mut space = Space::of(bytes)?;
    let span = span(len);
    if span > space.free_space() {
        return Ok(None);
    }
    if space.gap() < span + space.slot_bytes() {
        compact(bytes, &mut space, None)?;
    }
    let slot = space.take_slot(bytes)?;
    let place = Record { at: space.end(), len, flags };
    space.extent += span;
    bytes.put_u32(slot_at(slot), place.to_u32());
    space.store(bytes);
    Ok(Some((slot, place)))
}

/// The record's bytes, and zeros up to its end.
fn fill(bytes: &mut PageMut<'_>, place: Record, record: &[u8]) {
    bytes.put(place.at, record);
    bytes.clear(place.at + place.len..place.end());
}

/// The way in which a change of a record went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// Done; the record lies there now.
    Done(Record),
    /// The page has not the room; nothing changed.
    NoSpace,
    /// There is no record in that slot.
    NoRecord,
}

/// Put other bytes and flags in a record's place. Its slot stays, other records may move.
pub fn update(bytes: &mut PageMut<'_>, slot: u16, record: &[u8], flags: u8) -> Result<Fit> {
    let fit = reserve(bytes, slot, record.len(), flags)?;
    if let Fit::Done(place) = fit {
        fill(bytes, place, record);
    }
    Ok(fit)
}

/// Cut a record or lengthen it with zeros; its flags stay.
pub fn resize(bytes: &mut PageMut<'_>, slot: u16, len: usize) -> Result<Fit> {
    let Some(old) = find_in(bytes, slot)? else { return Ok(Fit::NoRecord) };
    let fit = reserve(bytes, slot, len, old.flags)?;
    if let Fit::Done(place) = fit {
        bytes.clear(place.at + len.min(old.len)..place.end());
    }
    Ok(fit)
}

/// Find a place of that length for the record of a slot, and take its bytes there.
fn reserve(bytes: &mut PageMut<'_>, slot: u16, len: usize, flags: u8) -> Result<Fit> {
    let mut space = Space::of(bytes)?;
    let Some(old) = find_in(bytes, slot)? else { return Ok(Fit::NoRecord) };
    if old.end() > space.end() {
        return Err(Corruption("a record lies behind the last"));
    }
    let (span_old, span_new) = (old.span(), span(len));
    let more = span_new.saturating_sub(span_old);
    if len > RECORD_BYTES_MAX || more > space.gap() + space.holes {
        return Ok(Fit::NoSpace);
    }
    let mut at = old.at;
    if more == 0 {
        space.give_back(old.at + span_new, span_old - span_new);
    } else if old.end() == space.end() && more <= space.gap() {
        space.extent += more;
    } else if span_new <= space.gap() {
        at = space.end();
        space.holes += span_old;
        space.extent += span_new;
        bytes.copy_within(old.at..old.at + old.len, at);
        clear_first(bytes, old);
    } else {
        compact(bytes, &mut space, Some(slot))?;
        at = space.end() - span_old;
        space.extent += more;
    }
    let place = Record { at, len, flags };
    bytes.put_u32(slot_at(slot), place.to_u32());
    space.store(bytes);
    Ok(Fit::Done(place))
}

/// Take a record out; whether there was one. Its slot may be another record's next.
pub fn delete(bytes: &mut PageMut<'_>, slot: u16) -> Result<bool> {
    let mut space = Space::of(bytes)?;
    let Some(old) = find_in(bytes, slot)? else { return Ok(false) };
    if old.end() > space.end() {
        return Err(Corruption("a record lies behind the last"));
    }
    space.give_back(old.at, old.span());
    space.slots_free += 1;
    bytes.put_u32(slot_at(slot), 0);
    clear_first(bytes, old);
    while space.slots > 0 && page::u32_at(bytes, slot_at(space.slots as u16 - 1)) == 0 {
        space.slots -= 1;
        space.slots_free = space.slots_free.saturating_sub(1);
    }
    space.store(bytes);
    Ok(true)
}

/// Clear the first word of a place that a record leaves, so that whatever stood there, of which it
/// could be known again, stands where the record lies and nowhere else.
fn clear_first(bytes: &mut PageMut<'_>, left: Record) {
    bytes.clear(left.at..left.at + ALIGNMENT_BYTES);
}

/// The records of a page by their place, and how many there are.
fn in_order(bytes: &PageBytes, space: Space) -> Result<([(u16, u16); SLOTS_MAX], usize)> {
    let mut order = [(0, 0); SLOTS_MAX];
    let mut count = 0;
    for slot in 0..space.slots as u16 {
        if let Some(record) = find_in(bytes, slot)? {
            order[count] = (record.at as u16, slot);
            count += 1;
        }
    }
    order[..count].sort_unstable();
    let mut end = RECORDS_AT;
    let mut taken = 0;
    for &(_, slot) in &order[..count] {
        let record = find_in(bytes, slot)?.expect("it was there just now");
        if record.at < end {
            return Err(Corruption("two of its records overlap"));
        }
        end = record.end();
        taken += record.span();
    }
    if end > space.end() || taken + space.holes != space.extent {
        return Err(Corruption("its records take another number of bytes than its header"));
    }
    Ok((order, count))
}

/// Close the holes. The record of `last` comes to lie last, so that it can grow.
fn compact(bytes: &mut PageMut<'_>, space: &mut Space, last: Option<u16>) -> Result<()> {
    let (order, count) = in_order(bytes, *space)?;
    let mut end = RECORDS_AT;
    let mut set_aside = None;
    for &(_, slot) in &order[..count] {
        let Some(record) = find_in(bytes, slot)? else { continue };
        if last == Some(slot) {
            set_aside = Some((slot, record, **bytes));
            clear_first(bytes, record);
            continue;
        }
        move_to(bytes, slot, record, end);
        end += record.span();
    }
    if let Some((slot, record, before)) = set_aside {
        let place = Record { at: end, ..record };
        bytes.put(end, &before[record.at..record.end()]);
        bytes.put_u32(slot_at(slot), place.to_u32());
        end = place.end();
    }
    (space.extent, space.holes) = (end - RECORDS_AT, 0);
    space.store(bytes);
    Ok(())
}

fn move_to(bytes: &mut PageMut<'_>, slot: u16, record: Record, at: usize) {
    if at != record.at {
        bytes.copy_within(record.at..record.end(), at);
        if at + record.span() <= record.at {
            clear_first(bytes, record);
        }
        bytes.put_u32(slot_at(slot), Record { at, ..record }.to_u32());
    }
}

/// Everything that must hold of a page: records within their bounds and apart from each other, the
/// counts as they are, no free slot at the end.
pub fn check(bytes: &PageBytes) -> Result<()> {
    let space = Space::of(bytes)?;
    let (_, count) = in_order(bytes, space)?;
    if count + space.slots_free != space.slots {
        return Err(Corruption("it has another number of free slots than its header"));
    }
    if space.slots > 0 && page::u32_at(bytes, slot_at(space.slots as u16 - 1)) == 0 {
        return Err(Corruption("its last slot is free"));
    }
    Ok(())
}
