//! Statements and answers as bytes.
//!
//! ```text
//! frame     kind u8 | length u32, little-endian | so many bytes
//! asked     1 text, for its rows | 2 text, for what it changes | 3 name, a zero, text
//! answered  4 form, once, then 5 tuples, any number of times, then 6 end
//!           6 end: nothing, or the number of tuples changed, u64
//!           7 text | 8 class u8, words: the statement failed
//! form      each value: type u8 (i, f, c) | width u32 | may be null u8 | bytes of name u16 | name
//! ```

use std::io::{self, BufRead, ErrorKind, Read, Write};

use loadstone_quel::schema::Kind;
use lode::LodeError;

use crate::error::QueryError;
use crate::tuple::{Layout, Value, read, trimmed, width};

/// No frame is longer. Tuples are sent in frames of about a megabyte.
pub const FRAME_BYTES_MAX: u32 = 256 << 20;

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Frame {
    Query = 1,
    Execute = 2,
    Report = 3,
    Form = 4,
    Tuples = 5,
    End = 6,
    Reported = 7,
    Failed = 8,
}

const FRAMES: [Frame; 8] = [
    Frame::Query,
    Frame::Execute,
    Frame::Report,
    Frame::Form,
    Frame::Tuples,
    Frame::End,
    Frame::Reported,
    Frame::Failed,
];

/// The classes of errors that a program distinguishes.
const QUEL: u8 = 0;
const CANCELLED: u8 = 1;
const DEADLOCK: u8 = 2;
const OTHER: u8 = 3;

/// Send one.
pub fn send(stream: &mut impl Write, frame: Frame, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= FRAME_BYTES_MAX);
    let length = length.ok_or_else(|| io::Error::from(ErrorKind::InvalidInput))?;
    stream.write_all(&[frame as u8])?;
    stream.write_all(&length.to_le_bytes())?;
    stream.write_all(bytes)
}

/// The next one, None where the other side has left.
///
/// # Errors
///
/// [`ErrorKind::InvalidData`] for what is none; nothing behind it can be understood.
pub fn receive(stream: &mut impl BufRead) -> io::Result<Option<(Frame, Vec<u8>)>> {
    let Some((frame, length)) = head(stream)? else { return Ok(None) };
    Ok(Some((frame, content(stream, length)?)))
}

/// The kind of the next one and its length, None where the other side has left.
///
/// # Errors
///
/// As of [`receive`].
pub fn head(stream: &mut impl BufRead) -> io::Result<Option<(Frame, u32)>> {
    if stream.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut head = [0; 5];
    stream.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    let length = u32::from_le_bytes(length);
    let known = FRAMES.into_iter().find(|frame| *frame as u8 == kind);
    let frame = known.filter(|_| length <= FRAME_BYTES_MAX).ok_or_else(nonsense)?;
    Ok(Some((frame, length)))
}

/// Its bytes.
///
/// # Errors
///
/// [`ErrorKind::UnexpectedEof`] where fewer come.
pub fn content(stream: &mut impl BufRead, length: u32) -> io::Result<Vec<u8>> {
    // Memory is taken for what comes, and not for what is said to come.
    let mut bytes = Vec::new();
    stream.by_ref().take(length.into()).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

/// Read its bytes and keep nothing of them.
pub fn skip(stream: &mut impl BufRead, length: u32) -> io::Result<()> {
    io::copy(&mut stream.by_ref().take(length.into()), &mut io::sink()).map(drop)
}

/// The error for received bytes that mean nothing.
pub fn nonsense() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "it sent what is no frame of a statement")
}

/// The form of the tuples of an answer.
pub fn form(layout: &Layout) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in &layout.fields {
        let letter = match field.kind {
            Kind::Integer { .. } => b'i',
            Kind::Real { .. } => b'f',
            Kind::Text { .. } => b'c',
        };
        bytes.push(letter);
        bytes.extend((width(field.kind) as u32).to_le_bytes());
        bytes.push(u8::from(field.null_at.is_some()));
        bytes.extend((field.name.len() as u16).to_le_bytes());
        bytes.extend(field.name.as_bytes());
    }
    bytes
}

/// From its bytes.
pub fn layout(mut bytes: &[u8]) -> io::Result<Layout> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let (field, rest) = field(bytes).ok_or_else(nonsense)?;
        fields.push(field);
        bytes = rest;
    }
    // An answer has columns.
    if fields.is_empty() { Err(nonsense()) } else { Ok(Layout::of(fields)) }
}

/// Refuse tuples that are cut, and texts that are none.
pub fn check_tuples(form: &Layout, tuples: &[u8]) -> io::Result<()> {
    if tuples.is_empty() || !tuples.len().is_multiple_of(form.bytes.max(1)) {
        return Err(nonsense());
    }
    let texts = form.fields.iter().filter(|field| matches!(field.kind, Kind::Text { .. }));
    let texts: Vec<_> = texts.collect();
    if texts.is_empty() || tuples.is_ascii() {
        return Ok(());
    }
    let is_text = |tuple: &[u8]| {
        texts.iter().all(|field| match read(tuple, field) {
            Value::Text(text) => str::from_utf8(trimmed(text)).is_ok(),
            _ => true,
        })
    };
    if tuples.chunks_exact(form.bytes).all(is_text) { Ok(()) } else { Err(nonsense()) }
}

type NamedKind = (String, Kind, bool);

fn field(bytes: &[u8]) -> Option<(NamedKind, &[u8])> {
    let (letter, bytes) = bytes.split_first()?;
    let (wide, bytes) = bytes.split_first_chunk()?;
    let wide = u32::from_le_bytes(*wide) as usize;
    let (is_nullable, bytes) = bytes.split_first()?;
    let (length, bytes) = bytes.split_first_chunk()?;
    let (name, bytes) = bytes.split_at_checked(u16::from_le_bytes(*length).into())?;
    let kind = match (letter, wide) {
        (b'i', 1 | 2 | 4 | 8) => Kind::Integer { bytes: wide },
        (b'f', 4 | 8) => Kind::Real { bytes: wide },
        (b'c', 1..=65_535) => Kind::Text { width: wide },
        _ => return None,
    };
    Some(((String::from_utf8(name.to_vec()).ok()?, kind, *is_nullable != 0), bytes))
}

/// A failure's class and words.
pub fn failure(error: &QueryError) -> Vec<u8> {
    let class = match error {
        QueryError::Quel(_) | QueryError::Input { .. } => QUEL,
        QueryError::Cancelled => CANCELLED,
        QueryError::Lode(LodeError::Deadlock) => DEADLOCK,
        _ => OTHER,
    };
    let mut bytes = vec![class];
    bytes.extend(error.to_string().as_bytes());
    bytes
}

/// From its bytes.
pub fn failed(bytes: &[u8]) -> QueryError {
    let (class, words) = bytes.split_first().unwrap_or((&OTHER, b"it did not say why"));
    let what = String::from_utf8_lossy(words).into_owned();
    match *class {
        QUEL => QueryError::Input { what },
        CANCELLED => QueryError::Cancelled,
        DEADLOCK => QueryError::Lode(LodeError::Deadlock),
        _ => QueryError::Served { what },
    }
}
