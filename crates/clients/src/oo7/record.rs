//! OO7's objects as bytes, for stores without relations. Little-endian; each field lies at a
//! multiple of its size; a reference is a word by which the store knows an object, 0 for none.
//!
//! | offset | all but atomic parts and texts |
//! |---|---|
//! | 0 | u32 id |
//! | 4 | i32 date |
//! | 8 | type, 10 bytes |
//! | 18 | u16, u16: how many references of a first and of a second kind follow |
//! | 24 | u32: of an assembly its module, of a module the connections that leave each atomic part |
//! | 32 | two references of the class's own |
//! | 48 | the references of the first kind, then those of the second |
//!
//! | class | own references | first kind | second kind |
//! |---|---|---|---|
//! | module | root, manual | | |
//! | complex assembly | parent | complex assemblies | base assemblies |
//! | base assembly | parent | private components | shared components |
//! | composite part | root part, document | private users | shared users |
//!
//! | offset | an atomic part |
//! |---|---|
//! | 0 | u32 id, i32 date |
//! | 8 | i32 x, i32 y: one word, as a program that sets ranges says them |
//! | 16 | type, 10 bytes; u16: how many connections lead to it |
//! | 28 | u32 document |
//! | 32 | for each connection that leaves it, a reference to where it leads |
//! | | the composite part |
//! | | for each of these connections its type, 10 bytes, 2 unused, i32 length |
//! | | for each connection that leads to it, a reference to where it comes from |
//!
//! A step of a traversal reads less than a cache line where three connections leave each part.
//!
//! A text is pieces, each a record of its own, behind one another by a head: 40 bytes of title, u32
//! id, u32 length, and a reference to each piece.

use std::ops::Range;

use crate::oo7::objects::{Kind, Object, Part};

/// The place where the module of an assembly lies, and the two references of the class's own.
pub const MODULE: usize = 24;
pub const OWN: usize = 32;

/// The place where the references of both kinds begin.
pub const REFERENCES: usize = 48;

/// Words of an atomic part that a visit reads, and where its connections' ends begin.
pub const PART_WORDS: usize = 4;
pub const TO: usize = 8 * PART_WORDS;

const CONNECTION_BYTES: usize = 16;

/// Bytes of a text's title, and where its id, its length and its pieces lie in its head.
pub const TITLE_BYTES: usize = 40;
pub const PIECES: usize = TITLE_BYTES + 8;

/// Bytes of a text in one record: the longest text's pieces are as many references as a record
/// holds, and a page holds one piece, or two halves.
pub const PIECE_BYTES: usize = 3_968;

/// An object in front of references of two kinds.
pub fn design(object: &Object, module: u32, own: [u64; 2], references: [&[u64]; 2]) -> Vec<u8> {
    let [first, second] = references;
    let mut bytes = Vec::with_capacity(REFERENCES + 8 * (first.len() + second.len()));
    bytes.extend(object.id.to_le_bytes());
    bytes.extend(object.build_date.to_le_bytes());
    bytes.extend(object.kind.0);
    bytes.extend((first.len() as u16).to_le_bytes());
    bytes.extend((second.len() as u16).to_le_bytes());
    bytes.extend([0; 2]);
    bytes.extend(module.to_le_bytes());
    bytes.extend([0; 4]);
    own.iter().chain(first).chain(second).for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes
}

/// The object in front, of its first words.
#[inline]
pub fn object_of([named, kind, tail]: [u64; 3]) -> Object {
    Object { id: named as u32, build_date: (named >> 32) as i32, kind: kind_of(kind, tail) }
}

#[inline]
fn kind_of(head: u64, tail: u64) -> Kind {
    let mut kind = [0; 10];
    kind[..8].copy_from_slice(&head.to_le_bytes());
    kind[8..].copy_from_slice(&(tail as u16).to_le_bytes());
    Kind(kind)
}

/// The number of references of each kind that follow, of the third word.
#[inline]
pub const fn counts(third: u64) -> [usize; 2] {
    [(third >> 16) as u16 as usize, (third >> 32) as u16 as usize]
}

/// An object that was copied out: the object in front, its module, its own references, and those
/// of both kinds.
pub struct Design {
    pub object: Object,
    pub module: u32,
    pub own: [u64; 2],
    pub references: [Vec<u64>; 2],
}

impl Design {
    /// Of a record's bytes; `None` where they are too short, here and below.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<8>();
        let at = |place: usize| words.get(place / 8).map(|word| u64::from_le_bytes(*word));
        let third = at(16)?;
        let [first, second] = counts(third);
        let read = |from: usize, count: usize| {
            (0..count).map(|place| at(REFERENCES + 8 * (from + place))).collect::<Option<Vec<_>>>()
        };
        Some(Self {
            object: object_of([at(0)?, at(8)?, third]),
            module: at(MODULE)? as u32,
            own: [at(OWN)?, at(OWN + 8)?],
            references: [read(0, first)?, read(first, second)?],
        })
    }

    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let [first, second] = &self.references;
        design(&self.object, self.module, self.own, [first, second])
    }

    /// Take every reference away that is one to what is gone.
    pub fn forget(&mut self, is_gone: impl Fn(u64) -> bool) {
        for references in &mut self.references {
            references.retain(|&word| !is_gone(word));
        }
    }
}

/// A connection that leaves an atomic part.
pub struct Leaving {
    pub to: u64,
    pub kind: Kind,
    pub length: i32,
}

/// Bytes of an atomic part that so many connections leave and so many lead to.
pub const fn part_length(fan_out: usize, incoming: usize) -> usize {
    TO + 8 * fan_out + 8 + CONNECTION_BYTES * fan_out + 8 * incoming
}

/// An atomic part.
pub fn part(part: &Part, composite: u64, leaving: &[Leaving], incoming: &[u64]) -> Vec<u8> {
    let Part { object, x, y, document } = part;
    let mut bytes = Vec::with_capacity(part_length(leaving.len(), incoming.len()));
    bytes.extend(object.id.to_le_bytes());
    bytes.extend(object.build_date.to_le_bytes());
    bytes.extend(x.to_le_bytes());
    bytes.extend(y.to_le_bytes());
    bytes.extend(object.kind.0);
    bytes.extend((incoming.len() as u16).to_le_bytes());
    bytes.extend(document.to_le_bytes());
    bytes.extend(leaving.iter().flat_map(|connection| connection.to.to_le_bytes()));
    bytes.extend(composite.to_le_bytes());
    for connection in leaving {
        bytes.extend(connection.kind.0);
        bytes.extend([0; 2]);
        bytes.extend(connection.length.to_le_bytes());
    }
    bytes.extend(incoming.iter().flat_map(|word| word.to_le_bytes()));
    bytes
}

/// An atomic part of its first words.
#[inline]
pub fn part_of([named, xy, kind, tail]: [u64; PART_WORDS]) -> Part {
    let (id, build_date) = (named as u32, (named >> 32) as i32);
    let object = Object { id, kind: kind_of(kind, tail), build_date };
    Part { object, x: xy as i32, y: (xy >> 32) as i32, document: (tail >> 32) as u32 }
}

/// The atomic part at the front of a record's bytes.
pub fn part_in(bytes: &[u8]) -> Option<Part> {
    let (words, _) = bytes.as_chunks::<8>();
    let words: &[[u8; 8]; PART_WORDS] = words.first_chunk()?;
    Some(part_of(words.map(u64::from_le_bytes)))
}

/// The place where its composite part lies.
pub const fn composite_at(fan_out: usize) -> usize {
    TO + 8 * fan_out
}

/// The connections that leave an atomic part, of its bytes.
pub fn leaving(bytes: &[u8], fan_out: usize) -> Option<Vec<Leaving>> {
    let rest = composite_at(fan_out) + 8;
    let each = |place: usize| {
        let to = bytes.get(TO + 8 * place..)?.first_chunk()?;
        let own: &[u8; CONNECTION_BYTES] =
            bytes.get(rest + CONNECTION_BYTES * place..)?.first_chunk()?;
        let kind = Kind(*own.first_chunk()?);
        let length = i32::from_le_bytes(*own[12..].first_chunk()?);
        Some(Leaving { to: u64::from_le_bytes(*to), kind, length })
    };
    (0..fan_out).map(each).collect()
}

/// The place where x and y of an atomic part lie in its bytes, and where its date does.
pub const XY: Range<usize> = 8..16;
pub const DATE: Range<usize> = 4..8;

/// Swap x and y, of the bytes at [`XY`].
#[inline]
pub fn swap(xy: &mut [u8]) {
    match <&mut [u8; 8]>::try_from(&mut *xy) {
        // One word is turned at once; bytes of any number are exchanged one after another.
        Ok(word) => *word = u64::from_ne_bytes(*word).rotate_left(32).to_ne_bytes(),
        Err(_) => xy.rotate_left(xy.len() / 2),
    }
}

/// Put another date into the bytes at [`DATE`], made of the one before; answers both. `None` where
/// these are other bytes.
pub fn date(bytes: &mut [u8], change: impl FnOnce(i32) -> i32) -> Option<(i32, i32)> {
    let place: &mut [u8; 4] = bytes.try_into().ok()?;
    let before = i32::from_le_bytes(*place);
    let after = change(before);
    *place = after.to_le_bytes();
    Some((before, after))
}

/// The head of a text.
pub fn head(title: &str, id: u32, length: usize, pieces: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(PIECES + 8 * pieces.len());
    bytes.extend_from_slice(title.as_bytes());
    bytes.resize(TITLE_BYTES, b' ');
    bytes.extend(id.to_le_bytes());
    bytes.extend((length as u32).to_le_bytes());
    bytes.extend(pieces.iter().flat_map(|word| word.to_le_bytes()));
    bytes
}

/// Title, id and pieces of a head.
pub fn head_of(bytes: &[u8]) -> Option<(&[u8], u32, Vec<u64>)> {
    let title = bytes.get(..TITLE_BYTES)?;
    let id = bytes.get(TITLE_BYTES..).and_then(|it| it.first_chunk())?;
    let (pieces, _) = bytes.get(PIECES..)?.as_chunks::<8>();
    let pieces = pieces.iter().map(|word| u64::from_le_bytes(*word)).collect();
    Some((title.trim_ascii_end(), u32::from_le_bytes(*id), pieces))
}
