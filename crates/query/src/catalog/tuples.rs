//! The file that has a relation's tuples, whatever its kind.

use lode::internals::catalog::{self as files, FileKind};
use lode::internals::columns::Shape;
use lode::internals::named;
use lode::internals::page::PageNumber;
use lode::{Columns, Heap, LodeError, PageRead, PageWrite, RecordId};

use super::Place;
use crate::tactics::FileLayout;
use crate::tuple::{Layout, width};

/// Tuples in a file. A record id names each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tuples {
    /// One after another.
    Rows(Heap),
    /// By columns.
    Columns(Columns),
}

impl Tuples {
    /// A new file of that name.
    pub(super) fn create(
        pages: &mut impl PageWrite,
        name: &str,
        layout: &Layout,
        file_layout: FileLayout,
    ) -> Result<Self, LodeError> {
        match file_layout {
            FileLayout::Rows => Ok(Self::Rows(named::find_or_create(pages, name)?)),
            FileLayout::Columns => {
                let shape = shape(layout)?;
                let mut entry = files::create(pages, name, FileKind::Columns)?;
                let columns = Columns::create(pages, entry.file, shape)?;
                entry.root = columns.root();
                files::put(pages, &entry)?;
                Ok(Self::Columns(columns))
            }
        }
    }

    /// The file that lies there, once its tuples' form is known.
    pub(super) fn open(
        place: Place,
        layout: &Layout,
        file_layout: FileLayout,
    ) -> Result<Self, LodeError> {
        Ok(match file_layout {
            FileLayout::Rows => Self::Rows(Heap::open(place.file, place.root)),
            FileLayout::Columns => {
                Self::Columns(Columns::open(place.file, place.root, shape(layout)?))
            }
        })
    }

    /// The place where it lies.
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Rows(heap) => Place { file: heap.file(), root: heap.root() },
            Self::Columns(columns) => Place { file: columns.file(), root: columns.root() },
        }
    }

    /// The number of pages that it has, without its root.
    pub(crate) fn pages(&self, pages: &impl PageRead) -> Result<u64, LodeError> {
        /// The place where a root says so, of either kind (`docs/reference/lode-format.md`).
        const PAGES: usize = 44;
        Ok(pages.read(self.place().root, |view| view.u32(PAGES))?.into())
    }

    /// A copy of a tuple.
    pub(crate) fn get(&self, pages: &impl PageRead, id: RecordId) -> Result<Vec<u8>, LodeError> {
        match self {
            Self::Rows(heap) => heap.get(pages, id),
            Self::Columns(columns) => columns.get(pages, id),
        }
    }

    /// Put a tuple in: into the page `near`, where the file has tuples in pages and that one has
    /// room.
    pub(crate) fn insert(
        &self,
        pages: &mut impl PageWrite,
        tuple: &[u8],
        near: Option<PageNumber>,
    ) -> Result<RecordId, LodeError> {
        match self {
            Self::Rows(heap) => heap.insert(pages, tuple, near),
            Self::Columns(columns) => columns.insert(pages, tuple),
        }
    }

    /// Put another tuple in the place of `old`; it keeps its id.
    pub(crate) fn replace(
        &self,
        pages: &mut impl PageWrite,
        id: RecordId,
        (old, new): (&[u8], &[u8]),
    ) -> Result<(), LodeError> {
        match self {
            Self::Rows(heap) => heap.change(pages, id, |bytes| bytes.copy_from_slice(new)),
            Self::Columns(columns) => columns.replace(pages, id, (old, new)),
        }
    }

    /// Take a tuple out.
    pub(crate) fn delete(&self, pages: &mut impl PageWrite, id: RecordId) -> Result<(), LodeError> {
        match self {
            Self::Rows(heap) => heap.delete(pages, id),
            Self::Columns(columns) => columns.delete(pages, id),
        }
    }

    /// Give all its pages back.
    pub(super) fn destroy(&self, pages: &mut impl PageWrite) -> Result<(), LodeError> {
        match self {
            Self::Rows(heap) => heap.destroy(pages),
            Self::Columns(columns) => columns.destroy(pages),
        }
    }

    /// Everything that must hold of the file; how many tuples it has.
    pub(crate) fn check(&self, pages: &impl PageRead) -> Result<u64, LodeError> {
        match self {
            Self::Rows(heap) => heap.check(pages),
            Self::Columns(columns) => columns.check(pages),
        }
    }
}

/// A column for each value, then one for each byte of a null: so a row of the columns, from its
/// first byte to its last, is the tuple.
fn shape(layout: &Layout) -> Result<Shape, LodeError> {
    let values = layout.fields.iter().map(|field| width(field.kind));
    let nulls = layout.fields.iter().filter_map(|field| field.null_at.map(|_| 1));
    Shape::of(values.chain(nulls))
}
