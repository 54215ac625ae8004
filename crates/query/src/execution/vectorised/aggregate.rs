//! Feeding an aggregation: partitions of a batch, then one aggregate after another.

use loadstone_quel::check::resolved::Type;
use loadstone_quel::tree::Span;

use super::condition::Condition;
use super::kernels::Kernels;
use super::pack::Packer;
use super::rows::{ROWS_MAX, Rows, Selection};
use super::value::Computed;
use crate::aggregate::{OfRun, Partitions};
use crate::error::Result;
use crate::execution::{Packed, State};
use crate::expression::Expr;
use crate::plan::Update;
use crate::table::{has_real, hash_tuples};
use crate::tuple::HASH_SEED;

/// Integers from 0 to below this have a place of their own by value, without a hash.
const DIRECT_MAX: usize = 1 << 16;

/// The values that a pipeline computes for its aggregation.
pub(super) struct Feed {
    keys: Keys,
    updates: Vec<Updated>,
    /// The partition of each row of the batch.
    partitions: Vec<u32>,
    selection: Selection,
    kernels: &'static Kernels,
}

enum Keys {
    /// No by-values.
    None,
    /// One integer that is never null; the partition of each small value, plus one.
    Integer { by: Computed, direct: Vec<u32> },
    /// Any but reals, as a tuple.
    Tuple { packer: Packer, tuples: Vec<u8>, hashes: Vec<u64> },
    /// Some reals, of which equal ones may differ in their bytes.
    Values(Vec<Computed>),
}

struct Updated {
    aggregate: usize,
    argument: Computed,
    condition: Option<Condition>,
}

impl Feed {
    /// For these by-values and updates.
    pub fn new(by: &[Expr], updates: &[Update], into: &Partitions, state: &State<'_>) -> Self {
        let prepare = |update: &Update| Updated {
            aggregate: update.aggregate,
            argument: Computed::new(&update.argument, state),
            condition: update.condition.as_ref().map(|expr| Condition::new(expr, state)),
        };
        let mut computed = by.iter().map(|expr| Computed::new(expr, state));
        let keys = match (computed.next(), computed.next()) {
            (None, _) => Keys::None,
            (Some(by), None)
                if by.type_() == Type::Integer && into.by().fields[0].null_at.is_none() =>
            {
                Keys::Integer { by, direct: Vec::new() }
            }
            _ if has_real(&into.by().fields) => {
                Keys::Values(by.iter().map(|expr| Computed::new(expr, state)).collect())
            }
            _ => {
                let (values, layout) = (by.to_vec(), into.by().clone());
                let form = Packed { values, layout, span: Span::default() };
                let packer = Packer::new(&form, state);
                Keys::Tuple { packer, tuples: Vec::new(), hashes: Vec::new() }
            }
        };
        let updates = updates.iter().map(prepare).collect();
        let (partitions, kernels) = (vec![0; ROWS_MAX], Kernels::of(state.simd));
        Self { keys, updates, partitions, selection: Vec::new(), kernels }
    }

    /// Count the selected rows in.
    ///
    /// # Errors
    ///
    /// Of a row for which a value cannot be computed, and of the memory's budget.
    pub fn take(
        &mut self,
        rows: &Rows,
        into: &mut Partitions,
        state: &mut State<'_>,
    ) -> Result<()> {
        state.work.hash_probes += into.probes_of(rows.selection.len());
        self.find_partitions(rows, into, state)?;
        // Values of partitions that are away are reported one by one.
        let some_away = into.has_aside();
        for update in &mut self.updates {
            self.selection.clone_from(&rows.selection);
            if let Some(condition) = &mut update.condition {
                condition
                    .filter(rows, &mut self.selection, &mut state.work)
                    .map_err(|fault| state.evaluation(fault))?;
            }
            let accumulator = into.accumulator(update.aggregate);
            let of_run = accumulator.of_run().filter(|_| matches!(self.keys, Keys::None));
            if of_run == Some(OfRun::Count) && update.argument.is_never_null_column() {
                accumulator.add_run(0, self.selection.len(), 0);
                continue;
            }
            let values = update
                .argument
                .compute(rows, &self.selection)
                .map_err(|fault| state.evaluation(fault))?;
            if values.type_ == Type::Integer && !values.may_be_null() {
                let is_whole = self.selection.len() == rows.len && rows.len > 0;
                if let (Some(of_run), true) = (of_run, is_whole) {
                    let values = &values.integers[..rows.len];
                    let of_run = match of_run {
                        OfRun::Count => 0,
                        OfRun::Sum => self.kernels.sum(values),
                        OfRun::Least => self.kernels.least(values).into(),
                        OfRun::Greatest => self.kernels.greatest(values).into(),
                    };
                    self.kernels.count(&mut state.work);
                    accumulator.add_run(0, values.len(), of_run);
                    continue;
                }
                if !some_away {
                    let (partitions, integers) = (&self.partitions, &values.integers);
                    accumulator.add_integers(partitions, integers, &self.selection)?;
                    continue;
                }
            }
            for row in self.selection.iter().map(|row| usize::from(*row)) {
                let partition = self.partitions[row] as usize;
                into.update(partition, update.aggregate, values.value(row))?;
            }
        }
        if some_away { into.settle() } else { Ok(()) }
    }

    fn find_partitions(
        &mut self,
        rows: &Rows,
        into: &mut Partitions,
        state: &mut State<'_>,
    ) -> Result<()> {
        let partitions = &mut self.partitions;
        match &mut self.keys {
            Keys::None => {}
            Keys::Integer { by, direct } => {
                let values = by.compute(rows, &rows.selection);
                let values = &values.map_err(|fault| state.evaluation(fault))?.integers;
                for row in rows.selection.iter().map(|row| usize::from(*row)) {
                    let known = direct.get(values[row] as usize).copied().unwrap_or(0);
                    partitions[row] = match known.checked_sub(1) {
                        Some(known) => known,
                        None => find_integer(values[row], direct, into)?,
                    };
                }
            }
            Keys::Tuple { packer, tuples, hashes } => {
                packer
                    .pack(rows, &rows.selection, tuples)
                    .map_err(|fault| state.evaluation(fault))?;
                hashes.clear();
                hash_tuples(tuples, packer.bytes(), &into.by().fields, hashes);
                for hash in &*hashes {
                    into.prefetch(*hash);
                }
                let keys = tuples.chunks_exact(packer.bytes()).zip(hashes);
                for ((key, hash), row) in keys.zip(&rows.selection) {
                    partitions[usize::from(*row)] = into.partition_of(key, *hash)? as u32;
                }
            }
            Keys::Values(by) => find_by_values(by, rows, partitions, into, state)?,
        }
        Ok(())
    }
}

fn find_by_values(
    by: &mut [Computed],
    rows: &Rows,
    partitions: &mut [u32],
    into: &mut Partitions,
    state: &mut State<'_>,
) -> Result<()> {
    let mut vectors = Vec::with_capacity(by.len());
    for computed in by {
        let values = computed.compute(rows, &rows.selection);
        vectors.push(values.map_err(|fault| state.evaluation(fault))?);
    }
    let mut values = Vec::with_capacity(vectors.len());
    for row in rows.selection.iter().map(|row| usize::from(*row)) {
        values.clear();
        values.extend(vectors.iter().map(|vector| vector.value(row)));
        partitions[row] = into.partition(&values)? as u32;
    }
    Ok(())
}

/// The partition of an integer that has none by value yet.
fn find_integer(value: i64, direct: &mut Vec<u32>, into: &mut Partitions) -> Result<u32> {
    let field = &into.by().fields[0];
    let bytes = crate::tuple::width(field.kind);
    let key = value.to_le_bytes();
    let hash = crate::tuple::hash_integer(HASH_SEED, value);
    let partition = into.partition_of(&key[..bytes], hash)? as u32;
    // A negative value is beyond all places.
    if let Ok(at) = usize::try_from(value)
        && at < DIRECT_MAX
        && !Partitions::is_away(partition as usize)
    {
        if direct.len() <= at {
            direct.resize((at + 1).next_power_of_two(), 0);
        }
        direct[at] = partition + 1;
    }
    Ok(partition)
}
