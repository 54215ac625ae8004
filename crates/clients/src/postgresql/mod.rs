//! PostgreSQL, and what speaks its protocol: one connection a driver, blocking.
//!
//! The protocol is spoken here, on the message formats of `postgres-protocol`: a driver that does
//! more (a runtime, a task, a row of boxed values) costs more than the server's look-up.

mod address;
pub mod oo1;
mod row;
mod session;
mod statement;
mod text;
mod wire;

const ENGINE: &str = "postgresql";
