//! The inputs of the measures: random parts, connections and dates, the same for every engine.
//!
//! Each iteration of each measure has a stretch of the generator's cycle to itself. Iterations are
//! counted from 0; after the 4,096th the numbers come again.

use super::database::{
    BUILD_FIRST_S, BUILD_SPAN_S, Connection, Database, MEASURES_STREAM, Part, draw_part,
};
use super::random::{CYCLE_DRAWS, ParkMiller};

/// Parts of a lookup, and of each of its relatives, for which the paper gives no number.
pub const LOOKUPS: usize = 1_000;

/// Parts of an insert, committed together; also of an update.
pub const NEW_PARTS: usize = 100;

/// Length of a range lookup's range.
pub const BUILD_RANGE_S: u32 = 10 * 86_400;

/// Draws that one iteration may make.
const ITERATION_DRAWS: u64 = 1 << 12;

/// Iterations with numbers of their own.
const ITERATIONS: u64 = 1 << 12;

/// A measure's place among the measures' streams.
#[derive(Clone, Copy)]
enum Measure {
    Lookup,
    Traversal,
    ReverseTraversal,
    Insert,
    RangeLookup,
    ReferenceLookup,
    GroupLookup,
    Update,
}

const MEASURES: u64 = Measure::Update as u64 + 1;
const _: () = assert!(MEASURES_STREAM + MEASURES * ITERATIONS * ITERATION_DRAWS <= CYCLE_DRAWS);

/// A part to insert, with its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPart {
    /// The part; the client's null procedure passes its x and y on.
    pub part: Part,
    /// Its connections, to parts that exist when it does.
    pub to: [Connection; 3],
}

impl Database {
    /// Lookup: 1,000 parts.
    pub fn lookup_ids(&self, iteration: u32) -> Vec<u32> {
        self.ids(Measure::Lookup, iteration, LOOKUPS)
    }

    /// Traversal: the part it starts from.
    pub fn start(&self, iteration: u32) -> u32 {
        self.stream(Measure::Traversal, iteration).draw(self.parts)
    }

    /// Reverse traversal: the part it starts from.
    pub fn reverse_start(&self, iteration: u32) -> u32 {
        self.stream(Measure::ReverseTraversal, iteration).draw(self.parts)
    }

    /// Insert: 100 parts N+1 … N+100, each to be inserted with its connections before the next.
    pub fn new_parts(&self, iteration: u32) -> Vec<NewPart> {
        self.new_parts_after(self.parts, iteration)
    }

    /// Insert where `existing` parts are there already, for inserts in a row without a restore
    /// between them. The rule's N stays the size of the database as loaded, so that near parts are
    /// the N/100 before the new one; the other tenth is drawn from all parts before it.
    pub fn new_parts_after(&self, existing: u32, iteration: u32) -> Vec<NewPart> {
        let mut stream = self.stream(Measure::Insert, iteration);
        (existing + 1..)
            .take(NEW_PARTS)
            .map(|id| NewPart {
                part: draw_part(&mut stream, id),
                to: std::array::from_fn(|_| self.draw_connection(&mut stream, id, id - 1)),
            })
            .collect()
    }

    /// Range lookup: ten days, the first second and the one after the last, as [`Part::build_s`].
    pub fn build_range(&self, iteration: u32) -> (i64, i64) {
        let mut stream = self.stream(Measure::RangeLookup, iteration);
        let offset_s = stream.draw(BUILD_SPAN_S - BUILD_RANGE_S + 1) - 1;
        let first_s = BUILD_FIRST_S + i64::from(offset_s);
        (first_s, first_s + i64::from(BUILD_RANGE_S))
    }

    /// Reference lookup (from a connection to its part): 1,000 connections by number, from 0.
    pub fn reference_numbers(&self, iteration: u32) -> Vec<u32> {
        let mut stream = self.stream(Measure::ReferenceLookup, iteration);
        (0..LOOKUPS).map(|_| stream.draw(self.connection_count()) - 1).collect()
    }

    /// Group lookup (from a part to its connections): 1,000 parts.
    pub fn group_ids(&self, iteration: u32) -> Vec<u32> {
        self.ids(Measure::GroupLookup, iteration, LOOKUPS)
    }

    /// Update: 100 parts; one may come twice.
    pub fn update_ids(&self, iteration: u32) -> Vec<u32> {
        self.ids(Measure::Update, iteration, NEW_PARTS)
    }

    fn ids(&self, measure: Measure, iteration: u32, count: usize) -> Vec<u32> {
        let mut stream = self.stream(measure, iteration);
        (0..count).map(|_| stream.draw(self.parts)).collect()
    }

    fn stream(&self, measure: Measure, iteration: u32) -> ParkMiller {
        let stretch = measure as u64 * ITERATIONS + u64::from(iteration) % ITERATIONS;
        ParkMiller::new(self.seed).skip(MEASURES_STREAM + stretch * ITERATION_DRAWS)
    }
}
