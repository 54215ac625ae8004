//! Rows to tuples: fields are copied together where they lie together, the others computed.

use loadstone_quel::error::Fault;
use loadstone_quel::tree::Span;

use super::rows::Rows;
use super::value::Computed;
use crate::execution::{Packed, State};
use crate::expression::Expr;
use crate::tuple::{self, Field, width};

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
        into.clear();
        if let ([copied], []) = (&self.copies[..], &self.computed[..])
            && copied.bytes == self.bytes
        {
            for row in selection {
                into.extend_from_slice(copied.of(rows, *row));
            }
            return Ok(());
        }
        into.resize(selection.len() * self.bytes, 0);
        for copied in &self.copies {
            for (tuple, row) in into.chunks_exact_mut(self.bytes).zip(selection) {
                let place = copied.to..copied.to + copied.bytes;
                tuple[place].copy_from_slice(copied.of(rows, *row));
            }
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
    #[inline]
    fn of<'a>(&self, rows: &'a Rows, row: u16) -> &'a [u8] {
        let tuple = rows.slots[self.slot].tuples[usize::from(row)];
        // SAFETY: the bytes are of fields of the slot's layout, and each pointer leads to a whole
        // tuple of it for as long as the batch lives.
        #[expect(unsafe_code, reason = "tuples are read through pointers")]
        unsafe {
            std::slice::from_raw_parts(tuple.add(self.from), self.bytes)
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
