//! Attributes compared with constants at the ends of their types and at the ends of what reals hold
//! exactly, however the attribute is reached.

use super::*;

/// An attribute's value or a constant.
#[derive(Debug, Clone, Copy)]
enum Number {
    Integer(i64),
    Real(f64),
}

use Number::{Integer, Real};

/// 2^53: above it some integers are no reals.
const EXACT: i64 = 1 << 53;

/// -2^63 is no literal: its digits alone are beyond all integers.
const INTEGERS: [i64; 21] = [
    0,
    1,
    -1,
    i8::MAX as i64,
    i8::MIN as i64,
    i16::MAX as i64 + 1,
    i32::MIN as i64,
    i32::MAX as i64,
    (1 << 24) + 1,
    EXACT - 1,
    EXACT,
    EXACT + 1,
    EXACT + 2,
    -EXACT,
    -EXACT - 1,
    EXACT * 2 + 1,
    EXACT * 2 + 3,
    (1 << 62) + 1,
    i64::MAX - 1,
    i64::MAX,
    -i64::MAX,
];

const REALS: [f64; 20] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    127.0,
    127.5,
    f64::from_bits(1),
    0.1,
    0.1_f32 as f64,
    16_777_216.0,
    16_777_217.0,
    9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    9_007_199_254_740_994.0,
    -9_007_199_254_740_992.0,
    4_611_686_018_427_387_904.0,
    9_223_372_036_854_775_808.0,
    -9_223_372_036_854_775_808.0,
    f32::MAX as f64,
    -1e300,
];

const OPERATORS: [&str; 6] = ["=", "!=", "<", "<=", ">", ">="];

const TYPES: [&str; 6] = ["i1", "i2", "i4", "i8", "f4", "f8"];

const STRUCTURES: [&str; 4] = ["heap", "hash", "clustered", "index"];

/// The order of two numbers, from integers of 128 bits and the parts of reals behind the point.
fn order(left: Number, right: Number) -> std::cmp::Ordering {
    let parts = |number| match number {
        Integer(whole) => (i128::from(whole), 0.0),
        // Beyond 128 bits every integer is on one side, and the reals decide between each other.
        Real(real) => (real.floor() as i128, real - real.floor()),
    };
    match (left, right) {
        (Real(left), Real(right)) => left.partial_cmp(&right).unwrap(),
        _ => parts(left).partial_cmp(&parts(right)).unwrap(),
    }
}

fn holds(left: Number, operator: &str, right: Number) -> bool {
    let order = order(left, right);
    match operator {
        "=" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// The numbers that an attribute of that type can have.
fn values(type_: &str) -> Vec<Number> {
    let integers = INTEGERS.into_iter().chain([i64::MIN]);
    let within = |bits: u32| {
        let fits = move |value: &i64| *value == *value << (64 - bits) >> (64 - bits);
        integers.clone().filter(fits).map(Integer).collect()
    };
    match type_ {
        "i1" => within(8),
        "i2" => within(16),
        "i4" => within(32),
        "i8" => within(64),
        "f4" => {
            let narrow = REALS.map(|value| value as f32).into_iter();
            narrow.filter(|value| value.is_finite()).map(|value| Real(value.into())).collect()
        }
        _ => REALS.map(Real).to_vec(),
    }
}

/// A relation for each type and structure, named by both.
fn filled(tactics: &str) -> (TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.lode");
    let database = Database::create(&path, &tactics.parse().unwrap()).unwrap();
    for type_ in TYPES {
        for structure in STRUCTURES {
            let name = format!("{type_}_{structure}");
            database.execute(&format!("create {name} (n = i4, a = {type_})"), &[]).unwrap();
            for (at, value) in values(type_).into_iter().enumerate() {
                let value = match value {
                    Integer(value) => Parameter::Integer(value),
                    Real(value) => Parameter::Real(value),
                };
                let text = format!("append to {name} (n = $1, a = $2)");
                database.execute(&text, &[Parameter::Integer(at as i64), value]).unwrap();
            }
            let text = match structure {
                "hash" => format!("modify {name} to hash on a"),
                "clustered" => format!("modify {name} to btree on a"),
                "index" => format!("index on {name} is second (a)"),
                _ => continue,
            };
            database.execute(&text, &[]).unwrap();
        }
    }
    (folder, database)
}

fn numbers(database: &Database, text: &str) -> Vec<i32> {
    let mut numbers = Vec::new();
    for batch in database.query(text, &[]).unwrap() {
        let batch = batch.unwrap();
        let column = batch.column(0).as_any().downcast_ref::<Int32Array>().unwrap();
        numbers.extend(column.values());
    }
    numbers.sort_unstable();
    numbers
}

fn literal(constant: Number) -> String {
    match constant {
        Integer(value) => value.to_string(),
        Real(value) => format!("{value:e}"),
    }
}

#[test]
fn a_constant_of_the_other_type_selects_what_it_equals_exactly() {
    let constants = INTEGERS.map(Integer).into_iter().chain(REALS.map(Real));
    let constants: Vec<Number> = constants.collect();
    // Each executor compares by itself, so each of them filters, too; machine code takes long to
    // make, and every seventh constant is enough for it.
    for (tactics, step) in [
        ("optimizer=rules&execution=closures", 1),
        ("optimizer=cost&execution=vectorised", 1),
        ("optimizer=none&execution=vectorised&accelerator=on", 2),
        ("optimizer=none&execution=interpreted", 2),
        ("optimizer=rules&execution=compiled", 7),
    ] {
        let (_folder, database) = filled(tactics);
        let all = TYPES.iter().flat_map(|type_| STRUCTURES.map(|structure| (*type_, structure)));
        for (type_, structure) in all {
            let name = format!("{type_}_{structure}");
            for (operator, &constant) in OPERATORS
                .iter()
                .flat_map(|one| constants.iter().step_by(step).map(move |c| (*one, c)))
            {
                let text = format!(
                    "range of t is {name} retrieve (t.n) where t.a {operator} {}",
                    literal(constant)
                );
                let stored = values(type_);
                let expected =
                    (0..stored.len()).filter(|&at| holds(stored[at], operator, constant));
                let expected: Vec<i32> = expected.map(|at| at as i32).collect();
                assert_eq!(numbers(&database, &text), expected, "{text} under {tactics}");
            }
        }
    }
}

#[test]
fn an_integer_is_a_key_of_reals_only_where_it_is_one_of_them() {
    let (_folder, database) = filled("optimizer=rules");
    let is_key = |name: &str, operator: &str, constant: &str| {
        let text = format!("range of t is {name} retrieve (t.n) where t.a {operator} {constant}");
        let plan = database.plan(&Statement::new(&text).unwrap(), &[]).unwrap();
        plan.access_paths() != ["heap"]
    };
    for type_ in ["f4", "f8"] {
        for structure in ["hash", "clustered", "index"] {
            let name = format!("{type_}_{structure}");
            for (constant, expected) in
                [("3", true), ("9007199254740992", true), ("9007199254740993", false)]
            {
                assert_eq!(is_key(&name, "=", constant), expected, "{name} = {constant}");
                let is_range = expected && structure != "hash";
                assert_eq!(is_key(&name, "<=", constant), is_range, "{name} <= {constant}");
            }
        }
    }
    assert!(!is_key("i8_hash", "=", "3.0") && !is_key("i8_index", "<", "3.0"));
}
