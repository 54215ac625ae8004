//! OO1's program: its measures as loops written once over [`driver::Driver`], their inputs from
//! the dataset, and the oracle of their answers. An engine's driver is in the engine's folder.

mod client;
pub(crate) mod driver;
pub(crate) mod habits;
pub(crate) mod loops;
mod measure;
pub(crate) mod object;
pub mod oracle;
pub(crate) mod part;
pub(crate) mod sql;
pub mod users;
pub(crate) mod visits;

pub use client::Client;
pub(crate) use client::Program;
pub use loadstone_datasets::oo1::Database;
pub use measure::Measure;
pub use part::{Kind, Link, Part};
pub use visits::Visits;
