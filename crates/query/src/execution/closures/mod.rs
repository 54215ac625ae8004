//! `execution=closures`: an expression becomes a tree of specialised operators once for each
//! pipeline, as in DC-INGRES (UCB/ERL M81/62, section 2.1): types are known, conversions are nodes
//! of their own, constants are computed when the tree is built. Tuple substitution uses the same
//! tree again with other tuples in the outer slots.
//!
//! DC-INGRES threaded its operators through registers that hold any type; here an operator is a
//! closure that calls those of its operands, and their values stay in machine registers.

mod number;
mod operand;
mod pack;
#[cfg(test)]
mod tests;
mod truth;

use loadstone_quel::check::resolved::Function;
use loadstone_quel::error::Fault;
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::{BinaryOperator, Span};

use super::evaluation::{Condition, Evaluation, Known, Packer, Row, Scalar};
use crate::error::Result;
use crate::expression::Expr;
use crate::plan::Pack;
use crate::tuple::{Field, Value};
use operand::{
    Evaluated, Integer, Integer2, Integer4, Node, Operand, Place, Real, Real8, Stop, Text,
    with_integer, with_real,
};

/// Compiles expressions to closures.
#[derive(Debug)]
pub struct Closures<'a> {
    /// Computed into the closures.
    pub known: &'a Known,
}

/// An expression with its operators specialised for the types of its operands.
enum Built {
    Integer(Integer),
    Real(Real),
    Text(Text),
    Truth(Node<bool>),
    /// A constant null of a number's type.
    Null,
}

/// The row of an expression that reads none.
const NO_ROW: Row<'static> = Row { tuples: &[], ids: &[] };

impl Evaluation for Closures<'_> {
    fn condition(&self, expr: &Expr) -> Result<Box<dyn Condition>> {
        Ok(Box::new(Truth(self.truth(expr))))
    }

    fn conditions(&self, expr: &Expr) -> Result<Vec<Box<dyn Condition>>> {
        match expr {
            Expr::And(operands) => operands.iter().map(|one| self.condition(one)).collect(),
            one => Ok(vec![self.condition(one)?]),
        }
    }

    fn scalar(&self, expr: &Expr) -> Result<Box<dyn Scalar>> {
        Ok(Box::new(self.build(expr)))
    }

    fn packer(&self, pack: &Pack) -> Result<Box<dyn Packer>> {
        Ok(Box::new(pack::Closure::of(self, pack)))
    }
}

impl Closures<'_> {
    fn build(&self, expr: &Expr) -> Built {
        if let Some(value) = self.known.value(expr) {
            let is_text = matches!(expr, Expr::Scalar { field, .. } if is_text(field));
            return constant(value, is_text);
        }
        match expr {
            Expr::Column { slot, field } => column(*slot, field),
            Expr::RecordId { slot } => {
                let slot = *slot;
                Built::Integer(Integer::Node(Box::new(move |row| Ok(row.ids[slot] as i64))))
            }
            Expr::Negate { operand, span } => match self.build(operand) {
                Built::Integer(one) => {
                    integer(is_constant(&one), number::negate_integer(one, *span))
                }
                Built::Real(one) => {
                    real(matches!(one, Real::Constant(_)), number::negate_real(one))
                }
                _ => Built::Null,
            },
            Expr::Arithmetic { operator, left, right, span } => {
                self.arithmetic(*operator, left, right, *span)
            }
            Expr::Call { function, argument, span } => call(*function, self.build(argument), *span),
            _ => Built::Truth(self.truth(expr)),
        }
    }

    fn arithmetic(&self, operator: BinaryOperator, left: &Expr, right: &Expr, span: Span) -> Built {
        match (self.build(left), self.build(right)) {
            (Built::Integer(left), Built::Integer(right)) if operator != BinaryOperator::Power => {
                let is_known = is_constant(&left) && is_constant(&right);
                integer(is_known, number::integers(operator, left, right, span))
            }
            (Built::Null, Built::Null) => Built::Null,
            (left, right) => {
                let (left, right) = (as_real(left), as_real(right));
                let is_known = matches!((&left, &right), (Real::Constant(_), Real::Constant(_)));
                real(is_known, number::reals(operator, left, right, span))
            }
        }
    }

    fn truth(&self, expr: &Expr) -> Node<bool> {
        match expr {
            Expr::Not(operand) => truth::not(self.truth(operand)),
            Expr::And(operands) => truth::all(operands.iter().map(|one| self.truth(one)).collect()),
            Expr::Or(operands) => truth::any(operands.iter().map(|one| self.truth(one)).collect()),
            Expr::Compare { operator, left, right } => self.comparison(*operator, left, right),
            Expr::Match { text, pattern, negated } => match self.build(text) {
                Built::Text(text) => truth::matches(text, pattern.clone(), *negated),
                _ => open(),
            },
            // No other expression is a condition: the check of the program saw to it.
            _ => open(),
        }
    }

    fn comparison(&self, operator: BinaryOperator, left: &Expr, right: &Expr) -> Node<bool> {
        use Built::{Integer as I, Real as R, Text as T};
        match (self.build(left), self.build(right)) {
            // A constant to the right has the closures that expect one there.
            (I(left @ Integer::Constant(_)), I(right)) => {
                truth::compare_integers(truth::mirrored(operator), right, left)
            }
            (I(left), I(right)) => truth::compare_integers(operator, left, right),
            (I(left), R(right)) => truth::compare_integer_real(operator, left, right),
            (R(left), I(right)) => truth::compare_real_integer(operator, left, right),
            (R(left), R(right)) => truth::compare_reals(operator, left, right),
            (T(left), T(right)) => truth::compare_text(operator, left, right),
            // A null on one side leaves it open, but the other side must show its errors.
            (one, other) => {
                let (one, other) = (as_real(one), as_real(other));
                truth::compare_reals(operator, one, other)
            }
        }
    }
}

fn is_text(field: &Field) -> bool {
    matches!(field.kind, Kind::Text { .. })
}

fn constant(value: Value<'_>, is_text: bool) -> Built {
    match value {
        Value::Integer(value) => Built::Integer(Integer::Constant(value)),
        Value::Real(value) => Built::Real(Real::Constant(value)),
        Value::Text(text) => Built::Text(Text::Constant(crate::tuple::trimmed(text).to_vec())),
        Value::Null if is_text => Built::Text(Text::Null),
        Value::Null => Built::Null,
    }
}

fn column(slot: usize, field: &Field) -> Built {
    match field.kind {
        Kind::Integer { bytes } => Built::Integer(number::integer_column(slot, field, bytes)),
        Kind::Real { bytes } => Built::Real(number::real_column(slot, field, bytes)),
        Kind::Text { width } => {
            let place = Place { slot, offset: field.offset };
            Built::Text(Text::Column { place, width, null_at: field.null_at })
        }
    }
}

fn call(function: Function, argument: Built, span: Span) -> Built {
    match (function, argument) {
        (Function::Abs, Built::Integer(one)) => {
            integer(is_constant(&one), number::absolute(one, span))
        }
        (Function::ToInteger(bytes), Built::Integer(one)) => {
            integer(is_constant(&one), number::narrow(one, bytes, span))
        }
        (Function::ToInteger(bytes), Built::Real(one)) => {
            integer(matches!(one, Real::Constant(_)), number::truncate(one, bytes, span))
        }
        (_, argument @ (Built::Integer(_) | Built::Real(_))) => {
            let one = as_real(argument);
            real(matches!(one, Real::Constant(_)), number::call(function, one, span))
        }
        _ => Built::Null,
    }
}

fn is_constant(operand: &Integer) -> bool {
    matches!(operand, Integer::Constant(_))
}

/// A node; its value instead, if its operands are constants. One that fails stays a node: it is an
/// error only if a row comes that far.
fn integer(is_known: bool, node: Node<i64>) -> Built {
    match is_known.then(|| node(&NO_ROW)) {
        Some(Ok(value)) => Built::Integer(Integer::Constant(value)),
        _ => Built::Integer(Integer::Node(node)),
    }
}

fn real(is_known: bool, node: Node<f64>) -> Built {
    match is_known.then(|| node(&NO_ROW)) {
        Some(Ok(value)) => Built::Real(Real::Constant(value)),
        _ => Built::Real(Real::Node(node)),
    }
}

/// A number as a real, with the conversion that it needs.
fn as_real(operand: Built) -> Real {
    match operand {
        Built::Integer(one) => number::to_real(one),
        Built::Real(one) => one,
        _ => Real::Node(Box::new(|_| Err(Stop::Null))),
    }
}

/// A condition that a null leaves open for every row.
fn open() -> Node<bool> {
    Box::new(|_| Err(Stop::Null))
}

struct Truth(Node<bool>);

impl Condition for Truth {
    #[inline]
    fn holds(&mut self, row: &Row<'_>) -> Result<bool, Fault> {
        match (self.0)(row) {
            Ok(truth) => Ok(truth),
            Err(Stop::Null) => Ok(false),
            Err(Stop::Fault(fault)) => Err(fault),
        }
    }
}

impl Built {
    fn evaluate<'r>(&'r self, row: &Row<'r>) -> Evaluated<Value<'r>> {
        Ok(match self {
            Self::Integer(Integer::Constant(value)) => Value::Integer(*value),
            Self::Integer(Integer::Two(place)) => Value::Integer(Integer2(*place).get(row)?),
            Self::Integer(Integer::Four(place)) => Value::Integer(Integer4(*place).get(row)?),
            Self::Integer(Integer::Node(node)) => Value::Integer(node(row)?),
            Self::Real(Real::Constant(value)) => Value::Real(*value),
            Self::Real(Real::Eight(place)) => Value::Real(Real8(*place).get(row)?),
            Self::Real(Real::Node(node)) => Value::Real(node(row)?),
            Self::Text(text) => Value::Text(text.get(row)?),
            // A condition as a value is 1 or 0.
            Self::Truth(node) => Value::Integer(i64::from(node(row)?)),
            Self::Null => Value::Null,
        })
    }
}

impl Scalar for Built {
    fn value<'r>(&'r mut self, row: &Row<'r>) -> Result<Value<'r>, Fault> {
        match self.evaluate(row) {
            Ok(value) => Ok(value),
            Err(Stop::Null) => Ok(Value::Null),
            Err(Stop::Fault(fault)) => Err(fault),
        }
    }
}
