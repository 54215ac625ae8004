//! The facts that closures know before the first row. What they mean is tested for all executors
//! together, in `execution/meaning.rs`.

use loadstone_quel::schema::Kind;
use loadstone_quel::tree::{BinaryOperator, Span};

use super::Closures;
use crate::execution::evaluation::{Evaluation, Known, Row};
use crate::execution::random::{layout, place, tuple};
use crate::expression::Expr;
use crate::plan::Pack;
use crate::tuple::{Field, Layout, OwnedValue, Value};

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
