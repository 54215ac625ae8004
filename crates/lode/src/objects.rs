//! Objects: byte strings of any length under an OID that they keep wherever they move.
//!
//! A file of objects is a [`Heap`], and an object a record of it: its OID is the record's id, home
//! page and slot, and a field that refers to it has a [`Reference`], by which it is read where
//! it lies ([`Heap::read_at`], [`Heap::try_read_at`]). All that can be done with a heap can be done
//! here.

use std::ops::Deref;

use crate::error::Result;
use crate::heap::Heap;
use crate::page::{FileNumber, PageNumber};
use crate::pages::PageWrite;

pub use crate::heap::Reference;

/// Names an object for as long as it lives; afterwards it may be another's.
pub use crate::heap::RecordId as Oid;

/// A file of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Objects(Heap);

impl Objects {
    /// A new file of objects, empty.
    pub fn create(pages: &mut impl PageWrite, file: FileNumber) -> Result<Self> {
        Heap::create(pages, file).map(Self)
    }

    /// The file that was created with that root.
    pub const fn open(file: FileNumber, root: PageNumber) -> Self {
        Self(Heap::open(file, root))
    }
}

impl Deref for Objects {
    type Target = Heap;

    fn deref(&self) -> &Heap {
        &self.0
    }
}
