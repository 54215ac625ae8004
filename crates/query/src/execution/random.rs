//! Random typed expressions over random tuples, and what they mean: computed in 128 bits, one
//! value at a time, for tests that hold every executor to it.

mod denotation;

use loadstone_quel::check::resolved::Function;
use loadstone_quel::pattern::Pattern;
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::{BinaryOperator, Span};
use proptest::prelude::*;
use proptest::sample::select;

use crate::expression::Expr;
use crate::tuple::{Layout, OwnedValue, write};

pub use denotation::{Meaning, is_integer, meaning, place, plain, truth};

/// A tuple of two slots' layout: every kind, without and with nulls.
pub fn layout() -> Layout {
    let kinds = [
        Kind::Integer { bytes: 1 },
        Kind::Integer { bytes: 2 },
        Kind::Integer { bytes: 4 },
        Kind::Integer { bytes: 8 },
        Kind::Real { bytes: 4 },
        Kind::Real { bytes: 8 },
        Kind::Text { width: 7 },
        Kind::Text { width: 12 },
    ];
    let fields = kinds.iter().flat_map(|kind| [(kind, false), (kind, true)]);
    Layout::of(fields.enumerate().map(|(number, (kind, null))| (format!("a{number}"), *kind, null)))
}

/// Values for the layout's fields; few different ones, so that comparisons find equal ones.
pub fn values() -> impl Strategy<Value = Vec<OwnedValue>> {
    let fields: Vec<_> = layout().fields;
    let value = |kind: Kind| -> BoxedStrategy<OwnedValue> {
        match kind {
            Kind::Integer { bytes } => {
                let most = i64::MAX >> (64 - 8 * bytes);
                prop_oneof![4 => -3i64..4, 1 => Just(most), 1 => Just(-most - 1)]
                    .prop_map(OwnedValue::Integer)
                    .boxed()
            }
            Kind::Real { .. } => {
                prop_oneof![(-6i8..7).prop_map(|n| f64::from(n) / 2.0), Just(1e30)]
                    .prop_map(OwnedValue::Real)
                    .boxed()
            }
            Kind::Text { .. } => "[a-c]{0,3}".prop_map(|t| OwnedValue::Text(t.into())).boxed(),
        }
    };
    let strategies: Vec<BoxedStrategy<OwnedValue>> = fields
        .iter()
        .map(|field| match field.null_at {
            None => value(field.kind),
            Some(_) => prop_oneof![1 => Just(OwnedValue::Null), 2 => value(field.kind)].boxed(),
        })
        .collect();
    strategies
}

/// The tuple that holds those values.
pub fn tuple(values: &[OwnedValue]) -> Vec<u8> {
    let layout = layout();
    let mut tuple = vec![0; layout.bytes];
    for (field, value) in layout.fields.iter().zip(values) {
        let fits = write(&mut tuple, field, value.borrow(), Span::default());
        fits.expect("the values are of the fields' ranges");
    }
    tuple
}

/// A place of its own for each operator, so that errors can be distinguished.
fn span() -> impl Strategy<Value = Span> {
    (0usize..40).prop_map(|start| Span { start, end: start + 1 })
}

fn column(is_wanted: fn(Kind) -> bool) -> impl Strategy<Value = Expr> {
    let fields: Vec<_> =
        layout().fields.into_iter().filter(|field| is_wanted(field.kind)).collect();
    (0usize..2, select(fields)).prop_map(|(slot, field)| Expr::Column { slot, field })
}

/// An integer expression.
pub fn integer() -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        3 => column(|kind| matches!(kind, Kind::Integer { .. })),
        2 => (-3i64..4).prop_map(Expr::Integer),
        1 => any::<i64>().prop_map(Expr::Integer),
        1 => (0usize..2).prop_map(|slot| Expr::RecordId { slot }),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let operators = vec![
            BinaryOperator::Add,
            BinaryOperator::Subtract,
            BinaryOperator::Multiply,
            BinaryOperator::Divide,
            BinaryOperator::Modulo,
        ];
        prop_oneof![
            5 => binary(operators, inner.clone(), inner.clone()),
            1 => negate(inner.clone()),
            1 => call(vec![Function::Abs, Function::ToInteger(1), Function::ToInteger(4)], inner),
        ]
    })
    .boxed()
}

/// A real expression.
pub fn real() -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        3 => column(|kind| matches!(kind, Kind::Real { .. })),
        2 => (-6i8..7).prop_map(|n| Expr::Real(f64::from(n) / 2.0)),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let operators = vec![
            BinaryOperator::Add,
            BinaryOperator::Subtract,
            BinaryOperator::Multiply,
            BinaryOperator::Divide,
            BinaryOperator::Power,
        ];
        let functions = vec![
            Function::Abs,
            Function::Atan,
            Function::Exp,
            Function::Log,
            Function::Sqrt,
            Function::ToReal(4),
            Function::ToReal(8),
        ];
        let either = prop_oneof![inner.clone(), integer()].boxed();
        prop_oneof![
            4 => binary(operators, inner.clone(), either.clone()),
            1 => binary(vec![BinaryOperator::Power], integer(), integer()),
            1 => negate(inner),
            2 => call(functions, either),
        ]
    })
    .boxed()
}

/// A value of any type.
pub fn value() -> BoxedStrategy<Expr> {
    prop_oneof![integer(), real(), text()].boxed()
}

fn text() -> BoxedStrategy<Expr> {
    prop_oneof![
        2 => column(|kind| matches!(kind, Kind::Text { .. })),
        1 => "[a-c]{0,3}".prop_map(|text| Expr::Text(text.into())),
    ]
    .boxed()
}

/// A condition.
pub fn condition() -> BoxedStrategy<Expr> {
    let number = prop_oneof![integer(), real()].boxed();
    let leaf = prop_oneof![
        4 => comparison(number.clone(), number),
        2 => comparison(text(), text()),
        1 => (text(), "[a-c?*]{1,3}", any::<bool>()).prop_map(|(text, pattern, negated)| {
            let pattern = Pattern::new(&pattern).expect("it has no sets");
            Expr::Match { text: Box::new(text), pattern, negated }
        }),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            1 => inner.clone().prop_map(|one| Expr::Not(Box::new(one))),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::And),
            2 => prop::collection::vec(inner, 2..4).prop_map(Expr::Or),
        ]
    })
    .boxed()
}

fn comparison(left: BoxedStrategy<Expr>, right: BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    use BinaryOperator as B;
    let operators =
        vec![B::Equal, B::NotEqual, B::Less, B::LessOrEqual, B::Greater, B::GreaterOrEqual];
    (select(operators), left, right)
        .prop_map(|(operator, left, right)| Expr::Compare {
            operator,
            left: Box::new(left),
            right: Box::new(right),
        })
        .boxed()
}

fn binary(
    operators: Vec<BinaryOperator>,
    left: BoxedStrategy<Expr>,
    right: BoxedStrategy<Expr>,
) -> BoxedStrategy<Expr> {
    (select(operators), left, right, span())
        .prop_map(|(operator, left, right, span)| Expr::Arithmetic {
            operator,
            left: Box::new(left),
            right: Box::new(right),
            span,
        })
        .boxed()
}

fn negate(inner: BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (inner, span())
        .prop_map(|(operand, span)| Expr::Negate { operand: Box::new(operand), span })
        .boxed()
}

fn call(functions: Vec<Function>, inner: BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (select(functions), inner, span())
        .prop_map(|(function, argument, span)| Expr::Call {
            function,
            argument: Box::new(argument),
            span,
        })
        .boxed()
}
