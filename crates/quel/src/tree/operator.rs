//! Operators and aggregates: their JSON names, their text, how tightly they bind.

use serde::{Deserialize, Serialize};

/// `not` and `-`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnaryOperator {
    #[doc(hidden)]
    #[serde(rename = "not")]
    Not,
    #[doc(hidden)]
    #[serde(rename = "-")]
    Negate,
}

/// The operators between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the serde names are the documentation")]
pub enum BinaryOperator {
    #[serde(rename = "and")]
    And,
    #[serde(rename = "or")]
    Or,
    #[serde(rename = "=")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    LessOrEqual,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    GreaterOrEqual,
    #[serde(rename = "+")]
    Add,
    #[serde(rename = "-")]
    Subtract,
    #[serde(rename = "*")]
    Multiply,
    #[serde(rename = "/")]
    Divide,
    #[serde(rename = "**")]
    Power,
    #[serde(rename = "mod")]
    Modulo,
}

impl BinaryOperator {
    /// As it is written in QUEL.
    pub fn text(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Or => "or",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Power => "**",
            Self::Modulo => "mod",
        }
    }

    /// The strength with which it binds; the parser and the printer both go by this table.
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            // 3 is `not`.
            Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessOrEqual
            | Self::Greater
            | Self::GreaterOrEqual => 4,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide | Self::Modulo => 6,
            // 7 is the sign.
            Self::Power => 8,
        }
    }

    /// The least precedence that the right operand must have to stand without parentheses.
    pub(crate) fn right_precedence(self) -> u8 {
        match self {
            // `a ** b ** c` and `a ** -b` group to the right.
            Self::Power => 7,
            _ => self.precedence() + 1,
        }
    }

    /// The least precedence that the left operand must have to stand without parentheses.
    pub(crate) fn left_precedence(self) -> u8 {
        match self.precedence() {
            // Comparisons do not chain; a power's base is a primary.
            4 => 5,
            8 => 9,
            precedence => precedence,
        }
    }

    /// Whether it compares values.
    pub fn compares(self) -> bool {
        self.precedence() == 4
    }
}

/// The precedence of `not`.
pub(crate) const NOT_PRECEDENCE: u8 = 3;
/// The precedence of a sign.
pub(crate) const SIGN_PRECEDENCE: u8 = 7;

/// The aggregates. Those ending in `u` first remove duplicates of their argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum AggregateFunction {
    Count,
    CountU,
    Sum,
    SumU,
    Avg,
    AvgU,
    Min,
    Max,
    Any,
}

impl AggregateFunction {
    /// Every aggregate.
    pub const ALL: [Self; 9] = [
        Self::Count,
        Self::CountU,
        Self::Sum,
        Self::SumU,
        Self::Avg,
        Self::AvgU,
        Self::Min,
        Self::Max,
        Self::Any,
    ];

    /// As it is written in QUEL.
    pub fn text(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::CountU => "countu",
            Self::Sum => "sum",
            Self::SumU => "sumu",
            Self::Avg => "avg",
            Self::AvgU => "avgu",
            Self::Min => "min",
            Self::Max => "max",
            Self::Any => "any",
        }
    }

    /// Whether duplicates of the argument are removed first.
    pub fn removes_duplicates(self) -> bool {
        matches!(self, Self::CountU | Self::SumU | Self::AvgU)
    }
}
