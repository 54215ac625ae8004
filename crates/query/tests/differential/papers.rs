//! The operations of the Wisconsin benchmark, both editions, for fewer tuples than the papers have,
//! and what the oracle says of them.

use std::path::Path;

use loadstone_datasets::{Column, Relation, open, read_all};
use loadstone_quel::tree::{BinaryOperator, Expr, Name, Statement, Target};
use loadstone_quel::{Answer, Oracle, parse, print};

/// Tuples of a large relation, for which the texts are written.
const PUBLISHED_ROWS: i64 = 10_000;

/// The effect of an operation, by its tree.
#[derive(Debug)]
pub enum Effect {
    /// Rows go to the client.
    Client,
    /// Into the relation of that name.
    Into(String),
    /// Tuples of that relation change; these texts, one after another, take it back.
    Update { relation: String, undo: Vec<String> },
}

/// An operation of the benchmark.
#[derive(Debug)]
pub struct Operation {
    pub name: String,
    /// The way in which its relations are stored: `heap`, `indexed`, `hash` or `string`.
    pub design: String,
    pub text: String,
    pub effect: Effect,
    pub expected: Answer,
}

/// An edition with so many tuples in its large relations.
pub struct Suite {
    pub relations: Vec<Relation>,
    pub operations: Vec<Operation>,
    pub oracle: Oracle,
}

impl Suite {
    /// The edition of that year.
    pub fn of(edition: &str, rows: i64) -> Self {
        let relations = match edition {
            "1983" => relations_of_1983(rows),
            _ => ["tenktup1", "tenktup2", "onektup", "bprime"]
                .map(|name| generated("1993", name, rows))
                .into(),
        };
        let mut oracle = Oracle::new();
        for relation in &relations {
            oracle.add(relation.clone());
        }
        let operations = operations(edition, rows, &oracle);
        Self { relations, operations, oracle }
    }
}

fn generated(edition: &str, relation: &str, rows: i64) -> Relation {
    let source = open("wisconsin", edition, relation, rows as u64, 0);
    read_all(&source.unwrap_or_else(|error| panic!("{error}")))
}

/// The paper fixes 10,000 tuples. Of fewer, each relation has the first ones; their `unique1`,
/// which is any of 10,000 numbers, becomes its place among those that are left.
fn relations_of_1983(rows: i64) -> Vec<Relation> {
    let shorter = |name: &str| {
        let whole = generated("1983", name, PUBLISHED_ROWS);
        let count = whole.rows() * rows as usize / PUBLISHED_ROWS as usize;
        shortened(whole, count)
    };
    let second = shorter("tenthoustup2");
    let prime = Relation { name: "tempbprime".to_owned(), columns: second.columns.clone() };
    let tenth = second.rows() / 10;
    vec![
        shorter("thoustup"),
        shorter("tenthoustup"),
        second,
        cut(prime, tenth),
        // Its texts are written for its own size.
        generated("1983", "twothoustup", PUBLISHED_ROWS),
    ]
}

fn shortened(relation: Relation, rows: usize) -> Relation {
    let mut relation = cut(relation, rows);
    for (name, column) in &mut relation.columns {
        let Column::Int16(values) = column else { continue };
        if name.ends_with("unique1") {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            for value in values {
                *value = sorted.partition_point(|other| *other < *value) as i16;
            }
        }
    }
    relation
}

fn cut(mut relation: Relation, rows: usize) -> Relation {
    for (_, column) in &mut relation.columns {
        match column {
            Column::Int16(values) => values.truncate(rows),
            Column::Text { width, bytes } => bytes.truncate(rows * *width),
            other => panic!("1983 has no {other:?}"),
        }
    }
    relation
}

/// The operations of an edition's file.
fn operations(edition: &str, rows: i64, oracle: &Oracle) -> Vec<Operation> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder.join("../../python/loadstone/benchmarks/wisconsin");
    let text = std::fs::read_to_string(folder.join(format!("queries-{edition}.quel"))).unwrap();
    let mut operations: Vec<Operation> = Vec::new();
    // The first comment is about all of them.
    for piece in text.split("/*").skip(2) {
        let (heading, program) = piece.split_once("*/").unwrap();
        let parts: Vec<&str> = heading.split('|').map(str::trim).collect();
        match parts.as_slice() {
            [name, _, design, _] => {
                let (design, _) = design.split_once(',').unwrap();
                let program = scaled(parse(program).unwrap(), rows);
                operations.push(operation(name, design, &program, oracle));
            }
            [undo] if *undo == "undo" => {
                let last = operations.last_mut().unwrap();
                let Effect::Update { undo, .. } = &mut last.effect else { panic!("{last:?}") };
                *undo = vec![print(&scaled(parse(program).unwrap(), rows)).unwrap()];
            }
            _ => {}
        }
    }
    operations
}

fn operation(name: &str, design: &str, program: &[Statement], oracle: &Oracle) -> Operation {
    let text = print(program).unwrap();
    let expected = oracle.answer(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (last, ranges) = program.split_last().unwrap();
    let relation_of = |variable: &Name| {
        let named = ranges.iter().find_map(|one| match one {
            Statement::Range { variable: known, relation } if known == variable => Some(relation),
            _ => None,
        });
        named.unwrap().text.clone()
    };
    let effect = match last {
        Statement::Retrieve { into: None, .. } => Effect::Client,
        Statement::Retrieve { into: Some(name), .. } => Effect::Into(name.text.clone()),
        Statement::Append { relation, .. } => {
            Effect::Update { relation: relation.text.clone(), undo: Vec::new() }
        }
        Statement::Replace { variable, .. } => {
            Effect::Update { relation: relation_of(variable), undo: Vec::new() }
        }
        Statement::Delete { variable, filter } => {
            let relation = relation_of(variable);
            let undo = put_back(ranges, &relation, variable, filter.as_ref());
            Effect::Update { relation, undo }
        }
        other => panic!("{name}: {other:?} is no operation"),
    };
    Operation { name: name.to_owned(), design: design.to_owned(), text, effect, expected }
}

/// The statement that keeps the tuples that a `delete` takes, to be run before it, and the one that
/// appends them again.
fn put_back(
    ranges: &[Statement],
    relation: &str,
    variable: &Name,
    filter: Option<&Expr>,
) -> Vec<String> {
    let keep = Statement::Retrieve {
        unique: false,
        into: Some("kept".into()),
        targets: vec![Target::All { variable: variable.clone() }],
        filter: filter.cloned(),
    };
    let keep: Vec<Statement> = ranges.iter().cloned().chain([keep]).collect();
    let again = format!("range of k is kept append to {relation} (k.all) destroy kept");
    vec![print(&keep).unwrap(), again]
}

/// A program with its constants for so many tuples, by rule 1 at the head of the editions' files.
fn scaled(mut program: Vec<Statement>, rows: i64) -> Vec<Statement> {
    let of_fixed_size = program.iter().any(|one| match one {
        Statement::Range { relation, .. } => relation.text == "twothoustup",
        _ => false,
    });
    if of_fixed_size {
        return program;
    }
    for statement in &mut program {
        let (targets, filter) = match statement {
            Statement::Retrieve { targets, filter, .. }
            | Statement::Append { targets, filter, .. }
            | Statement::Replace { targets, filter, .. } => (targets.as_mut_slice(), filter),
            Statement::Delete { filter, .. } => (&mut [][..], filter),
            _ => continue,
        };
        for target in targets {
            if let Target::Named { name: Some(name), value: Expr::Integer { value, .. } } = target
                && name.text.contains("unique")
            {
                *value = constant(*value, BinaryOperator::Equal, rows);
            }
        }
        if let Some(filter) = filter {
            scale(filter, rows);
        }
    }
    program
}

fn scale(condition: &mut Expr, rows: i64) {
    let Expr::Binary { operator, left, right, .. } = condition else { return };
    if *operator == BinaryOperator::And {
        scale(left, rows);
        scale(right, rows);
    } else if let (Expr::Attribute { name, .. }, Expr::Integer { value, .. }) =
        (left.as_ref(), right.as_mut())
        && name.text.contains("unique")
    {
        *value = constant(*value, *operator, rows);
    }
}

/// A constant that is compared with a key, or assigned to one. What lies outside of the domain of
/// 10,000 numbers does so of this one.
fn constant(value: i64, operator: BinaryOperator, rows: i64) -> i64 {
    if value > PUBLISHED_ROWS {
        return value - PUBLISHED_ROWS + rows;
    }
    match operator {
        BinaryOperator::LessOrEqual => (value + 1) * rows / PUBLISHED_ROWS - 1,
        _ => value * rows / PUBLISHED_ROWS,
    }
}
