//! Aggregates: the groups of a partition, and one value for each.

use super::keys::Groups;
use super::search::{Meter, Seen};
use super::terms::{Frame, finite};
use super::{Evaluated, search};
use crate::answer::RowEncoder;
use crate::check::resolved::{Aggregate, Partition, Scope, Type};
use crate::error::Fault;
use crate::tree::AggregateFunction;
use crate::value::{OwnedValue, Value};
use std::cmp::Ordering;

/// Every combination of by-values that exists.
pub(super) fn groups(
    frame: &Frame<'_>,
    partition: &Partition,
    meter: &mut Meter,
) -> Evaluated<Groups> {
    let mut groups = Groups::default();
    let mut bytes = RowEncoder::default();
    let everything = Scope { slots: partition.slots, conditions: Vec::new() };
    search(frame, &everything, meter, &mut |rows, meter| {
        let key = frame.key(&partition.by, rows, &mut bytes)?;
        if groups.insert(key) {
            meter.hold()?;
        }
        Ok(())
    })?;
    Ok(groups)
}

/// The value of an aggregate for each of its groups; for a scalar aggregate, the only one.
pub(super) fn values(
    frame: &Frame<'_>,
    aggregate: &Aggregate,
    meter: &mut Meter,
) -> Evaluated<Vec<OwnedValue>> {
    let count = aggregate.partition.map_or(1, |number| frame.groups[number].len());
    let mut totals = vec![Total::default(); count];
    let mut bytes = RowEncoder::default();
    let mut seen = Seen::default();
    let by = aggregate.partition.map(|number| (&frame.groups[number], frame.by(number)));
    search(frame, &aggregate.scope, meter, &mut |rows, meter| {
        let group = match by {
            None => 0,
            Some((groups, by)) => {
                let key = frame.key(by, rows, &mut bytes)?;
                groups.find(key).expect("a partition holds every combination of by-values")
            }
        };
        let value = frame.value(&aggregate.argument, rows)?;
        if value == Value::Null {
            return Ok(());
        }
        if aggregate.function.removes_duplicates() {
            bytes.integer(group as i64);
            value.encode_exactly(&mut bytes);
            if !seen.insert(bytes.finish_key(), meter)? {
                return Ok(());
            }
        }
        totals[group].add(aggregate.function, value);
        Ok(())
    })?;
    totals.into_iter().map(|total| total.finish(aggregate)).collect()
}

/// The running totals of one group.
#[derive(Debug, Clone)]
struct Total {
    count: i64,
    /// Wide enough that no number of 64-bit integers overflows it.
    whole: i128,
    real: f64,
    best: OwnedValue,
}

impl Default for Total {
    fn default() -> Self {
        Self { count: 0, whole: 0, real: 0.0, best: OwnedValue::Null }
    }
}

impl Total {
    fn add(&mut self, function: AggregateFunction, value: Value<'_>) {
        self.count += 1;
        let better = match function {
            AggregateFunction::Min => Ordering::Less,
            AggregateFunction::Max => Ordering::Greater,
            _ => {
                match value {
                    Value::Integer(value) => self.whole += i128::from(value),
                    Value::Real(value) => self.real += value,
                    Value::Null | Value::Text(_) => {}
                }
                return;
            }
        };
        if self.count == 1 || value.compare(self.best.borrow()) == Some(better) {
            self.best = value.to_owned();
        }
    }

    fn finish(self, aggregate: &Aggregate) -> Evaluated<OwnedValue> {
        use AggregateFunction as F;
        let integers = aggregate.argument_type == Type::Integer;
        Ok(match aggregate.function {
            F::Count | F::CountU => OwnedValue::Integer(self.count),
            F::Any => OwnedValue::Integer(i64::from(self.count > 0)),
            F::Min | F::Max => self.best,
            F::Sum | F::SumU | F::Avg | F::AvgU if self.count == 0 => OwnedValue::Null,
            F::Sum | F::SumU if integers => {
                let whole = i64::try_from(self.whole).map_err(|_| {
                    Fault::new(aggregate.span, "the sum does not fit into 64 bits")
                        .expecting("sum float8(…) where a rounded result will do")
                })?;
                OwnedValue::Integer(whole)
            }
            F::Sum | F::SumU => finite(self.real, aggregate.span)?.to_owned(),
            F::Avg | F::AvgU => {
                let sum = if integers { self.whole as f64 } else { self.real };
                finite(sum / self.count as f64, aggregate.span)?.to_owned()
            }
        })
    }
}
