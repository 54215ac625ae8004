//! A part as one stored object: its own fields, its three connections, and the ids of the parts
//! that are connected to it. What stores without relations keep under the part's id.
//!
//! Little-endian and packed: build 8 bytes, x 4, y 4, type 10; three times to 4, length 4, type 10;
//! then 4 for each incoming connection.

use std::ops::RangeInclusive;

use loadstone_datasets::oo1::{Connection, Database, Part as Row};

use crate::error::ClientError;
use crate::oo1::driver::{Direction, X_MAX};
use crate::oo1::part::{Kind, Link, Part};

const X: usize = 8;
const Y: usize = 12;
const KIND: usize = 16;
const TO: usize = 26;
const TO_BYTES: usize = 18;
const FROM: usize = TO + 3 * TO_BYTES;

/// A stored part, to be read where it lies.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    head: &'a [u8; FROM],
    from: &'a [u8],
}

impl<'a> Object<'a> {
    /// From the bytes of a value.
    #[inline]
    pub fn of(engine: &'static str, bytes: &'a [u8]) -> Result<Self, ClientError> {
        match bytes.split_first_chunk() {
            Some((head, from)) => Ok(Self { head, from }),
            None => Err(ClientError::Malformed {
                engine,
                what: format!("an object of {} bytes", bytes.len()),
            }),
        }
    }

    /// As program variables.
    #[inline]
    pub fn part(self, id: u32) -> Part {
        Part { id, x: self.x(), y: self.y(), kind: Kind(array(self.head, KIND)) }
    }

    #[inline]
    fn x(self) -> i32 {
        i32::from_le_bytes(array(self.head, X))
    }

    #[inline]
    fn y(self) -> i32 {
        i32::from_le_bytes(array(self.head, Y))
    }

    /// Seconds since 1970.
    pub fn build_s(self) -> i64 {
        i64::from_le_bytes(array(self.head, 0))
    }

    /// The three parts that it is connected to.
    #[inline]
    pub fn to(self) -> [u32; 3] {
        [0, 1, 2].map(|place| u32::from_le_bytes(array(self.head, TO + place * TO_BYTES)))
    }

    /// Append the parts at the other ends of its connections.
    #[inline]
    pub fn append_links(self, direction: Direction, out: &mut Vec<u32>) {
        match direction {
            Direction::Forward => out.extend(self.to()),
            Direction::Reverse => out.extend(self.from()),
        }
    }

    /// The three in ascending (length, to).
    pub fn to_in_order(self) -> [u32; 3] {
        let mut links = self.links(0);
        links.sort_unstable_by_key(|link| (link.length, link.to));
        links.map(|link| link.to)
    }

    /// The three connections of part `from`.
    pub fn links(self, from: u32) -> [Link; 3] {
        [0, 1, 2].map(|place| {
            let at = TO + place * TO_BYTES;
            Link {
                from,
                to: u32::from_le_bytes(array(self.head, at)),
                length: i32::from_le_bytes(array(self.head, at + 4)),
                kind: Kind(array(self.head, at + 8)),
            }
        })
    }

    /// Its value with one more part connected to it.
    pub fn with_from(self, id: u32) -> Vec<u8> {
        [self.head, self.from, &id.to_le_bytes()].concat()
    }

    /// Its value without the parts in a range among those connected to it.
    pub fn without_from(self, ids: &RangeInclusive<u32>) -> Vec<u8> {
        let mut shorter = self.head.to_vec();
        for id in self.from().filter(|id| !ids.contains(id)) {
            shorter.extend(id.to_le_bytes());
        }
        shorter
    }

    /// Its value turned over, as [`crate::oo1::driver::Driver::update`] says.
    pub fn turned(self, build_sum_s: i64) -> Vec<u8> {
        let mut bytes = [self.head, self.from].concat();
        bytes[..X].copy_from_slice(&(build_sum_s - self.build_s()).to_le_bytes());
        bytes[X..Y].copy_from_slice(&(X_MAX - self.x()).to_le_bytes());
        bytes[Y..KIND].copy_from_slice(&(X_MAX - self.y()).to_le_bytes());
        bytes
    }

    /// The parts that are connected to it.
    #[inline]
    pub fn from(self) -> impl Iterator<Item = u32> + 'a {
        let (ids, _) = self.from.as_chunks();
        ids.iter().map(|id| u32::from_le_bytes(*id))
    }
}

/// No part has it.
pub const NOBODY: u32 = 0;

/// The links of the object that was read last, since the loops request them right after it: copied
/// out of an engine that does not keep the object where it was.
pub struct CopiedLinks {
    id: u32,
    to: [u32; 3],
    from: Vec<u32>,
}

impl Default for CopiedLinks {
    fn default() -> Self {
        Self { id: NOBODY, to: [NOBODY; 3], from: Vec::new() }
    }
}

impl CopiedLinks {
    /// Copy those of this object, in place of the last one's.
    #[inline]
    pub fn copy(&mut self, id: u32, object: Object<'_>) {
        self.id = id;
        self.to = object.to();
        self.from.clear();
        self.from.extend(object.from());
    }

    /// Forget them: the object may change from here on.
    pub const fn forget(&mut self) {
        self.id = NOBODY;
    }

    /// Append them; `false` if they are another object's.
    #[inline]
    pub fn append(&self, id: u32, direction: Direction, out: &mut Vec<u32>) -> bool {
        if self.id != id {
            return false;
        }
        match direction {
            Direction::Forward => out.extend_from_slice(&self.to),
            Direction::Reverse => out.extend_from_slice(&self.from),
        }
        true
    }
}

/// The value of a part that the parts `from` are connected to.
pub fn encode(row: &Row, to: &[Connection; 3], from: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FROM + 4 * from.len());
    bytes.extend(row.build_s.to_le_bytes());
    bytes.extend(row.x.to_le_bytes());
    bytes.extend(row.y.to_le_bytes());
    bytes.extend(Kind::of(row.kind).0);
    for connection in to {
        bytes.extend(connection.to.to_le_bytes());
        bytes.extend(connection.length.to_le_bytes());
        bytes.extend(Kind::of(connection.kind).0);
    }
    for id in from {
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

/// Every part of a database with its value, in order of ids. What leads to a part must be known
/// before its value is: 12 bytes and a list for each part are held meanwhile.
pub fn for_each(
    database: &Database,
    mut store: impl FnMut(u32, &[u8]) -> Result<(), ClientError>,
) -> Result<(), ClientError> {
    let numbers = 0..database.connection_count();
    let mut incoming = vec![Vec::new(); database.parts as usize + 1];
    for connection in database.connection_range(numbers.clone()) {
        incoming[connection.to as usize].push(connection.from);
    }
    let mut connections = database.connection_range(numbers);
    for row in database.part_range(1..database.parts + 1) {
        let to = [(); 3].map(|()| connections.next().expect("three connections leave each part"));
        store(row.id, &encode(&row, &to, &incoming[row.id as usize]))?;
    }
    Ok(())
}

#[inline]
fn array<const N: usize>(bytes: &[u8; FROM], at: usize) -> [u8; N] {
    let (array, _) =
        bytes[at..].split_first_chunk().expect("every field ends before the head does");
    *array
}
