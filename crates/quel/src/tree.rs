//! The tree of a program: what the text says, before anybody asks whether it makes sense.
//!
//! Its JSON form is a contract with the translation to SQL. Names are folded to lower case, as
//! INGRES does. Spans are for error messages only: they are not part of the JSON, and two trees
//! are equal whatever their spans.

mod operator;
mod parameters;

pub use operator::{AggregateFunction, BinaryOperator, UnaryOperator};
pub(crate) use operator::{NOT_PRECEDENCE, SIGN_PRECEDENCE};

use serde::{Deserialize, Serialize};

/// The place where a piece of the tree stands in its source, in bytes. Equal to every other span.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From the start of this span to the end of `other`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The name of a relation, range variable, attribute or function.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Name {
    /// The name in lower case.
    pub text: String,
    /// The place where it was written.
    pub span: Span,
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Self { text: text.to_ascii_lowercase(), span: Span::default() }
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.text
    }
}

/// One command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Statement {
    /// `range of variable is relation`
    Range {
        /// The variable declared.
        variable: Name,
        /// The relation it ranges over.
        relation: Name,
    },
    /// `retrieve [unique] [into relation] (targets) [where …]`
    Retrieve {
        /// Whether duplicates are removed.
        unique: bool,
        /// The relation that receives the rows; none: they go to the client.
        into: Option<Name>,
        /// The targets.
        targets: Vec<Target>,
        /// The qualification.
        #[serde(rename = "where")]
        filter: Option<Expr>,
    },
    /// `append to relation (targets) [where …]`
    Append {
        /// The relation that grows.
        relation: Name,
        /// The new rows' attributes.
        targets: Vec<Target>,
        /// The qualification.
        #[serde(rename = "where")]
        filter: Option<Expr>,
    },
    /// `replace variable (targets) [where …]`
    Replace {
        /// The variable whose tuples change.
        variable: Name,
        /// The attributes that change.
        targets: Vec<Target>,
        /// The qualification.
        #[serde(rename = "where")]
        filter: Option<Expr>,
    },
    /// `delete variable [where …]`
    Delete {
        /// The variable whose tuples go.
        variable: Name,
        /// The qualification.
        #[serde(rename = "where")]
        filter: Option<Expr>,
    },
    /// `create relation (name = type, …)`
    Create {
        /// The new relation.
        relation: Name,
        /// Its attributes in order.
        attributes: Vec<AttributeType>,
    },
    /// `create [unique] [non]clustered index on relation (names)`
    Index {
        /// Whether the relation itself is kept in the index's order.
        clustered: bool,
        /// The relation indexed.
        relation: Name,
        /// The key, most significant first.
        attributes: Vec<Name>,
        /// Whether no two tuples may share a key.
        unique: bool,
    },
    /// `modify relation to structure [on names]`
    Modify {
        /// The relation reorganised.
        relation: Name,
        /// `heap`, `isam`, `hash`, `btree` …; a leading `c` compresses.
        structure: Name,
        /// The key, most significant first.
        key: Vec<Name>,
    },
    /// `destroy relation, …`
    Destroy {
        /// The relations destroyed.
        relations: Vec<Name>,
    },
    /// `go` or `;`: the end of an IDL command.
    Go,
}

impl Statement {
    /// The place where an error about the whole statement points: the first thing it names.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Range { variable: name, .. }
            | Self::Append { relation: name, .. }
            | Self::Replace { variable: name, .. }
            | Self::Delete { variable: name, .. }
            | Self::Create { relation: name, .. }
            | Self::Index { relation: name, .. }
            | Self::Modify { relation: name, .. } => name.span,
            Self::Retrieve { targets, .. } => match targets.first() {
                Some(Target::All { variable }) => variable.span,
                Some(Target::Named { name: Some(name), .. }) => name.span,
                Some(Target::Named { value, .. }) => value.span(),
                None => Span::default(),
            },
            Self::Destroy { relations } => {
                relations.first().map(|name| name.span).unwrap_or_default()
            }
            Self::Go => Span::default(),
        }
    }
}

/// `word = c30` of a `create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttributeType {
    /// The attribute.
    pub name: Name,
    /// `i1 i2 i4 i8 f4 f8`, or `c` and a width in characters.
    #[serde(rename = "type")]
    pub type_name: Name,
}

/// One item of a target list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Target {
    /// `variable.all`
    All {
        /// The variable whose attributes are all meant.
        variable: Name,
    },
    /// `name = value`, or `variable.attribute` alone.
    Named {
        /// The name given; none for a plain attribute, which keeps its own.
        name: Option<Name>,
        /// The value.
        value: Expr,
    },
}

/// A value or a condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Expr {
    /// A whole number.
    Integer {
        /// Never negative in a parsed tree: `-1` is the unary operator on 1.
        value: i64,
        #[serde(skip)]
        #[doc(hidden)]
        span: Span,
    },
    /// A number with a point or an exponent.
    Real {
        /// Finite, and never negative in a parsed tree.
        value: f64,
        #[serde(skip)]
        #[doc(hidden)]
        span: Span,
    },
    /// A quoted text.
    Text {
        /// The text in pattern notation: a backslash stands only before `*`, `?`, `[`, `]` or
        /// another backslash, and makes it an ordinary character.
        value: String,
        #[serde(skip)]
        #[doc(hidden)]
        span: Span,
    },
    /// `$1`: a value that is given when the program runs, of the type that is given.
    Parameter {
        /// Its number, from 1.
        number: usize,
        #[serde(skip)]
        #[doc(hidden)]
        span: Span,
    },
    /// `variable.name`
    Attribute {
        /// The range variable.
        variable: Name,
        /// The attribute.
        name: Name,
    },
    /// `-x` or `not x`
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Expr>,
        #[serde(skip)]
        #[doc(hidden)]
        span: Span,
    },
    /// `left operator right`
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
        #[serde(skip)]
        #[doc(hidden)]
        span: Span,
    },
    /// `function(arguments)`
    Call {
        /// The function.
        function: Name,
        /// Its arguments.
        arguments: Vec<Expr>,
    },
    /// `function(argument [by …] [where …])`
    Aggregate {
        /// The function.
        function: AggregateFunction,
        /// The argument.
        argument: Box<Expr>,
        /// The partitions; empty for a scalar aggregate.
        by: Vec<Expr>,
        /// The aggregate's own qualification.
        #[serde(rename = "where")]
        filter: Option<Box<Expr>>,
        #[serde(skip)]
        #[doc(hidden)]
        span: Span,
    },
}

impl Expr {
    /// The place where an error about this expression points: its operator, or the whole of a leaf.
    pub fn span(&self) -> Span {
        match self {
            Self::Integer { span, .. }
            | Self::Real { span, .. }
            | Self::Text { span, .. }
            | Self::Parameter { span, .. }
            | Self::Unary { span, .. }
            | Self::Binary { span, .. }
            | Self::Aggregate { span, .. } => *span,
            Self::Attribute { variable, name } => variable.span.to(name.span),
            Self::Call { function, .. } => function.span,
        }
    }
}
