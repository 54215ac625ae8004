//! Sorted runs in the file of the statement, and their merge by a tree of losers (Knuth, The Art of
//! Computer Programming 3, section 5.4.1): one comparison for each level, and each with the tuple
//! that lost there.

use std::cmp::Ordering;

use super::{WHAT, compare_keys, prefix, rest_of};
use crate::error::Result;
use crate::memory::{Memory, Reservation};
use crate::spill::{Run, RunReader, RunWriter, Spill};
use crate::temporary::Temporary;
use crate::tuple::Field;

/// Runs that are merged at a time, at least: with fewer nothing would come to an end.
const MERGED_MIN: u64 = 2;

/// Tuples between two looks at whether to go on.
const TUPLES_CHECKED: usize = 8192;

/// Sorted runs, earlier tuples in earlier ones.
#[derive(Debug)]
pub(super) struct Runs {
    spill: Spill,
    memory: Memory,
    tuple_bytes: usize,
    /// The bytes of a writer's or a reader's buffer.
    buffer_bytes: u64,
    sorted: Vec<Run>,
    /// Room for the buffer of a writer and the fewest readers.
    buffers: Reservation,
}

impl Runs {
    pub fn new(spill: &Spill, tuple_bytes: usize, memory: &Memory) -> Result<Self> {
        let buffer_bytes = Run::buffer_bytes(spill, tuple_bytes);
        let mut buffers = memory.reservation(WHAT);
        buffers.add((MERGED_MIN + 1) * buffer_bytes)?;
        let (spill, memory) = (spill.clone(), memory.clone());
        Ok(Self { spill, memory, tuple_bytes, buffer_bytes, sorted: Vec::new(), buffers })
    }

    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    fn writer(&self) -> Result<RunWriter> {
        RunWriter::new(&self.spill, self.tuple_bytes, self.memory.reservation(WHAT))
    }

    /// One run more.
    pub fn write<'t>(
        &mut self,
        tuples: impl Iterator<Item = &'t [u8]>,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        self.buffers.give_back(self.buffer_bytes);
        let mut writer = self.writer()?;
        for (number, tuple) in tuples.enumerate() {
            writer.push(tuple)?;
            if number.is_multiple_of(TUPLES_CHECKED) {
                check()?;
            }
        }
        self.sorted.push(writer.finish()?);
        self.buffers.add(self.buffer_bytes)
    }

    /// All in one order, of which as many at a time are merged as there are buffers for.
    pub fn merge(
        mut self,
        key: &[Field],
        unique: bool,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Temporary> {
        self.buffers.give_back(self.buffers.bytes());
        while self.sorted.len() > 1 {
            let left = self.memory.budget_bytes().saturating_sub(self.memory.used_bytes());
            let at_once = (left / self.buffer_bytes).saturating_sub(1).max(MERGED_MIN) as usize;
            let mut merged = Vec::new();
            let mut open = std::mem::take(&mut self.sorted).into_iter().peekable();
            while open.peek().is_some() {
                let group: Vec<Run> = open.by_ref().take(at_once).collect();
                merged.push(self.merged(group, key, unique, check)?);
            }
            self.sorted = merged;
        }
        let run = self.sorted.pop().expect("there is at least one");
        self.buffers.add(2 * self.buffer_bytes)?;
        Ok(Temporary::spilled(run, self.buffers))
    }

    fn merged(
        &self,
        mut group: Vec<Run>,
        key: &[Field],
        unique: bool,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Run> {
        if group.len() == 1 {
            return Ok(group.pop().expect("it has one"));
        }
        let mut tree = LoserTree::new(key);
        for run in group {
            tree.add(RunReader::new(run, self.memory.reservation(WHAT))?)?;
        }
        tree.build();
        let mut writer = self.writer()?;
        let mut last: Option<Vec<u8>> = None;
        let mut count = 0_usize;
        while let Some(tuple) = tree.winner() {
            let is_again = unique
                && last.as_ref().is_some_and(|last| compare_keys(last, key, tuple, key).is_eq());
            if !is_again {
                writer.push(tuple)?;
                if unique {
                    let last = last.get_or_insert_default();
                    last.clear();
                    last.extend_from_slice(tuple);
                }
            }
            count += 1;
            if count.is_multiple_of(TUPLES_CHECKED) {
                check()?;
            }
            tree.advance()?;
        }
        writer.finish()
    }
}

/// The least of the next tuples of several runs.
struct LoserTree<'k> {
    key: &'k [Field],
    /// The fields that decide where prefixes are equal.
    rest: &'k [Field],
    leaves: Vec<Leaf>,
    /// Of each inner node, the leaf that lost there.
    losers: Vec<usize>,
    winner: usize,
}

struct Leaf {
    reader: RunReader,
    /// Of the next tuple; None at the end.
    prefix: Option<u64>,
}

impl<'k> LoserTree<'k> {
    fn new(key: &'k [Field]) -> Self {
        Self { key, rest: rest_of(key), leaves: Vec::new(), losers: Vec::new(), winner: 0 }
    }

    fn add(&mut self, reader: RunReader) -> Result<()> {
        self.leaves.push(Leaf { reader, prefix: None });
        self.next(self.leaves.len() - 1)
    }

    /// Have the leaves play against each other: inner node 1 is the root, and below n are 2n and
    /// 2n + 1.
    fn build(&mut self) {
        self.losers = vec![0; self.leaves.len()];
        self.winner = self.play(1);
    }

    fn play(&mut self, node: usize) -> usize {
        if node >= self.leaves.len() {
            return node - self.leaves.len();
        }
        let (left, right) = (self.play(2 * node), self.play(2 * node + 1));
        let (winner, loser) =
            if self.is_before(left, right) { (left, right) } else { (right, left) };
        self.losers[node] = loser;
        winner
    }

    /// Of equal tuples that of the earlier run comes first.
    fn is_before(&self, one: usize, other: usize) -> bool {
        let (left, right) = (&self.leaves[one], &self.leaves[other]);
        let (Some(left_prefix), Some(right_prefix)) = (left.prefix, right.prefix) else {
            return left.prefix.is_some();
        };
        let ordering = left_prefix.cmp(&right_prefix).then_with(|| {
            if self.rest.is_empty() {
                return Ordering::Equal;
            }
            compare_keys(left.reader.tuple(), self.rest, right.reader.tuple(), self.rest)
        });
        ordering.then(one.cmp(&other)).is_lt()
    }

    /// The least tuple; None at the end.
    fn winner(&self) -> Option<&[u8]> {
        let leaf = &self.leaves[self.winner];
        leaf.prefix.map(|_| leaf.reader.tuple())
    }

    fn next(&mut self, leaf: usize) -> Result<()> {
        let leaf = &mut self.leaves[leaf];
        let is_there = leaf.reader.advance()?;
        let first = self.key.first();
        leaf.prefix = is_there.then(|| first.map_or(0, |field| prefix(leaf.reader.tuple(), field)));
        Ok(())
    }

    /// The winner's run goes on, and its next tuple plays its way up.
    fn advance(&mut self) -> Result<()> {
        self.next(self.winner)?;
        let mut winner = self.winner;
        let mut node = usize::midpoint(winner, self.leaves.len());
        while node > 0 {
            if self.is_before(self.losers[node], winner) {
                std::mem::swap(&mut self.losers[node], &mut winner);
            }
            node /= 2;
        }
        self.winner = winner;
        Ok(())
    }
}
