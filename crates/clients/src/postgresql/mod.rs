//! PostgreSQL, and what speaks its protocol: one connection a driver, blocking.
//!
//! The protocol is spoken here, on the message formats of `postgres-protocol`: a driver that does
//! more (a runtime, a task, a row of boxed values) costs more than the server's look-up.

mod address;
pub mod oo1;
pub mod oo7;
mod row;
mod schema;
mod session;
mod statement;
pub mod statements;
mod text;
mod wire;

use self::wire::WireError;
use crate::error::ClientError;

const ENGINE: &str = "postgresql";

fn failed(doing: &'static str) -> impl Fn(WireError) -> ClientError + Copy {
    move |error| ClientError::engine(ENGINE, doing, error)
}
