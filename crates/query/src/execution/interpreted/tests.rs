//! Interpreted lists fetch the symbols that INGRES would have fetched. What they mean is tested for
//! all executors together, in `execution/meaning.rs`.

use std::rc::Rc;

use loadstone_quel::check::resolved::Function;
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::{BinaryOperator, Span};

use super::{Calls, Interpreted};
use crate::execution::evaluation::{Evaluation, Known, Row};
use crate::expression::Expr;
use crate::tuple::{Layout, OwnedValue, Value};

fn interpreted(known: &Known) -> Interpreted<'_> {
    Interpreted { known, calls: Rc::new(Calls::default()) }
}

const NO_ROW: Row<'static> = Row { tuples: &[], ids: &[] };

fn is_one(value: i64) -> Expr {
    let (left, right) = (Box::new(Expr::Integer(value)), Box::new(Expr::Integer(1)));
    Expr::Compare { operator: BinaryOperator::Equal, left, right }
}

/// Whether a condition holds, and the calls of `getsymbol` and `interpret` that it took.
fn holds(expr: &Expr) -> (bool, u64, u64) {
    let known = Known::default();
    let evaluation = interpreted(&known);
    let outcome = evaluation.condition(expr).unwrap().holds(&NO_ROW).unwrap();
    (outcome, evaluation.calls.getsymbol.get(), evaluation.calls.interpret.get())
}

#[test]
fn a_false_and_returns_at_once_and_a_true_or_fetches_the_rest_up_to_the_and() {
    // Three symbols a comparison, a separator behind each, and the end.
    assert_eq!(holds(&Expr::And(vec![is_one(1), is_one(1)])), (true, 9, 1));
    assert_eq!(holds(&Expr::And(vec![is_one(0), is_one(1)])), (false, 4, 1));
    assert_eq!(holds(&Expr::Or(vec![is_one(1), is_one(1), is_one(1)])), (true, 13, 1));
    assert_eq!(holds(&Expr::Or(vec![is_one(0), is_one(0), is_one(1)])), (true, 13, 1));
    let both = Expr::And(vec![Expr::Or(vec![is_one(1), is_one(0)]), is_one(0)]);
    assert_eq!(holds(&both), (false, 12, 1));
}

#[test]
fn an_or_of_ands_is_in_conjunctive_normal_form_unless_a_part_may_fail() {
    let and = |first, second| Expr::And(vec![first, second]);
    let or = |first, second| Expr::Or(vec![first, second]);
    // (a and b) or c: two disjunctions of two, all fetched.
    assert_eq!(holds(&or(and(is_one(1), is_one(1)), is_one(0))), (true, 17, 1));
    let span = Span { start: 3, end: 4 };
    let (left, right) = (Box::new(Expr::Integer(1)), Box::new(Expr::Integer(0)));
    let fails = Expr::Arithmetic { operator: BinaryOperator::Divide, left, right, span };
    let (left, right) = (Box::new(fails), Box::new(Expr::Integer(1)));
    let fails = Expr::Compare { operator: BinaryOperator::Equal, left, right };
    // The group is interpreted by itself, up to its false part: one more call.
    let (outcome, _, interpretations) = holds(&or(and(is_one(0), fails), is_one(0)));
    assert_eq!((outcome, interpretations), (false, 2));
}

#[test]
fn a_call_of_constants_is_computed_for_every_row() {
    let (argument, span) = (Box::new(Expr::Real(9.5)), Span::default());
    let log = Expr::Call { function: Function::Log, argument, span };
    let known = Known::default();
    let evaluation = interpreted(&known);
    let mut log = evaluation.scalar(&log).unwrap();
    for row in 1..4 {
        assert_eq!(log.value(&NO_ROW).unwrap(), Value::Real(9.5f64.ln()));
        // The constant, the function, the end.
        assert_eq!(evaluation.calls.getsymbol.get(), 3 * row);
        assert_eq!(evaluation.calls.interpret.get(), row);
    }
}

#[test]
fn the_stack_grows_where_an_expression_is_deep() {
    let sum = (0..200).fold(Expr::Integer(0), |right, _| {
        let (left, right) = (Box::new(Expr::Integer(70_000)), Box::new(right));
        let operator = BinaryOperator::Add;
        Expr::Arithmetic { operator, left, right, span: Span::default() }
    });
    let known = Known::default();
    let mut sum = interpreted(&known).scalar(&sum).unwrap();
    assert_eq!(sum.value(&NO_ROW).unwrap(), Value::Integer(14_000_000));
    assert_eq!(sum.value(&NO_ROW).unwrap(), Value::Integer(14_000_000));
}

#[test]
fn parameters_and_scalars_are_constants_of_a_list() {
    let layout = Layout::of([("a".to_owned(), Kind::Integer { bytes: 2 }, true)]);
    let known = Known {
        parameters: vec![OwnedValue::Text(b"b ".to_vec()), OwnedValue::Null],
        scalars: vec![vec![0xfe, 0xff, 0]],
    };
    let type_ = loadstone_quel::check::resolved::Type::Text;
    let field = layout.fields[0].clone();
    let cases = [
        (Expr::Parameter { number: 0, type_ }, Value::Text(b"b")),
        (Expr::Parameter { number: 1, type_ }, Value::Null),
        (Expr::Scalar { aggregation: 0, field }, Value::Integer(-2)),
    ];
    for (expr, expected) in cases {
        let mut scalar = interpreted(&known).scalar(&expr).unwrap();
        assert_eq!(scalar.value(&NO_ROW).unwrap(), expected);
    }
}
