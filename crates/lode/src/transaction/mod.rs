//! Transactions: what makes several changes one.
//!
//! ```text
//! Reading, Writing     what access methods see: Pages
//!   LockSet            locks of one transaction (crate::lock)
//!   Changes            what was changed and not committed: shadows, undo; asked before pages
//!                      are written in place
//! ```
//!
//! A page is changed where it lies in the buffer, under an exclusive lock; so at most one running
//! transaction has changed it, and what it was before is kept until the transaction ends: as a
//! shadow in memory, or in the log. What becomes of changes after a crash is [`crate::recovery`]'s.

mod allocating;
mod changes;
mod ending;
mod failure;
mod lock_set;
mod reading;
mod writing;

pub use reading::Reading;
pub use writing::Writing;

pub(crate) use allocating::{Allocating, allocate, free};
pub(crate) use changes::Changes;
pub(crate) use failure::Failure;
