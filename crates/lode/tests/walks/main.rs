//! Walks along references, in every kind of transaction.

#![expect(clippy::unwrap_used, reason = "tests")]

mod drawn;
mod places;
mod stored;
