//! lode, the reference engine: storage in which every mechanism of the papers is a tactic, switched
//! at run time, with everything else equal.
//!
//! It is an instrument and not a rival: small, real (durable, crash-safe, multi-user), and made to
//! be taken apart. The bytes are drawn in `docs/lode-format.md`.
//!
//! From below: [`disk`] is the five-method door to storage; [`buffer`] keeps pages at addresses
//! that follow from their numbers; [`log`] and [`transaction`] make changes atomic, durable and
//! isolated; [`space`] gives pages out; the access methods ([`heap`], [`btree`], [`hash`],
//! [`links`], [`objects`]) are written over [`pages::PageRead`] and [`pages::PageWrite`] and know
//! none of the above. `docs/lode.md` says more on a page.
//!
//! ```
//! use std::path::Path;
//!
//! use lode::links::{LinkField, Links};
//! use lode::{Database, LodeError, Tactics, hash::Hash, heap::Heap, named};
//!
//! fn wheel_and_spoke(path: &Path) -> Result<(), LodeError> {
//!     let database = Database::create(path, &Tactics::of([("durability", "group")])?)?;
//!     let mut writing = database.writing();
//!     let parts: Heap = named::find_or_create(&mut writing, "parts")?;
//!     let by_id: Hash = named::find_or_create(&mut writing, "part by id")?;
//!     let links = Links { parents: parts, children: parts, field: LinkField::new(0, 16) };
//!     let wheel = parts.insert(&mut writing, &[&[0; 32], &b"wheel"[..]].concat(), None)?;
//!     let spoke = parts.insert(&mut writing, &[&[0; 32], &b"spoke"[..]].concat(), None)?;
//!     by_id.insert(&mut writing, 7, wheel.to_u64())?;
//!     links.append(&mut writing, wheel, spoke)?;
//!     writing.commit()?;
//!
//!     let reading = database.reading();
//!     assert_eq!(by_id.get_one(&reading, 7)?, Some(wheel.to_u64()));
//!     let first = links.children_of(&reading, wheel)?.expect("the wheel has a spoke").first;
//!     assert_eq!(&parts.get(&reading, first)?[32..], b"spoke");
//!     drop(reading);
//!     database.close()
//! }
//! # let folder = tempfile::tempdir().expect("a folder for the example");
//! # wheel_and_spoke(&folder.path().join("parts.lode")).expect("it works");
//! ```

pub mod backup;
pub mod btree;
pub mod buffer;
pub mod catalog;
pub mod checkpoint;
pub mod database;
pub mod disk;
pub mod error;
pub mod hash;
pub mod heap;
pub mod links;
pub mod lock;
pub mod log;
pub mod named;
pub mod objects;
pub mod owner;
pub mod page;
mod page_number;
pub mod pages;
mod random;
pub mod recovery;
pub mod remote;
pub mod server;
mod shared;
#[cfg(test)]
mod simulation;
pub mod slotted;
pub mod space;
pub mod superblock;
mod sync;
pub mod tactics;
pub mod transaction;
pub mod view;
pub mod wire;

pub use database::Database;
pub use error::LodeError;
pub use page::{PAGE_BYTES, PageKind, PageNumber};
pub use pages::{PageRead, PageWrite};
pub use tactics::Tactics;
pub use transaction::{ReadTransaction, Reading, Writing};
pub use view::View;
