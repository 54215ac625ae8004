//! Prepared statements by the extended protocol: Bind, Execute and Sync in one `send`, binary rows
//! out of one `recv`.

use bytes::{BufMut, BytesMut};
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend::{self, BindError};

use super::row::{Format, Row};
use super::session::Session;
use super::wire::WireError;

const BINARY: i16 = 1;

/// The server counts microseconds from 2000-01-01.
const EPOCH_S: i64 = 946_684_800;

/// A parameter, sent in binary.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// `int4`.
    Int(i32),
    /// `timestamp`, in seconds since 1970-01-01.
    Time(i64),
    /// `text`.
    Text(&'a str),
    /// `int4[]`.
    Ints(&'a [i32]),
}

/// A statement that the server has parsed under a name. With one `int4` as its parameter, a call
/// is a copy of a ready message with four bytes changed.
#[derive(Debug)]
pub struct Prepared {
    name: String,
    /// Bind and Execute; the four bytes of the parameter lie at `hole`.
    template: Vec<u8>,
    hole: usize,
}

impl Session {
    /// Have a statement parsed once.
    pub fn prepare(&mut self, name: &str, sql: &str) -> Result<Prepared, WireError> {
        frontend::parse(name, sql, [], &mut self.wire.output)?;
        frontend::sync(&mut self.wire.output);
        self.wire.flush()?;
        self.until_ready(|_| {})?;
        let mark = Value::Int(i32::from_be_bytes(*b"hole"));
        let mut template = BytesMut::new();
        bind(name, &[mark], &mut template)?;
        frontend::execute("", 0, &mut template)?;
        // Behind the name, so that a statement may be called "hole".
        let hole = template.windows(4).rposition(|four| four == b"hole");
        Ok(Prepared {
            name: name.to_owned(),
            hole: hole.expect("the mark was bound just now"),
            template: template.to_vec(),
        })
    }

    /// Append a call with one `int4` to what [`Session::finish`] sends.
    #[inline]
    pub fn queue(&mut self, statement: &Prepared, parameter: i32) {
        self.wire.statements += 1;
        let output = &mut self.wire.output;
        let hole = output.len() + statement.hole;
        output.extend_from_slice(&statement.template);
        output[hole..hole + 4].copy_from_slice(&parameter.to_be_bytes());
    }

    /// Append a call with any parameters to what [`Session::finish`] sends.
    #[inline]
    pub fn queue_with(
        &mut self,
        statement: &Prepared,
        parameters: &[Value<'_>],
    ) -> Result<(), WireError> {
        if let [Value::Int(number)] = *parameters {
            self.queue(statement, number);
            return Ok(());
        }
        self.wire.statements += 1;
        bind(&statement.name, parameters, &mut self.wire.output)?;
        frontend::execute("", 0, &mut self.wire.output)?;
        Ok(())
    }

    /// Send what was queued, in one transaction of its own where none is open, and give all rows
    /// to `visit` in the order of the calls.
    #[inline]
    pub fn finish(&mut self, visit: impl FnMut(Row<'_>)) -> Result<(), WireError> {
        frontend::sync(&mut self.wire.output);
        self.wire.flush()?;
        self.rows_until_ready(Format::Binary, visit)
    }
}

fn bind(name: &str, parameters: &[Value<'_>], output: &mut BytesMut) -> Result<(), WireError> {
    let write = |value: &Value<'_>, buffer: &mut BytesMut| {
        match *value {
            Value::Int(number) => buffer.put_i32(number),
            Value::Time(seconds) => buffer.put_i64((seconds - EPOCH_S) * 1_000_000),
            Value::Text(text) => buffer.put_slice(text.as_bytes()),
            Value::Ints(numbers) => put_array(numbers, buffer),
        }
        Ok(IsNull::No)
    };
    frontend::bind("", name, [BINARY], parameters, write, [BINARY], output).map_err(|error| {
        match error {
            BindError::Conversion(error) => WireError::Protocol(error.to_string()),
            BindError::Serialization(error) => error.into(),
        }
    })
}

/// One dimension, no NULLs, elements of type `int4` (oid 23), indexes from 1.
fn put_array(numbers: &[i32], buffer: &mut BytesMut) {
    const INT4: i32 = 23;
    for head in [1, 0, INT4, numbers.len() as i32, 1] {
        buffer.put_i32(head);
    }
    for &number in numbers {
        buffer.put_i32(4);
        buffer.put_i32(number);
    }
}
