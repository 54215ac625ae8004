//! The checked tree: names have become numbers, and every type is known.

use crate::pattern::Pattern;
use crate::schema::{Attribute, Kind};
use crate::tree::{AggregateFunction, BinaryOperator, Name, Span};

/// What an expression yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Truth,
    Integer,
    Real,
    Text,
}

impl Type {
    pub fn text(self) -> &'static str {
        match self {
            Self::Truth => "a condition",
            Self::Integer => "an integer",
            Self::Real => "a real number",
            Self::Text => "a text",
        }
    }

    pub fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Real)
    }

    /// How `retrieve into` stores it.
    pub fn kind(self) -> Kind {
        match self {
            Self::Truth | Self::Integer => Kind::Integer { bytes: 8 },
            Self::Real => Kind::Real { bytes: 8 },
            Self::Text => Kind::Text { width: usize::from(u16::MAX) },
        }
    }
}

/// A set of slots, one bit each.
pub(crate) type SlotSet = u64;

/// Slots that one statement may use at most.
pub(crate) const SLOTS_MAX: usize = SlotSet::BITS as usize;

/// What a slot of the row vector runs over.
#[derive(Debug, Clone)]
pub(crate) enum Slot {
    /// The tuples of a relation.
    Relation(String),
    /// The groups of a partition.
    Partition(usize),
}

/// A value or a condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Term {
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Column { slot: usize, column: usize },
    Aggregate { number: usize, place: AggregatePlace, slots: SlotSet },
    Not(Box<Term>),
    And(Box<Term>, Box<Term>),
    Or(Box<Term>, Box<Term>),
    Compare { operator: BinaryOperator, left: Box<Term>, right: Box<Term> },
    Match { text: Box<Term>, pattern: Pattern, negated: bool },
    Negate { operand: Box<Term>, span: Span },
    Arithmetic { operator: BinaryOperator, left: Box<Term>, right: Box<Term>, span: Span },
    Call { function: Function, argument: Box<Term>, span: Span },
}

/// Which of an aggregate's values a row sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AggregatePlace {
    /// The only one.
    Scalar,
    /// That of the group whose number stands in this slot.
    Slot(usize),
    /// That of the group to which the row's own by-values belong.
    Linked { partition: usize },
}

impl Term {
    /// The slots whose rows the value depends on.
    pub fn slots(&self) -> SlotSet {
        match self {
            Self::Integer(_) | Self::Real(_) | Self::Text(_) => 0,
            Self::Column { slot, .. } => 1 << slot,
            Self::Aggregate { slots, .. } => *slots,
            Self::Not(operand)
            | Self::Negate { operand, .. }
            | Self::Match { text: operand, .. }
            | Self::Call { argument: operand, .. } => operand.slots(),
            Self::And(left, right)
            | Self::Or(left, right)
            | Self::Compare { left, right, .. }
            | Self::Arithmetic { left, right, .. } => left.slots() | right.slots(),
        }
    }
}

/// The functions of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Abs,
    Atan,
    Cos,
    Exp,
    Log,
    Sin,
    Sqrt,
    /// To an integer of so many bytes.
    ToInteger(usize),
    /// To a floating-point number of so many bytes.
    ToReal(usize),
}

/// Slots that are run over together, and the conditions on them.
#[derive(Debug)]
pub(crate) struct Scope {
    pub slots: SlotSet,
    /// All must be true.
    pub conditions: Vec<Term>,
}

/// The by-list of one or more aggregates. Its groups are all combinations of by-values that
/// exist, whether or not a tuple of theirs qualifies.
#[derive(Debug)]
pub(crate) struct Partition {
    pub by: Vec<Term>,
    pub slots: SlotSet,
}

#[derive(Debug)]
pub(crate) struct Aggregate {
    pub function: AggregateFunction,
    pub argument: Term,
    pub argument_type: Type,
    pub partition: Option<usize>,
    pub scope: Scope,
    pub span: Span,
}

/// One item of a target list.
pub(crate) struct Column {
    pub name: String,
    pub term: Term,
    pub type_: Type,
    pub kind: Kind,
    pub span: Span,
}

/// A checked statement.
#[derive(Debug)]
pub(crate) struct Step {
    pub slots: Vec<Slot>,
    pub partitions: Vec<Partition>,
    /// Inner ones before those that use them.
    pub aggregates: Vec<Aggregate>,
    pub scope: Scope,
    pub action: Action,
    /// The attributes of the relation that the statement makes, if it makes one.
    pub schema: Vec<Attribute>,
    /// The place to blame when what the statement stores cannot be stored.
    pub span: Span,
}

#[derive(Debug)]
pub(crate) enum Action {
    /// A declaration, or a storage structure: no answer depends on it.
    Nothing,
    Retrieve {
        unique: bool,
        into: Option<String>,
        terms: Vec<Term>,
    },
    /// One term for each attribute of the relation.
    Append {
        relation: String,
        terms: Vec<Term>,
    },
    Replace {
        relation: String,
        slot: usize,
        terms: Vec<(usize, Term)>,
    },
    Delete {
        relation: String,
        slot: usize,
    },
    Create {
        relation: String,
    },
    Destroy {
        relations: Vec<String>,
    },
}

impl Step {
    pub fn nothing() -> Self {
        Self::only(Action::Nothing)
    }

    pub fn define(relation: &Name, schema: Vec<Attribute>) -> Self {
        let action = Action::Create { relation: relation.text.clone() };
        Self { schema, ..Self::only(action) }
    }

    pub fn only(action: Action) -> Self {
        Self {
            slots: Vec::new(),
            partitions: Vec::new(),
            aggregates: Vec::new(),
            scope: Scope { slots: 0, conditions: Vec::new() },
            action,
            schema: Vec::new(),
            span: Span::default(),
        }
    }
}
