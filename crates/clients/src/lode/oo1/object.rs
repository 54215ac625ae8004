//! The bytes of an object of `access=objects`: the part ([`super::record`], with the number of
//! references to it in its spare field), references to the three parts that it is connected to,
//! type and length of these connections, and references to the parts that are connected to it,
//! with room for some more.

use loadstone_datasets::oo1::{Connection, Part as Row};

use super::record::{self, PART_BYTES};

/// u16: how many references to it follow, in the part's spare field.
pub const FROM_COUNT: usize = 18;
/// 3 × u64: the parts that it is connected to.
pub const TO: usize = PART_BYTES;
/// 3 × (10 bytes, 2 unused, i32): type and length of these connections, as the last two words of
/// [`super::record::link`].
pub const TO_REST: usize = TO + 3 * 8;
const TO_REST_BYTES: usize = 16;
/// u64 each: the parts that are connected to it.
pub const FROM: usize = TO_REST + 3 * TO_REST_BYTES;

/// References that an object has room for come and go by so many: with the engine's eight bytes in
/// front, objects take a multiple of a cache's line then, and so begin with one. What a visit reads
/// is in the first.
pub const FROM_STEP: usize = 8;
/// The number that there is space for at least.
const FROM_LEAST: usize = 2;

const _: () = assert!((8 + FROM + 8 * FROM_LEAST).is_multiple_of(64) && 8 + TO_REST <= 64);

/// The number of parts that are connected to it.
pub fn count(object: &[u8]) -> usize {
    object.get(FROM_COUNT..FROM_COUNT + 2).map_or(0, |count| {
        usize::from(u16::from_le_bytes(count.try_into().expect("two bytes were taken")))
    })
}

/// Say how many.
pub fn set_count(object: &mut [u8], count: usize) {
    object[FROM_COUNT..FROM_COUNT + 2].copy_from_slice(&(count as u16).to_le_bytes());
}

/// Bytes of an object to which so many parts are connected.
pub const fn length(count: usize) -> usize {
    let steps = count.saturating_sub(FROM_LEAST).div_ceil(FROM_STEP);
    FROM + 8 * (FROM_LEAST + FROM_STEP * steps)
}

/// An object's bytes; `word_of` gives the reference to a part.
pub fn encode(
    row: &Row,
    to: &[Connection; 3],
    from: impl ExactSizeIterator<Item = u64>,
    word_of: impl Fn(u32) -> u64,
) -> Vec<u8> {
    let from_count = from.len();
    let mut object = Vec::with_capacity(length(from_count));
    object.extend(record::part(row));
    set_count(&mut object, from_count);
    for connection in to {
        object.extend(word_of(connection.to).to_le_bytes());
    }
    for connection in to {
        object.extend(&record::link(connection)[8..]);
    }
    for from in from {
        object.extend(from.to_le_bytes());
    }
    object.resize(length(from_count), 0);
    object
}
