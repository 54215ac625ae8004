//! The way in which a pipeline that goes row by row requests values: the form that an expression
//! takes is the executor's own, made once for each pipeline and used for every row.

use std::sync::Arc;

use loadstone_quel::error::Fault;

use crate::aggregate::Groups;
use crate::error::Result;
use crate::execution::State;
use crate::expression::Expr;
use crate::plan::Pack;
use crate::tuple::{OwnedValue, Value, read};

/// The tuples that a row consists of so far.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// One for each slot; empty where the slot is not filled yet.
    pub tuples: &'a [&'a [u8]],
    /// The record id of each tuple; 0 where it is of no stored relation.
    pub ids: &'a [u64],
}

/// The values that are known before a pipeline starts, and stay while it runs.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The program's parameters in order.
    pub parameters: Vec<OwnedValue>,
    /// The only tuple of each aggregation without partitions that has ended; else empty.
    pub scalars: Vec<Vec<u8>>,
}

impl Known {
    /// The values that a running statement knows now.
    pub fn of(state: &State<'_>) -> Result<Self> {
        let parameters = state.parameters.iter().map(|one| one.value().to_owned()).collect();
        let scalar = |groups: &Option<Arc<Groups>>| -> Result<Vec<u8>> {
            let Some(groups) = groups else { return Ok(Vec::new()) };
            Ok(groups.tuples().scan().next_tuple()?.map_or_else(Vec::new, <[u8]>::to_vec))
        };
        let scalars = state.aggregations.iter().map(scalar).collect::<Result<_>>()?;
        Ok(Self { parameters, scalars })
    }

    /// The value of an expression without operators that depends on no row.
    pub fn value<'a>(&'a self, expr: &'a Expr) -> Option<Value<'a>> {
        match expr {
            Expr::Integer(value) => Some(Value::Integer(*value)),
            Expr::Real(value) => Some(Value::Real(*value)),
            Expr::Text(text) => Some(Value::Text(text)),
            Expr::Parameter { number, .. } => Some(self.parameters[*number].borrow()),
            Expr::Scalar { aggregation, field } => Some(read(&self.scalars[*aggregation], field)),
            _ => None,
        }
    }
}

/// An executor's way to compute.
pub trait Evaluation {
    /// The form of a condition.
    fn condition(&self, expr: &Expr) -> Result<Box<dyn Condition>>;

    /// The form of a condition that a row must meet: several that it must meet one after another,
    /// where that is how the executor does it.
    fn conditions(&self, expr: &Expr) -> Result<Vec<Box<dyn Condition>>> {
        Ok(vec![self.condition(expr)?])
    }

    /// The form of a value.
    fn scalar(&self, expr: &Expr) -> Result<Box<dyn Scalar>>;

    /// The form of a tuple to be made.
    fn packer(&self, pack: &Pack) -> Result<Box<dyn Packer>>;
}

/// A condition, ready to be tried.
pub trait Condition {
    /// Whether it is true; not where a null leaves it open.
    fn holds(&mut self, row: &Row<'_>) -> Result<bool, Fault>;
}

/// A value, ready to be computed.
pub trait Scalar {
    /// The value for that row.
    fn value<'r>(&'r mut self, row: &Row<'r>) -> Result<Value<'r>, Fault>;
}

/// A tuple's values, ready to be computed and put into their places.
pub trait Packer {
    /// Fills the tuple, which has the length of its layout.
    fn pack(&mut self, row: &Row<'_>, tuple: &mut [u8]) -> Result<(), Fault>;
}
