//! Tuples made of rows: typed stores at places that are known; fields that keep their form are
//! copied, neighbours in one piece.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type as Word, Value, types};
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::Span;

use super::value::{Computed, Content, integer_of};
use super::{TUPLE, Translator};
use crate::execution::compiled::code::Target;
use crate::execution::compiled::context::Routine;
use crate::expression::Expr;
use crate::tuple::{Field, Layout, width};

/// Bytes that are moved without a call.
const INLINE_BYTES_MAX: usize = 512;

/// Bytes of a slot's tuple that stay as they are.
struct Copied {
    slot: usize,
    from: usize,
    to: usize,
    bytes: usize,
}

impl Translator<'_, '_> {
    /// Fills a tuple of that layout at an address.
    pub(super) fn pack(&mut self, values: &[Expr], layout: &Layout, span: Span, tuple: Value) {
        let (mut copies, mut computed): (Vec<Copied>, Vec<_>) = (Vec::new(), Vec::new());
        for (value, field) in values.iter().zip(&layout.fields) {
            match value {
                Expr::Column { slot, field: from }
                    if from.kind == field.kind && from.null_at.is_none() =>
                {
                    add_copy(&mut copies, *slot, from, field);
                    self.set_known(field, tuple);
                }
                _ => computed.push((value, field)),
            }
        }
        for Copied { slot, from, to, bytes } in copies {
            let source = self.slots[slot].expect("a step fills a slot before others read it");
            self.copy((source.tuple, from), (tuple, to), bytes);
        }
        for (value, field) in computed {
            let value = self.compute(value);
            self.write(value, field, (layout.bytes, span), tuple);
        }
    }

    /// Says that a field is not null, if it has a byte for that.
    fn set_known(&mut self, field: &Field, tuple: Value) {
        if let Some(at) = field.null_at {
            let zero = self.builder.ins().iconst(types::I8, 0);
            self.builder.ins().store(TUPLE, zero, tuple, at as i32);
        }
    }

    /// Puts a value into its place; one that does not fit there is an error.
    pub(super) fn write(
        &mut self,
        value: Computed,
        field: &Field,
        (tuple_bytes, span): (usize, Span),
        tuple: Value,
    ) {
        let place = (field, tuple_bytes, span);
        if value.null.is_some() {
            return self.write_by_call(value, place, tuple);
        }
        let offset = field.offset as i32;
        match (field.kind, value.content) {
            (Kind::Integer { bytes }, Content::Integer(integer)) => {
                if let Some(fits) = self.fits(integer, bytes) {
                    self.fails_unless(fits, value, place, tuple);
                }
                let narrow = if bytes == 8 {
                    integer
                } else {
                    self.builder.ins().ireduce(integer_of(bytes), integer)
                };
                self.builder.ins().store(TUPLE, narrow, tuple, offset);
            }
            (Kind::Real { bytes: 4 }, Content::Integer(_) | Content::Real(_)) => {
                let real = self.as_real(value.content);
                let narrow = self.builder.ins().fdemote(types::F32, real);
                let infinite = self.not_finite(narrow);
                let fits = self.builder.ins().icmp_imm_s(IntCC::Equal, infinite, 0);
                self.fails_unless(fits, value, place, tuple);
                self.builder.ins().store(TUPLE, narrow, tuple, offset);
            }
            (Kind::Real { .. }, Content::Integer(_) | Content::Real(_)) => {
                let real = self.as_real(value.content);
                self.builder.ins().store(TUPLE, real, tuple, offset);
            }
            (Kind::Text { width }, Content::Text { start, width: Some(bytes), .. })
                if bytes <= width && width <= INLINE_BYTES_MAX =>
            {
                self.copy((start, 0), (tuple, field.offset), bytes);
                self.blanks((tuple, field.offset + bytes), width - bytes);
            }
            _ => return self.write_by_call(value, place, tuple),
        }
        self.set_known(field, tuple);
    }

    /// Has the routine show the error of a value that does not fit.
    fn fails_unless(
        &mut self,
        fits: Value,
        value: Computed,
        place: (&Field, usize, Span),
        tuple: Value,
    ) {
        let (cold, going) = (self.block(), self.block());
        self.builder.set_cold_block(cold);
        self.builder.ins().brif(fits, going, &[], cold, &[]);
        self.builder.switch_to_block(cold);
        self.write_by_call(value, place, tuple);
        self.builder.ins().jump(self.stopped, &[]);
        self.builder.switch_to_block(going);
    }

    /// Has the routine write, which knows every kind and null.
    fn write_by_call(
        &mut self,
        value: Computed,
        (field, tuple_bytes, span): (&Field, usize, Span),
        tuple: Value,
    ) {
        let cell = self.cells(1);
        let cell = self.cell(cell);
        self.put(value, cell);
        let target = self.parts.targets.len();
        self.parts.targets.push(Target { field: field.clone(), tuple_bytes, span });
        let target = self.word(target);
        let failed = self.call(Routine::Write, &[self.context, target, cell, tuple]);
        self.stop_if(failed);
    }

    /// Copies bytes between places that do not overlap.
    fn copy(&mut self, from: (Value, usize), to: (Value, usize), bytes: usize) {
        if bytes > INLINE_BYTES_MAX {
            let source = self.builder.ins().iadd_imm_s(from.0, from.1 as i64);
            let target = self.builder.ins().iadd_imm_s(to.0, to.1 as i64);
            let bytes = self.word(bytes);
            self.call(Routine::Copy, &[source, target, bytes]);
            return;
        }
        for (at, word) in words(bytes) {
            let value = self.builder.ins().load(word, TUPLE, from.0, (from.1 + at) as i32);
            self.builder.ins().store(TUPLE, value, to.0, (to.1 + at) as i32);
        }
    }

    /// Fills bytes with blanks.
    fn blanks(&mut self, (tuple, offset): (Value, usize), bytes: usize) {
        const BLANKS: i64 = 0x2020_2020_2020_2020;
        for (at, word) in words(bytes) {
            let blanks = if word == types::I8X16 {
                let half = self.builder.ins().iconst(types::I64, BLANKS);
                let both = self.builder.ins().splat(types::I64X2, half);
                let flags = MemFlagsData::new().with_endianness(LITTLE);
                self.builder.ins().bitcast(types::I8X16, flags, both)
            } else {
                let mask = (1_i128 << word.bits()) - 1;
                self.builder.ins().iconst(word, (i128::from(BLANKS) & mask) as i64)
            };
            self.builder.ins().store(TUPLE, blanks, tuple, (offset + at) as i32);
        }
    }
}

const LITTLE: cranelift_codegen::ir::Endianness = cranelift_codegen::ir::Endianness::Little;

/// The words in which so many bytes are moved; the last two may overlap.
fn words(bytes: usize) -> Vec<(usize, Word)> {
    let by = |size: usize, word: Word| {
        let mut places: Vec<_> = (0..bytes / size).map(|number| (number * size, word)).collect();
        if !bytes.is_multiple_of(size) {
            places.push((bytes - size, word));
        }
        places
    };
    match bytes {
        0 => Vec::new(),
        1 => by(1, types::I8),
        2..4 => by(2, types::I16),
        4..8 => by(4, types::I32),
        8..16 => by(8, types::I64),
        _ => by(16, types::I8X16),
    }
}

/// Copies the value too, in one piece with its neighbour where both stand side by side.
fn add_copy(copies: &mut Vec<Copied>, slot: usize, from: &Field, to: &Field) {
    let more = width(from.kind);
    if let Some(last) = copies.last_mut()
        && last.slot == slot
        && last.from + last.bytes == from.offset
        && last.to + last.bytes == to.offset
    {
        last.bytes += more;
    } else {
        copies.push(Copied { slot, from: from.offset, to: to.offset, bytes: more });
    }
}
