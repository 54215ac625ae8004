//! A conversation with a server from the greeting on: authentication, statements without results,
//! COPY. The statements that are measured are in `statement.rs`.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{
    COPY_IN_RESPONSE_TAG, DATA_ROW_TAG, ERROR_RESPONSE_TAG, Message, READY_FOR_QUERY_TAG,
};
use postgres_protocol::message::frontend;

use super::address::Server;
use super::row::{Format, Row};
use super::wire::{Wire, WireError};

/// Bytes of a COPY gathered before they are sent.
const COPY_BYTES: usize = 64 << 10;

/// A connection that was let in, waiting for a statement.
#[derive(Debug)]
pub struct Session {
    /// The frames below.
    pub wire: Wire,
    /// Kept for the text protocol, so that a statement is no allocation.
    pub text: Vec<u8>,
    /// Whether a transaction is open, as the server said when it was last ready.
    pub in_transaction: bool,
}

impl Session {
    /// Connect and authenticate.
    pub fn open(address: &Server) -> Result<Self, WireError> {
        let wire = Wire::connect(address)?;
        let mut session = Self { wire, text: Vec::new(), in_transaction: false };
        let greeting = [
            ("user", address.user.as_str()),
            ("database", address.database.as_str()),
            ("application_name", "loadstone"),
            ("client_encoding", "UTF8"),
            // Dates and numbers in the text protocol must not follow the server's taste.
            ("datestyle", "ISO"),
        ];
        frontend::startup_message(greeting, &mut session.wire.output)?;
        session.wire.flush()?;
        session.authenticate(address)?;
        session.until_ready(|_| {})?;
        Ok(session)
    }

    /// Run one statement by the simple protocol; its rows, as text, go to `visit`.
    pub fn query(&mut self, sql: &str, visit: impl FnMut(Row<'_>)) -> Result<(), WireError> {
        frontend::query(sql, &mut self.wire.output)?;
        self.wire.statements += 1;
        self.wire.flush()?;
        self.until_ready(visit)
    }

    /// Run one statement whose rows, if any, nobody wants.
    pub fn execute(&mut self, sql: &str) -> Result<(), WireError> {
        self.query(sql, |_| {})
    }

    /// The first column of the first row, as text.
    pub fn value(&mut self, sql: &str) -> Result<Option<String>, WireError> {
        let mut found = None;
        self.query(sql, |mut row| {
            found.get_or_insert_with(|| String::from_utf8_lossy(row.text()).into_owned());
        })?;
        Ok(found)
    }

    /// `COPY … FROM STDIN`: `fill` appends lines until it returns false.
    pub fn copy(
        &mut self,
        sql: &str,
        mut fill: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<(), WireError> {
        frontend::query(sql, &mut self.wire.output)?;
        self.wire.flush()?;
        let frame = self.wire.receive()?;
        if frame.tag != COPY_IN_RESPONSE_TAG {
            let error = self.wire.error(&frame);
            self.until_ready(|_| {})?;
            return Err(error);
        }
        let mut lines = Vec::with_capacity(2 * COPY_BYTES);
        let mut more = true;
        while more {
            while more && lines.len() < COPY_BYTES {
                more = fill(&mut lines);
            }
            frontend::CopyData::new(lines.as_slice())?.write(&mut self.wire.output);
            self.wire.flush()?;
            lines.clear();
        }
        frontend::copy_done(&mut self.wire.output);
        self.wire.flush()?;
        self.until_ready(|_| {})
    }

    /// Read until the server waits for us again; its rows, as text, go to `visit`.
    pub fn until_ready(&mut self, visit: impl FnMut(Row<'_>)) -> Result<(), WireError> {
        self.rows_until_ready(Format::Text, visit)
    }

    /// The same with rows in the format given. The first error that the server reported is
    /// returned, after the rest was read: the session can be used again.
    pub fn rows_until_ready(
        &mut self,
        format: Format,
        mut visit: impl FnMut(Row<'_>),
    ) -> Result<(), WireError> {
        self.frames_until_ready(|tag, body| {
            if tag == DATA_ROW_TAG {
                visit(Row::new(body, format));
            }
        })
    }

    /// The same with the tag and the body of every frame that is no error.
    pub fn frames_until_ready(
        &mut self,
        mut visit: impl FnMut(u8, &[u8]),
    ) -> Result<(), WireError> {
        let mut failure = None;
        loop {
            let frame = match self.wire.receive() {
                Ok(frame) => frame,
                // A server that ends the connection says why before it closes.
                Err(error) => return Err(failure.unwrap_or(error)),
            };
            match frame.tag {
                READY_FOR_QUERY_TAG => {
                    self.in_transaction = self.wire.body(&frame) != b"I";
                    return failure.map_or(Ok(()), Err);
                }
                ERROR_RESPONSE_TAG => {
                    let error = self.wire.error(&frame);
                    failure.get_or_insert(error);
                }
                tag => visit(tag, self.wire.body(&frame)),
            }
        }
    }

    fn authenticate(&mut self, address: &Server) -> Result<(), WireError> {
        loop {
            match self.next_message()? {
                Message::AuthenticationOk => return Ok(()),
                Message::AuthenticationCleartextPassword => {
                    let password = asked_for(address)?;
                    frontend::password_message(password, &mut self.wire.output)?;
                    self.wire.flush()?;
                }
                Message::AuthenticationMd5Password(body) => {
                    let password = asked_for(address)?;
                    let answer = md5_hash(address.user.as_bytes(), password, body.salt());
                    frontend::password_message(answer.as_bytes(), &mut self.wire.output)?;
                    self.wire.flush()?;
                }
                Message::AuthenticationSasl(_) => self.scram(asked_for(address)?)?,
                _ => {
                    let text = "it requires a kind of authentication that this client lacks \
                                (trust, peer, password, md5 and SCRAM-SHA-256 are)";
                    return Err(WireError::Protocol(text.into()));
                }
            }
        }
    }

    fn scram(&mut self, password: &[u8]) -> Result<(), WireError> {
        let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
        frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut self.wire.output)?;
        self.wire.flush()?;
        let Message::AuthenticationSaslContinue(body) = self.next_message()? else {
            return Err(WireError::Protocol("no challenge after SCRAM's first message".into()));
        };
        scram.update(body.data())?;
        frontend::sasl_response(scram.message(), &mut self.wire.output)?;
        self.wire.flush()?;
        let Message::AuthenticationSaslFinal(body) = self.next_message()? else {
            return Err(WireError::Protocol("no signature after SCRAM's proof".into()));
        };
        scram.finish(body.data())?;
        Ok(())
    }

    /// The next message of the greeting; an error in it ends the conversation.
    fn next_message(&mut self) -> Result<Message, WireError> {
        let frame = self.wire.receive()?;
        match self.wire.message(&frame)? {
            Message::ErrorResponse(_) => Err(self.wire.error(&frame)),
            message => Ok(message),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.wire.output.clear();
        frontend::terminate(&mut self.wire.output);
        // A server that is gone needs no farewell.
        let _ = self.wire.flush();
    }
}

fn asked_for(address: &Server) -> Result<&[u8], WireError> {
    address.password.bytes().ok_or_else(|| {
        WireError::Protocol(format!(
            "it requires a password of {}, and none was given",
            address.user
        ))
    })
}
