//! Statements of users, each on a connection of its own.

use std::borrow::Cow;

use bytes::BytesMut;
use postgres_protocol::message::backend::{COMMAND_COMPLETE_TAG, DATA_ROW_TAG};
use postgres_protocol::message::frontend;
use rustc_hash::FxHashMap;

use super::address::Server;
use super::session::Session;
use super::wire::WireError;
use super::{ENGINE, failed};
use crate::error::ClientError;
use crate::statements;
use crate::statements::drawing::Template;

/// A connection, with the statements that it has prepared by their texts, if it prepares any.
struct Own {
    session: Session,
    prepared: Option<FxHashMap<String, Prepared>>,
}

/// A statement that the server has parsed, and its call where it has no parameters.
struct Prepared {
    name: String,
    call: Vec<u8>,
}

/// Connect, and begin with these statements. `is_prepared`: each text is parsed once and executed
/// by its name from then on; otherwise it is sent, and parsed, each time.
pub fn open(
    address: &str,
    begin: &[String],
    is_prepared: bool,
) -> Result<Box<dyn statements::Session>, ClientError> {
    let server = Server::parse(address)
        .map_err(|message| ClientError::engine(ENGINE, "reading its address", message))?;
    let mut session = Session::open(&server).map_err(failed("connecting"))?;
    for statement in begin {
        session.execute(statement).map_err(failed("setting up the session"))?;
    }
    Ok(Box::new(Own { session, prepared: is_prepared.then(FxHashMap::default) }))
}

impl Own {
    fn send(&mut self, text: &str) -> Result<(), WireError> {
        let output = &mut self.session.wire.output;
        let Some(prepared) = &mut self.prepared else {
            frontend::query(text, output)?;
            return self.session.wire.flush();
        };
        if let Some(Prepared { call, .. }) = prepared.get(text) {
            output.extend_from_slice(call);
            return self.session.wire.flush();
        }
        let name = format!("loadstone_{}", prepared.len());
        frontend::parse(&name, text, [], output)?;
        let parsed_bytes = output.len();
        call(&name, [], output)?;
        let call = output[parsed_bytes..].to_vec();
        prepared.insert(text.to_owned(), Prepared { name, call });
        self.session.wire.flush()
    }

    /// Send the parameters of a statement that is parsed, or will be by this.
    fn call<'a>(
        &mut self,
        text: &str,
        values: impl ExactSizeIterator<Item = Cow<'a, str>>,
    ) -> Result<(), WireError> {
        let output = &mut self.session.wire.output;
        let prepared = self.prepared.get_or_insert_default();
        let known = if let Some(known) = prepared.get(text) {
            known
        } else {
            let name = format!("loadstone_{}", prepared.len());
            frontend::parse(&name, text, [], output)?;
            prepared.entry(text.to_owned()).or_insert(Prepared { name, call: Vec::new() })
        };
        call(&known.name, values, output)?;
        self.session.wire.flush()
    }
}

/// Bind, Execute and Sync of a statement, with its parameters as text, as its rows come.
fn call<'a>(
    name: &str,
    values: impl IntoIterator<Item = Cow<'a, str>>,
    output: &mut BytesMut,
) -> Result<(), WireError> {
    let write = |value: Cow<'_, str>, output: &mut BytesMut| {
        output.extend_from_slice(value.as_bytes());
        Ok(postgres_protocol::IsNull::No)
    };
    frontend::bind("", name, [], values, write, [], output)
        .map_err(|_| WireError::Protocol("a call is no message".into()))?;
    frontend::execute("", 0, output)?;
    frontend::sync(output);
    Ok(())
}

/// The value of a literal of SQL as the protocol has it; `None` of one of another form.
fn value_of(literal: &str) -> Option<Cow<'_, str>> {
    let between = |open, close| literal.strip_prefix(open)?.strip_suffix(close);
    if let Some(number) = between('(', ')') {
        return Some(number.into());
    }
    if let Some(text) = between('\'', '\'') {
        let has_quotes = text.contains("''");
        return Some(if has_quotes { text.replace("''", "'").into() } else { text.into() });
    }
    if literal == "NULL" {
        return None;
    }
    literal
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || ".+-".contains(letter))
        .then_some(literal.into())
}

impl statements::Session for Own {
    fn ask(&mut self, statement: &str) -> Result<u64, ClientError> {
        self.send(statement).map_err(failed("sending a statement"))?;
        self.answer()
    }

    fn ask_with(&mut self, text: &Template, literals: &[String]) -> Result<u64, ClientError> {
        let (parsed, parameters) = text.with_parameters();
        let values = parameters.iter().map(|place| value_of(&literals[*place]));
        if self.prepared.is_none() || values.clone().any(|value| value.is_none()) {
            return self.ask(&text.filled(literals));
        }
        let values = values.map(|value| value.expect("each was looked at"));
        self.call(parsed, values).map_err(failed("sending a statement"))?;
        self.answer()
    }
}

impl Own {
    fn answer(&mut self) -> Result<u64, ClientError> {
        let (mut rows, mut changed) = (0, None);
        let answered = self.session.frames_until_ready(|tag, body| match tag {
            DATA_ROW_TAG => rows += 1,
            COMMAND_COMPLETE_TAG => changed = changed_by(body),
            _ => {}
        });
        answered.map_err(failed("answering a statement"))?;
        Ok(changed.unwrap_or(rows))
    }
}

/// Number of rows that a change is reported to have changed: `UPDATE 1`, `INSERT 0 1`; none of a
/// query.
fn changed_by(tag: &[u8]) -> Option<u64> {
    let words = std::str::from_utf8(tag.strip_suffix(b"\0")?).ok()?;
    let (kind, count) = words.split_once(' ')?;
    matches!(kind, "INSERT" | "UPDATE" | "DELETE" | "MERGE")
        .then(|| count.rsplit(' ').next()?.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::{changed_by, value_of};

    #[test]
    fn a_literal_has_the_value_that_the_server_reads_in_it() {
        let values = ["7", "(-5)", "1.5e+300", "'it''s'", "TRUE"].map(|one| value_of(one).unwrap());
        assert_eq!(values, ["7", "-5", "1.5e+300", "it's", "TRUE"]);
        assert_eq!(value_of("E'a\\b'"), None);
    }

    #[test]
    fn a_change_has_the_rows_of_its_tag_and_a_query_those_that_came() {
        let counts = [&b"INSERT 0 3\0"[..], b"UPDATE 12\0", b"DELETE 0\0"].map(changed_by);
        assert_eq!(counts, [Some(3), Some(12), Some(0)]);
        let none = [&b"SELECT 5\0"[..], b"BEGIN\0", b"UPDATE 1", b"UPDATE x\0"].map(changed_by);
        assert_eq!(none, [None; 4]);
    }
}
