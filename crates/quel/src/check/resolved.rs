//! The checked tree: names have become numbers, and every type is known.

use crate::pattern::Pattern;
use crate::schema::{Attribute, Kind};
use crate::tree::{AggregateFunction, BinaryOperator, Name, Span};

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A condition.
    Truth,
    /// A 64-bit integer.
    Integer,
    /// A binary64.
    Real,
    /// A text.
    Text,
}

impl Type {
    /// As an error message calls it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Truth => "a condition",
            Self::Integer => "an integer",
            Self::Real => "a real number",
            Self::Text => "a text",
        }
    }

    /// Whether arithmetic takes it.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Real)
    }

    /// The way in which `retrieve into` stores it.
    pub fn kind(self) -> Kind {
        match self {
            Self::Truth | Self::Integer => Kind::Integer { bytes: 8 },
            Self::Real => Kind::Real { bytes: 8 },
            Self::Text => Kind::Text { width: usize::from(u16::MAX) },
        }
    }
}

/// A set of slots, one bit each.
pub type SlotSet = u64;

/// Slots that one statement may use at most.
pub const SLOTS_MAX: usize = SlotSet::BITS as usize;

/// The range of a slot of the row vector.
#[derive(Debug, Clone)]
pub enum Slot {
    /// The tuples of a relation.
    Relation(String),
    /// The groups of a partition.
    Partition(usize),
}

/// A value or a condition.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the operands are those of the tree")]
pub enum Term {
    /// A constant.
    Integer(i64),
    /// A finite constant.
    Real(f64),
    /// A constant, trailing blanks included.
    Text(Vec<u8>),
    /// A value that is given when the program runs.
    Parameter {
        /// Its position in the list of values, from 0.
        number: usize,
        type_: Type,
    },
    /// An attribute of a slot's tuple.
    Column {
        slot: usize,
        column: usize,
    },
    /// An aggregate's value, which depends on the rows of `slots`.
    Aggregate {
        number: usize,
        place: AggregatePlace,
        slots: SlotSet,
    },
    Not(Box<Term>),
    And(Box<Term>, Box<Term>),
    Or(Box<Term>, Box<Term>),
    Compare {
        operator: BinaryOperator,
        left: Box<Term>,
        right: Box<Term>,
    },
    Match {
        text: Box<Term>,
        pattern: Pattern,
        negated: bool,
    },
    Negate {
        operand: Box<Term>,
        span: Span,
    },
    Arithmetic {
        operator: BinaryOperator,
        left: Box<Term>,
        right: Box<Term>,
        span: Span,
    },
    Call {
        function: Function,
        argument: Box<Term>,
        span: Span,
    },
}

/// Which of an aggregate's values a row sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregatePlace {
    /// The only one.
    Scalar,
    /// That of the group whose number stands in this slot.
    Slot(usize),
    /// That of the group to which the row's own by-values belong.
    Linked {
        /// The partition.
        partition: usize,
    },
}

impl Term {
    /// The slots whose rows the value depends on.
    pub fn slots(&self) -> SlotSet {
        match self {
            Self::Integer(_) | Self::Real(_) | Self::Text(_) | Self::Parameter { .. } => 0,
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

    /// Calls `each` with the slot and the number of every attribute in it; not with those of an
    /// aggregate, which stands elsewhere.
    pub fn columns(&self, each: &mut impl FnMut(usize, usize)) {
        match self {
            Self::Integer(_)
            | Self::Real(_)
            | Self::Text(_)
            | Self::Parameter { .. }
            | Self::Aggregate { .. } => {}
            Self::Column { slot, column } => each(*slot, *column),
            Self::Not(operand)
            | Self::Negate { operand, .. }
            | Self::Match { text: operand, .. }
            | Self::Call { argument: operand, .. } => operand.columns(each),
            Self::And(left, right)
            | Self::Or(left, right)
            | Self::Compare { left, right, .. }
            | Self::Arithmetic { left, right, .. } => {
                left.columns(each);
                right.columns(each);
            }
        }
    }
}

/// The functions of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Function {
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
pub struct Scope {
    /// The slots.
    pub slots: SlotSet,
    /// All must be true.
    pub conditions: Vec<Term>,
}

/// The by-list of one or more aggregates. Its groups are all combinations of by-values that
/// exist, whether or not a tuple of theirs qualifies.
#[derive(Debug)]
pub struct Partition {
    /// The by-values.
    pub by: Vec<Term>,
    /// The slots that they run over.
    pub slots: SlotSet,
}

/// An aggregate of a statement.
#[derive(Debug)]
pub struct Aggregate {
    /// The function.
    pub function: AggregateFunction,
    /// Its argument.
    pub argument: Term,
    /// The argument's type.
    pub argument_type: Type,
    /// Its by-list; None for a scalar aggregate.
    pub partition: Option<usize>,
    /// Its slots; its own qualification.
    pub scope: Scope,
    /// The place where an error about it points.
    pub span: Span,
}

/// One item of a target list.
pub struct Column {
    /// Its name in the result.
    pub name: String,
    /// Its value.
    pub term: Term,
    /// The value's type.
    pub type_: Type,
    /// The way in which `retrieve into` stores it.
    pub kind: Kind,
    /// The place where an error about it points.
    pub span: Span,
}

/// A checked statement.
#[derive(Debug)]
pub struct Step {
    /// The ranges of its rows.
    pub slots: Vec<Slot>,
    /// The by-lists of its aggregates.
    pub partitions: Vec<Partition>,
    /// Inner ones before those that use them.
    pub aggregates: Vec<Aggregate>,
    /// The slots of the statement itself, and its qualification.
    pub scope: Scope,
    /// The action for each row.
    pub action: Action,
    /// The attributes of a `retrieve`'s rows, or of the relation that a `create` makes.
    pub schema: Vec<Attribute>,
    /// The place to blame when what the statement stores cannot be stored.
    pub span: Span,
}

/// The action of a statement on its rows.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields are those of the tree")]
pub enum Action {
    /// A declaration, or a storage structure: no answer depends on it.
    Nothing,
    /// Rows to the client, or into a new relation.
    Retrieve { unique: bool, into: Option<String>, terms: Vec<Term> },
    /// One term for each attribute of the relation.
    Append { relation: String, terms: Vec<Term> },
    /// For each attribute that changes, its number and new value.
    Replace { relation: String, slot: usize, terms: Vec<(usize, Term)> },
    /// The tuples of that slot go.
    Delete { relation: String, slot: usize },
    /// A new relation without tuples; `Step::schema` has its attributes.
    Create { relation: String },
    /// Relations go.
    Destroy { relations: Vec<String> },
}

impl Step {
    /// A statement that changes nothing.
    pub fn nothing() -> Self {
        Self::only(Action::Nothing)
    }

    /// A new relation of that name.
    pub fn define(relation: &Name, schema: Vec<Attribute>) -> Self {
        let action = Action::Create { relation: relation.text.clone() };
        Self { schema, ..Self::only(action) }
    }

    /// An action without rows.
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
