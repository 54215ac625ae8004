//! The expected answer of each measure: a plain evaluation of the generated database in memory.
//!
//! It shares the null procedure's checksum with the loops, since that is what an answer is, and
//! nothing else: no driver, no loop, no index of an engine.

use std::collections::BTreeMap;
use std::ops::Range;

use loadstone_datasets::oo1::{Connection, Database, NewPart, Part as Row};

use crate::oo1::Measure;
use crate::oo1::loops::{BUILD_SUM_S, DEPTH};
use crate::oo1::part::{Kind, Link, Part};
use crate::oo1::visits::Visits;

/// Largest x and y.
const PLACE_MAX: i32 = 99_999;

/// The generated database in arrays, where number n stands at n − 1.
pub struct Oracle {
    database: Database,
    parts: Vec<Row>,
    outgoing: Vec<[Connection; 3]>,
    incoming: Vec<Vec<u32>>,
    by_build: Vec<(i64, u32)>,
}

impl Oracle {
    /// Generate the whole database; some 150 bytes a part.
    pub fn new(database: Database) -> Self {
        let parts: Vec<Row> = database.part_range(1..database.parts + 1).collect();
        let connections: Vec<Connection> =
            database.connection_range(0..database.connection_count()).collect();
        let outgoing: Vec<[Connection; 3]> =
            connections.chunks_exact(3).map(|three| [three[0], three[1], three[2]]).collect();
        let mut incoming = vec![Vec::new(); parts.len()];
        for connection in &connections {
            incoming[connection.to as usize - 1].push(connection.from);
        }
        let mut by_build: Vec<(i64, u32)> =
            parts.iter().map(|part| (part.build_s, part.id)).collect();
        by_build.sort_unstable();
        Self { database, parts, outgoing, incoming, by_build }
    }

    /// Visits and checksum of one iteration of a measure; `None` for a rung of the ladder.
    pub fn expected(&self, measure: Measure, iteration: u32) -> Option<(u64, u64)> {
        let database = &self.database;
        let mut visits = Visits::default();
        match measure {
            Measure::Lookup | Measure::LookupBatch => {
                let ids = database.lookup_ids(iteration);
                for id in ids {
                    visits.part(&self.part(id));
                }
            }
            Measure::Traversal | Measure::TraversalBatch => {
                self.levels(database.start(iteration), &mut visits, |id| {
                    self.outgoing[id as usize - 1].iter().map(|to| to.to).collect()
                });
            }
            Measure::Reverse | Measure::ReverseBatch => {
                self.levels(database.reverse_start(iteration), &mut visits, |id| {
                    self.incoming[id as usize - 1].clone()
                });
            }
            Measure::Ordered => self.in_order(database.start(iteration), DEPTH, &mut visits),
            Measure::Range => {
                let (first_s, end_s) = database.build_range(iteration);
                self.built(first_s..end_s, &BTreeMap::new(), &mut visits);
            }
            Measure::Scan => self.parts.iter().for_each(|part| visits.point(part.x, part.y)),
            Measure::Reference => {
                for number in database.reference_numbers(iteration) {
                    let three = &self.outgoing[number as usize / 3];
                    visits.part(&self.part(three[number as usize % 3].to));
                }
            }
            Measure::Group => {
                for id in database.group_ids(iteration) {
                    self.outgoing[id as usize - 1].iter().for_each(|to| visits.link(&link(to)));
                }
            }
            Measure::Insert => self.inserted(&database.new_parts(iteration), &mut visits),
            Measure::Update => self.updated(&database.update_ids(iteration), &mut visits),
            Measure::Nothing | Measure::Empty | Measure::Constant => return None,
        }
        Some((visits.count, visits.checksum))
    }

    fn part(&self, id: u32) -> Part {
        part(&self.parts[id as usize - 1])
    }

    /// Level by level, every path kept.
    fn levels(&self, start: u32, visits: &mut Visits, next: impl Fn(u32) -> Vec<u32>) {
        let mut level = vec![start];
        for depth in 0..=DEPTH {
            for id in &level {
                visits.part(&self.part(*id));
            }
            if depth < DEPTH {
                level = level.iter().flat_map(|&id| next(id)).collect();
            }
        }
    }

    fn in_order(&self, id: u32, depth: u32, visits: &mut Visits) {
        visits.part_in_order(&self.part(id));
        if depth > 0 {
            let mut three = self.outgoing[id as usize - 1];
            three.sort_unstable_by_key(|to| (to.length, to.to));
            for to in three {
                self.in_order(to.to, depth - 1, visits);
            }
        }
    }

    /// Parts built in a range, where some are added or are not as they were.
    fn built(&self, build_s: Range<i64>, changed: &BTreeMap<u32, Row>, visits: &mut Visits) {
        let first = self.by_build.partition_point(|(at_s, _)| *at_s < build_s.start);
        let end = self.by_build.partition_point(|(at_s, _)| *at_s < build_s.end);
        for (_, id) in &self.by_build[first..end] {
            if !changed.contains_key(id) {
                visits.part(&self.part(*id));
            }
        }
        for row in changed.values().filter(|row| build_s.contains(&row.build_s)) {
            visits.part(&part(row));
        }
    }

    /// The new parts by id and by build time, their connections, and the neighbours both ways.
    fn inserted(&self, new_parts: &[NewPart], visits: &mut Visits) {
        let added: BTreeMap<u32, Row> =
            new_parts.iter().map(|new| (new.part.id, new.part)).collect();
        let find = |id: u32| added.get(&id).map_or_else(|| self.part(id), part);
        for new in new_parts {
            visits.part(&part(&new.part));
            self.built(new.part.build_s..new.part.build_s + 1, &added, visits);
            for to in &new.to {
                visits.link(&link(to));
                visits.part(&find(to.to));
                let old = self.incoming.get(to.to as usize - 1).into_iter().flatten().copied();
                let all = new_parts.iter().flat_map(|new| &new.to);
                let young = all.filter(|other| other.to == to.to).map(|other| other.from);
                old.chain(young).for_each(|id| visits.part(&find(id)));
            }
        }
    }

    /// The parts by id, by the build time that they had, and by the one that they have.
    fn updated(&self, ids: &[u32], visits: &mut Visits) {
        let mut changed = BTreeMap::new();
        for id in ids {
            let row = changed.entry(*id).or_insert(self.parts[*id as usize - 1]);
            row.x = PLACE_MAX - row.x;
            row.y = PLACE_MAX - row.y;
            row.build_s = BUILD_SUM_S - row.build_s;
        }
        for id in ids {
            visits.part(&part(&changed[id]));
            let before_s = self.parts[*id as usize - 1].build_s;
            for build_s in [before_s, BUILD_SUM_S - before_s] {
                self.built(build_s..build_s + 1, &changed, visits);
            }
        }
    }
}

fn part(row: &Row) -> Part {
    Part { id: row.id, x: row.x, y: row.y, kind: Kind::of(row.kind) }
}

fn link(to: &Connection) -> Link {
    Link { from: to.from, to: to.to, length: to.length, kind: Kind::of(to.kind) }
}
