//! Values and conditions as the executors compute them: attributes have become places in tuples.
//!
//! The meaning is that of `docs/reference/quel.md`: 64-bit integers and binary64 with errors
//! instead of overflow, three-valued logic, trailing blanks that never count.

use loadstone_quel::check::resolved::{Function, Type};
use loadstone_quel::pattern::Pattern;
use loadstone_quel::tree::{BinaryOperator, Span};

use crate::tuple::Field;

/// A value, or a condition (which is true, false or, by a null, open).
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A constant.
    Integer(i64),
    /// A finite constant.
    Real(f64),
    /// A constant, without trailing blanks.
    Text(Vec<u8>),
    /// A program's parameter, by its number: known before the pipeline starts.
    Parameter {
        /// Its number in the list of parameters.
        number: usize,
        /// The type.
        type_: Type,
    },
    /// A value of the tuple in a slot of the row.
    Column {
        /// The slot.
        slot: usize,
        /// The place where it stands in the slot's tuple.
        field: Field,
    },
    /// A value of the only tuple of an aggregation without partitions that has ended.
    Scalar {
        /// Which aggregation.
        aggregation: usize,
        /// The place where it stands in the result's tuple.
        field: Field,
    },
    /// The record id of the tuple in a slot, as an integer.
    RecordId {
        /// A slot that a scan or a look-up of a stored relation fills.
        slot: usize,
    },
    /// `not`
    Not(Box<Expr>),
    /// All hold, tried in this order; two or more.
    And(Vec<Expr>),
    /// One holds, tried in this order; two or more.
    Or(Vec<Expr>),
    /// A comparison.
    Compare {
        /// One of the six.
        operator: BinaryOperator,
        /// The left value.
        left: Box<Expr>,
        /// The right value: of the same type, or both are numbers (then exactly compared).
        right: Box<Expr>,
    },
    /// A text against a pattern.
    Match {
        /// The text.
        text: Box<Expr>,
        /// The pattern.
        pattern: Pattern,
        /// Whether it must not match.
        negated: bool,
    },
    /// The sign turned over.
    Negate {
        /// The number.
        operand: Box<Expr>,
        /// The place where an overflow is shown.
        span: Span,
    },
    /// Two numbers to one.
    Arithmetic {
        /// `+ - * / ** mod`
        operator: BinaryOperator,
        /// The left number.
        left: Box<Expr>,
        /// The right number.
        right: Box<Expr>,
        /// The place where an overflow or a division by zero is shown.
        span: Span,
    },
    /// A function of one number.
    Call {
        /// The function.
        function: Function,
        /// Its argument.
        argument: Box<Expr>,
        /// The place where a result that is no number is shown.
        span: Span,
    },
}

impl Expr {
    /// The values and conditions of which it is made, itself among them.
    pub fn nodes(&self) -> u64 {
        1 + match self {
            Self::Integer(_)
            | Self::Real(_)
            | Self::Text(_)
            | Self::Parameter { .. }
            | Self::Column { .. }
            | Self::Scalar { .. }
            | Self::RecordId { .. } => 0,
            Self::Not(operand)
            | Self::Match { text: operand, .. }
            | Self::Negate { operand, .. }
            | Self::Call { argument: operand, .. } => operand.nodes(),
            Self::And(parts) | Self::Or(parts) => parts.iter().map(Self::nodes).sum(),
            Self::Compare { left, right, .. } | Self::Arithmetic { left, right, .. } => {
                left.nodes() + right.nodes()
            }
        }
    }
}
