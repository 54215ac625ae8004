//! Hash tables, the same for all executors.
//!
//! [`JoinTable`] is filled first and probed afterwards: dense entries behind a directory. In
//! [`Slots`] what is not there yet is put in while one probes: duplicates ([`DistinctTable`]) and
//! the partitions of aggregations.

mod distinct;
mod duplicates;
mod join;
mod key;
mod slots;

pub use distinct::DistinctTable;
pub use duplicates::Duplicates;
pub use join::{JoinBuilder, JoinTable, Matches, hash_of};
pub use key::{KeyValue, converted, has_real, hash_fields, hash_tuples, is_equal};
pub use slots::Slots;
pub(crate) use slots::prefetch;
