//! The inputs of the operations: random parts, titles and assemblies, the same for every engine.
//!
//! The draws are those that follow the database's own and those of the composite parts to insert.
//! Each iteration of each operation has a stretch of them to itself.

use std::ops::RangeInclusive;

use super::database::Database;
use super::tree;
use crate::oo1::random::ParkMiller;

/// Atomic parts that query 1 looks up.
pub const LOOKUPS: usize = 10;

/// Titles that query 4 looks up; some copies of the original program have 100.
pub const TITLES: usize = 10;

/// Composite parts that an insert makes, each for one base assembly, as the original program has
/// it. The paper is said to have five, each for ten base assemblies.
pub const NEW_COMPOSITES: u32 = 10;

/// Draws that one iteration may make.
const ITERATION_DRAWS: u64 = 1 << 7;

/// Iterations with draws of their own; after the last, the first come again.
const ITERATIONS: u64 = 1 << 12;

#[derive(Clone, Copy)]
enum Operation {
    Lookup,
    PartsUsers,
    Titles,
    Insert,
    Path,
}

impl Database {
    /// Query 1: ten atomic parts by id.
    pub fn lookup_ids(&self, iteration: u32) -> Vec<u32> {
        let mut stream = self.stream(Operation::Lookup, iteration);
        (0..LOOKUPS).map(|_| stream.draw(self.part_count())).collect()
    }

    /// Traversal 7: the atomic part that it starts from.
    pub fn start(&self, iteration: u32) -> u32 {
        self.stream(Operation::PartsUsers, iteration).draw(self.part_count())
    }

    /// Query 4: ten composite parts, whose documents' titles are looked up.
    pub fn titled(&self, iteration: u32) -> Vec<u32> {
        let mut stream = self.stream(Operation::Titles, iteration);
        (0..TITLES).map(|_| stream.draw(self.composite_count())).collect()
    }

    /// Ids of the composite parts to insert. They are made as the others are, by the draws that
    /// follow.
    pub fn new_composites(&self) -> RangeInclusive<u32> {
        self.composite_count() + 1..=self.composite_count() + NEW_COMPOSITES
    }

    /// The base assembly that each of them becomes a private component of.
    pub fn receivers(&self, iteration: u32) -> Vec<u32> {
        let mut stream = self.stream(Operation::Insert, iteration);
        self.new_composites().map(|_| stream.draw(self.modules * tree::BASE)).collect()
    }

    /// The operations of several users: which child to go on to, from 0, at each complex assembly
    /// on the way from the root to a base assembly.
    pub fn path(&self, iteration: u32) -> Vec<u32> {
        let mut stream = self.stream(Operation::Path, iteration);
        (1..tree::LEVELS).map(|_| stream.draw(tree::CHILDREN) - 1).collect()
    }

    fn stream(&self, operation: Operation, iteration: u32) -> ParkMiller {
        let stretch = operation as u64 * ITERATIONS + u64::from(iteration) % ITERATIONS;
        let first = self.before_composite(self.new_composites().end() + 1);
        ParkMiller::new(self.seed).skip(first + stretch * ITERATION_DRAWS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_of_the_database_and_differ_by_iteration() {
        let database = Database::new(1_000, 3, 0).unwrap();
        for iteration in 0..50 {
            let within = |ids: &[u32], most: u32| ids.iter().all(|id| (1..=most).contains(id));
            assert!(within(&database.lookup_ids(iteration), 1_000));
            assert!(within(&[database.start(iteration)], 1_000));
            assert!(within(&database.titled(iteration), 500));
            let receivers = database.receivers(iteration);
            assert!(receivers.len() == 10 && within(&receivers, 729));
            let path = database.path(iteration);
            assert!(path.len() == 6 && path.iter().all(|&child| child < 3));
        }
        assert_ne!(database.lookup_ids(1), database.lookup_ids(2));
        assert_ne!(database.path(1), database.path(2));
        assert_eq!(database.lookup_ids(1), database.lookup_ids(1 + ITERATIONS as u32));
    }

    /// Inserted objects go on where the database ends: its ids, its draws, its own graph.
    #[test]
    fn new_composite_parts_are_made_as_the_others_are() {
        let database = Database::new(1_000, 3, 0).unwrap();
        let mut draws = database.draws();
        assert_eq!(database.new_composites(), 501..=510);
        assert!(database.composite(&mut draws, 510).build_date >= 2_000);
        let root = database.root_part(501);
        assert_eq!((root, database.part(&mut draws, root).composite), (1_001, 501));
        let connection = database.connection(&mut draws, 3_000);
        assert_eq!((connection.from, connection.to), (1_001, 1_002));
    }
}
