//! Each operator on one or two numbers: exact integers of 64 bits, finite reals, and an error at
//! the operator's place instead of an overflow. The same for every executor.

use std::cmp::Ordering;

use loadstone_quel::check::resolved::Function;
use loadstone_quel::error::Fault;
use loadstone_quel::tree::{BinaryOperator, Span};

/// The integer sum.
#[inline]
pub fn add(left: i64, right: i64, span: Span) -> Result<i64, Fault> {
    left.checked_add(right).ok_or_else(|| overflow(span))
}

/// The integer difference.
#[inline]
pub fn subtract(left: i64, right: i64, span: Span) -> Result<i64, Fault> {
    left.checked_sub(right).ok_or_else(|| overflow(span))
}

/// The integer product.
#[inline]
pub fn multiply(left: i64, right: i64, span: Span) -> Result<i64, Fault> {
    left.checked_mul(right).ok_or_else(|| overflow(span))
}

/// The integer quotient, truncated towards zero.
#[inline]
pub fn divide(left: i64, right: i64, span: Span) -> Result<i64, Fault> {
    if right == 0 {
        return Err(division_by_zero(span));
    }
    left.checked_div(right).ok_or_else(|| overflow(span))
}

/// The rest of an integer division, with the sign of the left side.
#[inline]
pub fn modulo(left: i64, right: i64, span: Span) -> Result<i64, Fault> {
    if right == 0 {
        return Err(division_by_zero(span));
    }
    // The least integer mod -1 is 0, though its quotient overflows.
    Ok(left.wrapping_rem(right))
}

/// The integer with its sign turned over.
#[inline]
pub fn negate(value: i64, span: Span) -> Result<i64, Fault> {
    value.checked_neg().ok_or_else(|| overflow(span))
}

/// The integer without its sign.
#[inline]
pub fn absolute(value: i64, span: Span) -> Result<i64, Fault> {
    value.checked_abs().ok_or_else(|| overflow(span))
}

/// `+ - * / mod` of two integers, by the operator's value.
pub fn integers(operator: BinaryOperator, left: i64, right: i64, span: Span) -> Result<i64, Fault> {
    match operator {
        BinaryOperator::Add => add(left, right, span),
        BinaryOperator::Subtract => subtract(left, right, span),
        BinaryOperator::Multiply => multiply(left, right, span),
        BinaryOperator::Divide => divide(left, right, span),
        _ => modulo(left, right, span),
    }
}

/// `+ - * / **` of two reals, by the operator's value.
pub fn reals(operator: BinaryOperator, left: f64, right: f64, span: Span) -> Result<f64, Fault> {
    let result = match operator {
        BinaryOperator::Add => left + right,
        BinaryOperator::Subtract => left - right,
        BinaryOperator::Multiply => left * right,
        BinaryOperator::Divide if right == 0.0 => return Err(division_by_zero(span)),
        BinaryOperator::Divide => left / right,
        _ => left.powf(right),
    };
    finite(result, span)
}

/// A function of a real that yields a real.
pub fn call(function: Function, argument: f64, span: Span) -> Result<f64, Fault> {
    let result = match function {
        Function::Abs => argument.abs(),
        Function::Atan => argument.atan(),
        Function::Cos => argument.cos(),
        Function::Exp => argument.exp(),
        Function::Log => argument.ln(),
        Function::Sin => argument.sin(),
        Function::Sqrt => argument.sqrt(),
        Function::ToReal(4) => f64::from(argument as f32),
        // Conversions to integers are not asked of this one.
        Function::ToReal(_) | Function::ToInteger(_) => argument,
    };
    finite(result, span)
}

/// An integer as one of so many bytes, if it fits.
#[inline]
pub fn narrow(value: i64, bytes: usize, span: Span) -> Result<i64, Fault> {
    let shift = 64 - 8 * bytes as u32;
    if value << shift >> shift == value { Ok(value) } else { Err(misfit(bytes, span)) }
}

/// A real as an integer of so many bytes, truncated towards zero, if it fits.
pub fn truncate(value: f64, bytes: usize, span: Span) -> Result<i64, Fault> {
    let value = value.trunc();
    // -2^63 is an integer of 64 bits, 2^63 is not; both are exact reals.
    if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value) {
        return Err(misfit(bytes, span));
    }
    narrow(value as i64, bytes, span)
}

/// A real result, which must be a number.
#[inline]
pub fn finite(value: f64, span: Span) -> Result<f64, Fault> {
    if value.is_finite() { Ok(value) } else { Err(not_finite(span)) }
}

/// Whether a comparison holds for values in that order.
#[inline]
pub const fn holds(operator: BinaryOperator, ordering: Ordering) -> bool {
    match operator {
        BinaryOperator::Equal => ordering.is_eq(),
        BinaryOperator::NotEqual => ordering.is_ne(),
        BinaryOperator::Less => ordering.is_lt(),
        BinaryOperator::LessOrEqual => ordering.is_le(),
        BinaryOperator::Greater => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}

#[cold]
fn overflow(span: Span) -> Fault {
    Fault::new(span, "the integer result does not fit into 64 bits")
        .expecting("compute with float8(…) where a rounded result will do")
}

#[cold]
fn division_by_zero(span: Span) -> Fault {
    Fault::new(span, "division by zero")
}

#[cold]
fn not_finite(span: Span) -> Fault {
    Fault::new(span, "the result is not a finite number")
        .expecting("it is too large, or the argument is outside the function's domain")
}

#[cold]
fn misfit(bytes: usize, span: Span) -> Fault {
    let largest = i64::MAX >> (64 - 8 * bytes);
    Fault::new(span, format!("the value does not fit into {bytes} bytes"))
        .expecting(format!("they hold {} to {largest}", -largest - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known<T>(result: Result<T, Fault>) -> Option<T> {
        result.ok()
    }

    #[test]
    fn the_ends_of_64_bits() {
        let span = Span::default();
        assert_eq!(known(divide(i64::MIN, -1, span)), None);
        assert_eq!(known(modulo(i64::MIN, -1, span)), Some(0));
        assert_eq!(known(negate(i64::MIN, span)), None);
        assert_eq!(known(absolute(i64::MIN, span)), None);
        assert_eq!(known(modulo(-7, 2, span)), Some(-1));
        assert_eq!(known(divide(-7, 2, span)), Some(-3));
        assert_eq!(known(truncate(-9_223_372_036_854_775_808.0, 8, span)), Some(i64::MIN));
        assert_eq!(known(truncate(9_223_372_036_854_775_808.0, 8, span)), None);
        assert_eq!(known(truncate(-128.9, 1, span)), Some(-128));
        assert_eq!(known(reals(BinaryOperator::Divide, 1.0, -0.0, span)), None);
        assert_eq!(known(reals(BinaryOperator::Multiply, 1e200, 1e200, span)), None);
        assert_eq!(known(call(Function::Log, 0.0, span)), None);
    }

    proptest! {
        #[test]
        fn integers_are_exact_or_an_error(left: i64, right: i64, shift in 0u32..64) {
            let (left, right) = (left >> (shift / 2), right >> shift);
            let (wide_left, wide_right) = (i128::from(left), i128::from(right));
            let quotient = (right != 0).then(|| wide_left / wide_right);
            let rest = (right != 0).then(|| wide_left % wide_right);
            let cases = [
                (BinaryOperator::Add, Some(wide_left + wide_right)),
                (BinaryOperator::Subtract, Some(wide_left - wide_right)),
                (BinaryOperator::Multiply, Some(wide_left * wide_right)),
                (BinaryOperator::Divide, quotient),
                (BinaryOperator::Modulo, rest),
            ];
            for (operator, exact) in cases {
                let expected = exact.and_then(|exact| i64::try_from(exact).ok());
                prop_assert_eq!(known(integers(operator, left, right, Span::default())), expected);
            }
        }

        #[test]
        fn a_narrow_integer_is_the_same_or_an_error(value: i64, shift in 0u32..64) {
            let value = value >> shift;
            let narrowed = |bytes| known(narrow(value, bytes, Span::default()));
            prop_assert_eq!(narrowed(1), i8::try_from(value).ok().map(i64::from));
            prop_assert_eq!(narrowed(2), i16::try_from(value).ok().map(i64::from));
            prop_assert_eq!(narrowed(4), i32::try_from(value).ok().map(i64::from));
            prop_assert_eq!(narrowed(8), Some(value));
        }
    }
}
