//! Pairs of tuples with equal keys from two sorted temporary relations.

use std::cmp::Ordering;
use std::sync::Arc;

use super::rows::{Push, ROWS_MAX, Rows};
use crate::error::Result;
use crate::execution::State;
use crate::sort::compare_keys;
use crate::temporary::{Position, Temporary};
use crate::tuple::{Field, Layout};

/// Two sorted relations.
pub(super) struct Merge {
    left: Side,
    right: Side,
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

    /// The next tuple whose key has no null, which is read and not taken; None at the end.
    fn peek(&mut self, state: &mut State<'_>) -> Result<Option<*const u8>> {
        loop {
            if self.at == self.batch.len() {
                state.check_cancelled()?;
                self.at = 0;
                if !self.temporary.next_batch(&mut self.position, &mut self.batch, ROWS_MAX)? {
                    return Ok(None);
                }
                state.work.tuples += self.batch.len() as u64;
            }
            let tuple = self.batch[self.at];
            let bytes = self.bytes(tuple);
            if self.key.iter().all(|field| field.null_at.is_none_or(|at| bytes[at] == 0)) {
                return Ok(Some(tuple));
            }
            self.at += 1;
        }
    }

    fn bytes(&self, tuple: *const u8) -> &[u8] {
        // SAFETY: the pointers are of tuples of `temporary`, of that length.
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
        Self { left: Side::new(left), right: Side::new(right) }
    }

    /// All pairs: for each run of equal keys on the right, each left tuple that has them.
    pub fn run(
        &mut self,
        out: &mut Rows,
        state: &mut State<'_>,
        push: &mut Push<'_>,
    ) -> Result<()> {
        // Tuples of temporary relations stay where they are, so a run is kept by its pointers.
        let mut run: Vec<*const u8> = Vec::new();
        out.clear();
        while let Some(left) = self.left.peek(state)? {
            let is_same = run.first().is_some_and(|first| self.compare(left, *first).is_eq());
            if !is_same && !self.find_run(left, &mut run, state)? {
                break;
            }
            for right in &run {
                out.slots[0].tuples.push(left);
                out.slots[1].tuples.push(*right);
                if out.slots[0].tuples.len() == ROWS_MAX {
                    flush(out, state, push)?;
                }
            }
            self.left.at += 1;
        }
        flush(out, state, push)
    }

    /// The right tuples with the key of a left one, maybe none; false where the right ones end
    /// before it.
    fn find_run(
        &mut self,
        left: *const u8,
        run: &mut Vec<*const u8>,
        state: &mut State<'_>,
    ) -> Result<bool> {
        run.clear();
        while let Some(right) = self.right.peek(state)? {
            state.work.comparisons += 1;
            match self.compare(left, right) {
                Ordering::Less => return Ok(true),
                Ordering::Equal => run.push(right),
                Ordering::Greater => {}
            }
            self.right.at += 1;
        }
        Ok(!run.is_empty())
    }

    fn compare(&self, left: *const u8, right: *const u8) -> Ordering {
        let (left, right) = (self.left.bytes(left), self.right.bytes(right));
        compare_keys(left, &self.left.key, right, &self.right.key)
    }
}

fn flush(out: &mut Rows, state: &mut State<'_>, push: &mut Push<'_>) -> Result<()> {
    out.select_all(out.slots[0].tuples.len());
    push(out, state)?;
    out.clear();
    Ok(())
}
