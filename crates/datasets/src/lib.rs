//! The papers' databases as pure functions of (seed, row). Columns out, no I/O.
//!
//! [`catalogue`] finds an edition by name, an [`Edition`] opens a relation as a [`Source`], and a
//! source reads any range of rows. Ranges never depend on each other: however a relation is split,
//! the parts laid end to end are the whole.

pub mod attribute;
pub mod catalogue;
pub mod columns;
pub mod edition;
pub mod generator;
pub mod idm;
pub mod ingres;
pub mod oo1;
pub mod oo7;
pub mod rvm;
pub mod shuffle;
pub mod source;
pub mod splitmix;
pub mod strings;
pub mod wisconsin;

pub use attribute::{Attribute, AttributeType};
pub use catalogue::{edition, open};
pub use columns::{Column, Relation};
pub use edition::{DatasetError, Edition};
pub use source::{Cursor, Source, read_all, read_range};
