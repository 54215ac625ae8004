//! lode, the reference engine: storage in which every mechanism of the papers is a tactic, switched
//! at run time, with everything else equal.
//!
//! It is an instrument, no competitor: small, real (durable, crash-safe, multi-user), and made to
//! be taken apart. The bytes are drawn in `docs/reference/lode-format.md`.
//!
//! A program opens a [`Database`] (or connects to one at a page [`server`], as a
//! [`Remote`](remote::Remote)) with the [`Tactics`] that it chose, begins a transaction
//! ([`Reading`], [`Writing`]), and asks it by name for files: a [`Heap`] of records, [`Objects`], a
//! [`Btree`], a [`Hash`] index. [`Links`] join records, and along [`Edges`] a walk goes from one to
//! the next. What can go wrong is a [`LodeError`]. How all this is built is on a page in
//! `docs/reference/lode.md`, and each file of the source opens with what it is.
//!
//! ```
//! use std::path::Path;
//!
//! use lode::{Database, LinkField, Links, LodeError, Tactics};
//!
//! fn wheel_and_spoke(path: &Path) -> Result<(), LodeError> {
//!     let database = Database::create(path, &Tactics::of([("durability", "group")])?)?;
//!     let mut writing = database.writing();
//!     let (parts, by_id) = (writing.heap("parts")?, writing.hash("part by id")?);
//!     let links = Links { parents: parts, children: parts, field: LinkField::new(0, 16) };
//!     let wheel = parts.insert(&mut writing, &[&[0; 32], &b"wheel"[..]].concat(), None)?;
//!     let spoke = parts.insert(&mut writing, &[&[0; 32], &b"spoke"[..]].concat(), None)?;
//!     by_id.insert(&mut writing, 7, wheel.to_u64())?;
//!     links.append(&mut writing, wheel, spoke)?;
//!     writing.commit()?;
//!
//!     let reading = database.reading();
//!     assert_eq!(reading.hash("part by id")?.get_one(&reading, 7)?, Some(wheel.to_u64()));
//!     let first = links.children_of(&reading, wheel)?.expect("the wheel has a spoke").first;
//!     assert_eq!(&parts.get(&reading, first)?[32..], b"spoke");
//!     drop(reading);
//!     database.close()
//! }
//! # let folder = tempfile::tempdir().expect("a folder for the example");
//! # wheel_and_spoke(&folder.path().join("parts.lode")).expect("it works");
//! ```

mod aligned_bytes;
mod aligned_page;
mod backup;
mod btree;
mod buffer;
mod catalog;
mod checkpoint;
mod columns;
mod database;
mod disk;
mod emptied;
mod error;
mod files;
mod hash;
mod heap;
mod links;
mod lock;
mod log;
mod mapped;
mod mirror;
mod named;
mod objects;
mod owner;
mod page;
mod page_bytes;
mod page_mut;
mod page_number;
mod pages;
mod random;
mod recovery;
mod region;
pub mod remote;
pub mod server;
mod shared;
#[cfg(test)]
mod simulation;
mod slotted;
mod space;
mod superblock;
mod sync;
pub mod tactics;
mod transaction;
mod view;
mod walk;
mod wire;

pub use btree::{Btree, LeafCursor, PinnedLeaf};
pub use columns::Columns;
pub use database::Database;
pub use error::LodeError;
pub use hash::Hash;
pub use heap::{
    Appender, Cursor as HeapCursor, Heap, PinnedPage, RecordId, RecordPlace, Reference,
};
pub use links::{Joined, LinkField, Links};
pub use objects::{CountedReferences, Objects, References};
pub use page_mut::PageMut;
pub use pages::{PageRead, PageWrite, Pinned};
pub use region::Region;
pub use tactics::Tactics;
pub use transaction::{Interrupt, MappedPages, MappedReading, Mapping, Reading, Writing};
pub use view::View;
pub use walk::{Ahead, Edges};

/// The layers that all this is made of, for the engine's own tests, fuzz targets and examples, and
/// for the lab's clients. They change with the engine: nothing here is promised.
pub mod internals {
    /// The door of a server, for another kind of server.
    pub mod door {
        pub use crate::server::door::*;
    }

    /// Hand on what a layer has for others.
    macro_rules! layers {
        ($($layer:ident),+ $(,)?) => {$(
            #[doc = concat!("The layer `", stringify!($layer), "`.")]
            pub mod $layer {
                pub use crate::$layer::*;
            }
        )+};
    }

    layers! {
        aligned_page, btree, buffer, catalog, columns, database, disk, error, hash, heap, links,
        lock, log, mirror, named, objects, owner, page, page_mut, pages, slotted, space,
        superblock, transaction, view, walk, wire,
    }
}
