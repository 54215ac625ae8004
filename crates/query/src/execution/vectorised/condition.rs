//! Conditions: a selection in, a smaller one out.
//!
//! A row stays where its condition is true; false and open (by a null) are alike. So `not` is
//! driven inwards, to comparisons, where it keeps open what is open. Of a conjunction each part
//! sees only the rows that the earlier ones left, of a disjunction those that the earlier ones did
//! not take: an error in a part counts for no other row.

use std::cmp::Ordering;

use loadstone_quel::check::resolved::Type;
use loadstone_quel::error::Fault;
use loadstone_quel::pattern::Pattern;
use loadstone_quel::tree::BinaryOperator;

use super::between::Between;
use super::kernels::Kernels;
use super::rows::{Rows, Selection, retain};
use super::value::Computed;
use super::vector::Vector;
use crate::counters::Work;
use crate::execution::State;
use crate::expression::Expr;
use crate::tuple::{Value, compare_mixed};

/// A condition, ready to be tried on one batch after another.
#[derive(Debug)]
pub(super) enum Condition {
    /// All hold.
    And(Vec<Condition>),
    /// One holds.
    Or(Vec<Condition>),
    /// An integer of a tuple lies between two constants, or does not.
    Between(Between),
    /// Two values compare so.
    Compare { operator: BinaryOperator, left: Computed, right: Computed },
    /// A text fits a pattern, or does not.
    Match { text: Computed, pattern: Pattern, negated: bool },
}

impl Condition {
    /// For an expression that is a condition.
    pub fn new(expr: &Expr, state: &State<'_>) -> Self {
        Self::of(expr, false, state)
    }

    fn of(expr: &Expr, negated: bool, state: &State<'_>) -> Self {
        let all = |parts: &[Expr]| -> Vec<Self> {
            parts.iter().map(|part| Self::of(part, negated, state)).collect()
        };
        match expr {
            Expr::Not(operand) => Self::of(operand, !negated, state),
            Expr::And(parts) if !negated => Self::And(joined(all(parts))),
            Expr::Or(parts) if negated => Self::And(joined(all(parts))),
            Expr::And(parts) | Expr::Or(parts) => Self::Or(all(parts)),
            Expr::Compare { operator, left, right } => {
                let operator = if negated { opposite(*operator) } else { *operator };
                let (left, right) = (Computed::new(left, state), Computed::new(right, state));
                Self::compare(operator, left, right, Kernels::of(state.simd))
            }
            Expr::Match { text, pattern, negated: is_not } => Self::Match {
                text: Computed::new(text, state),
                pattern: pattern.clone(),
                negated: *is_not != negated,
            },
            // The check lets nothing but conditions stand here.
            _ => Self::Or(Vec::new()),
        }
    }

    fn compare(
        operator: BinaryOperator,
        left: Computed,
        right: Computed,
        kernels: &'static Kernels,
    ) -> Self {
        if left.is_constant() && !right.is_constant() {
            return Self::compare(turned(operator), right, left, kernels);
        }
        if let Some(between) = between(operator, &left, &right, kernels) {
            return Self::Between(between);
        }
        Self::Compare { operator, left, right }
    }

    /// Drop the rows for which it is not true.
    ///
    /// # Errors
    ///
    /// Of a row for which a part that decides about it cannot be computed.
    pub fn filter(
        &mut self,
        rows: &Rows,
        selection: &mut Selection,
        work: &mut Work,
    ) -> Result<(), Fault> {
        match self {
            Self::And(parts) => {
                for part in parts {
                    if selection.is_empty() {
                        break;
                    }
                    part.filter(rows, selection, work)?;
                }
            }
            Self::Or(parts) => {
                let (mut left, mut taken) = (std::mem::take(selection), Vec::new());
                for part in parts {
                    let mut fits = left.clone();
                    part.filter(rows, &mut fits, work)?;
                    drop_all(&mut left, &fits);
                    taken.extend(fits);
                }
                taken.sort_unstable();
                *selection = taken;
            }
            Self::Between(between) => between.filter(rows, selection, work),
            Self::Compare { operator, left, right } => {
                work.comparisons += selection.len() as u64;
                let left = left.compute(rows, selection)?;
                let right = right.compute(rows, selection)?;
                keep_compared(selection, *operator, left, right);
            }
            Self::Match { text, pattern, negated } => {
                work.comparisons += selection.len() as u64;
                let text = text.compute(rows, selection)?;
                retain(selection, |row| {
                    !text.is_null(row) && pattern.matches(text.texts[row].bytes()) != *negated
                });
            }
        }
        Ok(())
    }
}

/// The operator that holds where this does not, nulls aside.
fn opposite(operator: BinaryOperator) -> BinaryOperator {
    use BinaryOperator as B;
    match operator {
        B::Equal => B::NotEqual,
        B::NotEqual => B::Equal,
        B::Less => B::GreaterOrEqual,
        B::LessOrEqual => B::Greater,
        B::Greater => B::LessOrEqual,
        _ => B::Less,
    }
}

/// The operator with its sides exchanged.
fn turned(operator: BinaryOperator) -> BinaryOperator {
    use BinaryOperator as B;
    match operator {
        B::Less => B::Greater,
        B::LessOrEqual => B::GreaterOrEqual,
        B::Greater => B::Less,
        B::GreaterOrEqual => B::LessOrEqual,
        same => same,
    }
}

/// A comparison of an integer that is never null with a constant, as the range that it means.
fn between(
    operator: BinaryOperator,
    left: &Computed,
    right: &Computed,
    kernels: &'static Kernels,
) -> Option<Between> {
    use BinaryOperator as B;
    let Value::Integer(constant) = right.constant_value()? else { return None };
    let (least, greatest, negated) = match operator {
        B::Equal => (constant, constant, false),
        B::NotEqual => (constant, constant, true),
        B::Less => (i64::MIN, constant.checked_sub(1)?, false),
        B::LessOrEqual => (i64::MIN, constant, false),
        B::Greater => (constant.checked_add(1)?, i64::MAX, false),
        _ => (constant, i64::MAX, false),
    };
    Between::new(left, (least, greatest), negated, kernels)
}

/// Neighbouring ranges of the same integer become one.
fn joined(parts: Vec<Condition>) -> Vec<Condition> {
    let mut joined: Vec<Condition> = Vec::new();
    for part in parts {
        if let (Condition::Between(part), Some(Condition::Between(last))) =
            (&part, joined.last_mut())
            && last.join(part)
        {
            continue;
        }
        joined.push(part);
    }
    joined
}

fn keep_compared(
    selection: &mut Selection,
    operator: BinaryOperator,
    left: &Vector,
    right: &Vector,
) {
    if left.may_be_null() || right.may_be_null() {
        retain(selection, |row| !left.is_null(row) && !right.is_null(row));
    }
    match (left.type_, right.type_) {
        (Type::Real, Type::Real) => {
            let (left, right) = (&left.reals, &right.reals);
            keep(selection, operator, |row| (left[row], right[row]));
        }
        (Type::Text, _) | (_, Type::Text) => {
            keep(selection, operator, |row| (left.texts[row].bytes(), right.texts[row].bytes()));
        }
        (Type::Real, _) => keep(selection, operator, |row| {
            (compare_mixed(right.integers[row], left.reals[row]).reverse(), Ordering::Equal)
        }),
        (_, Type::Real) => keep(selection, operator, |row| {
            (compare_mixed(left.integers[row], right.reals[row]), Ordering::Equal)
        }),
        _ => {
            let (left, right) = (&left.integers, &right.integers);
            keep(selection, operator, |row| (left[row], right[row]));
        }
    }
}

/// Keep the rows whose two values compare so; the operator is looked at once a batch.
#[inline]
fn keep<T: PartialOrd>(
    selection: &mut Selection,
    operator: BinaryOperator,
    values: impl Fn(usize) -> (T, T),
) {
    use BinaryOperator as B;
    match operator {
        B::Equal => retain(selection, |row| compared(&values, row, |left, right| left == right)),
        B::NotEqual => retain(selection, |row| compared(&values, row, |left, right| left != right)),
        B::Less => retain(selection, |row| compared(&values, row, |left, right| left < right)),
        B::LessOrEqual => {
            retain(selection, |row| compared(&values, row, |left, right| left <= right));
        }
        B::Greater => retain(selection, |row| compared(&values, row, |left, right| left > right)),
        _ => retain(selection, |row| compared(&values, row, |left, right| left >= right)),
    }
}

#[inline]
fn compared<T>(
    values: &impl Fn(usize) -> (T, T),
    row: usize,
    holds: impl Fn(T, T) -> bool,
) -> bool {
    let (left, right) = values(row);
    holds(left, right)
}

/// Drop the rows of `gone`, which is a part of `rows` in the same order.
fn drop_all(rows: &mut Selection, gone: &[u16]) {
    let mut gone = gone.iter().peekable();
    rows.retain(|row| gone.next_if_eq(&row).is_none());
}
