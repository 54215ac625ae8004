//! Relations as CSV: a header line, then one line a row, ended by `\n`. Nothing needs quotes.

use std::io::Write;

use loadstone_datasets::columns::LINES_WIDTH_MIN;
use loadstone_datasets::{Column, Cursor, Relation, source};

use crate::arrow::trimmed;
use crate::error::ExportError;
use crate::pieces::{Job, Maker};
use crate::target::Target;
use crate::timestamp;

/// About 2 MB of text: few system calls, and still in a cache when it is written.
const PIECE_ROWS: u64 = 8_192;

/// Rows generated at a time, so that they are formatted while still in the second-level cache.
const BATCH_ROWS: usize = 1_024;

pub(crate) fn write(job: &mut Job<'_>, target: &mut Target) -> Result<(), ExportError> {
    let source = job.request.source.as_ref();
    let names: Vec<&str> = source.attributes().iter().map(|each| each.name.as_str()).collect();
    target.write_all(format!("{}\n", names.join(",")).as_bytes())?;
    job.run(
        PIECE_ROWS,
        || Formatter { batch: source::empty(source) },
        |text| Ok(target.write_all(text.bytes())?),
    )
}

/// Text under construction. Its buffer only ever grows, so that it is cleared once, not per piece.
#[derive(Default)]
struct Text {
    buffer: Vec<u8>,
    length: usize,
}

impl Text {
    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

struct Formatter {
    batch: Relation,
}

impl Maker for Formatter {
    type Piece = Text;

    fn make(
        &mut self,
        cursor: &mut dyn Cursor,
        rows: usize,
        text: &mut Text,
    ) -> Result<(), ExportError> {
        text.length = 0;
        for first in (0..rows).step_by(BATCH_ROWS) {
            self.batch.clear();
            cursor.read(BATCH_ROWS.min(rows - first), &mut self.batch);
            format_rows(&self.batch, text);
        }
        Ok(())
    }
}

fn format_rows(batch: &Relation, text: &mut Text) {
    let columns: Vec<&Column> = batch.columns.iter().map(|(_, column)| column).collect();
    let line_bytes_max = columns.iter().map(|column| field_bytes_max(column)).sum::<usize>();
    let needed = text.length + batch.rows() * line_bytes_max + GROUP_BYTES;
    if text.buffer.len() < needed {
        text.buffer.resize(needed, 0);
    }
    let mut at = text.length;
    for row in 0..batch.rows() {
        // One bounds check a line; the fields' own are against a known length.
        let line = &mut text.buffer[at..at + line_bytes_max + GROUP_BYTES];
        let mut end = 0;
        for column in &columns {
            end = match column {
                Column::Int16(values) => format_integer(line, end, i64::from(values[row])),
                Column::Int32(values) => format_integer(line, end, i64::from(values[row])),
                Column::Int64(values) => format_integer(line, end, values[row]),
                Column::Text { width, bytes } => {
                    let value = trimmed(&bytes[row * width..][..*width]);
                    let quoted = *width >= LINES_WIDTH_MIN && value.contains(&b'\n');
                    format_text(line, end, value, quoted)
                }
                Column::Timestamp(values) => {
                    let text = line[end..].first_chunk_mut().expect("counted in field_bytes_max");
                    timestamp::write(values[row], text);
                    end + timestamp::TEXT_BYTES
                }
            };
            line[end] = b',';
            end += 1;
        }
        line[end - 1] = b'\n';
        at += end;
    }
    text.length = at;
}

/// Longest text of a field, with its separator.
fn field_bytes_max(column: &Column) -> usize {
    1 + match column {
        Column::Int16(_) => "-32768".len(),
        Column::Int32(_) => "-2147483648".len(),
        Column::Int64(_) => "-9223372036854775808".len(),
        Column::Text { width, .. } => *width + QUOTES_BYTES,
        Column::Timestamp(_) => timestamp::TEXT_BYTES,
    }
}

/// Around a text of several lines.
const QUOTES_BYTES: usize = 2;

/// Write a text, which holds no quotes of its own.
#[inline]
fn format_text(line: &mut [u8], start: usize, value: &[u8], quoted: bool) -> usize {
    let first = start + usize::from(quoted);
    let end = first + value.len();
    line[first..end].copy_from_slice(value);
    if quoted {
        line[start] = b'"';
        line[end] = b'"';
    }
    end + usize::from(quoted)
}

/// Digits are copied in groups of three, of which four bytes are moved.
const GROUP_BYTES: usize = 4;

/// The numbers below 1000, left-justified and with leading zeros.
struct Groups {
    plain: [[u8; GROUP_BYTES]; 1_000],
    padded: [[u8; GROUP_BYTES]; 1_000],
}

static GROUPS: Groups = groups();

const fn groups() -> Groups {
    let mut groups = Groups { plain: [[0; GROUP_BYTES]; 1_000], padded: [[0; GROUP_BYTES]; 1_000] };
    let mut number = 0;
    while number < 1_000 {
        let [hundreds, tens, ones] = [
            b'0' + (number / 100) as u8,
            b'0' + (number / 10 % 10) as u8,
            b'0' + (number % 10) as u8,
        ];
        groups.padded[number] = [hundreds, tens, ones, 0];
        groups.plain[number] = match number {
            0..10 => [ones, 0, 0, 0],
            10..100 => [tens, ones, 0, 0],
            _ => [hundreds, tens, ones, 0],
        };
        number += 1;
    }
    groups
}

/// Write `value` at `line[at..]`; returns where it ends.
#[inline]
fn format_integer(line: &mut [u8], at: usize, value: i64) -> usize {
    let magnitude = value.unsigned_abs();
    let at = if value < 0 {
        line[at] = b'-';
        at + 1
    } else {
        at
    };
    if let Ok(small) = u32::try_from(magnitude) {
        return format_u32(line, at, small);
    }
    let at = format_integer(line, at, (magnitude / 1_000_000_000) as i64);
    let rest = (magnitude % 1_000_000_000) as u32;
    let at = put(line, at, &GROUPS.padded, rest / 1_000_000, 3);
    let at = put(line, at, &GROUPS.padded, rest / 1_000 % 1_000, 3);
    put(line, at, &GROUPS.padded, rest % 1_000, 3)
}

#[inline]
fn format_u32(line: &mut [u8], at: usize, value: u32) -> usize {
    if value < 1_000 {
        return put_head(line, at, value);
    }
    let at = format_u32_head(line, at, value / 1_000);
    put(line, at, &GROUPS.padded, value % 1_000, 3)
}

#[inline]
fn format_u32_head(line: &mut [u8], at: usize, thousands: u32) -> usize {
    if thousands < 1_000 {
        return put_head(line, at, thousands);
    }
    let millions = thousands / 1_000;
    let at = if millions < 1_000 {
        put_head(line, at, millions)
    } else {
        let at = put_head(line, at, millions / 1_000);
        put(line, at, &GROUPS.padded, millions % 1_000, 3)
    };
    put(line, at, &GROUPS.padded, thousands % 1_000, 3)
}

#[inline]
fn put_head(line: &mut [u8], at: usize, group: u32) -> usize {
    let digits = 1 + usize::from(group > 9) + usize::from(group > 99);
    put(line, at, &GROUPS.plain, group, digits)
}

#[inline]
fn put(
    line: &mut [u8],
    at: usize,
    groups: &[[u8; GROUP_BYTES]; 1_000],
    group: u32,
    digits: usize,
) -> usize {
    line[at..at + GROUP_BYTES].copy_from_slice(&groups[group as usize]);
    at + digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(value: i64) -> String {
        let mut line = [b'?'; 32];
        let end = format_integer(&mut line, 0, value);
        String::from_utf8(line[..end].to_vec()).unwrap()
    }

    #[test]
    fn integers_read_as_the_standard_library_writes_them() {
        let mut value: i64 = 1;
        for _ in 0..19 {
            for near in [value - 1, value, value + 1, value.wrapping_mul(7)] {
                assert_eq!(formatted(near), near.to_string());
                assert_eq!(formatted(near.wrapping_neg()), near.wrapping_neg().to_string());
            }
            value = value.wrapping_mul(10);
        }
        for value in [i64::MIN, i64::MAX, i64::from(u32::MAX), i64::from(i16::MIN)] {
            assert_eq!(formatted(value), value.to_string());
        }
    }

    #[test]
    fn every_column_type_has_its_place_in_the_line() {
        let batch = Relation {
            name: "r".to_owned(),
            columns: vec![
                ("a".to_owned(), Column::Int16(vec![i16::MIN, 7])),
                ("b".to_owned(), Column::Int32(vec![i32::MIN, 0])),
                ("c".to_owned(), Column::Int64(vec![i64::MIN, 1])),
                ("d".to_owned(), Column::Text { width: 2, bytes: b"xyzw".to_vec() }),
                ("e".to_owned(), Column::Timestamp(vec![-1, 0])),
            ],
        };
        let mut text = Text::default();
        format_rows(&batch, &mut text);
        let expected = "-32768,-2147483648,-9223372036854775808,xy,1969-12-31 23:59:59\n\
            7,0,1,zw,1970-01-01 00:00:00\n";
        assert_eq!(std::str::from_utf8(text.bytes()).unwrap(), expected);
    }
    #[test]
    fn a_text_of_several_lines_is_one_quoted_field() {
        let mut bytes = b"one line".to_vec();
        bytes.resize(LINES_WIDTH_MIN, b' ');
        bytes.extend_from_slice(b"line\nnext line\n");
        bytes.resize(2 * LINES_WIDTH_MIN, b' ');
        let text = Column::Text { width: LINES_WIDTH_MIN, bytes };
        let number = Column::Int16(vec![1, 2]);
        let columns = vec![("a".to_owned(), text), ("b".to_owned(), number)];
        let mut text = Text::default();
        format_rows(&Relation { name: "r".to_owned(), columns }, &mut text);
        let expected = "one line,1\n\"line\nnext line\n\",2\n";
        assert_eq!(std::str::from_utf8(text.bytes()).unwrap(), expected);
    }
}
