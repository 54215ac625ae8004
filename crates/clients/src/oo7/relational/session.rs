//! The contract of an engine with relations: its conversation, and its rows.

use loadstone_datasets::oo7::Database;

use crate::error::ClientError;
use crate::oo7::rows::Value;
use crate::oo7::sql::{Query, Stored};
use crate::outcome::Sent;

/// A row of a result: its columns are taken in their order.
pub trait Columns<'a> {
    /// The next column, a number.
    fn int(&mut self) -> i32;

    /// The next column, a text.
    fn text(&mut self) -> &'a [u8];

    /// The next column, an id.
    #[inline]
    fn id(&mut self) -> u32 {
        self.int().cast_unsigned()
    }
}

/// A conversation with an engine that has the relations, and the statements prepared.
pub trait Session: Send + Sized {
    /// The engine's name.
    const ENGINE: &'static str;

    /// A row of a result.
    type Row<'a>: Columns<'a>;

    /// As `Driver::another`.
    fn another(&self) -> Result<Self, ClientError>;

    /// As `Driver::isolates`.
    fn isolates(&self) -> bool;

    /// As `Driver::is_conflict`, by the engine's own words.
    fn is_conflict(_message: &str) -> bool {
        false
    }

    /// As `Driver::load`.
    fn load(&mut self, database: &Database) -> Result<(), ClientError>;

    /// Whether there is a database.
    fn is_loaded(&mut self) -> Result<bool, ClientError>;

    /// As `Transactions::begin`.
    fn begin(&mut self) -> Result<(), ClientError>;

    /// As `Transactions::end`.
    fn end(&mut self) -> Result<(), ClientError>;

    /// As `Transactions::begin_write`.
    fn begin_write(&mut self) -> Result<(), ClientError>;

    /// As `Transactions::commit`.
    fn commit(&mut self) -> Result<(), ClientError>;

    /// As `Transactions::rollback`.
    fn rollback(&mut self) -> Result<(), ClientError>;

    /// One statement, all of whose rows go to `visit`.
    fn ask(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        visit: impl FnMut(&mut Self::Row<'_>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError>;

    /// One statement that has one row or none; whether it had one.
    #[inline]
    fn one(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        mut take: impl FnMut(&mut Self::Row<'_>) -> Result<(), ClientError>,
    ) -> Result<bool, ClientError> {
        let mut found = false;
        self.ask(query, parameters, |row| {
            found = true;
            take(row)
        })?;
        Ok(found)
    }

    /// One of the statements of [`crate::oo7::sql::CONTENTS`], outside every clock.
    fn stored(
        &mut self,
        stored: Stored,
        sql: &str,
        visit: impl FnMut(&mut Self::Row<'_>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError>;

    /// Statements sent and round trips made since the session was opened.
    fn sent(&self) -> Sent;

    /// As `Driver::size_bytes`.
    fn size_bytes(&mut self) -> Result<u64, ClientError>;

    /// As `Driver::terms`, but for the tactics `hop` and `statement=batch`.
    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError>;
}
