//! A compiled pipeline: its functions, and what they refer to by number.

use loadstone_quel::pattern::Pattern;
use loadstone_quel::tree::Span;

use super::context::Routine;
use super::machine::Machine;
use super::site::Site;
use crate::expression::Expr;
use crate::tuple::Field;

/// Which rows code takes, and what it does beside letting them through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Way {
    pub begin: Begin,
    /// The steps that put rows aside, which therefore have them in the frame.
    pub aside: Vec<usize>,
    /// Whether the rows that each step lets through are counted.
    pub counts_steps: bool,
}

/// The place where rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Begin {
    /// The pipeline's source.
    #[default]
    Source,
    /// A step put them aside, and looks them up now.
    At(usize),
    /// A step put them aside, and lets them through now.
    Behind(usize),
}

impl Begin {
    /// The first step that they come to.
    pub const fn step(self) -> usize {
        match self {
            Self::Source => 0,
            Self::At(step) => step,
            Self::Behind(step) => step + 1,
        }
    }
}

/// A pipeline's functions. The first takes the rows of its source, or one that lies in the frame;
/// each other those of a loop.
pub(super) struct Code {
    pub begin: Begin,
    pub machine: Machine,
    pub parts: Parts,
    /// The form in which the sink gets its rows.
    pub end: End,
    pub report: Report,
}

/// The report of a compilation.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    /// From the pipeline to executable code.
    pub elapsed_ns: u64,
    /// The routines that are not compiled: the routines that are called for it, by name.
    pub called: Vec<&'static str>,
}

/// The values and places that functions refer to.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Expressions whose values are known before the pipeline starts.
    pub constants: Vec<Expr>,
    pub sites: Vec<Site>,
    pub patterns: Vec<Pattern>,
    pub targets: Vec<Target>,
    /// Values that are on their way to routines at the same time.
    pub cells: usize,
    /// For each inner source the first of its cells.
    pub bounds: Vec<usize>,
    pub routines: std::collections::BTreeSet<Routine>,
}

/// A field of a tuple that a routine writes.
#[derive(Debug)]
pub(super) struct Target {
    pub field: Field,
    pub tuple_bytes: usize,
    /// The place where a value that does not fit is shown.
    pub span: Span,
}

/// The form of the rows staged for the sink, and the most of them.
#[derive(Debug)]
pub(super) struct End {
    pub rows_max: usize,
    pub form: Form,
}

/// The form of what is staged.
#[derive(Debug)]
pub(super) enum Form {
    /// Tuples of that many bytes.
    Tuples { bytes: usize },
    /// Keys of partitions, and arguments.
    Aggregation { key: Key, updates: Vec<Argument> },
}

/// The way in which the partition of a row is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// There is one.
    None,
    /// An integer that is never null.
    Integer,
    /// A tuple of by-values.
    Tuple { bytes: usize },
}

/// The argument that an aggregate is fed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Argument {
    pub aggregate: usize,
    /// Integers that are never null; else cells.
    pub is_integer: bool,
    /// Whether only some rows count.
    pub is_conditional: bool,
}
