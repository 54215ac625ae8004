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

/// The number of tuples ahead for which memory is requested.
const AHEAD: usize = 12;

/// The bytes that a processor fetches at once.
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
        self.pack_first(rows, selection, selection.len(), into)
    }

    /// As [`Packer::pack`], of the first so many of the selected rows; prefetching what
    /// will be copied of those behind them.
    ///
    /// # Errors
    ///
    /// As of [`Packer::pack`].
    pub fn pack_first(
        &mut self,
        rows: &Rows,
        selection: &[u16],
        count: usize,
        into: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        // Each byte of a tuple is written below, so what an earlier batch left need not be cleared.
        into.resize(count * self.bytes, 0);
        // So few tuples at a time that they are still in the first cache for the next copy.
        let blocks = into.chunks_mut((self.bytes * BLOCK_TUPLES).max(1));
        for (block, begin) in blocks.zip((0..count).step_by(BLOCK_TUPLES)) {
            for copied in &self.copies {
                copied.copy(rows, &selection[begin..], block, self.bytes);
            }
        }
        let selection = &selection[..count];
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
    /// The bytes of the first of these rows, each into its tuple of a block.
    fn copy(&self, rows: &Rows, selection: &[u16], block: &mut [u8], tuple_bytes: usize) {
        let place = (rows, selection, tuple_bytes);
        // The way to copy is chosen here, once a block: a call for each field costs more than it.
        match self.bytes {
            0 => {}
            1..2 => self.copy_by(place, block, ends::<1>),
            2..4 => self.copy_by(place, block, ends::<2>),
            4..8 => self.copy_by(place, block, ends::<4>),
            8..16 => self.copy_by(place, block, ends::<8>),
            16..32 => self.copy_by(place, block, ends::<16>),
            32..64 => self.copy_by(place, block, ends::<32>),
            64..128 => self.copy_by(place, block, ends::<64>),
            _ => self.copy_by(place, block, <[u8]>::copy_from_slice),
        }
    }

    #[inline]
    #[expect(unsafe_code, reason = "tuples are read through pointers")]
    fn copy_by(
        &self,
        (rows, selection, tuple_bytes): (&Rows, &[u16], usize),
        block: &mut [u8],
        copy: impl Fn(&mut [u8], &[u8]),
    ) {
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
            copy(&mut tuple[place.clone()], from);
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

/// Copy the first and the last so many bytes, which are all of twice as many at most.
#[inline]
fn ends<const BYTES: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(first), Some(last)) = (from.first_chunk::<BYTES>(), from.last_chunk::<BYTES>()) {
        if let Some(to) = to.first_chunk_mut::<BYTES>() {
            *to = *first;
        }
        if let Some(to) = to.last_chunk_mut::<BYTES>() {
            *to = *last;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_any_length_is_copied_whole_and_nothing_beside_it() {
        let source: Vec<u8> = (0..200).collect();
        for bytes in 0..150 {
            let copied = Copied { slot: 0, from: 7, to: 3, bytes };
            let mut rows = Rows::new(1);
            rows.slots[0].tuples = vec![source.as_ptr(), source[11..].as_ptr()];
            rows.select_all(2);
            let tuple_bytes = bytes + 5;
            let mut block = vec![0xa5; 2 * tuple_bytes];
            copied.copy(&rows, &rows.selection, &mut block, tuple_bytes);
            let mut expected = vec![0xa5; 2 * tuple_bytes];
            expected[3..3 + bytes].copy_from_slice(&source[7..7 + bytes]);
            expected[tuple_bytes + 3..tuple_bytes + 3 + bytes]
                .copy_from_slice(&source[18..18 + bytes]);
            assert_eq!(block, expected, "{bytes} bytes");
        }
    }
}
