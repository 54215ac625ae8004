//! Pairs of tuples with equal keys from two sorted temporary relations, for all executors.
//!
//! Tuples of a spilled relation are in memory only until its next batch. So a run of equal keys on
//! the right that goes on in the next batch is copied, and where it is so long that copies would
//! not fit, its rest is read again for each left tuple.

use std::cmp::Ordering;
use std::sync::Arc;

use loadstone_quel::schema::Kind;

use super::State;
use crate::error::Result;
use crate::sort::compare_keys;
use crate::temporary::{Position, Temporary};
use crate::tuple::{Field, Layout, read_integer};

/// Tuples that are read at a time.
const BATCH: usize = 1024;

/// Bytes of a run that are copied at most.
const COPIED_BYTES_MAX: usize = 64 << 10;

/// A receiver of pairs.
pub(super) trait Pairs {
    /// A left tuple and a right one, of the lengths of their relations.
    fn take(&mut self, left: *const u8, right: *const u8, state: &mut State<'_>) -> Result<()>;

    /// The pointers taken so far are good no longer.
    fn settle(&mut self, state: &mut State<'_>) -> Result<()>;
}

/// Two sorted relations.
pub(super) struct Merge {
    left: Side,
    right: Side,
    /// The place where each side's key lies, and its bytes, if it is one integer that is never
    /// null.
    integers: Option<[(usize, usize); 2]>,
    run: Run,
}

/// The right tuples with the key at hand.
#[derive(Default)]
struct Run {
    tuples: Vec<*const u8>,
    /// Those of them that were in an earlier batch.
    copies: Vec<u8>,
    /// The numbers of the others: from the first up to and without the second.
    rest: Option<(usize, usize)>,
    /// Whether the pointers lead to copies, and not to the right side's batch.
    is_copied: bool,
}

/// One of them, with the tuples that were read and are not done with.
struct Side {
    temporary: Arc<Temporary>,
    key: Vec<Field>,
    position: Position,
    batch: Vec<*const u8>,
    at: usize,
}

impl Side {
    fn new((temporary, key, layout): (Arc<Temporary>, &[usize], &Layout)) -> Self {
        let key = key.iter().map(|at| layout.fields[*at].clone()).collect();
        Self { temporary, key, position: Position::default(), batch: Vec::new(), at: 0 }
    }

    /// The place where its key lies, and its bytes, if it is one integer that is never null.
    fn integer(&self) -> Option<(usize, usize)> {
        match &self.key[..] {
            [Field { kind: Kind::Integer { bytes }, null_at: None, offset, .. }] => {
                Some((*offset, *bytes))
            }
            _ => None,
        }
    }

    /// Whether the tuple at hand is the last one that was read.
    fn is_at_end(&self) -> bool {
        self.at == self.batch.len()
    }

    fn read(&mut self, state: &mut State<'_>) -> Result<bool> {
        state.check_cancelled()?;
        self.at = 0;
        let is_there = self.temporary.next_batch(&mut self.position, &mut self.batch, BATCH)?;
        state.work.tuples += self.batch.len() as u64;
        Ok(is_there)
    }

    /// The tuple at hand, unless its key has a null, which equals nothing.
    fn tuple(&self) -> Option<*const u8> {
        let tuple = self.batch[self.at];
        let bytes = self.bytes(tuple);
        let is_whole = |field: &Field| field.null_at.is_none_or(|at| bytes[at] == 0);
        self.key.iter().all(is_whole).then_some(tuple)
    }

    /// The number of the tuple at hand, of a relation that is in a file.
    fn number(&self) -> usize {
        self.position.number() - self.batch.len() + self.at
    }

    fn bytes(&self, tuple: *const u8) -> &[u8] {
        // SAFETY: the pointers are of whole tuples of `temporary` in the batch at hand, or copies.
        #[expect(unsafe_code, reason = "tuples are read through pointers")]
        unsafe {
            std::slice::from_raw_parts(tuple, self.temporary.tuple_bytes())
        }
    }
}

impl Merge {
    /// Of these relations, each with its key's fields and its layout.
    pub fn new(
        left: (Arc<Temporary>, &[usize], &Layout),
        right: (Arc<Temporary>, &[usize], &Layout),
    ) -> Self {
        let (left, right) = (Side::new(left), Side::new(right));
        let integers = left.integer().zip(right.integer()).map(<[_; 2]>::from);
        Self { left, right, integers, run: Run::default() }
    }

    /// All pairs: for each run of equal keys on the right, each left tuple that has them.
    pub fn run(&mut self, pairs: &mut dyn Pairs, state: &mut State<'_>) -> Result<()> {
        loop {
            if self.left.is_at_end() {
                if self.left.temporary.is_spilled() {
                    pairs.settle(state)?;
                }
                if !self.left.read(state)? {
                    break;
                }
            }
            if let Some(left) = self.left.tuple() {
                let first = self.run.tuples.first();
                let is_same = first.is_some_and(|first| self.compare(left, *first).is_eq());
                if !is_same && !self.find_run(left, pairs, state)? {
                    break;
                }
                for right in &self.run.tuples {
                    pairs.take(left, *right, state)?;
                }
                self.rest(left, pairs, state)?;
            }
            self.left.at += 1;
        }
        pairs.settle(state)
    }

    /// The right tuples with the key of a left one, maybe none; false where the right ones end
    /// before it.
    fn find_run(
        &mut self,
        left: *const u8,
        pairs: &mut dyn Pairs,
        state: &mut State<'_>,
    ) -> Result<bool> {
        if std::mem::take(&mut self.run.is_copied) {
            pairs.settle(state)?;
        }
        self.run.tuples.clear();
        self.run.copies.clear();
        self.run.rest = None;
        loop {
            if self.right.is_at_end() {
                if self.right.temporary.is_spilled() {
                    pairs.settle(state)?;
                    self.copy_run();
                }
                if !self.right.read(state)? {
                    return Ok(!self.run.tuples.is_empty());
                }
            }
            if let Some(right) = self.right.tuple() {
                state.work.comparisons += 1;
                match self.compare(left, right) {
                    Ordering::Less => return Ok(true),
                    Ordering::Equal => self.add_to_run(right),
                    Ordering::Greater => {}
                }
            }
            self.right.at += 1;
        }
    }

    fn add_to_run(&mut self, right: *const u8) {
        match &mut self.run.rest {
            Some((_, end)) => *end = self.right.number() + 1,
            None => self.run.tuples.push(right),
        }
    }

    /// Keep the run's tuples, which lie in a batch that goes. Where that are too many, those of the
    /// batches still to come are its rest.
    fn copy_run(&mut self) {
        let bytes = self.right.temporary.tuple_bytes();
        let Run { tuples, copies, rest, is_copied } = &mut self.run;
        if tuples.is_empty() || rest.is_some() {
            return;
        }
        let copied = copies.len() / bytes.max(1);
        for tuple in &tuples[copied..] {
            copies.extend_from_slice(self.right.bytes(*tuple));
        }
        *is_copied = true;
        tuples.clear();
        tuples.extend(copies.chunks_exact(bytes).map(<[u8]>::as_ptr));
        if copies.len() > COPIED_BYTES_MAX {
            let next = self.right.position.number();
            *rest = Some((next, next));
        }
    }

    /// A left tuple with those right ones that are not in memory.
    fn rest(&self, left: *const u8, pairs: &mut dyn Pairs, state: &mut State<'_>) -> Result<()> {
        let Some((begin, end)) = self.run.rest.filter(|(begin, end)| begin < end) else {
            return Ok(());
        };
        let (mut position, mut batch) = (Position::of_spilled(begin), Vec::new());
        let mut left_over = end - begin;
        while left_over > 0 {
            state.check_cancelled()?;
            let many = BATCH.min(left_over);
            if !self.right.temporary.next_batch(&mut position, &mut batch, many)? {
                break;
            }
            state.work.tuples += batch.len() as u64;
            left_over -= batch.len();
            for right in &batch {
                pairs.take(left, *right, state)?;
            }
            pairs.settle(state)?;
        }
        Ok(())
    }

    fn compare(&self, left: *const u8, right: *const u8) -> Ordering {
        let (left, right) = (self.left.bytes(left), self.right.bytes(right));
        if let Some([(left_at, left_bytes), (right_at, right_bytes)]) = self.integers {
            let key = read_integer(left, left_at, left_bytes);
            return key.cmp(&read_integer(right, right_at, right_bytes));
        }
        compare_keys(left, &self.left.key, right, &self.right.key)
    }
}
