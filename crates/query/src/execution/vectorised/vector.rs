//! Vectors: the values of one expression for the rows of a batch.

use loadstone_quel::check::resolved::Type;

use super::rows::ROWS_MAX;
use crate::error::Result;
use crate::execution::State;
use crate::expression::Expr;
use crate::memory::Reservation;
use crate::plan::{Pipeline, Sink, Step};
use crate::tuple::{Value, trimmed};

/// Vectors of a pipeline that count in no budget: more than any usual one has.
const UNCOUNTED: u64 = 256;

/// A vector of numbers that may be null.
const VECTOR_BYTES: u64 = (ROWS_MAX * (size_of::<i64>() + size_of::<bool>())) as u64;

/// The memory of a pipeline's vectors: one for each value of its expressions.
///
/// # Errors
///
/// [`crate::QueryError::Memory`] where the budget does not have it.
pub(super) fn room(pipeline: &Pipeline, state: &State<'_>) -> Result<Reservation> {
    let of = |all: &[Expr]| all.iter().map(vectors).sum::<u64>();
    let of_step = |step: &Step| match step {
        Step::Filter(condition) => condition.nodes(),
        Step::Probe { keys, .. } | Step::ProbeGroups { keys, .. } => of(keys),
        Step::Distinct { pack, .. } => of(&pack.values),
        Step::Loop(_) => 0,
    };
    let of_sink = match &pipeline.sink {
        Sink::Rows(pack)
        | Sink::Store { pack, .. }
        | Sink::Append { pack, .. }
        | Sink::Replace { pack, .. }
        | Sink::Build { pack, .. }
        | Sink::Materialise { pack, .. }
        | Sink::Sort { pack, .. } => of(&pack.values),
        Sink::Delete { .. } => 0,
        Sink::Aggregate { by, updates, .. } => {
            let of_update = updates.iter().map(|update| {
                vectors(&update.argument) + update.condition.as_ref().map_or(0, Expr::nodes)
            });
            of(by) + of_update.sum::<u64>()
        }
    };
    let all = pipeline.steps.iter().map(of_step).sum::<u64>() + of_sink;
    let mut room = state.memory.reservation("the values of so many expressions");
    room.add(all.saturating_sub(UNCOUNTED) * VECTOR_BYTES)?;
    Ok(room)
}

/// Those of an expression; a column goes from tuple to tuple without one.
fn vectors(expr: &Expr) -> u64 {
    if matches!(expr, Expr::Column { .. }) { 0 } else { expr.nodes() }
}

/// A value for each row of a batch; only those of selected rows mean anything.
#[derive(Debug)]
pub(super) struct Vector {
    pub type_: Type,
    /// The values, if they are integers. That of a null means nothing, here and below: an operator
    /// might fail on it.
    pub integers: Vec<i64>,
    /// The values, if they are reals.
    pub reals: Vec<f64>,
    /// The values, if they are texts.
    pub texts: Vec<Text>,
    /// Which are null; empty if none ever is.
    pub nulls: Vec<bool>,
}

/// A text in a tuple or a constant, which lives as long as the batch, without trailing blanks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text {
    start: *const u8,
    bytes: usize,
}

impl Text {
    /// Without its trailing blanks.
    #[inline]
    pub fn new(text: &[u8]) -> Self {
        let text = trimmed(text);
        Self { start: text.as_ptr(), bytes: text.len() }
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: vectors are read only while the batch lives that they were computed from, and
        // the expression that owns the constants.
        #[expect(unsafe_code, reason = "texts are not copied into vectors")]
        unsafe {
            std::slice::from_raw_parts(self.start, self.bytes)
        }
    }
}

impl Vector {
    pub fn new(type_: Type, may_be_null: bool) -> Self {
        let size = |wanted: bool| if wanted { ROWS_MAX } else { 0 };
        Self {
            type_,
            integers: vec![0; size(matches!(type_, Type::Integer | Type::Truth))],
            reals: vec![0.0; size(type_ == Type::Real)],
            texts: vec![Text::new(b""); size(type_ == Type::Text)],
            nulls: vec![false; size(may_be_null)],
        }
    }

    /// Whether a value may be null.
    pub fn may_be_null(&self) -> bool {
        !self.nulls.is_empty()
    }

    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.may_be_null() && self.nulls[row]
    }

    /// One of the values.
    #[inline]
    pub fn value(&self, row: usize) -> Value<'_> {
        if self.is_null(row) {
            return Value::Null;
        }
        match self.type_ {
            Type::Integer | Type::Truth => Value::Integer(self.integers[row]),
            Type::Real => Value::Real(self.reals[row]),
            Type::Text => Value::Text(self.texts[row].bytes()),
        }
    }
}
