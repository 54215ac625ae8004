//! An expression of a script of pgbench's, compiled: words in the order in which a machine with a
//! stack executes them. The functions and their distributions are those of `PostgreSQL`'s manual
//! (pgbench, "Built-In Functions"); the random numbers are ours.

use std::cmp::Ordering;
use std::f64::consts::PI;

use loadstone_datasets::splitmix::SplitMix64;

use super::value::{DrawError, Value, above_low};
use super::zipf::{RANKS_MAX, Zipf};

/// One word of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Word {
    /// A number.
    Number(Value),
    /// The value that was drawn before, at that place.
    Variable(usize),
    /// Applied to the last values.
    Call(Function, usize),
}

/// An operation on the values before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Negate,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Abs,
    Int,
    Double,
    Greatest,
    Least,
}

/// Each function's name, as a word has it before its number of arguments.
const FUNCTIONS: [(&str, Function); 16] = [
    ("+", Function::Add),
    ("-", Function::Subtract),
    ("*", Function::Multiply),
    ("/", Function::Divide),
    ("%", Function::Modulo),
    ("mod", Function::Modulo),
    ("negate", Function::Negate),
    ("random", Function::Random),
    ("random_exponential", Function::RandomExponential),
    ("random_gaussian", Function::RandomGaussian),
    ("random_zipfian", Function::RandomZipfian),
    ("abs", Function::Abs),
    ("int", Function::Int),
    ("double", Function::Double),
    ("greatest", Function::Greatest),
    ("least", Function::Least),
];

/// Read a word: a number, `:PLACE` of a value drawn before, or `FUNCTION(COUNT`. `depth` is the
/// number of values on the stack before it; answers with the number after it.
pub fn parse(text: &str, depth: usize, drawn: usize) -> Result<(Word, usize), DrawError> {
    let refused = || DrawError(format!("{text:?} is no word of an expression"));
    if let Some(place) = text.strip_prefix(':') {
        let place = place.parse().ok().filter(|place| *place < drawn).ok_or_else(refused)?;
        return Ok((Word::Variable(place), depth + 1));
    }
    if let Some((name, count)) = text.split_once('(') {
        let (_, function) =
            FUNCTIONS.iter().find(|(known, _)| *known == name).ok_or_else(refused)?;
        let count: usize = count.parse().map_err(|_| refused())?;
        let fits = function.takes(count) && count <= depth;
        return fits.then(|| (Word::Call(*function, count), depth - count + 1)).ok_or_else(refused);
    }
    let number = match text.parse() {
        Ok(whole) => Value::Whole(whole),
        Err(_) => Value::Real(text.parse().map_err(|_| refused())?),
    };
    Ok((Word::Number(number), depth + 1))
}

impl Function {
    const fn takes(self, count: usize) -> bool {
        match self {
            Self::Add
            | Self::Subtract
            | Self::Multiply
            | Self::Divide
            | Self::Modulo
            | Self::Random => count == 2,
            Self::RandomExponential | Self::RandomGaussian | Self::RandomZipfian => count == 3,
            Self::Negate | Self::Abs | Self::Int | Self::Double => count == 1,
            Self::Greatest | Self::Least => count >= 1 && count < 100,
        }
    }
}

/// The value of an expression, whose words `parse` has read.
pub fn value(words: &[Word], drawn: &[Value], bits: &mut SplitMix64) -> Result<Value, DrawError> {
    let mut stack: Vec<Value> = Vec::with_capacity(8);
    for word in words {
        let next = match word {
            Word::Number(number) => *number,
            Word::Variable(place) => drawn[*place],
            Word::Call(function, count) => {
                let arguments = stack.split_off(stack.len() - count);
                call(*function, &arguments, bits)?
            }
        };
        stack.push(next);
    }
    stack.pop().ok_or_else(|| DrawError("an expression without a word".to_owned()))
}

fn call(
    function: Function,
    arguments: &[Value],
    bits: &mut SplitMix64,
) -> Result<Value, DrawError> {
    let first = arguments[0];
    match function {
        Function::Add => both(first, arguments[1], i64::checked_add, |a, b| a + b),
        Function::Subtract => both(first, arguments[1], i64::checked_sub, |a, b| a - b),
        Function::Multiply => both(first, arguments[1], i64::checked_mul, |a, b| a * b),
        Function::Divide if is_zero(arguments[1]) => refused("division by zero"),
        Function::Divide => both(first, arguments[1], i64::checked_div, |a, b| a / b),
        Function::Modulo => match (first, arguments[1]) {
            (Value::Whole(_), Value::Whole(0)) => refused("division by zero"),
            (Value::Whole(a), Value::Whole(b)) => Ok(Value::Whole(a.wrapping_rem(b))),
            _ => refused("% is of whole numbers"),
        },
        Function::Negate => one(first, i64::checked_neg, |a| -a),
        Function::Abs => one(first, i64::checked_abs, f64::abs),
        Function::Int => match first {
            Value::Real(real) if real.abs() < 2_f64.powi(63) => Ok(Value::Whole(real as i64)),
            Value::Real(_) => no_bigint(),
            Value::Whole(_) => Ok(first),
        },
        Function::Double => Ok(Value::Real(real(first))),
        Function::Greatest => Ok(furthest(arguments, Ordering::is_gt)),
        Function::Least => Ok(furthest(arguments, Ordering::is_lt)),
        Function::Random => {
            let (low, high) = bounds(arguments)?;
            let span = u128::from(high.abs_diff(low)) + 1;
            let above = (u128::from(bits.next()) * span) >> 64;
            Ok(Value::Whole(above_low(low, above as u64)))
        }
        Function::RandomExponential => exponential(arguments, bits),
        Function::RandomGaussian => gaussian(arguments, bits),
        Function::RandomZipfian => zipfian(arguments, bits),
    }
}

fn refused<T>(words: impl Into<String>) -> Result<T, DrawError> {
    Err(DrawError(words.into()))
}

fn no_bigint<T>() -> Result<T, DrawError> {
    refused("it is no bigint")
}

fn real(value: Value) -> f64 {
    match value {
        Value::Whole(whole) => whole as f64,
        Value::Real(real) => real,
    }
}

fn is_zero(value: Value) -> bool {
    real(value) == 0.0
}

fn one(
    value: Value,
    whole: impl Fn(i64) -> Option<i64>,
    other: impl Fn(f64) -> f64,
) -> Result<Value, DrawError> {
    match value {
        Value::Whole(a) => whole(a).map_or_else(no_bigint, |found| Ok(Value::Whole(found))),
        Value::Real(a) => Ok(Value::Real(other(a))),
    }
}

fn both(
    a: Value,
    b: Value,
    whole: impl Fn(i64, i64) -> Option<i64>,
    other: impl Fn(f64, f64) -> f64,
) -> Result<Value, DrawError> {
    match (a, b) {
        (Value::Whole(a), Value::Whole(b)) => {
            whole(a, b).map_or_else(no_bigint, |found| Ok(Value::Whole(found)))
        }
        _ => Ok(Value::Real(other(real(a), real(b)))),
    }
}

fn furthest(values: &[Value], is_sought: impl Fn(Ordering) -> bool) -> Value {
    let mut found = values[0];
    for next in &values[1..] {
        let order = match (*next, found) {
            // Beyond 2^53 two whole numbers may be one float.
            (Value::Whole(a), Value::Whole(b)) => a.cmp(&b),
            (a, b) => real(a).total_cmp(&real(b)),
        };
        if is_sought(order) {
            found = *next;
        }
    }
    found
}

fn bounds(arguments: &[Value]) -> Result<(i64, i64), DrawError> {
    match (arguments[0], arguments[1]) {
        (Value::Whole(low), Value::Whole(high)) if low <= high => Ok((low, high)),
        (low, high) => refused(format!("no whole number is from {low} to {high}")),
    }
}

/// From 0 to below 1.
fn fraction(bits: &mut SplitMix64) -> f64 {
    (bits.next() >> 11) as f64 / (1_u64 << 53) as f64
}

/// The number at a share, from 0 to below 1, of those from the first to the last.
fn at_share(low: i64, high: i64, share: f64) -> Value {
    let span = high.abs_diff(low) as f64 + 1.0;
    Value::Whole(above_low(low, (span * share) as u64).min(high))
}

fn exponential(arguments: &[Value], bits: &mut SplitMix64) -> Result<Value, DrawError> {
    let (low, high) = bounds(arguments)?;
    let parameter = real(arguments[2]);
    if parameter <= 0.0 {
        return refused("random_exponential needs a parameter above 0");
    }
    let cut = (-parameter).exp();
    let share = -(cut + (1.0 - cut) * (1.0 - fraction(bits))).ln() / parameter;
    Ok(at_share(low, high, share))
}

fn gaussian(arguments: &[Value], bits: &mut SplitMix64) -> Result<Value, DrawError> {
    let (low, high) = bounds(arguments)?;
    let parameter = real(arguments[2]);
    if parameter < 2.0 {
        return refused("random_gaussian needs a parameter of 2 or more");
    }
    let mut deviation = parameter;
    while !(-parameter..parameter).contains(&deviation) {
        // Box and Muller's, as pgbench has it.
        let radius = (-2.0 * (1.0 - fraction(bits)).ln()).sqrt();
        deviation = radius * (2.0 * PI * fraction(bits)).sin();
    }
    Ok(at_share(low, high, (deviation + parameter) / (2.0 * parameter)))
}

fn zipfian(arguments: &[Value], bits: &mut SplitMix64) -> Result<Value, DrawError> {
    let (low, high) = bounds(arguments)?;
    let parameter = real(arguments[2]);
    if !(1.001..=1000.0).contains(&parameter) {
        return refused("random_zipfian needs a parameter from 1.001 to 1000");
    }
    if high.abs_diff(low) >= RANKS_MAX {
        return refused("a zipf distribution has at most 1,000,000 numbers here");
    }
    Ok(Value::Whole(Zipf::cached(low, high, parameter).at(fraction(bits))))
}
