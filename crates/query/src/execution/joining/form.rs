//! The part of a row that later steps need, as a tuple: its slots' fields, record ids, and maybe a
//! hash.

use std::collections::BTreeSet;

use crate::expression::Expr;
use crate::plan::{Pack, Pipeline, Sink, Source, Step};
use crate::relation::Near;
use crate::tuple::{Layout, copy_tuple, width};

/// A row in a tuple.
#[derive(Debug)]
pub(in crate::execution) struct RowForm {
    pieces: Vec<Piece>,
    /// The slots whose record id is needed, and where it is put.
    ids: Vec<(usize, usize)>,
    /// The length of a slot's tuples, for each slot that is needed.
    pub slots: Vec<(usize, usize)>,
    bytes: usize,
    /// The place where the hash ends, which stands first: at the beginning where there is none.
    hash_end: usize,
}

/// Bytes of a slot's tuple.
#[derive(Debug)]
struct Piece {
    slot: usize,
    from: usize,
    bytes: usize,
    at: usize,
}

const HASH_BYTES: usize = 8;

/// Which bytes of which slots are read: from the first up to and without the second.
pub(in crate::execution) type Wanted = BTreeSet<(usize, usize, usize)>;

impl RowForm {
    /// Of the rows that reach a step of a pipeline.
    pub fn new(pipeline: &Pipeline, step: usize) -> Self {
        let filled = filled_before(pipeline, step);
        let (mut wanted, mut ids) = (Wanted::new(), BTreeSet::new());
        let mut reads = |expr: &Expr| columns(expr, &mut wanted, &mut ids);
        let mut is_cut = false;
        for one in &pipeline.steps[step..] {
            step_exprs(one, &mut reads);
            // Behind it rows have no other slots.
            is_cut |= matches!(one, Step::Distinct { .. });
            if is_cut {
                break;
            }
        }
        if !is_cut {
            sink_exprs(&pipeline.sink, &mut reads);
        }
        wanted.retain(|(slot, ..)| filled.contains(slot));
        ids.retain(|slot| filled.contains(slot));
        Self::of(&wanted, &ids, &pipeline.slots)
    }

    fn of(wanted: &Wanted, ids: &BTreeSet<usize>, layouts: &[Layout]) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut end = HASH_BYTES;
        for &(slot, from, to) in wanted {
            match pieces.last_mut() {
                Some(last) if last.slot == slot && last.from + last.bytes >= from => {
                    let bytes = (to - last.from).max(last.bytes);
                    end += bytes - last.bytes;
                    last.bytes = bytes;
                }
                _ => {
                    pieces.push(Piece { slot, from, bytes: to - from, at: end });
                    end += to - from;
                }
            }
        }
        let mut slots: Vec<_> = pieces.iter().map(|piece| piece.slot).collect();
        slots.dedup();
        let slots = slots.into_iter().map(|slot| (slot, layouts[slot].bytes)).collect();
        let id_bytes = size_of::<u64>();
        let ids: Vec<_> =
            ids.iter().zip(0..).map(|(slot, at)| (*slot, end + at * id_bytes)).collect();
        let bytes = end + ids.len() * id_bytes;
        Self { pieces, ids, slots, bytes, hash_end: HASH_BYTES }
    }

    /// The same without the hash, unless there is nothing else: for rows not divided again.
    #[must_use]
    pub fn without_hash(mut self) -> Self {
        if self.bytes > self.hash_end {
            self.pieces.iter_mut().for_each(|piece| piece.at -= self.hash_end);
            self.ids.iter_mut().for_each(|(_, at)| *at -= self.hash_end);
            self.bytes -= std::mem::take(&mut self.hash_end);
        }
        self
    }

    /// The length of such a tuple.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The tuple of a row: `slot` gives the first byte of a slot's tuple, `id` its record id.
    pub fn pack(
        &self,
        hash: u64,
        slot: impl Fn(usize) -> *const u8,
        id: impl Fn(usize) -> u64,
        into: &mut Vec<u8>,
    ) {
        into.resize(self.bytes, 0);
        into[..self.hash_end].copy_from_slice(&hash.to_le_bytes()[..self.hash_end]);
        for piece in &self.pieces {
            // SAFETY: the piece lies in fields of the slot's layout, and the pointer leads to a
            // whole tuple of it.
            #[expect(unsafe_code, reason = "tuples are read through pointers")]
            let bytes = unsafe {
                std::slice::from_raw_parts(slot(piece.slot).add(piece.from), piece.bytes)
            };
            copy_tuple(bytes, &mut into[piece.at..piece.at + piece.bytes]);
        }
        for (slot, at) in &self.ids {
            into[*at..*at + size_of::<u64>()].copy_from_slice(&id(*slot).to_le_bytes());
        }
    }

    /// The hash in such a tuple, of a form that has it.
    pub fn hash(tuple: &[u8]) -> u64 {
        u64::from_le_bytes(crate::tuple::array(tuple, 0))
    }

    /// Put what it has of a slot into a tuple of that slot.
    pub fn unpack(&self, tuple: &[u8], slot: usize, into: &mut [u8]) {
        for piece in self.pieces.iter().filter(|piece| piece.slot == slot) {
            let bytes = &tuple[piece.at..piece.at + piece.bytes];
            copy_tuple(bytes, &mut into[piece.from..piece.from + piece.bytes]);
        }
    }

    /// The record ids that it has: slots and ids.
    pub fn ids(&self, tuple: &[u8]) -> impl Iterator<Item = (usize, u64)> {
        let id = |at: usize| u64::from_le_bytes(crate::tuple::array(tuple, at));
        self.ids.iter().map(move |(slot, at)| (*slot, id(*at)))
    }
}

/// The slots that are filled when a row reaches a step.
fn filled_before(pipeline: &Pipeline, step: usize) -> BTreeSet<usize> {
    let mut filled = BTreeSet::new();
    slot_of(&pipeline.source, &mut filled);
    for one in &pipeline.steps[..step] {
        match one {
            Step::Filter(_) => {}
            Step::Loop(source) => slot_of(source, &mut filled),
            Step::Probe { slot, .. } | Step::ProbeGroups { slot, .. } => _ = filled.insert(*slot),
            Step::Distinct { slot, .. } => {
                filled.clear();
                filled.insert(*slot);
            }
        }
    }
    filled
}

/// The slots that a source fills.
fn slot_of(source: &Source, filled: &mut BTreeSet<usize>) {
    match source {
        Source::Once => {}
        Source::First { source, .. } => slot_of(source, filled),
        Source::Merge { .. } => filled.extend([0, 1]),
        Source::Scan { slot, .. }
        | Source::Range { slot, .. }
        | Source::Lookup { slot, .. }
        | Source::End { slot, .. }
        | Source::Temporary { slot, .. }
        | Source::Groups { slot, .. } => _ = filled.insert(*slot),
    }
}

/// Report the expressions that a source reads of earlier slots.
pub(in crate::execution) fn source_exprs(source: &Source, reads: &mut dyn FnMut(&Expr)) {
    match source {
        Source::First { source, condition } => {
            source_exprs(source, reads);
            condition.iter().for_each(reads);
        }
        Source::Range { low, high, .. } => low.iter().chain(high).for_each(|(key, _)| reads(key)),
        Source::Lookup { key, .. } => reads(key),
        Source::Scan { qualification, .. } => qualification.iter().for_each(reads),
        Source::Once
        | Source::End { .. }
        | Source::Temporary { .. }
        | Source::Groups { .. }
        | Source::Merge { .. } => {}
    }
}

pub(in crate::execution) fn step_exprs(step: &Step, reads: &mut dyn FnMut(&Expr)) {
    match step {
        Step::Filter(condition) => reads(condition),
        Step::Loop(source) => source_exprs(source, reads),
        Step::Probe { keys, .. } | Step::ProbeGroups { keys, .. } => keys.iter().for_each(reads),
        Step::Distinct { pack, .. } => pack.values.iter().for_each(reads),
    }
}

pub(in crate::execution) fn sink_exprs(sink: &Sink, reads: &mut dyn FnMut(&Expr)) {
    let of_pack = |pack: &Pack, reads: &mut dyn FnMut(&Expr)| pack.values.iter().for_each(reads);
    match sink {
        Sink::Rows(pack)
        | Sink::Store { pack, .. }
        | Sink::Append { pack, .. }
        | Sink::Build { pack, .. }
        | Sink::Materialise { pack, .. }
        | Sink::Sort { pack, .. } => of_pack(pack, reads),
        Sink::Replace { id, pack, .. } => {
            reads(id);
            of_pack(pack, reads);
        }
        Sink::Delete { id, .. } => reads(id),
        Sink::Aggregate { by, updates, .. } => {
            by.iter().for_each(&mut *reads);
            for update in updates {
                reads(&update.argument);
                update.condition.iter().for_each(&mut *reads);
            }
        }
    }
}

/// Of a stored relation's tuples, what is looked at first: by the condition that its access method
/// evaluates, or by the pipeline's first step, or by the aggregation that it feeds. Of a relation
/// that is only counted that is nothing: `is_count` says which aggregates count.
pub(in crate::execution) fn looked_at_first(
    pipeline: &Pipeline,
    is_count: impl Fn(usize) -> bool,
) -> Option<Near> {
    let Source::Scan { slot, qualification, .. } = &pipeline.source else { return None };
    let (mut wanted, mut ids) = (Wanted::new(), BTreeSet::new());
    let mut reads = |expr: &Expr| columns(expr, &mut wanted, &mut ids);
    match (qualification, pipeline.steps.first()) {
        (Some(condition), _) => reads(condition),
        (None, Some(step @ (Step::Filter(_) | Step::Probe { .. } | Step::ProbeGroups { .. }))) => {
            step_exprs(step, &mut reads);
        }
        (None, None) => match &pipeline.sink {
            Sink::Aggregate { by, updates, .. }
                if by.is_empty() && updates.iter().all(|update| is_count(update.aggregate)) =>
            {
                updates.iter().filter_map(|update| update.condition.as_ref()).for_each(reads);
            }
            sink @ Sink::Aggregate { .. } => sink_exprs(sink, &mut reads),
            _ => {}
        },
        // Whole tuples are requested when they are copied.
        _ => {}
    }
    near(&wanted, *slot)
}

/// As [`looked_at_first`], for one condition.
pub(in crate::execution) fn looked_at(condition: &Expr, slot: usize) -> Option<Near> {
    let (mut wanted, mut ids) = (Wanted::new(), BTreeSet::new());
    columns(condition, &mut wanted, &mut ids);
    near(&wanted, slot)
}

/// The first and the last byte of what is wanted of a slot.
fn near(wanted: &Wanted, slot: usize) -> Option<Near> {
    let of_slot = || wanted.iter().filter(|one| one.0 == slot);
    let first = of_slot().map(|(_, from, _)| *from).min()?;
    let last = of_slot().map(|(_, _, to)| to - 1).max()?;
    Some(Near(first, last))
}

/// Gather the columns and record ids that an expression reads of each slot.
pub(in crate::execution) fn columns(expr: &Expr, wanted: &mut Wanted, ids: &mut BTreeSet<usize>) {
    match expr {
        Expr::Integer(_)
        | Expr::Real(_)
        | Expr::Text(_)
        | Expr::Parameter { .. }
        | Expr::Scalar { .. } => {}
        Expr::Column { slot, field } => {
            wanted.insert((*slot, field.offset, field.offset + width(field.kind)));
            wanted.extend(field.null_at.map(|at| (*slot, at, at + 1)));
        }
        Expr::RecordId { slot } => _ = ids.insert(*slot),
        Expr::Not(operand)
        | Expr::Negate { operand, .. }
        | Expr::Match { text: operand, .. }
        | Expr::Call { argument: operand, .. } => columns(operand, wanted, ids),
        Expr::And(parts) | Expr::Or(parts) => {
            for part in parts {
                columns(part, wanted, ids);
            }
        }
        Expr::Compare { left, right, .. } | Expr::Arithmetic { left, right, .. } => {
            columns(left, wanted, ids);
            columns(right, wanted, ids);
        }
    }
}
