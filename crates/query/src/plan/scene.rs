//! The relations, partitions and aggregates of a command, as its plan uses them: types and forms of
//! terms, and the items that a later step needs.

use std::collections::BTreeSet;

use loadstone_quel::check::resolved::{AggregatePlace, Partition, Term, Type};
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::{AggregateFunction, BinaryOperator};

use super::Aggregation;
use super::known::Stored;
use crate::tuple::Field;

/// Something of a tuple that a later step needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    /// An attribute of what a slot of the statement runs over.
    Column { slot: usize, column: usize },
    /// The record id of that tuple.
    RecordId { slot: usize },
    /// The value of an aggregate in the partition that a slot of the statement runs over.
    Aggregate { slot: usize, number: usize },
}

impl Item {
    /// The slot of the statement.
    pub fn slot(self) -> usize {
        match self {
            Self::Column { slot, .. } | Self::RecordId { slot } | Self::Aggregate { slot, .. } => {
                slot
            }
        }
    }
}

/// The place where an aggregate's value stands: an aggregation, and the field of its tuples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Home {
    pub aggregation: usize,
    pub field: usize,
}

/// The facts that all pipelines of a statement share.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    /// The relation of each slot of the statement; None for the slots of partitions.
    pub relations: Vec<Option<Stored>>,
    /// The by-lists.
    pub partitions: &'a [Partition],
    /// The place where each aggregate is computed, as far as they have been planned.
    pub homes: Vec<Option<Home>>,
    /// The aggregation whose tuples stand for each partition.
    pub groups: Vec<Option<usize>>,
    /// The aggregations made so far.
    pub aggregations: Vec<Aggregation>,
}

impl Scene<'_> {
    /// The place where an aggregate's value stands.
    pub fn home(&self, number: usize) -> Home {
        self.homes[number].expect("inner aggregates are planned before those that use them")
    }

    pub fn aggregate_field(&self, number: usize) -> &Field {
        let home = self.home(number);
        &self.aggregations[home.aggregation].layout.fields[home.field]
    }

    /// The way in which a value of a term is held, and whether it may be null.
    pub fn kind(&self, term: &Term) -> (Kind, bool) {
        const INTEGER: Kind = Kind::Integer { bytes: 8 };
        const REAL: Kind = Kind::Real { bytes: 8 };
        let wide = |kind| match kind {
            Kind::Integer { .. } => INTEGER,
            Kind::Real { .. } => REAL,
            text @ Kind::Text { .. } => text,
        };
        match term {
            Term::Integer(_) => (INTEGER, false),
            Term::Real(_) => (REAL, false),
            Term::Text(text) => (Kind::Text { width: trimmed(text).len().max(1) }, false),
            Term::Parameter { type_, .. } => (type_.kind(), true),
            Term::Column { slot, column } => match &self.relations[*slot] {
                Some(relation) => {
                    let field = &relation.layout.fields[*column];
                    (field.kind, field.null_at.is_some())
                }
                None => (INTEGER, true),
            },
            Term::Aggregate { number, .. } => {
                let field = self.aggregate_field(*number);
                (field.kind, field.null_at.is_some())
            }
            Term::Negate { operand, .. } => {
                let (kind, is_nullable) = self.kind(operand);
                (wide(kind), is_nullable)
            }
            Term::Arithmetic { operator, left, right, .. } => {
                let ((left, left_null), (right, right_null)) = (self.kind(left), self.kind(right));
                let integers =
                    matches!((left, right), (Kind::Integer { .. }, Kind::Integer { .. }))
                        && *operator != BinaryOperator::Power;
                (if integers { INTEGER } else { REAL }, left_null || right_null)
            }
            Term::Call { function, argument, .. } => {
                use loadstone_quel::check::resolved::Function as F;
                let (kind, is_nullable) = self.kind(argument);
                let kind = match function {
                    F::Abs => wide(kind),
                    F::ToInteger(_) => INTEGER,
                    _ => REAL,
                };
                (kind, is_nullable)
            }
            Term::Not(_)
            | Term::And(..)
            | Term::Or(..)
            | Term::Compare { .. }
            | Term::Match { .. } => (INTEGER, true),
        }
    }

    /// The type of a term, as keys are compared.
    pub fn type_of(&self, term: &Term) -> Type {
        match self.kind(term).0 {
            Kind::Integer { .. } => Type::Integer,
            Kind::Real { .. } => Type::Real,
            Kind::Text { .. } => Type::Text,
        }
    }

    /// The way in which the result of an aggregate is held.
    pub fn result_kind(&self, function: AggregateFunction, argument: &Term) -> Kind {
        use AggregateFunction as F;
        let (kind, _) = self.kind(argument);
        match (function, kind) {
            (F::Count | F::CountU | F::Any, _) | (F::Sum | F::SumU, Kind::Integer { .. }) => {
                Kind::Integer { bytes: 8 }
            }
            (F::Avg | F::AvgU | F::Sum | F::SumU, _) => Kind::Real { bytes: 8 },
            (F::Min | F::Max, kind) => kind,
        }
    }

    /// The name of an item, how it is held, and whether it may be null.
    pub fn form(&self, item: Item) -> (String, Kind, bool) {
        match item {
            Item::Column { slot, column } => {
                let relation = self.relations[slot].as_ref();
                let field =
                    &relation.expect("only relations have attributes").layout.fields[column];
                (field.name.clone(), field.kind, field.null_at.is_some())
            }
            Item::RecordId { .. } => ("record id".to_owned(), Kind::Integer { bytes: 8 }, false),
            Item::Aggregate { number, .. } => {
                let field = self.aggregate_field(number);
                (field.name.clone(), field.kind, field.null_at.is_some())
            }
        }
    }

    /// Add what a term needs of the tuples that it depends on.
    pub fn items(&self, term: &Term, into: &mut BTreeSet<Item>) {
        match term {
            Term::Integer(_) | Term::Real(_) | Term::Text(_) | Term::Parameter { .. } => {}
            Term::Column { slot, column } => {
                into.insert(Item::Column { slot: *slot, column: *column });
            }
            Term::Aggregate { number, place, .. } => match place {
                AggregatePlace::Scalar => {}
                AggregatePlace::Slot(slot) => {
                    into.insert(Item::Aggregate { slot: *slot, number: *number });
                }
                AggregatePlace::Linked { partition } => {
                    self.partitions[*partition].by.iter().for_each(|by| self.items(by, into));
                }
            },
            Term::Not(operand)
            | Term::Negate { operand, .. }
            | Term::Match { text: operand, .. }
            | Term::Call { argument: operand, .. } => self.items(operand, into),
            Term::And(left, right)
            | Term::Or(left, right)
            | Term::Compare { left, right, .. }
            | Term::Arithmetic { left, right, .. } => {
                self.items(left, into);
                self.items(right, into);
            }
        }
    }

    /// The items that several terms need.
    pub fn items_of<'t>(&self, terms: impl IntoIterator<Item = &'t Term>) -> BTreeSet<Item> {
        let mut items = BTreeSet::new();
        terms.into_iter().for_each(|term| self.items(term, &mut items));
        items
    }
}

/// A text without the blanks at its end.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
    &text[..end]
}
