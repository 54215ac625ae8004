//! Rows to tuples: fields are copied together where they lie together, the others computed.

use loadstone_quel::error::Fault;
use loadstone_quel::tree::Span;

use super::rows::Rows;
use super::value::Computed;
use crate::execution::{Packed, State};
use crate::expression::Expr;
use crate::table::prefetch;
use crate::tuple::{self, Field, width};

/// Tuples that are written together.
const BLOCK_TUPLES: usize = 32;

/// How many tuples ahead the memory is asked for what will be copied.
const AHEAD: usize = 6;

/// What a processor fetches at once.
const LINE_BYTES: usize = 64;

/// Writes one tuple for each selected row.
#[derive(Debug)]
pub(super) struct Packer {
    bytes: usize,
    copies: Vec<Copied>,
    computed: Vec<(Computed, Field)>,
    span: Span,
}

/// Bytes of a slot's tuple that stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Copied {
    slot: usize,
    from: usize,
    to: usize,
    bytes: usize,
}

impl Packer {
    /// For tuples of that form.
    pub fn new(form: &Packed, state: &State<'_>) -> Self {
        let (mut copies, mut computed): (Vec<Copied>, Vec<_>) = (Vec::new(), Vec::new());
        for (value, field) in form.values.iter().zip(&form.layout.fields) {
            let Some(copy) = copied(value, field) else {
                computed.push((Computed::new(value, state), field.clone()));
                continue;
            };
            match copies.last_mut() {
                Some(last)
                    if last.slot == copy.slot
                        && last.from + last.bytes == copy.from
                        && last.to + last.bytes == copy.to =>
                {
                    last.bytes += copy.bytes;
                }
                _ => copies.push(copy),
            }
        }
        Self { bytes: form.layout.bytes, copies, computed, span: form.span }
    }

    /// The length of a tuple in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The tuples of the selected rows, one after another, in an emptied buffer.
    ///
    /// # Errors
    ///
    /// Of a row for which a value cannot be computed, or does not fit its field.
    pub fn pack(
        &mut self,
        rows: &Rows,
        selection: &[u16],
        into: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        // Each byte of a tuple is written below, so what an earlier batch left need not be cleared.
        into.resize(selection.len() * self.bytes, 0);
        // So few tuples at a time that they are still in the first cache for the next copy.
        let mut left = selection;
        for block in into.chunks_mut((self.bytes * BLOCK_TUPLES).max(1)) {
            let (these, later) = left.split_at(BLOCK_TUPLES.min(left.len()));
            for copied in &self.copies {
                copied.copy(rows, these, block, self.bytes);
            }
            left = later;
        }
        for (computed, field) in &mut self.computed {
            let values = computed.compute(rows, selection)?;
            for (tuple, row) in into.chunks_exact_mut(self.bytes).zip(selection) {
                tuple::write(tuple, field, values.value(usize::from(*row)), self.span)?;
            }
        }
        Ok(())
    }
}

impl Copied {
    /// The bytes of these rows, each into its tuple of a block.
    #[expect(unsafe_code, reason = "tuples are read through pointers")]
    fn copy(&self, rows: &Rows, selection: &[u16], block: &mut [u8], tuple_bytes: usize) {
        let tuples = &rows.slots[self.slot].tuples[..];
        let place = self.to..self.to + self.bytes;
        for (at, (tuple, row)) in block.chunks_exact_mut(tuple_bytes).zip(selection).enumerate() {
            if let Some(later) = selection.get(at + AHEAD) {
                self.prefetch(tuples[usize::from(*later)]);
            }
            let from = tuples[usize::from(*row)];
            // SAFETY: the bytes are of fields of the slot's layout, and each pointer leads to a
            // whole tuple of it for as long as the batch lives.
            let from = unsafe { std::slice::from_raw_parts(from.add(self.from), self.bytes) };
            tuple[place.clone()].copy_from_slice(from);
        }
    }

    /// Bring what will be copied of a tuple into the processor's caches.
    #[inline]
    fn prefetch(&self, tuple: *const u8) {
        for line in (0..self.bytes).step_by(LINE_BYTES) {
            prefetch(tuple.wrapping_add(self.from + line));
        }
    }
}

/// The bytes of a value that its new field takes over; None where it must be looked at.
fn copied(value: &Expr, field: &Field) -> Option<Copied> {
    let Expr::Column { slot, field: from } = value else { return None };
    let is_plain = from.kind == field.kind && from.null_at.is_none() && field.null_at.is_none();
    is_plain.then_some(Copied {
        slot: *slot,
        from: from.offset,
        to: field.offset,
        bytes: width(field.kind),
    })
}
