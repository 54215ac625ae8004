//! OO7's program: its operations as loops written once over [`driver::Driver`], their inputs from
//! the dataset, and the oracle of their answers. An engine's driver is in the engine's folder.

mod asked;
mod client;
pub(crate) mod contents;
pub(crate) mod driver;
mod loops;
mod measure;
pub(crate) mod objects;
pub mod oracle;
mod paths;
pub(crate) mod record;
pub(crate) mod relational;
pub(crate) mod rows;
pub(crate) mod sql;
mod traversal;
mod updates;
pub mod users;
pub(crate) mod visits;

pub use asked::MODULE;
pub use client::Client;
pub(crate) use client::Program;
pub use contents::Contents;
pub use loadstone_datasets::oo7::Database;
pub use measure::Measure;
pub use objects::{Assembly, Kind, Object, Part};
pub use rows::{Value, of as rows_of, owners};
pub use sql::{Stored, TABLES};
pub use visits::{Letters, Visits};
