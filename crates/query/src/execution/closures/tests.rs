//! Closures hold the meaning of random expressions, errors and their places included.

use loadstone_quel::schema::Kind;
use loadstone_quel::tree::{BinaryOperator, Span};
use proptest::prelude::*;

use super::Closures;
use crate::execution::evaluation::{Evaluation, Known, Row};
use crate::execution::random::{
    condition, is_integer, layout, meaning, place, plain, truth, tuple, value, values,
};
use crate::expression::Expr;
use crate::plan::Pack;
use crate::tuple::{Field, Layout, OwnedValue, Value, read};

/// Runs a test on the row of those values.
fn on_row<T>(rows: &[Vec<OwnedValue>], test: impl FnOnce(&Row<'_>) -> T) -> T {
    let tuples: Vec<_> = rows.iter().map(|values| tuple(values)).collect();
    let slots: Vec<_> = tuples.iter().map(Vec::as_slice).collect();
    test(&Row { tuples: &slots, ids: &[10, 11] })
}

proptest! {
    #[test]
    fn values_mean_what_they_say(expr in value(), left in values(), right in values()) {
        let rows = [left, right];
        let expected = meaning(&expr, &rows).map_err(|span| span.start);
        let known = Known::default();
        let mut scalar = Closures { known: &known }.scalar(&expr).unwrap();
        let found = on_row(&rows, |row| scalar.value(row).map(plain).map_err(place));
        let expected = expected.map(|value| plain(value.unwrap_or(OwnedValue::Null).borrow()));
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn conditions_mean_what_they_say(expr in condition(), left in values(), right in values()) {
        let rows = [left, right];
        let expected = truth(&expr, &rows).map_err(|span| span.start);
        let known = Known::default();
        let mut condition = Closures { known: &known }.condition(&expr).unwrap();
        let found = on_row(&rows, |row| condition.holds(row).map_err(place));
        prop_assert_eq!(found, expected.map(|truth| truth == Some(true)));
    }

    #[test]
    fn packed_values_come_back(exprs in prop::collection::vec(value(), 1..6), left in values(),
                               right in values()) {
        let rows = [left, right];
        let kind = |expr: &Expr| match expr {
            Expr::Column { field, .. } => field.kind,
            Expr::Text(_) => Kind::Text { width: 4 },
            other if is_integer(other) => Kind::Integer { bytes: 8 },
            _ => Kind::Real { bytes: 8 },
        };
        let fields = exprs.iter().enumerate().map(|(n, expr)| (format!("v{n}"), kind(expr), true));
        let layout = Layout::of(fields);
        let expected: Result<Vec<_>, _> =
            exprs.iter().map(|expr| meaning(expr, &rows).map_err(|span| span.start)).collect();
        let known = Known::default();
        let span = Span { start: 50, end: 51 };
        let pack = Pack { values: exprs, layout: layout.clone(), span };
        let mut packer = Closures { known: &known }.packer(&pack).unwrap();
        let mut packed = vec![0xa5; layout.bytes];
        let outcome = on_row(&rows, |row| packer.pack(row, &mut packed).map_err(place));
        let found = outcome.map(|()| {
            layout.fields.iter().map(|field| plain(read(&packed, field))).collect::<Vec<_>>()
        });
        let expected = expected.map(|values| {
            values.into_iter().map(|v| plain(v.unwrap_or(OwnedValue::Null).borrow())).collect()
        });
        prop_assert_eq!(found, expected);
    }
}

fn column(slot: usize, field: &Field) -> Expr {
    Expr::Column { slot, field: field.clone() }
}

fn compare(left: Expr, operator: BinaryOperator, right: f64) -> Expr {
    Expr::Compare { operator, left: Box::new(left), right: Box::new(Expr::Real(right)) }
}

#[test]
fn a_constant_that_fails_is_an_error_only_if_a_row_comes_to_it() {
    let span = Span { start: 7, end: 8 };
    let (left, right) = (Box::new(Expr::Real(1.0)), Box::new(Expr::Real(0.0)));
    let divide = Expr::Arithmetic { operator: BinaryOperator::Divide, left, right, span };
    let fails = compare(divide, BinaryOperator::Less, 0.0);
    let is_false = compare(Expr::Real(1.0), BinaryOperator::Less, 0.0);
    let known = Known::default();
    let row = Row { tuples: &[], ids: &[] };
    let closures = Closures { known: &known };
    let spared = Expr::And(vec![is_false.clone(), fails.clone()]);
    assert!(!closures.condition(&spared).unwrap().holds(&row).unwrap());
    let reached = Expr::And(vec![fails, is_false]);
    assert_eq!(place(closures.condition(&reached).unwrap().holds(&row).unwrap_err()), 7);
}

#[test]
fn parameters_and_scalars_are_constants() {
    let layout = layout();
    let mut values = vec![OwnedValue::Integer(3); layout.fields.len()];
    for (value, field) in values.iter_mut().zip(&layout.fields) {
        *value = match field.kind {
            _ if field.null_at.is_some() => OwnedValue::Null,
            Kind::Integer { .. } => OwnedValue::Integer(3),
            Kind::Real { .. } => OwnedValue::Real(2.5),
            Kind::Text { .. } => OwnedValue::Text(b"abc".to_vec()),
        };
    }
    let known =
        Known { parameters: vec![OwnedValue::Text(b"b ".to_vec())], scalars: vec![tuple(&values)] };
    let row = Row { tuples: &[], ids: &[] };
    let closures = Closures { known: &known };
    for (field, expected) in layout.fields.iter().zip(&values) {
        let scalar = Expr::Scalar { aggregation: 0, field: field.clone() };
        let mut scalar = closures.scalar(&scalar).unwrap();
        assert_eq!(scalar.value(&row).unwrap(), expected.borrow(), "{}", field.name);
    }
    let type_ = loadstone_quel::check::resolved::Type::Text;
    let mut parameter = closures.scalar(&Expr::Parameter { number: 0, type_ }).unwrap();
    assert_eq!(parameter.value(&row).unwrap(), Value::Text(b"b"));
}

#[test]
fn a_tuple_packed_whole_is_the_same_tuple() {
    let layout = Layout::of((0..4).map(|n| (format!("a{n}"), Kind::Text { width: 3 }, false)));
    let bytes = b"aaabbbcccddd";
    let row = Row { tuples: &[&[], bytes], ids: &[0, 0] };
    let known = Known::default();
    let values = layout.fields.iter().map(|field| column(1, field)).collect();
    let pack = Pack { values, layout: layout.clone(), span: Span::default() };
    let mut packed = vec![0; 12];
    Closures { known: &known }.packer(&pack).unwrap().pack(&row, &mut packed).unwrap();
    assert_eq!(packed, bytes);
    let order = [2, 3, 1, 0];
    let values = order.iter().map(|n| column(1, &layout.fields[*n])).collect();
    let pack = Pack { values, layout, span: Span::default() };
    Closures { known: &known }.packer(&pack).unwrap().pack(&row, &mut packed).unwrap();
    assert_eq!(packed, b"cccdddbbbaaa");
}
