//! A printed tree parses back to itself; no text makes the parser or the oracle panic.

use loadstone_datasets::{Column, Relation};
use loadstone_quel::tree::{
    AggregateFunction, AttributeType, BinaryOperator, Expr, Name, Span, Statement, Target,
    UnaryOperator,
};
use loadstone_quel::{Oracle, from_json, parse, print, to_json};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const OPERATORS: [BinaryOperator; 14] = [
    BinaryOperator::And,
    BinaryOperator::Or,
    BinaryOperator::Equal,
    BinaryOperator::NotEqual,
    BinaryOperator::Less,
    BinaryOperator::LessOrEqual,
    BinaryOperator::Greater,
    BinaryOperator::GreaterOrEqual,
    BinaryOperator::Add,
    BinaryOperator::Subtract,
    BinaryOperator::Multiply,
    BinaryOperator::Divide,
    BinaryOperator::Power,
    BinaryOperator::Modulo,
];

/// Names of relations and variables: some of them aggregates or near-keywords.
fn name() -> impl Strategy<Value = Name> {
    prop_oneof!["[a-z_][a-z0-9_]{0,6}x", Just("min".to_owned()), Just("ranges".to_owned())]
        .prop_map(Name::from)
}

/// Names of attributes may be keywords.
fn attribute_name() -> impl Strategy<Value = Name> {
    prop_oneof![
        name(),
        prop::sample::select(vec!["by", "mod", "where", "go", "not"]).prop_map(Name::from)
    ]
}

/// Text in pattern notation, as the parser makes it.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z \"'\n/é\\*\\?\\[\\]]",
        prop::sample::select(vec![r"\*", r"\?", r"\[", r"\]", r"\\"]).prop_map(str::to_owned),
    ];
    vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn leaf() -> impl Strategy<Value = Expr> {
    let span = Span::default();
    prop_oneof![
        (0..=i64::MAX).prop_map(move |value| Expr::Integer { value, span }),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(move |value| Expr::Real { value: value.abs(), span }),
        text().prop_map(move |value| Expr::Text { value, span }),
        (1..=1000_usize).prop_map(move |number| Expr::Parameter { number, span }),
        (name(), attribute_name()).prop_map(|(variable, name)| Expr::Attribute { variable, name }),
    ]
}

fn expr() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(7, 60, 4, |inner| {
        let span = Span::default();
        let boxed = inner.clone().prop_map(Box::new);
        let (one, other, filter) = (boxed.clone(), boxed.clone(), option::of(boxed.clone()));
        let operator = prop::sample::select(OPERATORS.to_vec());
        let unary = prop_oneof![Just(UnaryOperator::Not), Just(UnaryOperator::Negate)];
        let function = prop::sample::select(AggregateFunction::ALL.to_vec());
        let aggregate = (function, boxed.clone(), vec(inner.clone(), 0..3), filter);
        let call = prop_oneof![Just(Name::from("log")), Just(Name::from("mod"))];
        prop_oneof![
            3 => (operator, one, other).prop_map(move |(operator, left, right)| {
                Expr::Binary { operator, left, right, span }
            }),
            1 => (unary, boxed)
                .prop_map(move |(operator, operand)| Expr::Unary { operator, operand, span }),
            1 => (call, vec(inner, 0..3))
                .prop_map(|(function, arguments)| Expr::Call { function, arguments }),
            1 => aggregate.prop_map(move |(function, argument, by, filter)| {
                Expr::Aggregate { function, argument, by, filter, span }
            }),
        ]
    })
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        name().prop_map(|variable| Target::All { variable }),
        (attribute_name(), expr())
            .prop_map(|(name, value)| Target::Named { name: Some(name), value }),
        (name(), attribute_name()).prop_map(|(variable, name)| Target::Named {
            name: None,
            value: Expr::Attribute { variable, name }
        }),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    let targets = || vec(target(), 1..4);
    let filter = || option::of(expr());
    let names = || vec(attribute_name(), 1..3);
    let type_name = prop::sample::select(vec!["i1", "i2", "i4", "i8", "f4", "f8", "c1", "c65535"]);
    let attribute = (attribute_name(), type_name)
        .prop_map(|(name, type_name)| AttributeType { name, type_name: type_name.into() });
    let structure = prop::sample::select(vec!["heap", "isam", "hash", "btree", "cbtree"]);
    prop_oneof![
        (name(), name()).prop_map(|(variable, relation)| Statement::Range { variable, relation }),
        (any::<bool>(), option::of(name()), targets(), filter()).prop_map(
            |(unique, into, targets, filter)| Statement::Retrieve { unique, into, targets, filter }
        ),
        (name(), targets(), filter()).prop_map(|(relation, targets, filter)| {
            Statement::Append { relation, targets, filter }
        }),
        (name(), targets(), filter()).prop_map(|(variable, targets, filter)| {
            Statement::Replace { variable, targets, filter }
        }),
        (name(), filter()).prop_map(|(variable, filter)| Statement::Delete { variable, filter }),
        (name(), vec(attribute, 1..4))
            .prop_map(|(relation, attributes)| Statement::Create { relation, attributes }),
        (any::<bool>(), name(), names(), any::<bool>()).prop_map(
            |(clustered, relation, attributes, unique)| Statement::Index {
                clustered,
                relation,
                attributes,
                unique
            }
        ),
        (name(), structure, vec(attribute_name(), 0..3)).prop_map(|(relation, structure, key)| {
            Statement::Modify { relation, structure: structure.into(), key }
        }),
        vec(name(), 1..3).prop_map(|relations| Statement::Destroy { relations }),
        Just(Statement::Go),
    ]
}

/// Texts that look like QUEL far enough to get past the first token.
fn almost_quel() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "range",
        "of",
        "t",
        "is",
        "r",
        "retrieve",
        "unique",
        "into",
        "(",
        ")",
        ",",
        "t.a",
        "t.b",
        "t.all",
        "where",
        "by",
        "and",
        "or",
        "not",
        "=",
        "!=",
        "<",
        ">=",
        "+",
        "-",
        "*",
        "/",
        "**",
        "mod",
        "1",
        "2.5",
        "0",
        "'x'",
        "\"a*\"",
        "min",
        "(",
        "count(",
        "sumu(",
        "avg(",
        ")",
        "x =",
        "append to r (",
        "replace t (",
        "delete t",
        "go",
        ";",
        "create s (",
        "a = i2",
        "/*",
        "*/",
        "log(",
        "9223372036854775807",
        "range of t is r",
        "retrieve (x = ",
    ]);
    vec(words, 0..24).prop_map(|words| words.join(" "))
}

fn oracle() -> Oracle {
    let mut oracle = Oracle::new();
    let text = Column::Text { width: 2, bytes: b"a b aba ".to_vec() };
    let columns = vec![("a".into(), Column::Int16(vec![1, 2, 2, -3])), ("b".into(), text)];
    oracle.add(Relation { name: "r".into(), columns });
    oracle
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn a_printed_tree_parses_back_to_itself(program in vec(statement(), 0..4)) {
        let printed = print(&program).unwrap();
        let parsed = parse(&printed).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&parsed, &program, "{}", printed);
        prop_assert_eq!(print(&parsed).unwrap(), printed);
        prop_assert_eq!(from_json(&to_json(&program)).unwrap(), program);
    }

    #[test]
    fn any_text_gives_a_tree_or_an_error(text in any::<String>()) {
        let _ = parse(&text).map_err(|error| error.to_string());
    }

    #[test]
    fn almost_quel_gives_an_answer_or_an_error(text in almost_quel()) {
        if let Ok(tree) = parse(&text) {
            prop_assert_eq!(parse(&print(&tree).unwrap()).unwrap(), tree);
        }
        let declared = format!("range of t is r {text}");
        let _ = oracle().answer(&declared).map_err(|error| error.to_string());
    }
}
