//! Statements of users, each on a connection of its own.

use std::collections::HashMap;

use postgres_protocol::message::backend::{COMMAND_COMPLETE_TAG, DATA_ROW_TAG};
use postgres_protocol::message::frontend;

use super::address::Server;
use super::session::Session;
use super::wire::WireError;
use super::{ENGINE, failed};
use crate::error::ClientError;
use crate::statements;

/// A connection, with the statements that it has prepared by their texts, if it prepares any.
struct Own {
    session: Session,
    prepared: Option<HashMap<String, Vec<u8>>>,
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
    Ok(Box::new(Own { session, prepared: is_prepared.then(HashMap::new) }))
}

impl Own {
    fn send(&mut self, text: &str) -> Result<(), WireError> {
        let output = &mut self.session.wire.output;
        let Some(prepared) = &mut self.prepared else {
            frontend::query(text, output)?;
            return self.session.wire.flush();
        };
        if let Some(call) = prepared.get(text) {
            output.extend_from_slice(call);
            return self.session.wire.flush();
        }
        let name = format!("loadstone_{}", prepared.len());
        frontend::parse(&name, text, [], output)?;
        let call = called(&name)?;
        output.extend_from_slice(&call);
        prepared.insert(text.to_owned(), call);
        self.session.wire.flush()
    }
}

/// Bind, Execute and Sync of a statement without parameters, whose rows come as text.
fn called(name: &str) -> Result<Vec<u8>, WireError> {
    let mut call = bytes::BytesMut::new();
    let none: [i32; 0] = [];
    let write = |_: i32, _: &mut bytes::BytesMut| Ok(postgres_protocol::IsNull::Yes);
    frontend::bind("", name, [], none, write, [], &mut call)
        .map_err(|_| WireError::Protocol("a call without parameters is no message".into()))?;
    frontend::execute("", 0, &mut call)?;
    frontend::sync(&mut call);
    Ok(call.to_vec())
}

impl statements::Session for Own {
    fn ask(&mut self, statement: &str) -> Result<u64, ClientError> {
        self.send(statement).map_err(failed("sending a statement"))?;
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
    use super::changed_by;

    #[test]
    fn a_change_has_the_rows_of_its_tag_and_a_query_those_that_came() {
        let counts = [&b"INSERT 0 3\0"[..], b"UPDATE 12\0", b"DELETE 0\0"].map(changed_by);
        assert_eq!(counts, [Some(3), Some(12), Some(0)]);
        let none = [&b"SELECT 5\0"[..], b"BEGIN\0", b"UPDATE 1", b"UPDATE x\0"].map(changed_by);
        assert_eq!(none, [None; 4]);
    }
}
