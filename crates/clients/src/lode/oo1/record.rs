//! The layout of parts and connections, the same in every design: three words, and a fourth for the
//! build time. Little-endian; each field lies at a multiple of its size.
//!
//! | offset | a part | a connection |
//! |---|---|---|
//! | 0 | u32 id | u32 from |
//! | 4 | i32 x | u32 to |
//! | 8 | type, 10 bytes | type, 10 bytes |
//! | 18 | u16 of the design's own | 0 |
//! | 20 | i32 y | i32 length |
//! | 24 | i64 build | |

use std::ops::ControlFlow;

use loadstone_datasets::oo1::{Connection, Part as Row};

use lode::internals::heap::Heap;
use lode::{Edges, PageRead, Reference, View};

use crate::lode::failure::{Failure, Result};
use crate::oo1::driver::X_MAX;
use crate::oo1::part::{Kind, Link, Part};
use crate::oo1::visits::Visits;

/// Words of a connection, and of a part without its build time: what a visit reads.
pub const WORDS: usize = 3;

/// The place where the build time lies in a part.
pub const BUILD_AT: usize = WORDS * 8;

/// Bytes of a part.
pub const PART_BYTES: usize = BUILD_AT + 8;

/// Bytes of a connection.
pub const LINK_BYTES: usize = WORDS * 8;

/// The error for a record that is too short for its fields.
pub const TOO_SHORT: Failure = Failure::Malformed("a record that is too short for its fields");

/// The first words of a record in its page.
#[inline]
pub fn see<const N: usize>(view: View<'_>, at: usize) -> Option<[u64; N]> {
    view.words(at)
}

/// A part's bytes.
pub fn part(row: &Row) -> [u8; PART_BYTES] {
    let mut bytes = [0; PART_BYTES];
    put(&mut bytes, (row.id, row.x.cast_unsigned()), row.kind, row.y);
    bytes[BUILD_AT..].copy_from_slice(&row.build_s.to_le_bytes());
    bytes
}

/// A connection's bytes.
pub fn link(row: &Connection) -> [u8; LINK_BYTES] {
    let mut bytes = [0; LINK_BYTES];
    put(&mut bytes, (row.from, row.to), row.kind, row.length);
    bytes
}

fn put(bytes: &mut [u8], (first, second): (u32, u32), kind: u8, third: i32) {
    bytes[..4].copy_from_slice(&first.to_le_bytes());
    bytes[4..8].copy_from_slice(&second.to_le_bytes());
    bytes[8..18].copy_from_slice(&Kind::of(kind).0);
    bytes[20..24].copy_from_slice(&third.to_le_bytes());
}

/// A part of its words.
#[inline]
pub fn part_of(words: [u64; WORDS]) -> Part {
    let (id, x) = halves(words[0]);
    let (kind, y) = rest(words);
    Part { id, x: x.cast_signed(), y, kind }
}

/// A connection of its words.
#[inline]
pub fn link_of(words: [u64; WORDS]) -> Link {
    let (from, to) = halves(words[0]);
    let (kind, length) = rest(words);
    Link { from, to, length, kind }
}

#[inline]
const fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// Type, and the field behind it.
#[inline]
pub fn rest(words: [u64; WORDS]) -> (Kind, i32) {
    let mut kind = [0; 10];
    kind[..8].copy_from_slice(&words[1].to_le_bytes());
    kind[8..].copy_from_slice(&(words[2] as u16).to_le_bytes());
    (Kind(kind), halves(words[2]).1.cast_signed())
}

/// The words of a record outside the pages.
pub fn words_of<const N: usize>(bytes: &[u8]) -> Result<[u64; N]> {
    let (words, _) = bytes.as_chunks();
    let words: &[[u8; 8]; N] = words.first_chunk().ok_or(TOO_SHORT)?;
    Ok(words.map(u64::from_le_bytes))
}

/// Turn a part over in place, as [`crate::oo1::driver::Driver::update`] says; answers its build
/// time before and after.
pub fn complement(bytes: &mut [u8], build_sum_s: i64) -> Result<(i64, i64)> {
    let [head, kind, tail, build]: [u64; 4] = words_of(bytes)?;
    let part = part_of([head, kind, tail]);
    let (before_s, after_s) = (build.cast_signed(), build_sum_s - build.cast_signed());
    bytes[4..8].copy_from_slice(&(X_MAX - part.x).to_le_bytes());
    bytes[20..24].copy_from_slice(&(X_MAX - part.y).to_le_bytes());
    bytes[BUILD_AT..PART_BYTES].copy_from_slice(&after_s.to_le_bytes());
    Ok((before_s, after_s))
}

/// Visit what is below a part of a heap whose parts lead to each other so.
#[inline(always)]
pub fn walk(
    edges: impl Edges,
    pages: &impl PageRead,
    from: Reference,
    depth: u32,
    visits: &mut Visits,
) -> Result<()> {
    let walked = edges.walk(pages, from, depth, see::<WORDS>, |_, words| match words {
        Some(words) => {
            visits.part(&part_of(words));
            ControlFlow::Continue(())
        }
        None => ControlFlow::Break(()),
    });
    if walked?.is_break() { Err(TOO_SHORT) } else { Ok(()) }
}

/// x and y of all parts of a heap.
pub fn scan(parts: Heap, pages: &impl PageRead, visits: &mut Visits) -> Result<()> {
    let mut short = false;
    let _: ControlFlow<()> = parts.scan(pages, |_, bytes| {
        match words_of(bytes) {
            Ok(words) => {
                let part = part_of(words);
                visits.point(part.x, part.y);
            }
            Err(_) => short = true,
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if short { Err(TOO_SHORT) } else { Ok(()) }
}
