//! Conditions drawn at random, and what they say.

use loadstone_quel::tree::BinaryOperator as B;
use proptest::prelude::*;

use super::{column, compare, row};
use crate::expression::Expr;

/// A condition on key, group and real.
pub(super) fn condition() -> impl Strategy<Value = Expr> {
    let operators = [B::Equal, B::NotEqual, B::Less, B::LessOrEqual, B::Greater, B::GreaterOrEqual];
    let leaf = (prop::sample::select(operators.to_vec()), 0usize..3, -3i64..9, any::<bool>());
    let leaf = leaf.prop_map(|(operator, field, constant, is_turned)| {
        let constant = if field == 0 { constant * 250 } else { constant };
        let (left, right) = (column(0, field), Expr::Integer(constant));
        let (left, right) = if is_turned { (right, left) } else { (left, right) };
        compare(operator, left, right)
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        let parts = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            parts.clone().prop_map(Expr::And),
            parts.prop_map(Expr::Or),
            inner.prop_map(|expr| Expr::Not(Box::new(expr))),
        ]
    })
}

/// The truth of such a condition for a key's row; None where a null leaves it open.
pub(super) fn truth(expr: &Expr, key: i64) -> Option<bool> {
    // Twice the value, which is an integer for the reals, too.
    let value = |expr: &Expr| match expr {
        Expr::Column { field, .. } if field.name == "key" => Some(2 * key),
        Expr::Column { field, .. } if field.name == "group" => Some(2 * row(key).0),
        Expr::Column { .. } => row(key).1.map(|real| (2.0 * real) as i64),
        Expr::Integer(constant) => Some(2 * constant),
        other => panic!("{other:?}"),
    };
    let all = |parts: &[Expr]| parts.iter().map(|part| truth(part, key)).collect::<Vec<_>>();
    let decided = |truths: &[Option<bool>], by: bool| {
        let is_open = truths.contains(&None);
        if truths.contains(&Some(by)) { Some(by) } else { (!is_open).then_some(!by) }
    };
    match expr {
        Expr::Not(operand) => truth(operand, key).map(|truth| !truth),
        Expr::And(parts) => decided(&all(parts), false),
        Expr::Or(parts) => decided(&all(parts), true),
        Expr::Compare { operator, left, right } => {
            let (left, right) = (value(left)?, value(right)?);
            Some(match operator {
                B::Equal => left == right,
                B::NotEqual => left != right,
                B::Less => left < right,
                B::LessOrEqual => left <= right,
                B::Greater => left > right,
                _ => left >= right,
            })
        }
        other => panic!("{other:?}"),
    }
}
