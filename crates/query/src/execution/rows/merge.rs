//! The merge join: two sorted relations side by side, pairs of tuples with equal keys.

use std::cmp::Ordering;

use super::stage::Side;
use crate::error::Result;
use crate::execution::State;
use crate::sort::compare_keys;
use crate::tuple::Field;

/// What takes a pair.
type Take<'a, 's> = dyn FnMut(&mut State<'s>, &[u8], &[u8]) -> Result<()> + 'a;

/// Steps between two looks at whether the query was cancelled.
const BATCH: u64 = 1024;

/// Gives each pair of tuples with equal keys. A null equals nothing.
pub(super) fn pairs<'s>(
    left: &Side,
    right: &Side,
    state: &mut State<'s>,
    take: &mut Take<'_, 's>,
) -> Result<()> {
    let (mut lefts, mut rights) = (left.temporary.scan(), right.temporary.scan());
    let (mut left_tuple, mut right_tuple) = (lefts.next_tuple()?, rights.next_tuple()?);
    // The right tuples with the key at hand: each left one with it meets them all.
    let mut equals: Vec<&[u8]> = Vec::new();
    let mut steps = 0;
    while let (Some(one), Some(other)) = (left_tuple, right_tuple) {
        if steps % BATCH == 0 {
            state.check_cancelled()?;
        }
        steps += 1;
        state.work.comparisons += 1;
        match compare_keys(one, &left.key, other, &right.key) {
            Ordering::Less => left_tuple = lefts.next_tuple()?,
            Ordering::Greater => right_tuple = rights.next_tuple()?,
            // Nulls sort as equals, and are none.
            Ordering::Equal if has_null(one, &left.key) => left_tuple = lefts.next_tuple()?,
            Ordering::Equal => {
                equals.clear();
                while let Some(next) = right_tuple
                    && compare_keys(one, &left.key, next, &right.key).is_eq()
                {
                    state.work.comparisons += 1;
                    equals.push(next);
                    right_tuple = rights.next_tuple()?;
                }
                while let Some(next) = left_tuple
                    && compare_keys(next, &left.key, equals[0], &right.key).is_eq()
                {
                    state.work.comparisons += 1;
                    for equal in &equals {
                        take(state, next, equal)?;
                    }
                    left_tuple = lefts.next_tuple()?;
                }
            }
        }
    }
    state.work.tuples += (left.temporary.len() + right.temporary.len()) as u64;
    Ok(())
}

fn has_null(tuple: &[u8], key: &[Field]) -> bool {
    key.iter().any(|field| field.null_at.is_some_and(|at| tuple[at] != 0))
}
