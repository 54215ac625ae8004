//! The selection of integers that lie between two constants.

use loadstone_quel::schema::Kind;

use super::kernels::Kernels;
use super::rows::{Rows, Selection};
use super::value::{Computed, Stored, at};
use crate::counters::Work;

/// An integer of a tuple lies between two constants, both included, or does not.
#[derive(Debug)]
pub(super) struct Between {
    slot: usize,
    offset: usize,
    bytes: usize,
    bounds: (i64, i64),
    negated: bool,
    kernels: &'static Kernels,
    /// The integers of a batch, in the order of its selection: of at most 32 bits, or of 64.
    narrow: Vec<i32>,
    wide: Vec<i64>,
}

impl Between {
    /// Of a column, if that is an integer that is never null.
    pub fn new(
        column: &Computed,
        bounds: (i64, i64),
        negated: bool,
        kernels: &'static Kernels,
    ) -> Option<Self> {
        let (slot, field) = column.column()?;
        let (Kind::Integer { bytes }, None) = (field.kind, field.null_at) else { return None };
        let (offset, narrow, wide) = (field.offset, Vec::new(), Vec::new());
        Some(Self { slot, offset, bytes, bounds, negated, kernels, narrow, wide })
    }

    /// Both at once, if the other is a range of the same integer; whether it is.
    pub fn join(&mut self, other: &Self) -> bool {
        let is_same = (self.slot, self.offset) == (other.slot, other.offset);
        if !is_same || self.negated || other.negated {
            return false;
        }
        self.bounds = (self.bounds.0.max(other.bounds.0), self.bounds.1.min(other.bounds.1));
        true
    }

    /// Drop the rows for which it is not true.
    pub fn filter(&mut self, rows: &Rows, selection: &mut Selection, work: &mut Work) {
        work.comparisons += selection.len() as u64;
        self.kernels.count(work);
        let Self { bounds, negated, kernels, narrow, wide, .. } = self;
        let (tuples, offset) = (&rows.slots[self.slot].tuples[..], self.offset);
        match self.bytes {
            1 => gather::<i8, _>(tuples, offset, selection, narrow),
            2 => gather::<i16, _>(tuples, offset, selection, narrow),
            4 => gather::<i32, _>(tuples, offset, selection, narrow),
            _ => {
                gather::<i64, _>(tuples, offset, selection, wide);
                return kernels.keep_wide(selection, wide, *bounds, *negated);
            }
        }
        kernels.keep_narrow(selection, narrow, *bounds, *negated);
    }
}

/// The integers of that type at an offset of the selected tuples.
#[expect(unsafe_code, reason = "tuples are read through pointers, without a bound to check")]
fn gather<S: Stored, T: From<S>>(
    tuples: &[*const u8],
    offset: usize,
    selection: &[u16],
    into: &mut Vec<T>,
) {
    into.clear();
    // SAFETY, for both: the field is of the layout of the slot's tuples, and each pointer leads to
    // a whole tuple of it for as long as the batch lives.
    if selection.len() == tuples.len() {
        into.extend(
            tuples.iter().map(|tuple| T::from(unsafe { at::<S>(*tuple, offset) }.native())),
        );
    } else {
        into.extend(
            selection
                .iter()
                .map(|row| T::from(unsafe { at::<S>(tuples[usize::from(*row)], offset) }.native())),
        );
    }
}
