//! Every combination of rows that fulfils some conditions.
//!
//! The largest set of rows (after the conditions on one slot alone) is run through; each further
//! slot is looked up by a hash index on its equalities with the slots before it, or, where there
//! is none, run through as well. Combinations are handed on one by one and never stored.

use super::keys::KeyHasher;
use super::terms::Frame;
use super::{Evaluated, VALUES_HELD_MAX};
use crate::check::resolved::{SlotSet, Term};
use crate::error::Fault;
use crate::tree::{BinaryOperator, Span};
use std::collections::HashSet;
use std::hash::BuildHasherDefault;

/// A function called for each combination: the current row of each slot.
pub(super) type Each<'e> = dyn FnMut(&[u32], &mut Meter) -> Evaluated<()> + 'e;

/// Counts what a statement costs, and stops it in time.
#[derive(Debug)]
pub(super) struct Meter {
    combinations: u64,
    combinations_max: u64,
    held: u64,
}

impl Meter {
    pub fn new(combinations_max: u64) -> Self {
        Self { combinations: 0, combinations_max, held: 0 }
    }

    /// One more row or combination of rows is looked at.
    #[inline]
    fn look(&mut self) -> Evaluated<()> {
        self.combinations += 1;
        if self.combinations <= self.combinations_max {
            return Ok(());
        }
        Err(too_many_combinations(self.combinations_max))
    }

    /// One more value is kept in memory.
    #[inline]
    pub fn hold(&mut self) -> Evaluated<()> {
        self.held += 1;
        if self.held <= VALUES_HELD_MAX { Ok(()) } else { Err(too_many_values()) }
    }
}

#[cold]
fn too_many_combinations(combinations_max: u64) -> Fault {
    let message = format!("more than {combinations_max} combinations of tuples to look at");
    Fault::new(Span::default(), message)
        .expecting("join the range variables by equalities, or take smaller relations")
}

#[cold]
fn too_many_values() -> Fault {
    let message = format!("more than {VALUES_HELD_MAX} values to keep in memory");
    Fault::new(Span::default(), message).expecting("take smaller relations")
}

/// Keys met so far.
#[derive(Default)]
pub(super) struct Seen {
    keys: HashSet<u128, BuildHasherDefault<KeyHasher>>,
}

impl Seen {
    /// Whether the key is new.
    pub fn insert(&mut self, key: u128, meter: &mut Meter) -> Evaluated<bool> {
        let is_new = self.keys.insert(key);
        if is_new {
            meter.hold()?;
        }
        Ok(is_new)
    }
}

/// A plan for one scope.
pub(super) struct Search<'a> {
    frame: &'a Frame<'a>,
    steps: Vec<Step<'a>>,
}

/// One slot of the plan.
struct Step<'a> {
    slot: usize,
    candidates: Candidates,
    /// Conditions that can be decided once this slot has a row.
    conditions: Vec<&'a Term>,
    /// The hash index, and the terms to look up in it.
    index: Option<(Index, Vec<&'a Term>)>,
}

/// The rows of one slot that its own conditions leave.
enum Candidates {
    All(u32),
    Some(Vec<u32>),
}

impl Candidates {
    fn len(&self) -> usize {
        match self {
            Self::All(count) => *count as usize,
            Self::Some(rows) => rows.len(),
        }
    }

    #[inline]
    fn row(&self, position: usize) -> u32 {
        match self {
            Self::All(_) => position as u32,
            Self::Some(rows) => rows[position],
        }
    }
}

impl<'a> Search<'a> {
    /// None where a condition without variables, or one on a single slot, leaves nothing.
    pub fn new(
        frame: &'a Frame<'a>,
        slots: SlotSet,
        conditions: &'a [Term],
        meter: &mut Meter,
    ) -> Evaluated<Option<Self>> {
        let rows = vec![0; frame.slot_count()];
        for condition in conditions.iter().filter(|condition| condition.slots() == 0) {
            if frame.truth(condition, &rows)? != Some(true) {
                return Ok(None);
            }
        }
        let mut open = Vec::new();
        for slot in (0..frame.slot_count()).filter(|slot| slots & (1 << slot) != 0) {
            let candidates = select(frame, slot, conditions, meter)?;
            if candidates.len() == 0 {
                return Ok(None);
            }
            open.push((slot, candidates));
        }
        let mut search = Self { frame, steps: Vec::new() };
        let mut pending: Vec<&Term> =
            conditions.iter().filter(|one| one.slots().count_ones() > 1).collect();
        let mut bound: SlotSet = 0;
        while let Some(next) = next_slot(&open, bound, &pending) {
            let (slot, candidates) = open.swap_remove(next);
            let index = search.index(slot, &candidates, bound, &pending)?;
            bound |= 1 << slot;
            let (ready, later) = pending.into_iter().partition(|one| one.slots() & !bound == 0);
            pending = later;
            search.steps.push(Step { slot, candidates, conditions: ready, index });
        }
        Ok(Some(search))
    }

    /// An index of a slot's candidates on its equalities with the slots bound before it.
    fn index(
        &self,
        slot: usize,
        candidates: &Candidates,
        bound: SlotSet,
        pending: &[&'a Term],
    ) -> Evaluated<Option<(Index, Vec<&'a Term>)>> {
        let equalities = pending.iter().filter_map(|one| equality(one, slot, bound));
        let (own, others): (Vec<_>, Vec<_>) = equalities.unzip();
        if own.is_empty() {
            return Ok(None);
        }
        Ok(Some((Index::new(self.frame, slot, candidates, &own)?, others)))
    }

    pub fn run(&self, meter: &mut Meter, each: &mut Each<'_>) -> Evaluated<()> {
        let mut rows = vec![0; self.frame.slot_count()];
        self.descend(0, &mut rows, meter, each)
    }

    fn descend(
        &self,
        depth: usize,
        rows: &mut [u32],
        meter: &mut Meter,
        each: &mut Each<'_>,
    ) -> Evaluated<()> {
        let Some(step) = self.steps.get(depth) else { return each(rows, meter) };
        let Some((index, terms)) = &step.index else {
            for position in 0..step.candidates.len() {
                rows[step.slot] = step.candidates.row(position);
                self.consider(depth, rows, meter, each)?;
            }
            return Ok(());
        };
        let mut entry = index.first(hash(self.frame, terms, rows)?);
        while entry != Index::NONE {
            rows[step.slot] = step.candidates.row(entry as usize);
            self.consider(depth, rows, meter, each)?;
            entry = index.next[entry as usize];
        }
        Ok(())
    }

    #[inline]
    fn consider(
        &self,
        depth: usize,
        rows: &mut [u32],
        meter: &mut Meter,
        each: &mut Each<'_>,
    ) -> Evaluated<()> {
        meter.look()?;
        for condition in &self.steps[depth].conditions {
            if self.frame.truth(condition, rows)? != Some(true) {
                return Ok(());
            }
        }
        self.descend(depth + 1, rows, meter, each)
    }
}

/// The rows of a slot that fulfil all conditions on it alone.
fn select(
    frame: &Frame<'_>,
    slot: usize,
    conditions: &[Term],
    meter: &mut Meter,
) -> Evaluated<Candidates> {
    let own: Vec<_> = conditions.iter().filter(|one| one.slots() == 1 << slot).collect();
    let count = frame.rows(slot) as u32;
    if own.is_empty() {
        return Ok(Candidates::All(count));
    }
    let mut rows = vec![0; frame.slot_count()];
    let mut kept = Vec::new();
    'rows: for row in 0..count {
        meter.look()?;
        rows[slot] = row;
        for condition in &own {
            if frame.truth(condition, &rows)? != Some(true) {
                continue 'rows;
            }
        }
        kept.push(row);
    }
    Ok(Candidates::Some(kept))
}

/// Which open slot comes next: first the one with the most rows, so that indexes are built on
/// the smaller ones; then the smallest that an equality connects, else the smallest of all.
fn next_slot(open: &[(usize, Candidates)], bound: SlotSet, pending: &[&Term]) -> Option<usize> {
    let rows = |number: &usize| open[*number].1.len();
    if bound == 0 {
        return (0..open.len()).max_by_key(rows);
    }
    let connected = |number: &usize| {
        let slot = open[*number].0;
        pending.iter().any(|one| equality(one, slot, bound).is_some())
    };
    (0..open.len()).filter(connected).min_by_key(rows).or((0..open.len()).min_by_key(rows))
}

/// (term of the slot alone, term of bound slots) if the condition equates two such.
fn equality(condition: &Term, slot: usize, bound: SlotSet) -> Option<(&Term, &Term)> {
    let Term::Compare { operator: BinaryOperator::Equal, left, right } = condition else {
        return None;
    };
    [(left, right), (right, left)].into_iter().find_map(|(own, other)| {
        let fits = own.slots() == 1 << slot && other.slots() != 0 && other.slots() & !bound == 0;
        fits.then_some((own.as_ref(), other.as_ref()))
    })
}

fn hash(frame: &Frame<'_>, terms: &[&Term], rows: &[u32]) -> Evaluated<u64> {
    let mut hash = 0_u64;
    for term in terms {
        hash = hash.rotate_left(23).wrapping_mul(5) ^ frame.value(term, rows)?.hash();
    }
    Ok(hash)
}

/// Chained hash table over the positions of some candidates. Different keys may share a chain:
/// the equalities are among the step's conditions, and are decided there.
struct Index {
    heads: Vec<u32>,
    next: Vec<u32>,
}

impl Index {
    const NONE: u32 = u32::MAX;

    fn new(
        frame: &Frame<'_>,
        slot: usize,
        candidates: &Candidates,
        terms: &[&Term],
    ) -> Evaluated<Self> {
        let count = candidates.len();
        let mut heads = vec![Self::NONE; (2 * count).next_power_of_two()];
        let mut next = vec![Self::NONE; count];
        let mut rows = vec![0; frame.slot_count()];
        // Backwards, so that each chain is in the order of the rows.
        for position in (0..count).rev() {
            rows[slot] = candidates.row(position);
            let bucket = hash(frame, terms, &rows)? as usize & (heads.len() - 1);
            next[position] = heads[bucket];
            heads[bucket] = position as u32;
        }
        Ok(Self { heads, next })
    }

    #[inline]
    fn first(&self, hash: u64) -> u32 {
        self.heads[hash as usize & (self.heads.len() - 1)]
    }
}
