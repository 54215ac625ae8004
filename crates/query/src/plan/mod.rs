//! A plan: pipelines in the order in which they run, the same for every executor.
//!
//! A *row* is one pointer to a tuple for each *slot*. A pipeline takes rows from its source, lets
//! them through its steps, each of which drops the row, adds a slot to it, or multiplies it, and
//! gives what is left to its sink. Slots are numbered within a pipeline, from 0 in the order in
//! which source and steps fill them. What a sink keeps (a hash table, a temporary relation, an
//! aggregation) has a number, and later pipelines read it.

mod aggregate;
mod decomposition;
mod draft;
mod end;
mod explain;
mod join;
mod known;
mod merge;
mod parallel;
mod path;
mod planner;
mod scene;
mod scope;
mod statement;
mod substitution;
#[cfg(test)]
mod tests;

use loadstone_quel::tree::{AggregateFunction, Span};

use crate::expression::Expr;
use crate::tuple::Layout;

pub use known::{Relations, Statistics, Stored};
pub use statement::plan;

/// A statement, ready to run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// In the order in which they run. The last one's sink is what the statement requests.
    pub pipelines: Vec<Pipeline>,
    /// Hash tables that pipelines build and probe, by their numbers.
    pub tables: Vec<Layout>,
    /// Temporary relations that pipelines fill and read, by their numbers.
    pub temporaries: Vec<Layout>,
    /// Aggregations that pipelines feed and read, by their numbers.
    pub aggregations: Vec<Aggregation>,
    /// The most threads that work on a pipeline, where it can be divided; 0 is as good as 1.
    pub threads: usize,
}

/// From a source through steps to a sink.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// The place where rows come from.
    pub source: Source,
    /// The steps for each row, in order.
    pub steps: Vec<Step>,
    /// The place where they go.
    pub sink: Sink,
    /// The layout of each slot's tuples.
    pub slots: Vec<Layout>,
    /// The pipeline's purpose.
    pub purpose: Purpose,
    /// The number of rows that the planner expects to reach the sink.
    pub rows_estimated: f64,
}

/// The purpose of a pipeline, where a query was taken apart (`join=substitution`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// Nothing but its sink.
    #[default]
    Plain,
    /// The part that speaks of one variable alone is run by itself.
    Detachment,
    /// A relation is organised anew before it is looked through for each tuple of another.
    Reformatting,
    /// The tuples of one variable after another are put into the query.
    Substitution,
}

/// The place where tuples come from. The tuple of each row goes to a slot.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// One row without a slot.
    Once,
    /// Every tuple of a stored relation.
    Scan {
        /// The relation's name.
        relation: String,
        /// The slot to fill.
        slot: usize,
        /// Evaluated by the access method before a tuple leaves it (`accelerator=on`).
        qualification: Option<Expr>,
    },
    /// The tuples of a stored relation whose key lies between two bounds, in the key's order.
    Range {
        /// The relation's name.
        relation: String,
        /// The slot to fill.
        slot: usize,
        /// The way in which the tuples are reached.
        access: Access,
        /// The lower bound, and whether it is included; its value depends on earlier slots only.
        low: Option<(Expr, bool)>,
        /// The upper bound, and whether it is included.
        high: Option<(Expr, bool)>,
    },
    /// The tuples of a stored relation with that key.
    Lookup {
        /// The relation's name.
        relation: String,
        /// The slot to fill.
        slot: usize,
        /// The way in which the tuples are reached.
        access: Access,
        /// The key's value, which depends on earlier slots only.
        key: Expr,
    },
    /// The tuples of a stored relation whose key is the least or the greatest that there is: one of
    /// them at least, and all where keys that are cut do not report; none where every key is null.
    End {
        /// The relation's name.
        relation: String,
        /// The slot to fill.
        slot: usize,
        /// By which B-tree the tuples are reached.
        access: Access,
        /// Which end of it.
        side: Side,
    },
    /// The tuples of a temporary relation, in its order.
    Temporary {
        /// Its number.
        temporary: usize,
        /// The slot to fill.
        slot: usize,
    },
    /// The results of an aggregation, one tuple for each partition.
    Groups {
        /// Its number.
        aggregation: usize,
        /// The slot to fill.
        slot: usize,
    },
    /// Of another source, which is no merge, the first tuple for which a condition holds; no other
    /// is looked at. Only for loops.
    First {
        /// The source.
        source: Box<Source>,
        /// The condition; None where any tuple will do.
        condition: Option<Expr>,
    },
    /// Pairs of tuples with equal keys from two sorted temporary relations.
    Merge {
        /// The number of the left one, whose tuple goes to slot 0.
        left: usize,
        /// The number of the right one, whose tuple goes to slot 1.
        right: usize,
        /// The fields of the left one that are its key, in the order of the sort.
        left_key: Vec<usize>,
        /// The fields of the right one that are its key.
        right_key: Vec<usize>,
    },
}

/// The way in which tuples of a stored relation are reached by a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// The relation is a B-tree on that attribute.
    Clustered {
        /// The attribute's position.
        attribute: usize,
    },
    /// The relation is hashed on that attribute.
    Hashed {
        /// The attribute's position.
        attribute: usize,
    },
    /// By a secondary index.
    Index {
        /// The attribute's position.
        attribute: usize,
    },
}

/// An end of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The place where the least keys are.
    Least,
    /// The place where the greatest are.
    Greatest,
}

/// A step of a row between source and sink.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Drop the row unless this holds.
    Filter(Expr),
    /// One row for each tuple of a source that is run again for every row: nested loops over a
    /// scan or a temporary relation, tuple substitution and index joins over a look-up.
    Loop(Source),
    /// One row for each entry of a hash table with these keys; the entry goes to a slot.
    Probe {
        /// The table's number.
        table: usize,
        /// The slot to fill.
        slot: usize,
        /// The keys, in the order of the table's.
        keys: Vec<Expr>,
    },
    /// The tuple of the partition to which the row's own by-values belong, in a slot.
    ProbeGroups {
        /// The aggregation's number.
        aggregation: usize,
        /// The slot to fill.
        slot: usize,
        /// The by-values, in order.
        keys: Vec<Expr>,
    },
    /// Drop the row if an earlier one had the same values; else put them into a slot, which is the
    /// only one afterwards that steps and sink may read (`distinct=hash`).
    Distinct {
        /// The values.
        pack: Pack,
        /// The slot to fill.
        slot: usize,
    },
}

/// A tuple made of a row: one expression for each field.
#[derive(Debug, Clone, PartialEq)]
pub struct Pack {
    /// The values in the order of the layout.
    pub values: Vec<Expr>,
    /// The form of the tuple.
    pub layout: Layout,
    /// The place where a value that does not fit its field is shown.
    pub span: Span,
}

/// The place where rows go.
#[derive(Debug, Clone, PartialEq)]
pub enum Sink {
    /// To the client.
    Rows(Pack),
    /// Into a new relation, which replaces one of that name.
    Store {
        /// Its name.
        relation: String,
        /// Its tuples.
        pack: Pack,
    },
    /// Into a relation, at the statement's end.
    Append {
        /// Its name.
        relation: String,
        /// Its new tuples.
        pack: Pack,
    },
    /// Other values for some fields of a stored tuple, at the statement's end. A tuple that gets
    /// two different values is an error.
    Replace {
        /// The relation's name.
        relation: String,
        /// The tuple's record id.
        id: Expr,
        /// The tuple as it is to be, whole.
        pack: Pack,
        /// The attributes that get a new value, which must not be null.
        changed: Vec<usize>,
    },
    /// A stored tuple goes, at the statement's end.
    Delete {
        /// The relation's name.
        relation: String,
        /// The tuple's record id.
        id: Expr,
    },
    /// Into a hash table.
    Build {
        /// Its number.
        table: usize,
        /// Its entries.
        pack: Pack,
        /// The fields of an entry that are its key.
        key: Vec<usize>,
    },
    /// Into a temporary relation.
    Materialise {
        /// Its number.
        temporary: usize,
        /// Its tuples.
        pack: Pack,
    },
    /// Into a temporary relation that is sorted when the pipeline ends.
    Sort {
        /// Its number.
        temporary: usize,
        /// Its tuples.
        pack: Pack,
        /// The fields to sort by, most significant first.
        key: Vec<usize>,
        /// Whether only one of several tuples with the same key stays.
        unique: bool,
    },
    /// Into an aggregation. Several pipelines may feed one, one after another; it is read only
    /// when all of them have ended.
    Aggregate {
        /// Its number.
        aggregation: usize,
        /// The by-values; empty for a scalar aggregate.
        by: Vec<Expr>,
        /// Which of its aggregates the row counts for, and with what.
        updates: Vec<Update>,
    },
}

/// A row's update of one aggregate of its partition. A row makes its partition exist even if it
/// counts for none.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The aggregate's position in its aggregation.
    pub aggregate: usize,
    /// The argument.
    pub argument: Expr,
    /// The row counts only where this holds.
    pub condition: Option<Expr>,
}

/// Aggregates that share their partitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregation {
    /// The by-values, then the result of each aggregate.
    pub layout: Layout,
    /// The number of the fields that are by-values.
    pub by: usize,
    /// The functions, in the order of the fields behind the by-values.
    pub functions: Vec<(AggregateFunction, Span)>,
    /// Whether rows come sorted by their by-values (`aggregate=sort`).
    pub is_sorted: bool,
}
