//! The running totals of one aggregate's partitions.

use std::cmp::Ordering;

use loadstone_quel::error::Fault;
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::{AggregateFunction, Span};

use super::WHAT;
use super::seen::Seen;
use crate::error::Result;
use crate::memory::{Memory, Reservation};
use crate::tuple::{self, Field, Value};

/// One aggregate, with a place for each partition.
#[derive(Debug)]
pub struct Accumulator {
    function: AggregateFunction,
    totals: Totals,
    /// The values that each partition has had, for `countu`, `sumu`, `avgu`.
    seen: Option<Seen>,
    reservation: Reservation,
    partitions_max: usize,
}

/// The totals of a partition's values.
#[derive(Debug)]
enum Totals {
    /// Their number.
    Counts(Vec<i64>),
    /// The number, and their sum: of integers so wide that no number of them overflows it.
    Sums { counts: Vec<i64>, wholes: Vec<i128>, reals: Vec<f64>, is_real: bool },
    /// The least or greatest integer; `worst` before there is one.
    Integers { best: Vec<i64>, is_set: Vec<bool>, worst: i64 },
    /// The least or greatest real.
    Reals { best: Vec<f64>, is_set: Vec<bool> },
    /// The least or greatest text, of at most so many bytes.
    Texts { best: Vec<Box<[u8]>>, is_set: Vec<bool>, width: usize },
}

/// The part of many integers that an aggregate needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfRun {
    /// Nothing but how many they are.
    Count,
    /// Their sum.
    Sum,
    /// The least.
    Least,
    /// The greatest.
    Greatest,
}

impl Totals {
    /// The bytes of a partition.
    fn bytes(&self) -> usize {
        match self {
            Self::Counts(_) => 8,
            Self::Sums { .. } => 32,
            Self::Integers { .. } | Self::Reals { .. } => 9,
            Self::Texts { width, .. } => 17 + width,
        }
    }

    fn add_partition(&mut self) {
        match self {
            Self::Counts(counts) => counts.push(0),
            Self::Sums { counts, wholes, reals, .. } => {
                counts.push(0);
                wholes.push(0);
                reals.push(0.0);
            }
            Self::Integers { best, is_set, worst } => {
                best.push(*worst);
                is_set.push(false);
            }
            Self::Reals { best, is_set } => {
                best.push(0.0);
                is_set.push(false);
            }
            Self::Texts { best, is_set, .. } => {
                best.push(Box::default());
                is_set.push(false);
            }
        }
    }
}

impl Accumulator {
    /// For an aggregate whose result goes to that field.
    /// The values that are counted once have a memory of their own, if any.
    pub(super) fn new(
        function: AggregateFunction,
        field: &Field,
        memory: &Memory,
        seen: Option<Seen>,
    ) -> Self {
        use AggregateFunction as F;
        let totals = match (function, field.kind) {
            (F::Count | F::CountU | F::Any, _) => Totals::Counts(Vec::new()),
            (F::Sum | F::SumU | F::Avg | F::AvgU, _) => Totals::Sums {
                counts: Vec::new(),
                wholes: Vec::new(),
                reals: Vec::new(),
                is_real: false,
            },
            (_, Kind::Integer { .. }) => {
                let worst = if function == F::Min { i64::MAX } else { i64::MIN };
                Totals::Integers { best: Vec::new(), is_set: Vec::new(), worst }
            }
            (_, Kind::Real { .. }) => Totals::Reals { best: Vec::new(), is_set: Vec::new() },
            (_, Kind::Text { width }) => {
                Totals::Texts { best: Vec::new(), is_set: Vec::new(), width }
            }
        };
        let reservation = memory.reservation(WHAT);
        Self { function, totals, seen, reservation, partitions_max: 0 }
    }

    /// Room for one partition more; false if the budget has none.
    pub(super) fn try_reserve(&mut self) -> bool {
        let len = match &self.totals {
            Totals::Counts(counts) | Totals::Sums { counts, .. } => counts.len(),
            Totals::Integers { is_set, .. }
            | Totals::Reals { is_set, .. }
            | Totals::Texts { is_set, .. } => is_set.len(),
        };
        if len == self.partitions_max {
            let more = len.max(64);
            if !self.reservation.try_add((more * self.totals.bytes()) as u64) {
                return false;
            }
            self.partitions_max += more;
        }
        true
    }

    /// A place for one partition more, for which there is room.
    pub(super) fn add_partition(&mut self) {
        self.totals.add_partition();
    }

    /// No more values come: count those in whose novelty had to be put aside.
    pub(super) fn finish(&mut self) -> Result<()> {
        let Some(seen) = self.seen.take() else { return Ok(()) };
        seen.finish(&mut |partition, value| self.count(partition, value))
    }

    /// Count a value in; a null counts nowhere.
    #[inline]
    pub fn add(&mut self, partition: usize, value: Value<'_>) -> Result<()> {
        if value == Value::Null {
            return Ok(());
        }
        if let Some(seen) = &mut self.seen
            && !seen.insert(partition, value)?
        {
            return Ok(());
        }
        self.count(partition, value);
        Ok(())
    }

    #[inline]
    fn count(&mut self, partition: usize, value: Value<'_>) {
        let wanted = match self.function {
            AggregateFunction::Min => Ordering::Less,
            _ => Ordering::Greater,
        };
        match (&mut self.totals, value) {
            (Totals::Counts(counts), _) => counts[partition] += 1,
            (Totals::Sums { counts, wholes, .. }, Value::Integer(value)) => {
                counts[partition] += 1;
                wholes[partition] += i128::from(value);
            }
            (Totals::Sums { counts, reals, is_real, .. }, value) => {
                counts[partition] += 1;
                reals[partition] += value.as_real();
                *is_real = true;
            }
            (Totals::Integers { best, is_set, .. }, Value::Integer(value)) => {
                if !is_set[partition] || value.cmp(&best[partition]) == wanted {
                    (best[partition], is_set[partition]) = (value, true);
                }
            }
            (Totals::Reals { best, is_set }, value) => {
                let value = value.as_real();
                if !is_set[partition] || tuple::compare_reals(value, best[partition]) == wanted {
                    (best[partition], is_set[partition]) = (value, true);
                }
            }
            (Totals::Texts { best, is_set, .. }, Value::Text(text)) => {
                if !is_set[partition] || tuple::compare_texts(text, &best[partition]) == wanted {
                    (best[partition], is_set[partition]) = (text.into(), true);
                }
            }
            // The planner gives a minimum the kind of its argument.
            (Totals::Integers { .. } | Totals::Texts { .. }, _) => {}
        }
    }

    /// Count in what another of the same aggregate has; `numbers` says which partition of this one
    /// each of the other's is.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    pub(super) fn merge(&mut self, numbers: &[usize], other: Self) -> Result<()> {
        if let Some(seen) = other.seen {
            return seen.each(&mut |partition, value| self.add(numbers[partition], value));
        }
        if let (
            Totals::Sums { counts, wholes, reals, is_real },
            Totals::Sums { counts: c, wholes: w, reals: r, is_real: has_reals },
        ) = (&mut self.totals, &other.totals)
        {
            *is_real |= *has_reals;
            for (at, &number) in numbers.iter().enumerate() {
                counts[number] += c[at];
                wholes[number] += w[at];
                reals[number] += r[at];
            }
            return Ok(());
        }
        for (at, &number) in numbers.iter().enumerate() {
            match (&mut self.totals, &other.totals) {
                (Totals::Counts(counts), Totals::Counts(others)) => counts[number] += others[at],
                // Of the best of each the best.
                (_, Totals::Integers { best, is_set, .. }) if is_set[at] => {
                    self.count(number, Value::Integer(best[at]));
                }
                (_, Totals::Reals { best, is_set }) if is_set[at] => {
                    self.count(number, Value::Real(best[at]));
                }
                (_, Totals::Texts { best, is_set, .. }) if is_set[at] => {
                    self.count(number, Value::Text(&best[at]));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The aggregate of a partition's values.
    pub(super) fn result(&self, partition: usize, span: Span) -> Result<Value<'_>, Fault> {
        use AggregateFunction as F;
        Ok(match &self.totals {
            Totals::Counts(counts) if self.function == F::Any => {
                Value::Integer(i64::from(counts[partition] > 0))
            }
            Totals::Counts(counts) => Value::Integer(counts[partition]),
            Totals::Sums { counts, .. } if counts[partition] == 0 => Value::Null,
            Totals::Sums { counts, wholes, reals, is_real } => {
                let (count, whole) = (counts[partition] as f64, wholes[partition]);
                match (self.function, *is_real) {
                    (F::Sum | F::SumU, false) => Value::Integer(to_integer(whole, span)?),
                    (F::Sum | F::SumU, true) => finite(reals[partition], span)?,
                    (_, false) => finite(whole as f64 / count, span)?,
                    (_, true) => finite(reals[partition] / count, span)?,
                }
            }
            Totals::Integers { is_set, .. }
            | Totals::Reals { is_set, .. }
            | Totals::Texts { is_set, .. }
                if !is_set[partition] =>
            {
                Value::Null
            }
            Totals::Integers { best, .. } => Value::Integer(best[partition]),
            Totals::Reals { best, .. } => Value::Real(best[partition]),
            Totals::Texts { best, .. } => Value::Text(&best[partition]),
        })
    }

    /// The part of many integers for one partition, none of them null, that
    /// [`Accumulator::add_run`] wants; None where it must see each.
    pub fn of_run(&self) -> Option<OfRun> {
        match &self.totals {
            _ if self.seen.is_some() => None,
            Totals::Counts(_) => Some(OfRun::Count),
            Totals::Sums { .. } => Some(OfRun::Sum),
            Totals::Integers { .. } if self.function == AggregateFunction::Min => {
                Some(OfRun::Least)
            }
            Totals::Integers { .. } => Some(OfRun::Greatest),
            Totals::Reals { .. } | Totals::Texts { .. } => None,
        }
    }

    /// Count so many integers for a partition in, one at least, of which
    /// [`Accumulator::of_run`] is this.
    pub fn add_run(&mut self, partition: usize, count: usize, of_run: i128) {
        match &mut self.totals {
            Totals::Counts(counts) => counts[partition] += count as i64,
            Totals::Sums { counts, wholes, .. } => {
                counts[partition] += count as i64;
                wholes[partition] += of_run;
            }
            Totals::Integers { .. } | Totals::Reals { .. } | Totals::Texts { .. } => {
                self.count(partition, Value::Integer(of_run as i64));
            }
        }
    }

    /// Count integers in, none of them null: `values[at]` for the partition `partitions[at]`, for
    /// each `at` of the selection.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    pub fn add_integers(
        &mut self,
        partitions: &[u32],
        values: &[i64],
        selection: &[u16],
    ) -> Result<()> {
        let pairs = selection.iter().map(|at| {
            let at = usize::from(*at);
            (partitions[at] as usize, values[at])
        });
        if self.seen.is_some() {
            for (partition, value) in pairs {
                self.add(partition, Value::Integer(value))?;
            }
            return Ok(());
        }
        match &mut self.totals {
            Totals::Counts(counts) => pairs.for_each(|(partition, _)| counts[partition] += 1),
            Totals::Sums { counts, wholes, .. } => pairs.for_each(|(partition, value)| {
                counts[partition] += 1;
                wholes[partition] += i128::from(value);
            }),
            Totals::Integers { best, is_set, .. } if self.function == AggregateFunction::Min => {
                pairs.for_each(|(partition, value)| {
                    best[partition] = best[partition].min(value);
                    is_set[partition] = true;
                });
            }
            Totals::Integers { best, is_set, .. } => pairs.for_each(|(partition, value)| {
                best[partition] = best[partition].max(value);
                is_set[partition] = true;
            }),
            Totals::Reals { .. } | Totals::Texts { .. } => {
                for (partition, value) in pairs {
                    self.add(partition, Value::Integer(value))?;
                }
            }
        }
        Ok(())
    }
}

fn to_integer(whole: i128, span: Span) -> Result<i64, Fault> {
    i64::try_from(whole).map_err(|_| {
        Fault::new(span, "the sum does not fit into 64 bits")
            .expecting("sum float8(…) where a rounded result will do")
    })
}

fn finite(value: f64, span: Span) -> Result<Value<'static>, Fault> {
    if value.is_finite() {
        return Ok(Value::Real(value));
    }
    Err(Fault::new(span, "the result is not a finite number")
        .expecting("it is too large, or the argument is outside the function's domain"))
}
