//! Random queries of one to four range variables over random relations, under every way to join by
//! substitution and every place of the accelerator, against the oracle.

use std::path::Path;

use loadstone_datasets::{Column, Relation};
use loadstone_quel::Oracle;
use proptest::prelude::*;
use proptest::sample::select;

use super::{answer, contents, load};
use crate::database::{Database, Storage};
use crate::tactics::Tactics;

const NAMES: [&str; 3] = ["r", "s", "t"];
const VARIABLES: [&str; 4] = ["p", "q", "u", "v"];

/// Tuples of two numbers and a text, with few different values.
fn relation(name: &'static str) -> impl Strategy<Value = Relation> {
    let tuple = (0i16..6, -2i16..12, "[ab]{2}");
    prop::collection::vec(tuple, 0..24).prop_map(move |tuples| Relation {
        name: name.to_owned(),
        columns: vec![
            ("a".to_owned(), Column::Int16(tuples.iter().map(|one| one.0).collect())),
            ("b".to_owned(), Column::Int16(tuples.iter().map(|one| one.1).collect())),
            (
                "c".to_owned(),
                Column::Text {
                    width: 2,
                    bytes: tuples.iter().flat_map(|one| one.2.bytes()).collect(),
                },
            ),
        ],
    })
}

fn storage() -> impl Strategy<Value = Storage> {
    (select(vec!["heap", "clustered", "hash"]), any::<bool>()).prop_map(|(organisation, second)| {
        Storage {
            organisation: organisation.to_owned(),
            key: if organisation == "heap" { vec![] } else { vec!["b".to_owned()] },
            indexes: if second { vec!["a".to_owned()] } else { vec![] },
        }
    })
}

/// A number of one of so many variables.
fn number(variables: usize) -> impl Strategy<Value = String> {
    (select(VARIABLES[..variables].to_vec()), select(vec!["a", "b"]))
        .prop_map(|(variable, attribute)| format!("{variable}.{attribute}"))
}

fn condition(variables: usize) -> BoxedStrategy<String> {
    let two = move || (number(variables), number(variables));
    let texts = VARIABLES[..variables].to_vec();
    prop_oneof![
        5 => two().prop_map(|(one, other)| format!("{one} = {other}")),
        1 => (two(), select(vec!["<", "!=", ">="]))
            .prop_map(|((one, other), sign)| format!("{one} {sign} {other}")),
        1 => two().prop_map(|(one, other)| format!("({one} = 3 or {one} + 1 = {other})")),
        3 => (number(variables), select(vec!["<", ">=", "=", "!="]), -1i16..8)
            .prop_map(|(one, sign, value)| format!("{one} {sign} {value}")),
        1 => (select(texts.clone()), select(texts))
            .prop_map(|(one, other)| format!("{one}.c = {other}.c")),
        1 => Just("p.c = \"a*\"".to_owned()),
        1 => Just("p.a >= min(p.a where p.b > 2)".to_owned()),
    ]
    .boxed()
}

/// A program over so many variables: what it requests, and the relation that it changes.
fn program(variables: usize) -> impl Strategy<Value = (String, bool)> {
    let ranges = prop::collection::vec(select(NAMES.to_vec()), variables);
    let conditions = prop::collection::vec(condition(variables), 1..6);
    let targets = prop::collection::vec(number(variables), 1..3);
    (ranges, conditions, targets, 0..6_usize).prop_map(
        move |(ranges, conditions, targets, what)| {
            let declared = VARIABLES.iter().zip(&ranges);
            let declared =
                declared.map(|(name, relation)| format!("range of {name} is {relation} "));
            let named = targets.iter().enumerate().map(|(at, value)| format!("x{at} = {value}"));
            let named = named.collect::<Vec<_>>().join(", ");
            let filter = conditions.join(" and ");
            let declared = declared.collect::<String>();
            let (first, changed) = (&targets[0], &ranges[0]);
            match what {
                0 => (format!("{declared}retrieve unique ({named}) where {filter}"), false),
                1 => (format!("{declared}retrieve (x = any({first} where {filter}))"), false),
                2 => (
                    format!(
                        "{declared}retrieve (x = count({first} where {filter}), \
                    y = max({first} where {filter}))"
                    ),
                    false,
                ),
                3 if *changed == "r" => (format!("{declared}delete p where {filter}"), true),
                _ => (format!("{declared}retrieve ({named}) where {filter}"), false),
            }
        },
    )
}

/// Every way to join by substitution, and every place where conditions are evaluated.
const TACTICS: [&str; 12] = [
    "join=substitution",
    "join=substitution&optimizer=rules&execution=interpreted",
    "join=substitution&optimizer=none&execution=closures",
    "join=substitution&optimizer=rules&accelerator=on",
    "join=substitution&optimizer=rules&accelerator=thread&execution=interpreted",
    "accelerator=on",
    "accelerator=on&optimizer=rules&execution=interpreted&join=nested-loops",
    "accelerator=thread&optimizer=none",
    "accelerator=thread&optimizer=none&execution=closures",
    "execution=compiled",
    "join=substitution&optimizer=none&execution=compiled",
    "join=substitution&accelerator=on&execution=compiled",
];

fn checked(
    relations: &[(Relation, Storage)],
    is_settled: bool,
    (program, is_change): &(String, bool),
) {
    let mut oracle = Oracle::new();
    for (relation, _) in relations {
        oracle.add(Relation { name: relation.name.clone(), columns: relation.columns.clone() });
    }
    let expected = oracle.answer(program).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (at, text) in TACTICS.into_iter().enumerate() {
        // A relation that a query leaves as it is, all of them share: to load it takes longer than
        // to ask.
        let name = if *is_change { format!("{at}.lode") } else { "random.lode".to_owned() };
        let path = folder.path().join(name);
        if !path.exists() {
            create(&path, relations, is_settled);
        }
        let tactics: Tactics = text.parse().unwrap();
        let database = Database::open(&path, &tactics).unwrap();
        if *is_change {
            let changed = database.execute(program, &[]).unwrap().unwrap();
            let after = contents(&database, "r").checksum;
            assert_eq!((changed, after), (expected.rows, expected.checksum), "{text}: {program}");
        } else {
            assert_eq!(answer(&database, program, &[]), expected, "{text}: {program}");
        }
        database.close().unwrap();
    }
}

fn create(path: &Path, relations: &[(Relation, Storage)], is_settled: bool) {
    let tactics: Tactics = "durability=none".parse().unwrap();
    let database = Database::create(path, &tactics).unwrap();
    for (relation, storage) in relations {
        load(&database, relation, storage);
    }
    if is_settled {
        database.settle(&NAMES).unwrap();
    }
    database.close().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_answer_depends_on_substitution_or_accelerator(
        relations in (relation("r"), relation("s"), relation("t")),
        stored in prop::collection::vec(storage(), 3),
        is_settled in any::<bool>(),
        program in (1usize..5).prop_flat_map(program),
    ) {
        let (r, s, t) = relations;
        let relations: Vec<_> = [r, s, t].into_iter().zip(stored).collect();
        checked(&relations, is_settled, &program);
    }
}
