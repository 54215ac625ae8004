//! Values and truths of terms, for one combination of rows.

use super::keys::Groups;
use super::table::Table;
use super::{Evaluated, Relations, table};
use crate::answer::RowEncoder;
use crate::check::resolved::{AggregatePlace, Function, Partition, Slot, Step, Term};
use crate::equality::{as_integer, without_blanks};
use crate::error::Fault;
use crate::tree::{BinaryOperator, Span};
use crate::value::{OwnedValue, Value};
use std::cmp::Ordering;
use std::sync::Arc;

/// Everything that the terms of one statement refer to.
pub(super) struct Frame<'a> {
    sources: Vec<Source>,
    partitions: &'a [Partition],
    /// Filled before any aggregate is.
    pub groups: Vec<Groups>,
    /// The values of each aggregate, one for each group.
    pub aggregates: Vec<Vec<OwnedValue>>,
}

/// The range of a slot.
enum Source {
    Table(Arc<Table>),
    Partition(usize),
}

impl<'a> Frame<'a> {
    pub fn new(step: &'a Step, relations: &Relations) -> Self {
        let source = |slot: &Slot| match slot {
            Slot::Relation(name) => Source::Table(table(relations, name)),
            Slot::Partition(number) => Source::Partition(*number),
        };
        Self {
            sources: step.slots.iter().map(source).collect(),
            partitions: &step.partitions,
            groups: Vec::new(),
            aggregates: Vec::new(),
        }
    }

    /// Have the attributes kept that are looked at for every tuple: those of conditions, of
    /// aggregates and of by-lists.
    pub fn keep(&self, step: &Step) {
        let mut wanted: Vec<Vec<usize>> = vec![Vec::new(); self.sources.len()];
        let aggregated = step.aggregates.iter();
        let terms = (step.scope.conditions.iter())
            .chain(aggregated.clone().flat_map(|one| &one.scope.conditions))
            .chain(aggregated.map(|one| &one.argument))
            .chain(step.partitions.iter().flat_map(|one| &one.by));
        for term in terms {
            term.columns(&mut |slot, column| wanted[slot].push(column));
        }
        for (source, columns) in self.sources.iter().zip(&wanted) {
            if let Source::Table(table) = source {
                table.keep(columns);
            }
        }
    }

    pub fn slot_count(&self) -> usize {
        self.sources.len()
    }

    /// The by-list of a partition.
    pub fn by(&self, partition: usize) -> &'a [Term] {
        &self.partitions[partition].by
    }

    /// Rows that a slot runs over.
    pub fn rows(&self, slot: usize) -> usize {
        match &self.sources[slot] {
            Source::Table(table) => table.rows,
            Source::Partition(number) => self.groups[*number].len(),
        }
    }

    /// The value of a term; `rows` holds the current row of each slot.
    pub fn value<'v>(&'v self, term: &'v Term, rows: &[u32]) -> Evaluated<Value<'v>> {
        Ok(match term {
            Term::Column { slot, column } => match &self.sources[*slot] {
                Source::Table(table) => table.columns[*column].value(rows[*slot] as usize),
                Source::Partition(_) => Value::Null,
            },
            Term::Integer(value) => Value::Integer(*value),
            Term::Real(value) => Value::Real(*value),
            Term::Text(text) => Value::Text(text),
            Term::Aggregate { number, place, .. } => {
                self.aggregates[*number][self.group(*place, rows)?].borrow()
            }
            Term::Negate { operand, span } => negate(self.value(operand, rows)?, *span)?,
            Term::Arithmetic { operator, left, right, span } => {
                let (left, right) = (self.value(left, rows)?, self.value(right, rows)?);
                arithmetic(*operator, left, right, *span)?
            }
            Term::Call { function, argument, span } => {
                call(*function, self.value(argument, rows)?, *span)?
            }
            // The check lets no condition stand where a value is wanted, and no parameter that
            // has no value, as none has here.
            Term::Parameter { .. }
            | Term::Not(_)
            | Term::And(..)
            | Term::Or(..)
            | Term::Compare { .. }
            | Term::Match { .. } => Value::Null,
        })
    }

    /// Whether a condition holds; None where a null leaves it open.
    pub fn truth(&self, term: &Term, rows: &[u32]) -> Evaluated<Option<bool>> {
        Ok(match term {
            Term::Compare { operator, left, right } => {
                let ordering = self.value(left, rows)?.compare(self.value(right, rows)?);
                ordering.map(|ordering| holds(*operator, ordering))
            }
            Term::Match { text, pattern, negated } => match self.value(text, rows)? {
                Value::Text(text) => Some(pattern.matches(without_blanks(text)) != *negated),
                _ => None,
            },
            Term::Not(operand) => self.truth(operand, rows)?.map(|truth| !truth),
            Term::And(left, right) => match self.truth(left, rows)? {
                Some(false) => Some(false),
                left => match (left, self.truth(right, rows)?) {
                    (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                },
            },
            Term::Or(left, right) => match self.truth(left, rows)? {
                Some(true) => Some(true),
                left => match (left, self.truth(right, rows)?) {
                    (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                },
            },
            _ => None,
        })
    }

    fn group(&self, place: AggregatePlace, rows: &[u32]) -> Evaluated<usize> {
        Ok(match place {
            AggregatePlace::Scalar => 0,
            AggregatePlace::Slot(slot) => rows[slot] as usize,
            AggregatePlace::Linked { partition } => {
                let by = &self.partitions[partition].by;
                let key = self.key(by, rows, &mut RowEncoder::default())?;
                let group = self.groups[partition].find(key);
                group.expect("a partition holds every combination of by-values")
            }
        })
    }

    /// A key that is equal exactly for equal values of the terms.
    pub fn key(&self, terms: &[Term], rows: &[u32], bytes: &mut RowEncoder) -> Evaluated<u128> {
        for term in terms {
            self.value(term, rows)?.encode_exactly(bytes);
        }
        Ok(bytes.finish_key())
    }
}

fn holds(operator: BinaryOperator, ordering: Ordering) -> bool {
    match operator {
        BinaryOperator::Equal => ordering.is_eq(),
        BinaryOperator::NotEqual => ordering.is_ne(),
        BinaryOperator::Less => ordering.is_lt(),
        BinaryOperator::LessOrEqual => ordering.is_le(),
        BinaryOperator::Greater => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}

fn overflow(span: Span) -> Fault {
    Fault::new(span, "the integer result does not fit into 64 bits")
        .expecting("compute with float8(…) where a rounded result will do")
}

/// A real result, which must be a number.
pub(super) fn finite(value: f64, span: Span) -> Evaluated<Value<'static>> {
    if value.is_finite() {
        return Ok(Value::Real(value));
    }
    Err(Fault::new(span, "the result is not a finite number")
        .expecting("it is too large, or the argument is outside the function's domain"))
}

fn negate(value: Value<'_>, span: Span) -> Evaluated<Value<'static>> {
    Ok(match value {
        Value::Integer(value) => Value::Integer(value.checked_neg().ok_or_else(|| overflow(span))?),
        Value::Real(value) => Value::Real(-value),
        Value::Null | Value::Text(_) => Value::Null,
    })
}

fn arithmetic(
    operator: BinaryOperator,
    left: Value<'_>,
    right: Value<'_>,
    span: Span,
) -> Evaluated<Value<'static>> {
    use BinaryOperator as B;
    if left == Value::Null || right == Value::Null {
        return Ok(Value::Null);
    }
    if let (Value::Integer(left), Value::Integer(right), false) =
        (left, right, operator == B::Power)
    {
        let result = match operator {
            B::Add => left.checked_add(right),
            B::Subtract => left.checked_sub(right),
            B::Multiply => left.checked_mul(right),
            B::Divide | B::Modulo if right == 0 => {
                return Err(Fault::new(span, "division by zero"));
            }
            B::Divide => left.checked_div(right),
            // The least integer mod -1 is 0, though its quotient overflows.
            _ => Some(left.wrapping_rem(right)),
        };
        return result.map(Value::Integer).ok_or_else(|| overflow(span));
    }
    let (left, right) = (left.as_real(), right.as_real());
    finite(
        match operator {
            B::Add => left + right,
            B::Subtract => left - right,
            B::Multiply => left * right,
            B::Divide if right == 0.0 => return Err(Fault::new(span, "division by zero")),
            B::Divide => left / right,
            _ => left.powf(right),
        },
        span,
    )
}

fn call(function: Function, argument: Value<'_>, span: Span) -> Evaluated<Value<'static>> {
    let real = argument.as_real();
    let result = match function {
        _ if argument == Value::Null => return Ok(Value::Null),
        Function::Abs => {
            return match argument {
                Value::Integer(value) if value < 0 => negate(argument, span),
                Value::Integer(value) => Ok(Value::Integer(value)),
                _ => Ok(Value::Real(real.abs())),
            };
        }
        Function::ToInteger(bytes) => return to_integer(argument, bytes, span),
        Function::ToReal(4) => f64::from(real as f32),
        Function::ToReal(_) => real,
        Function::Atan => real.atan(),
        Function::Cos => real.cos(),
        Function::Exp => real.exp(),
        Function::Log => real.ln(),
        Function::Sin => real.sin(),
        Function::Sqrt => real.sqrt(),
    };
    finite(result, span)
}

fn to_integer(argument: Value<'_>, bytes: usize, span: Span) -> Evaluated<Value<'static>> {
    let whole = match argument {
        Value::Integer(value) => Some(value),
        other => as_integer(other.as_real().trunc()),
    };
    let largest = i64::MAX >> (64 - 8 * bytes);
    let fits = |value: &i64| (-largest - 1..=largest).contains(value);
    whole.filter(fits).map(Value::Integer).ok_or_else(|| {
        Fault::new(span, format!("the value does not fit into {bytes} bytes"))
            .expecting(format!("they hold {} to {largest}", -largest - 1))
    })
}
