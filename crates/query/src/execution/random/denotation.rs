//! The meaning of an expression, written down once more and as plainly as can be.

use std::cmp::Ordering;

use loadstone_quel::check::resolved::Function;
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::{BinaryOperator, Span};

use super::layout;
use crate::expression::Expr;
use crate::tuple::{OwnedValue, Value};

/// If a value cannot be computed, the place of the first operator that fails.
pub type Meaning<T> = Result<Option<T>, Span>;

/// The meaning of a value for a row of two tuples' values; their record ids are 10 and 11.
pub fn meaning(expr: &Expr, row: &[Vec<OwnedValue>]) -> Meaning<OwnedValue> {
    let value = match expr {
        Expr::Integer(value) => OwnedValue::Integer(*value),
        Expr::Real(value) => OwnedValue::Real(*value),
        Expr::Text(text) => OwnedValue::Text(text.clone()),
        Expr::RecordId { slot } => OwnedValue::Integer(10 + *slot as i64),
        Expr::Column { slot, field } => {
            let number = layout().position(&field.name).expect("it is the layout's");
            match &row[*slot][number] {
                OwnedValue::Null => return Ok(None),
                OwnedValue::Real(value) if field.kind == (Kind::Real { bytes: 4 }) => {
                    OwnedValue::Real(f64::from(*value as f32))
                }
                other => other.clone(),
            }
        }
        Expr::Negate { operand, span } => match meaning(operand, row)? {
            None => return Ok(None),
            Some(OwnedValue::Integer(value)) => whole(-i128::from(value), *span)?,
            Some(other) => OwnedValue::Real(-number(&other)),
        },
        Expr::Arithmetic { operator, left, right, span } => {
            let (left, right) = (meaning(left, row)?, meaning(right, row)?);
            let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
            arithmetic(*operator, &left, &right, *span)?
        }
        Expr::Call { function, argument, span } => match meaning(argument, row)? {
            None => return Ok(None),
            Some(argument) => function_of(*function, &argument, *span)?,
        },
        other => panic!("{other:?} is no value"),
    };
    Ok(Some(value))
}

fn arithmetic(
    operator: BinaryOperator,
    left: &OwnedValue,
    right: &OwnedValue,
    span: Span,
) -> Result<OwnedValue, Span> {
    use BinaryOperator as B;
    if let (OwnedValue::Integer(left), OwnedValue::Integer(right)) = (left, right)
        && operator != B::Power
    {
        let (left, right) = (i128::from(*left), i128::from(*right));
        if matches!(operator, B::Divide | B::Modulo) && right == 0 {
            return Err(span);
        }
        return whole(
            match operator {
                B::Add => left + right,
                B::Subtract => left - right,
                B::Multiply => left * right,
                B::Divide => left / right,
                _ => left % right,
            },
            span,
        );
    }
    let (left, right) = (number(left), number(right));
    finite(
        match operator {
            B::Add => left + right,
            B::Subtract => left - right,
            B::Multiply => left * right,
            B::Divide => left / right,
            _ => left.powf(right),
        },
        span,
    )
}

fn function_of(function: Function, value: &OwnedValue, span: Span) -> Result<OwnedValue, Span> {
    let real = number(value);
    match (function, value) {
        (Function::Abs, OwnedValue::Integer(value)) => whole(i128::from(*value).abs(), span),
        (Function::ToInteger(bytes), OwnedValue::Integer(value)) => {
            whole_of(i128::from(*value), bytes, span)
        }
        (Function::ToInteger(bytes), _) => whole_of(real.trunc() as i128, bytes, span),
        (Function::Abs, _) => finite(real.abs(), span),
        (Function::Atan, _) => finite(real.atan(), span),
        (Function::Cos, _) => finite(real.cos(), span),
        (Function::Exp, _) => finite(real.exp(), span),
        (Function::Log, _) => finite(real.ln(), span),
        (Function::Sin, _) => finite(real.sin(), span),
        (Function::Sqrt, _) => finite(real.sqrt(), span),
        (Function::ToReal(4), _) => finite(f64::from(real as f32), span),
        (Function::ToReal(_), _) => finite(real, span),
    }
}

fn whole(value: i128, span: Span) -> Result<OwnedValue, Span> {
    whole_of(value, 8, span)
}

fn whole_of(value: i128, bytes: usize, span: Span) -> Result<OwnedValue, Span> {
    let beyond = 1i128 << (8 * bytes - 1);
    if (-beyond..beyond).contains(&value) {
        Ok(OwnedValue::Integer(value as i64))
    } else {
        Err(span)
    }
}

fn finite(value: f64, span: Span) -> Result<OwnedValue, Span> {
    if value.is_finite() { Ok(OwnedValue::Real(value)) } else { Err(span) }
}

fn number(value: &OwnedValue) -> f64 {
    match value {
        OwnedValue::Integer(value) => *value as f64,
        OwnedValue::Real(value) => *value,
        other => panic!("{other:?} is no number"),
    }
}

/// The meaning of a condition; None where a null leaves it open.
pub fn truth(expr: &Expr, row: &[Vec<OwnedValue>]) -> Meaning<bool> {
    Ok(match expr {
        Expr::Compare { operator, left, right } => {
            let (left, right) = (meaning(left, row)?, meaning(right, row)?);
            let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
            let ordering = left.borrow().compare(right.borrow());
            ordering.map(|ordering| holds(*operator, ordering))
        }
        Expr::Match { text, pattern, negated } => match meaning(text, row)? {
            Some(OwnedValue::Text(text)) => Some(pattern.matches(&text) != *negated),
            _ => None,
        },
        Expr::Not(operand) => truth(operand, row)?.map(|truth| !truth),
        Expr::And(operands) => decided(operands, row, false)?,
        Expr::Or(operands) => decided(operands, row, true)?,
        other => panic!("{other:?} is no condition"),
    })
}

fn decided(operands: &[Expr], row: &[Vec<OwnedValue>], decisive: bool) -> Meaning<bool> {
    let mut outcome = Some(!decisive);
    for operand in operands {
        match truth(operand, row)? {
            Some(truth) if truth == decisive => return Ok(Some(decisive)),
            Some(_) => {}
            None => outcome = None,
        }
    }
    Ok(outcome)
}

fn holds(operator: BinaryOperator, ordering: Ordering) -> bool {
    use BinaryOperator as B;
    match ordering {
        Ordering::Less => matches!(operator, B::Less | B::LessOrEqual | B::NotEqual),
        Ordering::Equal => matches!(operator, B::Equal | B::LessOrEqual | B::GreaterOrEqual),
        Ordering::Greater => matches!(operator, B::Greater | B::GreaterOrEqual | B::NotEqual),
    }
}

/// The column of a character at which an error's first caret stands: the place of its operator.
pub fn place(fault: loadstone_quel::error::Fault) -> usize {
    match fault.evaluation(&"x".repeat(64)) {
        loadstone_quel::QuelError::Evaluation(report) => report.column - 1,
        other => panic!("{other} is no error of evaluation"),
    }
}

/// A value that a test can compare: reals by their bits, but for the sign of zero.
pub fn plain(value: Value<'_>) -> OwnedValue {
    match value {
        Value::Real(value) => OwnedValue::Real(value + 0.0),
        other => other.to_owned(),
    }
}

/// Whether a value that is no column and no text is an integer.
pub fn is_integer(expr: &Expr) -> bool {
    match expr {
        Expr::Integer(_)
        | Expr::RecordId { .. }
        | Expr::Call { function: Function::ToInteger(_), .. } => true,
        Expr::Column { field, .. } => matches!(field.kind, Kind::Integer { .. }),
        Expr::Negate { operand, .. } => is_integer(operand),
        Expr::Call { function: Function::Abs, argument, .. } => is_integer(argument),
        Expr::Arithmetic { operator, left, right, .. } => {
            *operator != BinaryOperator::Power && is_integer(left) && is_integer(right)
        }
        _ => false,
    }
}
