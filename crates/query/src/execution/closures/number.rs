//! Nodes that yield numbers: attributes, conversions, arithmetic, functions.

use loadstone_quel::check::resolved::Function;
use loadstone_quel::tree::{BinaryOperator, Span};

use super::operand::{
    Constant, Evaluated, Integer, Integer2, Integer4, Node, Operand, Place, Real, Real8, Stop,
    both, with_integer, with_real,
};
use crate::execution::arithmetic;
use crate::execution::evaluation::Row;
use crate::tuple::{Field, read_integer, read_real};

/// An integer attribute of 1, 2, 4 or 8 bytes.
pub(super) fn integer_column(slot: usize, field: &Field, bytes: usize) -> Integer {
    let place = Place { slot, offset: field.offset };
    match (field.null_at, bytes) {
        (None, 2) => Integer::Two(place),
        (None, 4) => Integer::Four(place),
        (None, 1) => Integer::Node(Box::new(move |row| Ok(read_at(row, place, 1)))),
        (None, _) => Integer::Node(Box::new(move |row| Ok(read_at(row, place, 8)))),
        (Some(at), _) => Integer::Node(Box::new(move |row| {
            known(row, slot, at)?;
            Ok(read_at(row, place, bytes))
        })),
    }
}

#[inline]
fn read_at(row: &Row<'_>, place: Place, bytes: usize) -> i64 {
    read_integer(row.tuples[place.slot], place.offset, bytes)
}

/// A real attribute of 4 or 8 bytes.
pub(super) fn real_column(slot: usize, field: &Field, bytes: usize) -> Real {
    let place = Place { slot, offset: field.offset };
    match (field.null_at, bytes) {
        (None, 8) => Real::Eight(place),
        (null_at, _) => Real::Node(Box::new(move |row| {
            if let Some(at) = null_at {
                known(row, slot, at)?;
            }
            Ok(read_real(row.tuples[slot], place.offset, bytes))
        })),
    }
}

/// Stops where the byte says that the value is null.
#[inline]
fn known(row: &Row<'_>, slot: usize, at: usize) -> Evaluated<()> {
    if row.tuples[slot][at] == 0 { Ok(()) } else { Err(Stop::Null) }
}

/// The conversion that stands where a real is wanted and an integer comes.
pub(super) fn to_real(operand: Integer) -> Real {
    match operand {
        Integer::Constant(value) => Real::Constant(value as f64),
        other => {
            Real::Node(with_integer!(other, |one| Box::new(move |row| Ok(one.get(row)? as f64))))
        }
    }
}

/// `+ - * / mod` of integers.
pub(super) fn integers(
    operator: BinaryOperator,
    left: Integer,
    right: Integer,
    span: Span,
) -> Node<i64> {
    fn node<L: Operand<i64>, R: Operand<i64>>(
        operator: BinaryOperator,
        left: L,
        right: R,
        span: Span,
    ) -> Node<i64> {
        use arithmetic::{add, divide, modulo, multiply, subtract};
        macro_rules! operation {
            ($name:ident) => {
                Box::new(move |row| {
                    both(&left, &right, row, |left, right| Ok($name(left, right, span)?))
                })
            };
        }
        match operator {
            BinaryOperator::Add => operation!(add),
            BinaryOperator::Subtract => operation!(subtract),
            BinaryOperator::Multiply => operation!(multiply),
            BinaryOperator::Divide => operation!(divide),
            _ => operation!(modulo),
        }
    }
    with_integer!(left, |left| with_integer!(right, |right| node(operator, left, right, span)))
}

/// `+ - * / **` of reals.
pub(super) fn reals(operator: BinaryOperator, left: Real, right: Real, span: Span) -> Node<f64> {
    fn node<L: Operand<f64>, R: Operand<f64>>(
        operator: BinaryOperator,
        left: L,
        right: R,
        span: Span,
    ) -> Node<f64> {
        macro_rules! operation {
            ($operator:ident) => {
                Box::new(move |row| {
                    both(&left, &right, row, |left, right| {
                        Ok(arithmetic::reals(BinaryOperator::$operator, left, right, span)?)
                    })
                })
            };
        }
        match operator {
            BinaryOperator::Add => operation!(Add),
            BinaryOperator::Subtract => operation!(Subtract),
            BinaryOperator::Multiply => operation!(Multiply),
            BinaryOperator::Divide => operation!(Divide),
            _ => operation!(Power),
        }
    }
    with_real!(left, |left| with_real!(right, |right| node(operator, left, right, span)))
}

/// The sign of an integer turned over.
pub(super) fn negate_integer(operand: Integer, span: Span) -> Node<i64> {
    with_integer!(operand, |one| Box::new(move |row| Ok(arithmetic::negate(one.get(row)?, span)?)))
}

/// The sign of a real turned over.
pub(super) fn negate_real(operand: Real) -> Node<f64> {
    with_real!(operand, |one| Box::new(move |row| Ok(-one.get(row)?)))
}

/// An integer without its sign.
pub(super) fn absolute(operand: Integer, span: Span) -> Node<i64> {
    with_integer!(operand, |one| Box::new(move |row| Ok(arithmetic::absolute(
        one.get(row)?,
        span
    )?)))
}

/// An integer as one of fewer bytes.
pub(super) fn narrow(operand: Integer, bytes: usize, span: Span) -> Node<i64> {
    with_integer!(operand, |one| Box::new(move |row| {
        Ok(arithmetic::narrow(one.get(row)?, bytes, span)?)
    }))
}

/// A real as an integer.
pub(super) fn truncate(operand: Real, bytes: usize, span: Span) -> Node<i64> {
    with_real!(operand, |one| Box::new(move |row| {
        Ok(arithmetic::truncate(one.get(row)?, bytes, span)?)
    }))
}

/// A function of a real that yields a real.
pub(super) fn call(function: Function, operand: Real, span: Span) -> Node<f64> {
    fn node<O: Operand<f64>>(function: Function, one: O, span: Span) -> Node<f64> {
        macro_rules! function {
            ($function:expr) => {
                Box::new(move |row| Ok(arithmetic::call($function, one.get(row)?, span)?))
            };
        }
        match function {
            Function::Abs => function!(Function::Abs),
            Function::Atan => function!(Function::Atan),
            Function::Cos => function!(Function::Cos),
            Function::Exp => function!(Function::Exp),
            Function::Log => function!(Function::Log),
            Function::Sin => function!(Function::Sin),
            Function::Sqrt => function!(Function::Sqrt),
            Function::ToReal(4) => function!(Function::ToReal(4)),
            _ => function!(Function::ToReal(8)),
        }
    }
    with_real!(operand, |one| node(function, one, span))
}
