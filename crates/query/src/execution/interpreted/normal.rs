//! Conditions in conjunctive normal form, with every `not` moved into its comparison.

use crate::expression::Expr;

/// Disjunctions that a normal form may consist of; one that would have more keeps its groups.
const CLAUSES_MAX: usize = 64;

/// One holds.
pub(super) type Disjunction<'e> = Vec<Term<'e>>;

/// A part of a disjunction.
#[derive(Debug, Clone)]
pub(super) enum Term<'e> {
    /// A comparison or a match, or its opposite.
    Plain { expr: &'e Expr, negated: bool },
    /// All hold.
    Group(Vec<Disjunction<'e>>),
}

/// The disjunctions that must hold, in the order in which the condition tries them.
pub(super) fn normal(expr: &Expr, negated: bool) -> Vec<Disjunction<'_>> {
    match (expr, negated) {
        (Expr::Not(operand), _) => normal(operand, !negated),
        (Expr::And(operands), false) | (Expr::Or(operands), true) => {
            operands.iter().flat_map(|one| normal(one, negated)).collect()
        }
        (Expr::Or(operands), false) | (Expr::And(operands), true) => {
            let parts = operands.iter().map(|one| normal(one, negated)).collect();
            disjunctions(parts, operands.iter().any(may_fail))
        }
        _ => vec![vec![Term::Plain { expr, negated }]],
    }
}

/// One part holds, each of which is in normal form.
fn disjunctions(parts: Vec<Vec<Disjunction<'_>>>, may_fail: bool) -> Vec<Disjunction<'_>> {
    let clauses = parts.iter().fold(1usize, |all, part| all.saturating_mul(part.len()));
    // With one disjunction a part, nothing is tried twice, and all in the order of the text.
    if clauses > 1 && (may_fail || clauses > CLAUSES_MAX) {
        let terms = parts.into_iter().flat_map(|mut part| match part.len() {
            1 => part.remove(0),
            _ => vec![Term::Group(part)],
        });
        return vec![terms.collect()];
    }
    parts.into_iter().fold(vec![Vec::new()], |clauses, part| {
        let pairs = clauses.iter().flat_map(|clause| part.iter().map(move |other| (clause, other)));
        pairs.map(|(clause, other)| clause.iter().chain(other).cloned().collect()).collect()
    })
}

/// Whether computing it may be an error.
fn may_fail(expr: &Expr) -> bool {
    match expr {
        Expr::Not(operand) => may_fail(operand),
        Expr::And(operands) | Expr::Or(operands) => operands.iter().any(may_fail),
        Expr::Compare { left, right, .. } => may_fail(left) || may_fail(right),
        Expr::Match { text, .. } => may_fail(text),
        Expr::Negate { .. } | Expr::Arithmetic { .. } | Expr::Call { .. } => true,
        _ => false,
    }
}
