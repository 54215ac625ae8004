//! A query is the sum of its parts: where a condition is true, where it is false, and where a null
//! leaves it open (ternary logic partitioning: Rigger and Su, "Finding Bugs in Database Systems via
//! Query Partitioning", OOPSLA 2020). No oracle is needed, so that relations may have nulls in any
//! number.
//!
//! QUEL has no test for null. A condition is open for a tuple if, in the partition that is the
//! tuple alone, neither it nor its negation leaves anything.

use std::cell::Cell;
use std::fmt::Write;

use loadstone_quel::Answer;
use lode_query::QueryError;
use lode_query::tactics::{MemoryBytes, Tactics};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

use crate::covering::design;
use crate::draw::Draw;
use crate::expression::{Expressions, Variable};
use crate::outcome::Engine;
use crate::random::setting;
use crate::schema::{Attribute, Relation, relations};
use crate::statement::declared;

/// In `make test`; `make torture` sets `LODE_PROGRAMS`.
const PROGRAMS: u64 = 200;

/// Rows of a product of two relations.
const PRODUCT_MAX: u64 = 3_000;

/// A query and its parts.
struct Query {
    setup: String,
    whole: String,
    parts: [String; 3],
}

impl Query {
    fn of(numbers: &[u16]) -> Self {
        let mut draw = Draw::new(numbers);
        let (mut made, mut setup) = relations(&mut draw);
        made.truncate(2);
        let relations: Vec<Relation> =
            made.iter().map(|one| with_nulls(one, &mut draw, &mut setup)).collect();
        let is_product =
            relations.len() == 2 && relations[0].rows * relations[1].rows < PRODUCT_MAX;
        let relations = if is_product { &relations[..] } else { &relations[..1] };
        let variables = relations.iter().enumerate();
        let variables: Vec<Variable<'_>> =
            variables.map(|(at, relation)| Variable { name: format!("v{at}"), relation }).collect();
        let keys: Vec<String> = variables.iter().map(|one| format!("{}.k", one.name)).collect();
        let ranges = declared(&variables);
        let mut made = Expressions {
            draw: &mut draw,
            variables,
            inner: None,
            may_fail: false,
            aggregates_left: 0,
        };
        let condition = made.condition(3);
        let targets = keys.iter().enumerate().map(|(at, key)| format!("k{at} = {key}"));
        let targets = targets.chain([format!("x = {}", made.value(1).text)]);
        let targets = targets.collect::<Vec<_>>().join(", ");
        let mut also = String::new();
        if made.draw.one_in(2) {
            also = format!(" and {}", made.condition(1));
        }
        let query = |part: &str| format!("{ranges}retrieve ({targets}) where {part}{also}");
        let none = |condition: &str| {
            format!("any({} by {} where {condition}) = 0", keys[0], keys.join(", "))
        };
        let (is, is_not) = (format!("({condition})"), format!("not ({condition})"));
        let open = format!("{} and {}", none(&is), none(&is_not));
        let parts = [query(&is), query(&is_not), query(&open)];
        Self { whole: query("1 = 1"), setup, parts }
    }

    fn check(&self, tactics: &Tactics) -> Result<u64, String> {
        let reported = |error: QueryError| error.to_string();
        let engine = Engine::after(&self.setup, tactics).map_err(reported)?;
        let whole = engine.run(&self.whole).map_err(reported)?.unwrap_or_default();
        let mut sum = Answer::default();
        let mut open = 0;
        for part in &self.parts {
            let part = match engine.run(part) {
                // Results that are looked up by row are not spilled.
                Err(QueryError::Memory { .. }) if tactics.memory != MemoryBytes::default() => {
                    return Ok(0);
                }
                outcome => outcome.map_err(reported)?.unwrap_or_default(),
            };
            sum.rows += part.rows;
            sum.checksum = sum.checksum.wrapping_add(part.checksum);
            open = part.rows;
        }
        if sum == whole { Ok(open) } else { Err(format!("{whole} in all, and {sum} in parts")) }
    }
}

/// The same relation, in which some values are null: aggregates of nothing.
fn with_nulls(relation: &Relation, draw: &mut Draw<'_>, setup: &mut String) -> Relation {
    let name = relation.name.replace('r', "n");
    let variable = Variable { name: "v".to_owned(), relation };
    let mut targets = vec!["v.k".to_owned()];
    for Attribute { name, .. } in relation.attributes.iter().skip(1) {
        let mut made = Expressions {
            draw,
            variables: vec![variable.clone()],
            inner: None,
            may_fail: false,
            aggregates_left: 0,
        };
        let filter = made.condition(1);
        targets.push(match made.draw.below(3) {
            0 => format!("v.{name}"),
            _ => format!("{name} = min(v.{name} by v.k where {filter})"),
        });
    }
    let targets = targets.join(", ");
    _ = writeln!(setup, "range of v is {}\nretrieve into {name} ({targets})", relation.name);
    let indexed = &relation.attributes[draw.below(relation.attributes.len())].name;
    _ = match draw.below(4) {
        0 => Ok(()),
        1 => writeln!(setup, "create nonclustered index on {name} ({indexed})"),
        2 => writeln!(setup, "modify {name} to isam on {indexed}"),
        _ => writeln!(setup, "modify {name} to hash on {indexed}"),
    };
    Relation { name, ..relation.clone() }
}

#[test]
fn a_query_is_the_sum_of_its_parts() {
    let programs = setting("LODE_PROGRAMS").unwrap_or(PROGRAMS);
    let rows = design(2).rows;
    let config = ProptestConfig {
        cases: programs as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let (next, failing, open) = (Cell::new(0), Cell::new(None), Cell::new(0));
    let outcome = TestRunner::new(config).run(&vec(any::<u16>(), 60..160), |numbers| {
        let query = Query::of(&numbers);
        // A failing query is tried again under the same tactics while it shrinks.
        let row = failing.get().unwrap_or(next.get());
        next.set(next.get() + 1);
        let tactics = &rows[row % rows.len()];
        let rows_open = query.check(tactics).map_err(|reported| {
            failing.set(Some(row));
            let Query { setup, whole, parts: [is, is_not, open] } = &query;
            TestCaseError::fail(format!(
                "{reported}\n\nunder {tactics}\n\n{setup}\n{whole}\n\n{is}\n\n{is_not}\n\n{open}"
            ))
        })?;
        open.set(open.get() + rows_open);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(open.get() > 0, "no condition was open: nulls were not tested");
}
