//! The number of values that a command takes when it runs.

use super::{Expr, Statement, Target};

impl Statement {
    /// The number of its parameters: the highest `$n` in it, 0 without any.
    pub fn parameters(&self) -> usize {
        let (targets, filter) = match self {
            Self::Retrieve { targets, filter, .. }
            | Self::Append { targets, filter, .. }
            | Self::Replace { targets, filter, .. } => (targets.as_slice(), filter),
            Self::Delete { filter, .. } => (&[][..], filter),
            Self::Range { .. }
            | Self::Create { .. }
            | Self::Index { .. }
            | Self::Modify { .. }
            | Self::Destroy { .. }
            | Self::Go => return 0,
        };
        let values = targets.iter().filter_map(|target| match target {
            Target::All { .. } => None,
            Target::Named { value, .. } => Some(value),
        });
        highest(values.chain(filter))
    }
}

fn highest<'e>(parts: impl Iterator<Item = &'e Expr>) -> usize {
    parts.map(in_expression).max().unwrap_or(0)
}

fn in_expression(expr: &Expr) -> usize {
    match expr {
        Expr::Parameter { number, .. } => *number,
        Expr::Integer { .. } | Expr::Real { .. } | Expr::Text { .. } | Expr::Attribute { .. } => 0,
        Expr::Unary { operand, .. } => in_expression(operand),
        Expr::Binary { left, right, .. } => in_expression(left).max(in_expression(right)),
        Expr::Call { arguments, .. } => highest(arguments.iter()),
        Expr::Aggregate { argument, by, filter, .. } => {
            highest(by.iter().chain([&**argument]).chain(filter.as_deref()))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn the_highest_number_in_any_place_counts() {
        for (text, expected) in [
            ("retrieve (t.all)", 0),
            ("range of t is parts", 0),
            ("retrieve (t.a) where t.a = $2 or t.b = $1", 2),
            ("retrieve (x = t.a + $3)", 3),
            ("append to parts (a = -$1, b = $2)", 2),
            ("replace t (a = $1) where not t.a = $4", 4),
            ("delete t where t.a = $2", 2),
            ("retrieve (x = count(t.a by t.b + $2 where t.a > $5))", 5),
            ("retrieve (x = min(t.a * $3))", 3),
            ("retrieve (x = mod(t.a, $6))", 6),
        ] {
            let program = parse(text).unwrap();
            assert_eq!(program[0].parameters(), expected, "{text}");
        }
    }
}
