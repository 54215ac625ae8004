//! LMDB with links in B-trees of their own: parts by id, and for each part a range of connections
//! that leave it and one of those that lead to it.

use std::ops::{Range, RangeInclusive};

use loadstone_datasets::oo1::{Connection, Database, NewPart, Part as Row};

use super::store::{CURSOR_OWN, Store, key};
use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::lmdb::raw::ENGINE;
use crate::lmdb::tables::Shape;
use crate::oo1::driver::{Direction, Driver, X_MAX};
use crate::oo1::part::{Kind, Link, Part};
use crate::oo1::visits::Visits;
use crate::tactics::{Address, Tactics};

/// The tables' places in the store.
const PART: usize = 0;
const TO: usize = 1;
const FROM: usize = 2;

/// build 8, x 4, y 4, type 10.
const PART_BYTES: usize = 26;

/// place 1, to 4, length 4, type 10. The place keeps repeated connections apart.
const TO_BYTES: usize = 19;

/// from 4, place 1.
const FROM_BYTES: usize = 5;

/// LMDB with links as ranges.
pub struct Links {
    store: Store<3>,
    ids: Vec<u32>,
}

impl Links {
    /// Open or create a file.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let tables = [(c"part", Shape::Single), (c"to", Shape::Many), (c"from", Shape::Many)];
        Ok(Self { store: Store::open(address, tactics, tables)?, ids: Vec::new() })
    }

    fn add_part(&mut self, row: &Row) -> Result<(), ClientError> {
        let table = self.store.own[PART];
        self.store.writer()?.put(table, &key(row.id), &encode_part(row))?;
        self.store.add_build(row.build_s, row.id)
    }

    fn add_connection(&mut self, place: usize, row: &Connection) -> Result<(), ClientError> {
        let [_, to, from] = self.store.own;
        let writer = self.store.writer()?;
        writer.put(to, &key(row.from), &encode_to(place, row))?;
        writer.put(from, &key(row.to), &encode_from(place, row.from))
    }

    #[inline]
    fn connections(&mut self, id: u32, mut take: impl FnMut(Link)) -> Result<(), ClientError> {
        self.store.reader().values(CURSOR_OWN + TO, &key(id), |run| {
            run.as_chunks().0.iter().for_each(|bytes| take(decode_to(id, bytes)));
        })
    }
}

fn encode_part(row: &Row) -> [u8; PART_BYTES] {
    let mut bytes = [0; PART_BYTES];
    bytes[..8].copy_from_slice(&row.build_s.to_le_bytes());
    bytes[8..12].copy_from_slice(&row.x.to_le_bytes());
    bytes[12..16].copy_from_slice(&row.y.to_le_bytes());
    bytes[16..].copy_from_slice(&Kind::of(row.kind).0);
    bytes
}

/// The part of a stored value.
#[inline]
fn decode_part(id: u32, value: &[u8]) -> Result<Part, ClientError> {
    let Ok(bytes) = <&[u8; PART_BYTES]>::try_from(value) else {
        let what = format!("a part of {} bytes", value.len());
        return Err(ClientError::Malformed { engine: ENGINE, what });
    };
    let x = i32::from_le_bytes(array(bytes, 8));
    let y = i32::from_le_bytes(array(bytes, 12));
    Ok(Part { id, x, y, kind: Kind(array(bytes, 16)) })
}

/// The build time of a stored value.
fn decode_build(value: &[u8]) -> Result<i64, ClientError> {
    let Some(bytes) = value.first_chunk() else {
        let what = format!("a part of {} bytes", value.len());
        return Err(ClientError::Malformed { engine: ENGINE, what });
    };
    Ok(i64::from_le_bytes(*bytes))
}

fn encode_to(place: usize, row: &Connection) -> [u8; TO_BYTES] {
    let mut bytes = [0; TO_BYTES];
    bytes[0] = place as u8;
    bytes[1..5].copy_from_slice(&row.to.to_le_bytes());
    bytes[5..9].copy_from_slice(&row.length.to_le_bytes());
    bytes[9..].copy_from_slice(&Kind::of(row.kind).0);
    bytes
}

#[inline]
fn decode_to(from: u32, bytes: &[u8; TO_BYTES]) -> Link {
    Link {
        from,
        to: u32::from_le_bytes(array(bytes, 1)),
        length: i32::from_le_bytes(array(bytes, 5)),
        kind: Kind(array(bytes, 9)),
    }
}

fn encode_from(place: usize, from: u32) -> [u8; FROM_BYTES] {
    let [a, b, c, d] = from.to_le_bytes();
    [a, b, c, d, place as u8]
}

#[inline]
fn array<const N: usize, const M: usize>(bytes: &[u8; M], at: usize) -> [u8; N] {
    let (array, _) = bytes[at..].split_first_chunk().expect("every field ends within the value");
    *array
}

impl Transactions for Links {
    fn begin(&mut self) -> Result<(), ClientError> {
        self.store.begin()
    }

    fn end(&mut self) -> Result<(), ClientError> {
        self.store.end();
        Ok(())
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        self.store.begin_write()
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.store.commit()
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.store.rollback();
        Ok(())
    }
}

impl Driver for Links {
    const ENGINE: &'static str = ENGINE;

    type Handle = u32;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.begin_write()?;
        self.store.clear()?;
        for row in database.part_range(1..database.parts + 1) {
            self.add_part(&row)?;
        }
        let rows = database.connection_range(0..database.connection_count());
        for (number, row) in rows.enumerate() {
            self.add_connection(number % 3, &row)?;
        }
        self.commit()
    }

    fn another(&self) -> Result<Self, ClientError> {
        Ok(Self { store: self.store.another()?, ids: Vec::new() })
    }

    #[inline(always)]
    fn find(&mut self, id: u32) -> Result<(u32, Part), ClientError> {
        self.read(id).map(|part| (id, part))
    }

    #[inline(always)]
    fn read(&mut self, handle: u32) -> Result<Part, ClientError> {
        let table = self.store.own[PART];
        let value = self.store.reader().get(table, &key(handle))?;
        decode_part(handle, value.ok_or_else(|| Self::missing(handle))?)
    }

    #[inline]
    fn links(
        &mut self,
        handle: u32,
        direction: Direction,
        out: &mut Vec<u32>,
    ) -> Result<(), ClientError> {
        match direction {
            Direction::Forward => self.connections(handle, |link| out.push(link.to)),
            Direction::Reverse => {
                self.store.reader().values(CURSOR_OWN + FROM, &key(handle), |run| {
                    let run: &[[u8; FROM_BYTES]] = run.as_chunks().0;
                    out.extend(run.iter().map(|bytes| u32::from_le_bytes(array(bytes, 0))));
                })
            }
        }
    }

    fn links_in_order(&mut self, handle: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        let mut links = Vec::with_capacity(3);
        self.connections(handle, |link| links.push((link.length, link.to)))?;
        links.sort_unstable();
        out.extend(links.into_iter().map(|(_, to)| to));
        Ok(())
    }

    fn range(&mut self, build_s: Range<i64>, visits: &mut Visits) -> Result<(), ClientError> {
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        self.store.built(&build_s, &mut ids)?;
        for &id in &ids {
            visits.part(&self.read(id)?);
        }
        self.ids = ids;
        Ok(())
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        self.store.reader().walk(CURSOR_OWN + PART, &key(0), |_, value| {
            let part = decode_part(0, value)?;
            visits.point(part.x, part.y);
            Ok(true)
        })
    }

    fn reference(&mut self, from: u32, to: u32) -> Result<Part, ClientError> {
        let mut leads = false;
        self.connections(from, |link| leads |= link.to == to)?;
        if leads { self.read(to) } else { Err(Self::missing(to)) }
    }

    fn group(&mut self, id: u32, visits: &mut Visits) -> Result<(), ClientError> {
        self.connections(id, |link| visits.link(&link))
    }

    fn insert(&mut self, new: &NewPart) -> Result<(), ClientError> {
        self.add_part(&new.part)?;
        let mut places = new.to.iter().enumerate();
        places.try_for_each(|(place, row)| self.add_connection(place, row))
    }

    fn update(&mut self, id: u32, build_sum_s: i64) -> Result<(), ClientError> {
        let table = self.store.own[PART];
        let writer = self.store.writer()?;
        let value = writer.get(table, &key(id))?.ok_or_else(|| Self::missing(id))?;
        let (before_s, part) = (decode_build(value)?, decode_part(id, value)?);
        let mut turned = value.to_vec();
        turned[..8].copy_from_slice(&(build_sum_s - before_s).to_le_bytes());
        turned[8..12].copy_from_slice(&(X_MAX - part.x).to_le_bytes());
        turned[12..16].copy_from_slice(&(X_MAX - part.y).to_le_bytes());
        writer.put(table, &key(id), &turned)?;
        self.store.remove_build(before_s, id)?;
        self.store.add_build(build_sum_s - before_s, id)
    }

    fn remove(&mut self, ids: RangeInclusive<u32>) -> Result<(), ClientError> {
        let [part, to, from] = self.store.own;
        // The writer's own reads see one value of a key; the connections are read as they are
        // committed, which those of the parts to be removed are.
        self.store.begin()?;
        for id in ids {
            let mut targets = Vec::with_capacity(3);
            self.store.reader().values(CURSOR_OWN + TO, &key(id), |run| {
                let run: &[[u8; TO_BYTES]] = run.as_chunks().0;
                let target = |bytes: &[u8; TO_BYTES]| (bytes[0], decode_to(id, bytes).to);
                targets.extend(run.iter().map(target));
            })?;
            let writer = self.store.writer()?;
            let value = writer.get(part, &key(id))?.ok_or_else(|| Self::missing(id))?;
            let build_s = decode_build(value)?;
            for (place, target) in targets {
                writer.remove(from, &key(target), Some(&encode_from(place.into(), id)))?;
            }
            writer.remove(to, &key(id), None)?;
            writer.remove(part, &key(id), None)?;
            self.store.remove_build(build_s, id)?;
        }
        self.store.end();
        Ok(())
    }

    #[inline(never)]
    fn nothing(&mut self) -> Result<(), ClientError> {
        std::hint::black_box(self);
        Ok(())
    }

    fn empty(&mut self) -> Result<(), ClientError> {
        self.store.empty()
    }

    fn constant(&mut self) -> Result<i32, ClientError> {
        self.store.constant()
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        self.store.size_bytes()
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        self.store.terms()
    }
}
