//! Files by name: the step from the [`catalog`] to an access method, and that step as methods of
//! transactions.
//!
//! Making a file is part of the transaction that makes it, as everything else is.

use crate::btree::Btree;
use crate::catalog::{self, Entry, FileKind};
use crate::error::{LodeError, Result};
use crate::hash::Hash;
use crate::heap::Heap;
use crate::objects::Objects;
use crate::page::{FileNumber, PageNumber};
use crate::pages::{PageRead, PageWrite};
use crate::region::Region;
use crate::remote::RemoteWriting;
use crate::transaction::{LockSource, ReadTransaction, Writing};

/// An access method whose files the catalog can name.
pub trait Named: Sized {
    /// The kind that the catalog gives it.
    const KIND: FileKind;

    /// Make an empty one, and answer its root.
    fn make(pages: &mut impl PageWrite, file: FileNumber) -> Result<PageNumber>;

    /// The one with that root.
    fn at(file: FileNumber, root: PageNumber) -> Self;
}

/// The file of that name and kind; [`LodeError::Missing`] if there is none.
pub fn find<F: Named>(pages: &impl PageRead, name: &str) -> Result<F> {
    let entry = catalog::find(pages, name)?;
    if entry.kind == F::KIND {
        return Ok(F::at(entry.file, entry.root));
    }
    Err(LodeError::Missing { what: format!("{} called `{name}`", kind_word(F::KIND)) })
}

/// The file of that name and kind, a new one if the name is free.
///
/// # Errors
///
/// [`LodeError::Exists`] if the name belongs to a file of another kind; as [`catalog::create`].
pub fn find_or_create<F: Named>(pages: &mut impl PageWrite, name: &str) -> Result<F> {
    match catalog::find(pages, name) {
        Ok(entry) if entry.kind == F::KIND => Ok(F::at(entry.file, entry.root)),
        Ok(entry) => {
            Err(LodeError::Exists { what: format!("{} called `{name}`", kind_word(entry.kind)) })
        }
        Err(LodeError::Missing { .. }) => {
            let Entry { file, .. } = catalog::create(pages, name, F::KIND)?;
            let root = F::make(pages, file)?;
            catalog::put_root(pages, file, root)?;
            Ok(F::at(file, root))
        }
        Err(error) => Err(error),
    }
}

/// A kind of file as people call it.
pub const fn kind_word(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Heap => "heap",
        FileKind::Btree => "btree",
        FileKind::Hash => "hash",
        FileKind::Objects => "objects",
        FileKind::Columns => "columns",
        FileKind::Region => "region",
    }
}

impl Named for Heap {
    const KIND: FileKind = FileKind::Heap;

    fn make(pages: &mut impl PageWrite, file: FileNumber) -> Result<PageNumber> {
        Self::create(pages, file).map(Self::root)
    }

    fn at(file: FileNumber, root: PageNumber) -> Self {
        Self::open(file, root)
    }
}

impl Named for Objects {
    const KIND: FileKind = FileKind::Objects;

    fn make(pages: &mut impl PageWrite, file: FileNumber) -> Result<PageNumber> {
        Self::create(pages, file).map(|objects| objects.root())
    }

    fn at(file: FileNumber, root: PageNumber) -> Self {
        Self::open(file, root)
    }
}

impl Named for Btree {
    const KIND: FileKind = FileKind::Btree;

    fn make(pages: &mut impl PageWrite, file: FileNumber) -> Result<PageNumber> {
        Self::create(pages, file).map(Self::root)
    }

    fn at(_: FileNumber, root: PageNumber) -> Self {
        Self::open(root)
    }
}

impl Named for Region {
    const KIND: FileKind = FileKind::Region;

    fn make(pages: &mut impl PageWrite, file: FileNumber) -> Result<PageNumber> {
        Self::create(pages, file).map(Self::root)
    }

    fn at(file: FileNumber, root: PageNumber) -> Self {
        Self::open(file, root)
    }
}

impl Named for Hash {
    const KIND: FileKind = FileKind::Hash;

    fn make(pages: &mut impl PageWrite, file: FileNumber) -> Result<PageNumber> {
        Self::create(pages, file)
    }

    fn at(_: FileNumber, root: PageNumber) -> Self {
        Self::open(root)
    }
}

/// A method for each access method: the file of a name, which `$open` finds.
macro_rules! files {
    ($open:ident, $suffix:literal, [$($mutable:tt)?]) => {
        files!(@one $open, $suffix, [$($mutable)?], heap, Heap, "heap");
        files!(@one $open, $suffix, [$($mutable)?], objects, Objects, "file of objects");
        files!(@one $open, $suffix, [$($mutable)?], btree, Btree, "B+tree");
        files!(@one $open, $suffix, [$($mutable)?], hash, Hash, "hash index");
        files!(@one $open, $suffix, [$($mutable)?], region, Region, "region");
    };
    (@one $open:ident, $suffix:literal, [$($mutable:tt)?],
        $method:ident, $type:ty, $what:literal) => {
        #[doc = concat!("The ", $what, " of that name", $suffix)]
        ///
        /// # Errors
        ///
        /// [`LodeError::Missing`] or [`LodeError::Exists`] for a name that is free or another
        /// kind's; as of any operation.
        pub fn $method(&$($mutable)? self, name: &str) -> Result<$type> {
            $open(self, name)
        }
    };
}

impl<S: LockSource> ReadTransaction<S> {
    files!(find, ".", []);
}

impl Writing {
    files!(find_or_create, "; it is made where there is none.", [mut]);
}

impl RemoteWriting {
    files!(find_or_create, "; it is made where there is none.", [mut]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::memory::MemoryPages;

    fn pages() -> MemoryPages {
        let mut pages = MemoryPages::new();
        catalog::format(&mut pages).unwrap();
        pages
    }

    #[test]
    fn a_name_leads_to_the_same_file_again() {
        let mut pages = pages();
        let heap: Heap = find_or_create(&mut pages, "parts").unwrap();
        let id = heap.insert(&mut pages, b"a part", None).unwrap();
        let index: Hash = find_or_create(&mut pages, "part by id").unwrap();
        index.insert(&mut pages, 7, id.to_u64()).unwrap();
        let tree: Btree = find_or_create(&mut pages, "by date").unwrap();
        let objects: Objects = find_or_create(&mut pages, "objects").unwrap();

        assert_eq!(find_or_create::<Heap>(&mut pages, "parts").unwrap(), heap);
        assert_eq!(find::<Heap>(&pages, "parts").unwrap().get(&pages, id).unwrap(), b"a part");
        let index = find::<Hash>(&pages, "part by id").unwrap();
        assert_eq!(index.get_one(&pages, 7).unwrap(), Some(id.to_u64()));
        assert_eq!(find::<Btree>(&pages, "by date").unwrap(), tree);
        assert_eq!(find::<Objects>(&pages, "objects").unwrap(), objects);
        assert_eq!(catalog::all(&pages).unwrap().len(), 4);
    }

    #[test]
    fn a_name_of_another_kind_is_reported_and_left_alone() {
        let mut pages = pages();
        let heap: Heap = find_or_create(&mut pages, "parts").unwrap();
        let taken = find_or_create::<Btree>(&mut pages, "parts").unwrap_err();
        assert!(taken.to_string().contains("a heap called `parts`"), "{taken}");
        let missing = find::<Btree>(&pages, "parts").unwrap_err();
        assert_eq!(missing.to_string(), "there is no btree called `parts`");
        assert!(matches!(find::<Heap>(&pages, "other"), Err(LodeError::Missing { .. })));
        assert_eq!(find::<Heap>(&pages, "parts").unwrap(), heap);
    }
}
