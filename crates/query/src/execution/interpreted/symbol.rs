//! The symbols of a list: a type, a length and a value each.

use loadstone_quel::check::resolved::Function;
use loadstone_quel::pattern::Pattern;
use loadstone_quel::tree::{BinaryOperator, Span};

/// The type of a symbol or of an entry of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    /// A little-endian integer of 1, 2, 4 or 8 bytes.
    Integer,
    /// A real of 4 or 8 bytes.
    Real,
    /// A text of any length.
    Text,
    /// No value, or a condition that a null leaves open.
    Null,
    /// An operator of one operand.
    Unary,
    /// An operator of two numbers.
    Binary,
    /// A comparison.
    Relation,
    /// A text against a pattern.
    Match,
    /// A condition with a list of its own.
    Group,
    /// Ends a disjunction.
    And,
    /// Between two parts of a disjunction.
    Or,
    /// Ends the list.
    End,
}

/// One symbol of a list.
#[derive(Debug)]
pub(super) struct Symbol {
    pub type_: Type,
    /// Bytes of the value; 0 for what has none.
    pub length: usize,
    pub content: Content,
}

/// A symbol's value, or where it stands.
#[derive(Debug)]
pub(super) enum Content {
    /// Nothing: a null, a separator, the end.
    Empty,
    /// An AND after which a row is dropped also where a null leaves open whether it is wanted.
    MustHold,
    /// A constant.
    Constant(Vec<u8>),
    /// An attribute of the tuple in a slot.
    Variable { slot: usize, offset: usize, null_at: Option<usize> },
    /// The record id of the tuple in a slot.
    RecordId { slot: usize },
    /// The sign turned over.
    Negate(Span),
    /// A function.
    Call(Function, Span),
    /// An operator; a comparison has no span, because it never fails.
    Operator(BinaryOperator, Span),
    /// A pattern, and whether it must not match.
    Pattern(Pattern, bool),
    /// A list.
    List(Vec<Symbol>),
}

impl Symbol {
    pub fn new(type_: Type, length: usize, content: Content) -> Self {
        Self { type_, length, content }
    }

    /// A symbol without a value.
    pub fn bare(type_: Type) -> Self {
        Self::new(type_, 0, Content::Empty)
    }
}
