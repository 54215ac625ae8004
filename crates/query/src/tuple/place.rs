//! Values read from their places in tuples, and written there.

use loadstone_quel::error::Fault;
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::Span;

use super::value::{Value, trimmed};
use super::{Field, width};

/// The integer of 1, 2, 4 or 8 bytes at an offset.
#[inline]
pub fn read_integer(tuple: &[u8], offset: usize, bytes: usize) -> i64 {
    match bytes {
        1 => i64::from(tuple[offset] as i8),
        2 => i64::from(i16::from_le_bytes(array(tuple, offset))),
        4 => i64::from(i32::from_le_bytes(array(tuple, offset))),
        _ => i64::from_le_bytes(array(tuple, offset)),
    }
}

/// The real of 4 or 8 bytes at an offset.
#[inline]
pub fn read_real(tuple: &[u8], offset: usize, bytes: usize) -> f64 {
    match bytes {
        4 => f64::from(f32::from_le_bytes(array(tuple, offset))),
        _ => f64::from_le_bytes(array(tuple, offset)),
    }
}

/// So many bytes at an offset.
#[inline]
pub fn array<const BYTES: usize>(tuple: &[u8], offset: usize) -> [u8; BYTES] {
    let bytes = &tuple[offset..offset + BYTES];
    bytes.try_into().expect("the slice has that length")
}

/// The value in its place; a text without its trailing blanks.
#[inline]
pub fn read<'a>(tuple: &'a [u8], field: &Field) -> Value<'a> {
    if field.null_at.is_some_and(|at| tuple[at] != 0) {
        return Value::Null;
    }
    match field.kind {
        Kind::Integer { bytes } => Value::Integer(read_integer(tuple, field.offset, bytes)),
        Kind::Real { bytes } => Value::Real(read_real(tuple, field.offset, bytes)),
        Kind::Text { width } => Value::Text(trimmed(&tuple[field.offset..field.offset + width])),
    }
}

/// Puts a value in its place. One that does not fit there is an error at `span`, and leaves the
/// tuple as it was.
#[inline]
pub fn write(tuple: &mut [u8], field: &Field, value: Value<'_>, span: Span) -> Result<(), Fault> {
    match (field.kind, value) {
        (Kind::Integer { bytes }, Value::Integer(value)) => {
            write_integer(tuple, field, (value, bytes), span)?;
        }
        (Kind::Real { bytes: 4 }, value @ (Value::Integer(_) | Value::Real(_))) => {
            let narrow = value.as_real() as f32;
            if !narrow.is_finite() {
                return Err(real_misfit(field, value.as_real(), span));
            }
            tuple[field.offset..field.offset + 4].copy_from_slice(&narrow.to_le_bytes());
        }
        (Kind::Real { .. }, value @ (Value::Integer(_) | Value::Real(_))) => {
            let bytes = value.as_real().to_le_bytes();
            tuple[field.offset..field.offset + 8].copy_from_slice(&bytes);
        }
        (Kind::Text { width }, Value::Text(text)) => {
            let text = trimmed(text);
            if text.len() > width {
                return Err(text_misfit(field, text.len(), width, span));
            }
            let (filled, rest) = tuple[field.offset..field.offset + width].split_at_mut(text.len());
            filled.copy_from_slice(text);
            rest.fill(b' ');
        }
        (_, Value::Null) => return write_null(tuple, field, span),
        // The check of the program lets nothing else come here.
        (_, other) => return Err(kind_misfit(field, other, span)),
    }
    if let Some(at) = field.null_at {
        tuple[at] = 0;
    }
    Ok(())
}

#[inline]
fn write_integer(
    tuple: &mut [u8],
    field: &Field,
    (value, bytes): (i64, usize),
    span: Span,
) -> Result<(), Fault> {
    // Shifted up and down again, a number that fits stays what it is.
    let shift = 64 - 8 * bytes as u32;
    if value << shift >> shift != value {
        return Err(integer_misfit(field, value, bytes, span));
    }
    tuple[field.offset..field.offset + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    Ok(())
}

fn write_null(tuple: &mut [u8], field: &Field, span: Span) -> Result<(), Fault> {
    let Some(at) = field.null_at else {
        return Err(Fault::new(span, format!("`{}` cannot hold a null", field.name))
            .expecting("the aggregate of no tuples is null"));
    };
    tuple[field.offset..field.offset + width(field.kind)].fill(0);
    tuple[at] = 1;
    Ok(())
}

#[cold]
fn integer_misfit(field: &Field, value: i64, bytes: usize, span: Span) -> Fault {
    let largest = i64::MAX >> (64 - 8 * bytes);
    Fault::new(span, format!("{value} does not fit into `{}`", field.name))
        .expecting(format!("{bytes} bytes hold {} to {largest}", -largest - 1))
}

#[cold]
fn real_misfit(field: &Field, value: f64, span: Span) -> Fault {
    Fault::new(span, format!("{value} does not fit into `{}`", field.name))
        .expecting(format!("at most {:e}", f32::MAX))
}

#[cold]
fn text_misfit(field: &Field, length: usize, width: usize, span: Span) -> Fault {
    let message = format!("a text of {length} bytes does not fit into `{}`", field.name);
    Fault::new(span, message).expecting(format!("it holds {width}"))
}

#[cold]
fn kind_misfit(field: &Field, value: Value<'_>, span: Span) -> Fault {
    let what = match value {
        Value::Integer(_) => "an integer",
        Value::Real(_) => "a real number",
        _ => "a text",
    };
    Fault::new(span, format!("`{}` cannot hold {what}", field.name))
}

#[cfg(test)]
mod tests {
    use super::{Value, read, write};
    use crate::tuple::Layout;
    use loadstone_quel::schema::Kind;
    use loadstone_quel::tree::Span;
    use proptest::prelude::*;

    fn layout(kind: Kind) -> Layout {
        let before = ("before".to_owned(), Kind::Integer { bytes: 1 }, false);
        Layout::of([before, ("a".to_owned(), kind, false), ("n".to_owned(), kind, true)])
    }

    /// Writes the value to the field that takes nulls, and to the one that takes none.
    fn there_and_back(kind: Kind, value: Value<'_>) -> Result<(), String> {
        let layout = layout(kind);
        for number in [1, 2] {
            let mut tuple = vec![0xa5; layout.bytes];
            let field = &layout.fields[number];
            write(&mut tuple, field, value, Span::default())
                .map_err(|fault| fault.evaluation("").to_string())?;
            assert_eq!(read(&tuple, field), value, "{kind:?}");
            let end = field.offset + crate::tuple::width(kind);
            let is_inside = |at: usize| (field.offset..end).contains(&at);
            for at in (0..layout.bytes).filter(|at| !is_inside(*at) && field.null_at != Some(*at)) {
                assert_eq!(tuple[at], 0xa5, "{kind:?} wrote to byte {at}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_value_that_does_not_fit_is_an_error_and_leaves_the_tuple() {
        let cases = [
            (Kind::Integer { bytes: 1 }, Value::Integer(128), "1 bytes hold -128 to 127"),
            (Kind::Integer { bytes: 4 }, Value::Integer(1 << 31), "4 bytes hold -2147483648 to"),
            (Kind::Real { bytes: 4 }, Value::Real(1e39), "at most 3.4"),
            (Kind::Text { width: 3 }, Value::Text(b"abcd"), "a text of 4 bytes"),
            (Kind::Text { width: 3 }, Value::Integer(1), "cannot hold an integer"),
        ];
        for (kind, value, message) in cases {
            let found = there_and_back(kind, value).unwrap_err();
            assert!(found.contains(message), "{found}");
            let layout = layout(kind);
            let mut tuple = vec![7; layout.bytes];
            assert!(write(&mut tuple, &layout.fields[1], value, Span::default()).is_err());
            assert_eq!(tuple, vec![7; layout.bytes]);
        }
    }

    #[test]
    fn a_null_is_kept_where_there_is_a_byte_for_it() {
        let layout = layout(Kind::Text { width: 4 });
        let mut tuple = vec![0; layout.bytes];
        let span = Span::default();
        write(&mut tuple, &layout.fields[2], Value::Null, span).unwrap();
        assert_eq!(read(&tuple, &layout.fields[2]), Value::Null);
        assert_eq!(tuple[layout.fields[2].offset..][..4], [0; 4]);
        write(&mut tuple, &layout.fields[2], Value::Text(b"x"), span).unwrap();
        assert_eq!(read(&tuple, &layout.fields[2]), Value::Text(b"x"));
        assert!(write(&mut tuple, &layout.fields[1], Value::Null, span).is_err());
    }

    #[test]
    fn an_integer_becomes_a_real_where_one_is_stored() {
        let layout = layout(Kind::Real { bytes: 4 });
        let mut tuple = vec![0; layout.bytes];
        write(&mut tuple, &layout.fields[1], Value::Integer(3), Span::default()).unwrap();
        assert_eq!(read(&tuple, &layout.fields[1]), Value::Real(3.0));
    }

    proptest! {
        #[test]
        fn integers_come_back_or_do_not_fit(value: i64, shift in 0u32..64) {
            let value = value >> shift;
            let fits = [
                (1, i8::try_from(value).is_ok()),
                (2, i16::try_from(value).is_ok()),
                (4, i32::try_from(value).is_ok()),
                (8, true),
            ];
            for (bytes, fits) in fits {
                let back = there_and_back(Kind::Integer { bytes }, Value::Integer(value));
                prop_assert_eq!(back.is_ok(), fits, "{} in {} bytes", value, bytes);
            }
        }

        #[test]
        fn reals_come_back(value in prop::num::f64::NORMAL, narrow in prop::num::f32::NORMAL) {
            there_and_back(Kind::Real { bytes: 8 }, Value::Real(value)).unwrap();
            there_and_back(Kind::Real { bytes: 4 }, Value::Real(narrow.into())).unwrap();
        }

        #[test]
        fn texts_come_back_without_trailing_blanks(text in "[ -~é]{0,12}") {
            let expected = text.trim_end_matches(' ').to_owned();
            let value = Value::Text(expected.as_bytes());
            there_and_back(Kind::Text { width: 24 }, value).unwrap();
            let layout = layout(Kind::Text { width: 24 });
            let mut tuple = vec![0; layout.bytes];
            let field = &layout.fields[1];
            write(&mut tuple, field, Value::Text(text.as_bytes()), Span::default()).unwrap();
            prop_assert_eq!(read(&tuple, field), value);
        }
    }
}
