//! The place where statements are executed, for the program that asks: in a call, in another thread
//! of the process, in another process. INGRES was several processes that sent each other messages,
//! and MANGOS was to make these "pointers to buffers"; here both are, over the same database.
//!
//! * A call: [`Database::query`](crate::database::Database::query) itself.
//! * [`Beside`]: a thread that waits for statements. An answer goes over by its address.
//! * [`Server`] and [`Connection`]: a Unix socket. An answer goes over by its bytes.

mod beside;
mod connection;
mod message;
mod patience;
mod requests;
mod server;
#[cfg(test)]
mod tests;

pub use beside::Beside;
pub use connection::Connection;
pub use server::Server;
