//! Tuples made of rows: attributes that keep their form are copied, neighbours in one piece.

use loadstone_quel::error::Fault;
use loadstone_quel::tree::Span;

use super::operand::{Constant, Integer2, Integer4, Operand, Real8, Stop};
use super::{Built, Closures, Integer, Real, Row, Text, with_integer, with_real};
use crate::execution::evaluation::Packer;
use crate::expression::Expr;
use crate::plan::Pack;
use crate::tuple::{Field, Value, width, write};

/// Puts one value into its place.
type Put = Box<dyn Fn(&Row<'_>, &mut [u8]) -> Result<(), Fault>>;

/// The source of one piece of the tuple.
enum Piece {
    /// Bytes of a slot's tuple.
    Copy { slot: usize, from: usize, to: usize, bytes: usize },
    /// Bytes that are the same for every row.
    Fixed { to: usize, bytes: Vec<u8> },
    /// A value in its place.
    Value(Put),
}

/// A tuple's pieces.
pub(super) struct Closure {
    pieces: Vec<Piece>,
}

impl Closure {
    pub fn of(closures: &Closures<'_>, pack: &Pack) -> Self {
        let mut pieces = Vec::new();
        let mut null_bytes = Vec::new();
        for (field, expr) in pack.layout.fields.iter().zip(&pack.values) {
            match expr {
                Expr::Column { slot, field: source }
                    if source.kind == field.kind && source.null_at.is_none() =>
                {
                    copy(&mut pieces, *slot, source, field);
                    null_bytes.extend(field.null_at);
                }
                _ => pieces.push(piece(closures.build(expr), field, pack.span)),
            }
        }
        pieces.extend(null_bytes.into_iter().map(|to| Piece::Fixed { to, bytes: vec![0] }));
        Self { pieces }
    }
}

/// Copies the value too, in one piece with its neighbour where both stand side by side.
fn copy(pieces: &mut Vec<Piece>, slot: usize, source: &Field, target: &Field) {
    let more = width(source.kind);
    if let Some(Piece::Copy { slot: last, from, to, bytes }) = pieces.last_mut()
        && *last == slot
        && *from + *bytes == source.offset
        && *to + *bytes == target.offset
    {
        *bytes += more;
    } else {
        pieces.push(Piece::Copy { slot, from: source.offset, to: target.offset, bytes: more });
    }
}

fn piece(value: Built, field: &Field, span: Span) -> Piece {
    let field = field.clone();
    match value {
        Built::Integer(Integer::Constant(value)) => fixed(Value::Integer(value), field, span),
        Built::Real(Real::Constant(value)) => fixed(Value::Real(value), field, span),
        Built::Text(Text::Constant(text)) => fixed(Value::Text(&text), field, span),
        Built::Null => fixed(Value::Null, field, span),
        Built::Integer(one) => with_integer!(one, |one| computed(one, Value::Integer, field, span)),
        Built::Real(one) => with_real!(one, |one| computed(one, Value::Real, field, span)),
        Built::Truth(node) => computed(node, |truth| Value::Integer(i64::from(truth)), field, span),
        text @ Built::Text(_) => Piece::Value(Box::new(move |row, tuple| {
            write(tuple, &field, known(text.evaluate(row))?, span)
        })),
    }
}

/// The value's bytes, if it fits; else an error for every row.
fn fixed(value: Value<'_>, field: Field, span: Span) -> Piece {
    let end = field.null_at.map_or(field.offset + width(field.kind), |at| at + 1);
    let mut tuple = vec![0; end];
    let owned = value.to_owned();
    match (write(&mut tuple, &field, value, span), field.null_at) {
        (Ok(()), None) => Piece::Fixed { to: field.offset, bytes: tuple.split_off(field.offset) },
        _ => Piece::Value(Box::new(move |_, tuple| write(tuple, &field, owned.borrow(), span))),
    }
}

fn computed<T: 'static>(
    operand: impl Operand<T>,
    value: fn(T) -> Value<'static>,
    field: Field,
    span: Span,
) -> Piece {
    Piece::Value(Box::new(move |row, tuple| {
        write(tuple, &field, known(operand.get(row).map(value))?, span)
    }))
}

fn known(value: Result<Value<'_>, Stop>) -> Result<Value<'_>, Fault> {
    match value {
        Ok(value) => Ok(value),
        Err(Stop::Null) => Ok(Value::Null),
        Err(Stop::Fault(fault)) => Err(fault),
    }
}

impl Packer for Closure {
    fn pack(&mut self, row: &Row<'_>, tuple: &mut [u8]) -> Result<(), Fault> {
        for piece in &self.pieces {
            match piece {
                Piece::Copy { slot, from, to, bytes } => {
                    let source = &row.tuples[*slot][*from..*from + *bytes];
                    tuple[*to..*to + *bytes].copy_from_slice(source);
                }
                Piece::Fixed { to, bytes } => tuple[*to..*to + bytes.len()].copy_from_slice(bytes),
                Piece::Value(put) => put(row, tuple)?,
            }
        }
        Ok(())
    }
}
