//! The facts about the whole database that loading needs, kept by stretches of it, so that memory
//! does not grow with it.

use std::ops::Range;

use loadstone_datasets::oo1::{Connection, Database as Data, NewPart};

/// Parts of which references are held in memory at a time: some 4 MB.
pub const CHUNK_PARTS: u32 = 1 << 18;

/// The ids of all parts, by stretches.
pub fn chunks(database: &Data) -> impl Iterator<Item = Range<u32>> {
    let end = database.parts + 1;
    (1..end).step_by(CHUNK_PARTS as usize).map(move |first| first..end.min(first + CHUNK_PARTS))
}

/// The numbers of the connections that leave parts.
pub const fn numbers(ids: &Range<u32>) -> Range<u32> {
    3 * (ids.start - 1)..3 * (ids.end - 1)
}

/// Three connections, as the generator gives them.
pub fn three(connections: &mut impl Iterator<Item = Connection>) -> [Connection; 3] {
    [(); 3].map(|()| connections.next().expect("three connections leave each part"))
}

/// The connections that lead to the parts of a stretch, by their numbers.
pub struct Incoming {
    first: u32,
    ends: Vec<u32>,
    numbers: Vec<u32>,
}

impl Incoming {
    /// Of these parts.
    pub fn of(database: &Data, ids: &Range<u32>) -> Self {
        let all = || database.connection_range(0..database.connection_count()).zip(0_u32..);
        let place = |to: u32| ids.contains(&to).then(|| (to - ids.start) as usize);
        // Counts, shifted by two: sums of them are where each part's begin, and these move to where
        // they end while the numbers are filled in.
        let mut ends = vec![0; ids.len() + 2];
        for (connection, _) in all() {
            if let Some(place) = place(connection.to) {
                ends[place + 2] += 1;
            }
        }
        for place in 1..ends.len() {
            ends[place] += ends[place - 1];
        }
        let mut numbers = vec![0; ends.last().map_or(0, |&total: &u32| total as usize)];
        for (connection, number) in all() {
            if let Some(place) = place(connection.to) {
                numbers[ends[place + 1] as usize] = number;
                ends[place + 1] += 1;
            }
        }
        Self { first: ids.start, ends, numbers }
    }

    /// Of one of them, in the order of their numbers.
    pub fn to(&self, id: u32) -> &[u32] {
        let place = (id - self.first) as usize;
        &self.numbers[self.ends[place] as usize..self.ends[place + 1] as usize]
    }
}

/// For the connections of a stretch, the next connection with the same target.
pub struct Following {
    first: u32,
    next: Vec<u32>,
}

/// No connection has this number.
const NONE: u32 = u32::MAX;

impl Following {
    /// Of these connections.
    pub fn of(database: &Data, numbers: &Range<u32>) -> Self {
        let mut next = vec![NONE; numbers.len()];
        let mut latest = vec![NONE; database.parts as usize + 1];
        let behind = numbers.start..database.connection_count();
        for (connection, number) in database.connection_range(behind.clone()).zip(behind) {
            let latest = &mut latest[connection.to as usize];
            if *latest != NONE {
                next[(*latest - numbers.start) as usize] = number;
            }
            *latest = if numbers.contains(&number) { number } else { NONE };
        }
        Self { first: numbers.start, next }
    }

    /// Of one of them; `None` for the last.
    pub fn next(&self, number: u32) -> Option<u32> {
        Some(self.next[(number - self.first) as usize]).filter(|&next| next != NONE)
    }
}

/// Three connections of a new part, with their places.
pub fn placed(new: &NewPart) -> impl Iterator<Item = (u8, &Connection)> {
    (0..).zip(&new.to)
}
