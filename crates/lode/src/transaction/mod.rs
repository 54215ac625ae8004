//! Transactions: what makes several changes one.
//!
//! ```text
//! Reading, Writing     what access methods see: PageRead, PageWrite
//!   LockSet            locks of one transaction, from the lock table or a page server
//!   Shared             a share of the database (crate::shared): buffer, locks, and Changes,
//!                      which keeps what was before: shadows, undo
//! ```
//!
//! A page is changed where it lies in the buffer, under an exclusive lock; so at most one running
//! transaction has changed it, and what it was before is kept until the transaction ends: as a
//! shadow in memory, or in the log. What becomes of changes after a crash is [`crate::recovery`]'s.

mod allocating;
mod ending;
mod failure;
mod interrupt;
mod local_locks;
mod lock_set;
mod mappable;
mod mapped;
mod mapped_pages;
mod mapping;
mod owners;
mod places;
mod reading;
mod writing;

pub use interrupt::Interrupt;
pub use local_locks::{LocalLocks, Pins};
pub use lock_set::{GrantedLocks, LockSource};
pub use mapped_pages::MappedPages;
pub use mapping::{MappedReading, Mapping};
pub use reading::{ReadTransaction, Reading};
pub use writing::Writing;

pub(crate) use allocating::{Allocating, allocate, free};
pub(crate) use failure::Failure;
pub(crate) use lock_set::LockSet;
