//! An expression of a script of pgbench's, compiled: words in the order in which a machine with a
//! stack executes them. The operators, functions and distributions are those of `PostgreSQL`'s
//! manual (pgbench, "Expressions" and "Built-In Functions"), and every value that is not random is
//! the one that pgbench has; the random numbers are ours.

use std::f64::consts::PI;

use loadstone_datasets::splitmix::SplitMix64;

use super::hashes;
use super::value::{DrawError, Value, above_low};
use super::zipf::{RANKS_MAX, Zipf};

/// One word of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Word {
    /// A constant.
    Constant(Value),
    /// The value that was drawn before, at that place.
    Variable(usize),
    /// Applied to the last values.
    Call(Function, usize),
    /// Passes over so many words, by the last value.
    Jump(Jump, usize),
}

/// What of the last value lets a jump pass over the words behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jump {
    /// It is false or NULL: then it stays, and is the result.
    And,
    /// It is true or NULL: then it stays.
    Or,
    /// It is not true.
    Unless,
    /// Anything.
    Always,
}

/// An operation on the values before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Not,
    Truth,
    Is,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Abs,
    Int,
    Double,
    Greatest,
    Least,
    Pi,
    Sqrt,
    Ln,
    Exp,
    Pow,
    HashFnv1a,
    HashMurmur2,
    Permute,
}

/// Each function as a word has it before its number of arguments, and the least and the largest.
const FUNCTIONS: [(&str, Function, usize, usize); 34] = [
    ("+", Function::Add, 2, 2),
    ("-", Function::Subtract, 2, 2),
    ("*", Function::Multiply, 2, 2),
    ("/", Function::Divide, 2, 2),
    ("mod", Function::Modulo, 2, 2),
    ("=", Function::Equal, 2, 2),
    ("<>", Function::Unequal, 2, 2),
    ("<", Function::Less, 2, 2),
    ("<=", Function::LessOrEqual, 2, 2),
    ("&", Function::BitAnd, 2, 2),
    ("|", Function::BitOr, 2, 2),
    ("#", Function::BitXor, 2, 2),
    ("<<", Function::ShiftLeft, 2, 2),
    (">>", Function::ShiftRight, 2, 2),
    ("not", Function::Not, 1, 1),
    ("truth", Function::Truth, 1, 1),
    ("is", Function::Is, 2, 2),
    ("random", Function::Random, 2, 2),
    ("random_exponential", Function::RandomExponential, 3, 3),
    ("random_gaussian", Function::RandomGaussian, 3, 3),
    ("random_zipfian", Function::RandomZipfian, 3, 3),
    ("abs", Function::Abs, 1, 1),
    ("int", Function::Int, 1, 1),
    ("double", Function::Double, 1, 1),
    ("greatest", Function::Greatest, 1, 16),
    ("least", Function::Least, 1, 16),
    ("pi", Function::Pi, 0, 0),
    ("sqrt", Function::Sqrt, 1, 1),
    ("ln", Function::Ln, 1, 1),
    ("exp", Function::Exp, 1, 1),
    ("pow", Function::Pow, 2, 2),
    ("hash_fnv1a", Function::HashFnv1a, 2, 2),
    ("hash_murmur2", Function::HashMurmur2, 2, 2),
    ("permute", Function::Permute, 3, 3),
];

const JUMPS: [(&str, Jump); 4] =
    [("and", Jump::And), ("or", Jump::Or), ("unless", Jump::Unless), ("skip", Jump::Always)];

/// Read a word: a number, `null`, `true`, `false`, `:PLACE` of a value drawn before,
/// `FUNCTION(COUNT` of arguments, or `JUMP(COUNT` of words. `depth` is the number of values on the
/// stack before it; answers with the number after it.
pub fn parse(text: &str, depth: usize, drawn: usize) -> Result<(Word, usize), DrawError> {
    let refused = || DrawError(format!("{text:?} is no word of an expression"));
    if let Some(place) = text.strip_prefix(':') {
        let place = place.parse().ok().filter(|place| *place < drawn).ok_or_else(refused)?;
        return Ok((Word::Variable(place), depth + 1));
    }
    if let Some((name, count)) = text.split_once('(') {
        let count: usize = count.parse().map_err(|_| refused())?;
        if let Some((_, jump)) = JUMPS.iter().find(|(known, _)| *known == name) {
            let after = depth.checked_sub(1).ok_or_else(refused)?;
            return Ok((Word::Jump(*jump, count), after));
        }
        let found = FUNCTIONS.iter().find(|(known, ..)| *known == name).ok_or_else(refused)?;
        let fits = (found.2..=found.3).contains(&count) && count <= depth;
        return fits.then(|| (Word::Call(found.1, count), depth - count + 1)).ok_or_else(refused);
    }
    let constant = match text {
        "null" => Value::Null,
        "true" | "false" => Value::Bool(text == "true"),
        _ => match text.parse() {
            Ok(whole) => Value::Whole(whole),
            Err(_) => Value::Real(text.parse().map_err(|_| refused())?),
        },
    };
    Ok((Word::Constant(constant), depth + 1))
}

/// The value of an expression, whose words `parse` has read.
pub fn value(words: &[Word], drawn: &[Value], bits: &mut SplitMix64) -> Result<Value, DrawError> {
    let broken = || DrawError("an expression whose jumps lack a value".to_owned());
    let mut stack: Vec<Value> = Vec::with_capacity(8);
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        match word {
            Word::Constant(constant) => stack.push(*constant),
            Word::Variable(place) => stack.push(drawn[*place]),
            Word::Call(function, count) => {
                let first = stack.len().checked_sub(*count).ok_or_else(broken)?;
                let found = call(*function, &stack[first..], bits)?;
                stack.truncate(first);
                stack.push(found);
            }
            Word::Jump(jump, count) => {
                let last = stack.pop().ok_or_else(broken)?;
                let (passes, stays) = jump.decide(last)?;
                if stays {
                    stack.push(last);
                }
                if passes {
                    at += count;
                }
            }
        }
    }
    match stack.pop() {
        Some(Value::Real(real)) if !real.is_finite() => refused(format!("{real} is no number")),
        found => found.ok_or_else(broken),
    }
}

impl Jump {
    /// Whether it passes over the words, and whether the value stays.
    fn decide(self, last: Value) -> Result<(bool, bool), DrawError> {
        let passes = match (self, last) {
            (Self::And | Self::Or, Value::Null) => true,
            (Self::And, _) => !truth(last)?,
            (Self::Or, _) => truth(last)?,
            (Self::Always, _) => return Ok((true, true)),
            (Self::Unless, _) => {
                let holds = match last {
                    Value::Null => false,
                    Value::Bool(is_true) => is_true,
                    Value::Whole(whole) => whole != 0,
                    Value::Real(real) => real != 0.0,
                };
                return Ok((!holds, false));
            }
        };
        Ok((passes, passes))
    }
}

fn call(
    function: Function,
    arguments: &[Value],
    bits: &mut SplitMix64,
) -> Result<Value, DrawError> {
    if function == Function::Is {
        return Ok(Value::Bool(arguments[0] == arguments[1]));
    }
    if arguments.contains(&Value::Null) {
        return Ok(Value::Null);
    }
    let number = |at: usize| real(arguments[at]);
    match function {
        Function::Not => Ok(Value::Bool(!truth(arguments[0])?)),
        Function::Truth => Ok(Value::Bool(truth(arguments[0])?)),
        Function::Double => Ok(Value::Real(number(0)?)),
        Function::Pi => Ok(Value::Real(PI)),
        Function::Sqrt => Ok(Value::Real(number(0)?.sqrt())),
        Function::Ln => Ok(Value::Real(number(0)?.ln())),
        Function::Exp => Ok(Value::Real(number(0)?.exp())),
        Function::Pow => Ok(Value::Real(number(0)?.powf(number(1)?))),
        Function::Random => {
            let (low, high) = bounds(arguments)?;
            let span = u128::from(high.abs_diff(low)) + 1;
            let above = (u128::from(bits.next()) * span) >> 64;
            Ok(Value::Whole(above_low(low, above as u64)))
        }
        Function::RandomExponential => exponential(arguments, bits),
        Function::RandomGaussian => gaussian(arguments, bits),
        Function::RandomZipfian => zipfian(arguments, bits),
        _ if overloaded(function) && arguments.iter().any(|one| matches!(one, Value::Real(_))) => {
            let reals = arguments.iter().map(|one| real(*one)).collect::<Result<Vec<_>, _>>()?;
            Ok(of_reals(function, &reals))
        }
        _ => {
            let wholes = arguments.iter().map(|one| whole(*one)).collect::<Result<Vec<_>, _>>()?;
            of_wholes(function, &wholes)
        }
    }
}

/// Whether it computes with floats where one of its arguments is one, and else with whole numbers.
const fn overloaded(function: Function) -> bool {
    matches!(
        function,
        Function::Add
            | Function::Subtract
            | Function::Multiply
            | Function::Divide
            | Function::Equal
            | Function::Unequal
            | Function::Less
            | Function::LessOrEqual
            | Function::Abs
            | Function::Greatest
            | Function::Least
    )
}

#[expect(clippy::float_cmp, reason = "as pgbench compares them")]
fn of_reals(function: Function, of: &[f64]) -> Value {
    let first = of[0];
    match function {
        Function::Add => Value::Real(first + of[1]),
        Function::Subtract => Value::Real(first - of[1]),
        Function::Multiply => Value::Real(first * of[1]),
        Function::Divide => Value::Real(first / of[1]),
        Function::Equal => Value::Bool(first == of[1]),
        Function::Unequal => Value::Bool(first != of[1]),
        Function::Less => Value::Bool(first < of[1]),
        Function::LessOrEqual => Value::Bool(first <= of[1]),
        Function::Abs => Value::Real(if first < 0.0 { -first } else { first }),
        Function::Greatest => Value::Real(
            of.iter().copied().reduce(|a, b| if a > b { a } else { b }).unwrap_or(first),
        ),
        _ => Value::Real(
            of.iter().copied().reduce(|a, b| if a < b { a } else { b }).unwrap_or(first),
        ),
    }
}

fn of_wholes(function: Function, of: &[i64]) -> Result<Value, DrawError> {
    let first = of[0];
    let second = of.get(1).copied().unwrap_or_default();
    let found = match function {
        Function::Equal => return Ok(Value::Bool(first == second)),
        Function::Unequal => return Ok(Value::Bool(first != second)),
        Function::Less => return Ok(Value::Bool(first < second)),
        Function::LessOrEqual => return Ok(Value::Bool(first <= second)),
        Function::Divide | Function::Modulo if second == 0 => return refused("division by zero"),
        Function::ShiftLeft | Function::ShiftRight if !(0..64).contains(&second) => {
            return refused(format!("no number is shifted by {second} bits"));
        }
        Function::Permute if second <= 0 => return refused("permute needs a size above 0"),
        Function::Add => first.checked_add(second),
        Function::Subtract => first.checked_sub(second),
        Function::Multiply => first.checked_mul(second),
        Function::Divide => first.checked_div(second),
        Function::Modulo => Some(first.wrapping_rem(second)),
        Function::BitAnd => Some(first & second),
        Function::BitOr => Some(first | second),
        Function::BitXor => Some(first ^ second),
        Function::ShiftLeft => Some(first << second),
        Function::ShiftRight => Some(first >> second),
        Function::Abs => Some(first.wrapping_abs()),
        Function::Greatest => of.iter().copied().max(),
        Function::Least => of.iter().copied().min(),
        Function::HashFnv1a => Some(hashes::fnv1a(first, second)),
        Function::HashMurmur2 => Some(hashes::murmur2(first, second)),
        Function::Permute => Some(hashes::permuted(first, second, of[2])),
        _ => Some(first),
    };
    found.map(Value::Whole).ok_or_else(|| DrawError("it is no bigint".to_owned()))
}

fn refused<T>(words: impl Into<String>) -> Result<T, DrawError> {
    Err(DrawError(words.into()))
}

fn truth(value: Value) -> Result<bool, DrawError> {
    match value {
        Value::Bool(is_true) => Ok(is_true),
        _ => refused(format!("{} is neither true nor false", value.plain())),
    }
}

fn real(value: Value) -> Result<f64, DrawError> {
    match value {
        Value::Whole(whole) => Ok(whole as f64),
        Value::Real(real) => Ok(real),
        Value::Bool(_) | Value::Null => refused(format!("{} is no number", value.plain())),
    }
}

/// A float is rounded to the nearest, of two as near to the even one.
fn whole(value: Value) -> Result<i64, DrawError> {
    match value {
        Value::Whole(whole) => Ok(whole),
        Value::Real(real) => {
            let nearest = real.round_ties_even();
            if (-(2_f64.powi(63))..2_f64.powi(63)).contains(&nearest) {
                return Ok(nearest as i64);
            }
            refused(format!("{real} is no bigint"))
        }
        Value::Bool(_) | Value::Null => refused(format!("{} is no number", value.plain())),
    }
}

fn bounds(arguments: &[Value]) -> Result<(i64, i64), DrawError> {
    let (low, high) = (whole(arguments[0])?, whole(arguments[1])?);
    if low > high {
        return refused(format!("no whole number is from {low} to {high}"));
    }
    match high.checked_sub(low).and_then(|span| span.checked_add(1)) {
        Some(_) => Ok((low, high)),
        None => refused("random numbers from so low to so high are more than a bigint counts"),
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
    let parameter = real(arguments[2])?;
    if parameter <= 0.0 {
        return refused("random_exponential needs a parameter above 0");
    }
    let cut = (-parameter).exp();
    let share = -(cut + (1.0 - cut) * (1.0 - fraction(bits))).ln() / parameter;
    Ok(at_share(low, high, share))
}

fn gaussian(arguments: &[Value], bits: &mut SplitMix64) -> Result<Value, DrawError> {
    let (low, high) = bounds(arguments)?;
    let parameter = real(arguments[2])?;
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
    let parameter = real(arguments[2])?;
    if !(1.001..=1000.0).contains(&parameter) {
        return refused("random_zipfian needs a parameter from 1.001 to 1000");
    }
    if high.abs_diff(low) >= RANKS_MAX {
        return refused(
            "random_zipfian is read of at most 1,000,000 numbers: give it a smaller range, and \
             spread its numbers by permute or *",
        );
    }
    Ok(Value::Whole(Zipf::cached(low, high, parameter).at(fraction(bits))))
}
