//! Nodes that yield truths: comparisons, patterns, `and`, `or`, `not`.

use std::cmp::Ordering;

use loadstone_quel::pattern::Pattern;
use loadstone_quel::tree::BinaryOperator;

use super::operand::{
    Constant, Evaluated, Integer, Integer2, Integer4, Node, Operand, Real, Real8, Stop, Text, both,
    with_integer, with_real,
};
use crate::execution::arithmetic::holds;
use crate::execution::evaluation::Row;
use crate::tuple::{compare_mixed, compare_texts};

/// A comparison of values that have an order, one closure for each operator.
fn comparison<T: PartialOrd + 'static>(
    operator: BinaryOperator,
    left: impl Operand<T>,
    right: impl Operand<T>,
) -> Node<bool> {
    macro_rules! compare {
        ($operator:tt) => {
            Box::new(move |row| {
                both(&left, &right, row, |left, right| Ok(left $operator right))
            })
        };
    }
    match operator {
        BinaryOperator::Equal => compare!(==),
        BinaryOperator::NotEqual => compare!(!=),
        BinaryOperator::Less => compare!(<),
        BinaryOperator::LessOrEqual => compare!(<=),
        BinaryOperator::Greater => compare!(>),
        _ => compare!(>=),
    }
}

/// Two integers compared.
pub(super) fn compare_integers(
    operator: BinaryOperator,
    left: Integer,
    right: Integer,
) -> Node<bool> {
    with_integer!(left, |left| with_integer!(right, |right| comparison(operator, left, right)))
}

/// Two reals compared.
pub(super) fn compare_reals(operator: BinaryOperator, left: Real, right: Real) -> Node<bool> {
    with_real!(left, |left| with_real!(right, |right| comparison(operator, left, right)))
}

/// An integer and a real compared, exactly.
pub(super) fn compare_integer_real(
    operator: BinaryOperator,
    left: Integer,
    right: Real,
) -> Node<bool> {
    with_integer!(left, |left| with_real!(right, |right| Box::new(move |row: &Row<'_>| {
        both(&left, &right, row, |left, right| Ok(holds(operator, compare_mixed(left, right))))
    })))
}

/// A real and an integer compared, exactly. The left side is computed first here, too.
pub(super) fn compare_real_integer(
    operator: BinaryOperator,
    left: Real,
    right: Integer,
) -> Node<bool> {
    let operator = mirrored(operator);
    with_real!(left, |left| with_integer!(right, |right| Box::new(move |row: &Row<'_>| {
        both(&left, &right, row, |left, right| Ok(holds(operator, compare_mixed(right, left))))
    })))
}

/// The operator that says the same with its sides exchanged.
pub(super) fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::LessOrEqual => BinaryOperator::GreaterOrEqual,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::GreaterOrEqual => BinaryOperator::LessOrEqual,
        other => other,
    }
}

/// Two texts compared. Texts have no errors, so that a null may end it at once.
pub(super) fn compare_text(operator: BinaryOperator, left: Text, right: Text) -> Node<bool> {
    macro_rules! compare {
        ($holds:expr) => {
            Box::new(move |row| {
                let holds: fn(&[u8], &[u8]) -> bool = $holds;
                Ok(holds(left.get(row)?, right.get(row)?))
            })
        };
    }
    // Both come without trailing blanks.
    match operator {
        BinaryOperator::Equal => compare!(|left, right| left == right),
        BinaryOperator::NotEqual => compare!(|left, right| left != right),
        BinaryOperator::Less => compare!(|left, right| order(left, right).is_lt()),
        BinaryOperator::LessOrEqual => compare!(|left, right| order(left, right).is_le()),
        BinaryOperator::Greater => compare!(|left, right| order(left, right).is_gt()),
        _ => compare!(|left, right| order(left, right).is_ge()),
    }
}

#[inline]
fn order(left: &[u8], right: &[u8]) -> Ordering {
    compare_texts(left, right)
}

/// A text against a pattern.
pub(super) fn matches(text: Text, pattern: Pattern, negated: bool) -> Node<bool> {
    Box::new(move |row| Ok(pattern.matches(text.get(row)?) != negated))
}

/// `not`: what is open stays open.
pub(super) fn not(operand: Node<bool>) -> Node<bool> {
    Box::new(move |row| Ok(!operand(row)?))
}

/// All hold. The first false one ends it; a null leaves it open only if none is false.
pub(super) fn all(operands: Vec<Node<bool>>) -> Node<bool> {
    decided_by(false, operands)
}

/// One holds. The first true one ends it; a null leaves it open only if none is true.
pub(super) fn any(operands: Vec<Node<bool>>) -> Node<bool> {
    decided_by(true, operands)
}

fn decided_by(decisive: bool, operands: Vec<Node<bool>>) -> Node<bool> {
    Box::new(move |row| {
        let mut is_open = false;
        for operand in &operands {
            match operand(row) {
                Ok(truth) if truth == decisive => return Ok(decisive),
                Ok(_) => {}
                Err(Stop::Null) => is_open = true,
                Err(fault) => return Err(fault),
            }
        }
        let outcome: Evaluated<bool> = if is_open { Err(Stop::Null) } else { Ok(!decisive) };
        outcome
    })
}
