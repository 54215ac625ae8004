//! Expressions whose leaves are the least and the greatest integer, -1, 0 and null, by each
//! executor: an operator fails for a row where the oracle's does, and for no row where it has
//! nothing to compute.

use std::cell::Cell;

use loadstone_quel::Oracle;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

use crate::draw::Draw;
use crate::outcome::{Engine, Kind};
use crate::random::{setting, show};

const EXPRESSIONS: u64 = 300;

/// `l` has one tuple of each value, the last of which is null; `z` has none.
const SETUP: &str = "create d (k = i4, v = i8, r = f8) create z (v = i8, r = f8)
    append to d (k = 0, v = 0, r = 0.0)
    append to d (k = 1, v = -1, r = -1.0)
    append to d (k = 2, v = -9223372036854775807 - 1, r = -1.0e308)
    append to d (k = 3, v = 9223372036854775807, r = 1.0e308)
    append to d (k = 4)
    range of d is d
    retrieve into l (k = d.k, v = max(d.v by d.k where d.k < 4), r = max(d.r by d.k where d.k < 4))
    range of a is l range of b is l range of z is z";

const INTEGERS: [&str; 7] =
    ["a.v", "b.v", "0", "(-1)", "(-9223372036854775807 - 1)", "9223372036854775807", "max(z.v)"];

const REALS: [&str; 6] = ["a.r", "b.r", "0.0", "(-1.0)", "1.0e308", "min(z.r)"];

fn integer(draw: &mut Draw<'_>, depth: usize) -> String {
    if depth == 0 {
        return draw.of(&INTEGERS).to_owned();
    }
    let inner = integer(draw, depth - 1);
    match draw.below(9) {
        kind @ 0..5 => {
            let operator = ["+", "-", "*", "/", "mod"][kind];
            let other_depth = draw.below(depth);
            let other = integer(draw, other_depth);
            match operator {
                "mod" => format!("mod({inner}, {other})"),
                _ => format!("({inner} {operator} {other})"),
            }
        }
        5 | 6 => format!("(-{inner})"),
        7 => format!("abs({inner})"),
        _ => {
            let argument = if draw.one_in(2) { real(draw, depth - 1) } else { inner };
            format!("{}({argument})", draw.of(&["int4", "int1", "int2"]))
        }
    }
}

fn real(draw: &mut Draw<'_>, depth: usize) -> String {
    if depth == 0 {
        return draw.of(&REALS).to_owned();
    }
    let inner = real(draw, depth - 1);
    match draw.below(8) {
        kind @ 0..5 => {
            let other = if draw.one_in(3) { integer(draw, depth - 1) } else { real(draw, 0) };
            format!("({inner} {} {other})", ["+", "-", "*", "/", "**"][kind])
        }
        5 => format!("(-{inner})"),
        6 => format!("float8({})", integer(draw, depth - 1)),
        _ => format!("{}({inner})", draw.of(&["log", "sqrt", "exp", "abs", "sin"])),
    }
}

/// A statement that computes such an expression for one pair of tuples, or for all.
fn statement(numbers: &[u16]) -> String {
    let draw = &mut Draw::new(numbers);
    let depth = 1 + draw.below(4);
    let value = if draw.one_in(3) { real(draw, depth) } else { integer(draw, depth) };
    let pair = match draw.below(6) {
        5 => "a.k = a.k and b.k = b.k".to_owned(),
        one => format!("a.k = {one} and b.k = {}", draw.below(5)),
    };
    if draw.one_in(3) {
        format!("retrieve (x = max({value} where {pair}))")
    } else {
        format!("retrieve (x = {value}) where {pair}")
    }
}

/// Without a variable of its own the aggregate is of another scope than its condition.
fn is_one_scope(text: &str) -> bool {
    let uses = |name| text.matches(name).count();
    uses("a.") > 1 && uses("b.") > 1
}

#[test]
fn an_operator_fails_where_the_oracles_does() {
    let engines = ["vectorised", "vectorised&simd=off", "closures", "interpreted", "compiled"];
    let engines = engines.map(|execution| {
        let tactics = format!("execution={execution}").parse().unwrap();
        (execution, Engine::after(SETUP, &tactics).unwrap())
    });
    let (computed, failed) = (Cell::new(0_u64), Cell::new(0_u64));
    let cases = setting("LODE_PROGRAMS").map_or(EXPRESSIONS, |programs| 10 * programs);
    let config = ProptestConfig {
        cases: cases as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&vec(any::<u16>(), 4..60), |numbers| {
        let text = statement(&numbers);
        prop_assume!(is_one_scope(&text));
        let expected = Oracle::new().answer(&format!("{SETUP} {text}"));
        let expected = expected.map_err(|error| (Kind::of_oracle(&error), error.to_string()));
        let asked = format!("range of a is l range of b is l range of z is z {text}");
        for (execution, engine) in &engines {
            let found = engine.run(&asked);
            let is_same = match (&found, &expected) {
                (Ok(found), Ok(expected)) => found.as_ref() == Some(expected),
                (Err(error), Err((kind, _))) => Kind::of_lode(error).as_ref() == Ok(kind),
                _ => false,
            };
            if !is_same {
                let reported = format!("{execution}: {found:?}, and not {expected:?}:\n{text}");
                return Err(TestCaseError::fail(reported));
            }
        }
        let count = if expected.is_ok() { &computed } else { &failed };
        count.set(count.get() + 1);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let (computed, failed) = (computed.get(), failed.get());
    show(format!("{computed} computed, {failed} failed"));
    assert!(computed.min(failed) > cases / 10, "{computed} computed, {failed} failed");
}

/// Every operator over every other, where one side of the inner one is null: nothing is computed,
/// so nothing fails, whatever lies in the place of the null.
#[test]
fn an_operator_of_a_null_never_fails() {
    let mut targets = Vec::new();
    let mut add = |value: String| targets.push(format!("x{} = {value}", targets.len()));
    let null = ["max(z.v)", "min(z.r)"];
    let of = |operator: &str, left: &str, right: &str| match operator {
        "mod" => format!("mod({left}, {right})"),
        _ => format!("({left} {operator} {right})"),
    };
    for (leaf, inner) in [("a.v", "+"), ("a.v", "-"), ("a.v", "*"), ("a.v", "/"), ("a.v", "mod")] {
        for value in [of(inner, leaf, null[0]), of(inner, null[0], leaf)] {
            for outer in ["-", "abs", "int1", "int2", "int4", "float8", "log", "sqrt", "exp"] {
                add(format!("{outer}({value})"));
            }
            for outer in ["+", "-", "*", "/", "mod"] {
                for other in &INTEGERS[2..6] {
                    add(of(outer, &value, other));
                    add(of(outer, other, &value));
                }
            }
        }
    }
    for inner in ["+", "-", "*", "/", "**"] {
        for value in [of(inner, "a.r", null[1]), of(inner, null[1], "a.r")] {
            for outer in ["-", "abs", "int1", "log", "sqrt", "exp", "sin", "atan"] {
                add(format!("{outer}({value})"));
            }
            for outer in ["+", "-", "*", "/", "**"] {
                add(of(outer, &value, "1.0e308"));
            }
        }
    }
    let text = format!("range of a is l range of z is z retrieve ({})", targets.join(", "));
    let expected = Oracle::new().answer(&format!("{SETUP} {text}")).unwrap();
    assert_eq!(expected.rows, 5);
    for execution in ["vectorised", "closures", "interpreted", "compiled"] {
        let tactics = format!("execution={execution}").parse().unwrap();
        let engine = Engine::after(SETUP, &tactics).unwrap();
        assert_eq!(engine.run(&text).unwrap(), Some(expected), "{execution}");
    }
}
