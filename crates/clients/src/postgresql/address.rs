//! The place where a server is and as whom to speak to it. The password is in nothing that can be
//! printed.

use std::fmt;
use std::path::PathBuf;

use super::ENGINE;
use crate::error::ClientError;
use crate::tactics::{Address, Tactics};

const KEYWORDS: &str = "host, port, user, dbname, password, schema";

const SCHEMA_DEFAULT: &str = "loadstone_oo1";

/// A password. It has no text: `Debug` gives stars, and there is no `Display`.
#[derive(Clone, Default)]
pub struct Password(Option<String>);

impl Password {
    /// A password to try.
    #[cfg(test)]
    pub(super) fn of(text: &str) -> Self {
        Self(Some(text.to_owned()))
    }

    pub(super) fn bytes(&self) -> Option<&[u8]> {
        self.0.as_deref().map(str::as_bytes)
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "***" } else { "none" })
    }
}

/// The tactic `place`: what lies between client and server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A Unix socket in this folder.
    Socket {
        /// The folder that holds `.s.PGSQL.<port>`.
        folder: PathBuf,
    },
    /// TCP, without TLS.
    Tcp {
        /// A name or an address.
        host: String,
    },
}

/// A server, a database in it, and who asks.
#[derive(Clone, Debug)]
pub struct Server {
    /// The way to it.
    pub transport: Transport,
    /// TCP port, also part of a Unix socket's name.
    pub port: u16,
    /// The role.
    pub user: String,
    /// The database.
    pub database: String,
    /// For servers that request one.
    pub password: Password,
    /// The place where all tables are; it is made by the load, and nothing outside it is touched.
    pub schema: String,
}

impl Server {
    /// The server of an address, which must be where the tactic `place` has it.
    pub fn at(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let place = [("address", None), ("socket", Some(true)), ("tcp", Some(false))];
        let place = tactics.take("place", &place)?;
        let server = Self::parse(&address.database)
            .map_err(|message| ClientError::engine(ENGINE, "reading its address", message))?;
        let is_socket = matches!(server.transport, Transport::Socket { .. });
        if place.is_some_and(|wanted| wanted != is_socket) {
            let message = format!("place= requires another connection than the one to {server}");
            return Err(ClientError::engine(ENGINE, "connecting", message));
        }
        Ok(server)
    }

    /// An address in libpq's form: `host=/tmp port=5432 user=me dbname=db password='a b'`, and
    /// `schema=` beside libpq's own keywords. In quotes, `\'` and `\\` stand for themselves. A
    /// `host` that begins with `/` is a Unix socket's folder. Errors name keywords, no values.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut address = Self {
            transport: Transport::Tcp { host: "localhost".to_owned() },
            port: 5432,
            user: "postgres".to_owned(),
            database: "postgres".to_owned(),
            password: Password::default(),
            schema: SCHEMA_DEFAULT.to_owned(),
        };
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (key, after) = rest.split_once('=').ok_or("a keyword without a value")?;
            let (value, after) = value(after)?;
            rest = after.trim_start();
            match key.trim() {
                "host" if value.starts_with('/') => {
                    address.transport = Transport::Socket { folder: PathBuf::from(value) };
                }
                "host" => address.transport = Transport::Tcp { host: value },
                "port" => address.port = value.parse().map_err(|_| "port is no number")?,
                "user" => address.user = value,
                "dbname" => address.database = value,
                "password" => address.password = Password(Some(value)),
                "schema" => address.schema = value,
                // The text before the sign may be the rest of a password with a blank in it.
                _ => return Err(format!("a keyword that is not one of {KEYWORDS}")),
            }
        }
        Ok(address)
    }
}

/// The value at the start of the text, and what comes after it.
fn value(text: &str) -> Result<(String, &str), String> {
    let mut value = String::new();
    let text = text.trim_start();
    let quoted = text.starts_with('\'');
    let mut letters = text.char_indices().skip(usize::from(quoted));
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.extend(letters.next().map(|(_, escaped)| escaped)),
            '\'' if quoted => return Ok((value, &text[at + 1..])),
            ' ' if !quoted => return Ok((value, &text[at..])),
            _ => value.push(letter),
        }
    }
    if quoted { Err("a quote that is not closed".to_owned()) } else { Ok((value, "")) }
}

impl fmt::Display for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, database, port) = (&self.user, &self.database, self.port);
        match &self.transport {
            Transport::Socket { folder } => {
                let folder = folder.display();
                write!(formatter, "database {database} as {user} on socket {folder} port {port}")
            }
            Transport::Tcp { host } => {
                write!(formatter, "database {database} as {user} on {host} port {port}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Server, Transport};

    #[test]
    fn an_address_is_read_as_libpq_would() {
        let text = r"host=/run/pg port=6000 user = 'a b' password='it\'s \\ =x' schema=s dbname=d";
        let address = Server::parse(text).unwrap();
        assert_eq!(address.transport, Transport::Socket { folder: "/run/pg".into() });
        assert_eq!((address.port, address.user.as_str()), (6000, "a b"));
        assert_eq!((address.database.as_str(), address.schema.as_str()), ("d", "s"));
        assert_eq!(address.password.bytes(), Some(br"it's \ =x".as_slice()));
        let address = Server::parse("host=db.example").unwrap();
        assert_eq!(address.transport, Transport::Tcp { host: "db.example".into() });
    }

    #[test]
    fn no_text_about_an_address_has_its_password() {
        let address = Server::parse("host=x user=me password=hush").unwrap();
        assert!(!format!("{address:?} {address}").contains("hush"));
        for wrong in ["password=pass hush=x", "password='hush", "port=hush", "password=a hush"] {
            let error = Server::parse(wrong).unwrap_err();
            assert!(!error.contains("hush"), "{error}");
        }
    }
}
