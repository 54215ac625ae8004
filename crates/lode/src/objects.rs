//! Objects: byte strings of any length under an OID that they keep wherever they move.
//!
//! A file of objects is a [`Heap`], and an object a record of it: its OID is the record's id, home
//! page and slot, and a field that refers to it has a [`Reference`], by which it is read where
//! it lies ([`Heap::read_at`], [`Heap::try_read_at`]). All that can be done with a heap can be done
//! here.
//!
//! The place where the references of an object stand in it is the caller's choice: a fixed number
//! of them ([`References`]), or as many as the object says ([`CountedReferences`]). Along either
//! goes a walk ([`Edges::walk`]).

use std::ops::Deref;

use crate::error::Result;
use crate::heap::Heap;
use crate::page::{FileNumber, PAGE_BYTES, PageNumber};
use crate::pages::{PageRead, PageWrite};
use crate::slotted::Corruption;
use crate::view::View;
use crate::walk::{Ahead, Edges};

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

/// `N` references to objects of the same file, u64 each, at one offset of every object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct References<const N: usize> {
    /// The file.
    pub objects: Objects,
    /// The place where they begin in an object: a multiple of 8.
    pub at: usize,
}

impl<const N: usize> Edges for References<N> {
    /// The references; `None` where the page ends before them.
    type Start = Option<[u64; N]>;

    fn records(&self) -> Heap {
        self.objects.0
    }

    #[inline]
    fn start(&self, view: View<'_>, at: usize) -> Option<[u64; N]> {
        view.words(at + self.at)
    }

    #[inline]
    fn follow<P: PageRead, const PREFETCH: bool>(
        &self,
        ahead: &Ahead<'_, P, PREFETCH>,
        from: Reference,
        start: Option<[u64; N]>,
        to: &mut Vec<Reference>,
    ) -> Result<()> {
        let Some(words) = start else { return Err(too_short(from)) };
        let ends = words.map(Reference);
        if words.contains(&0) {
            let there = ends.into_iter().filter(|&end| end != Reference(0));
            to.extend(there.inspect(|&end| ahead.note(self.objects.0, end)));
            return Ok(());
        }
        for end in ends {
            ahead.note(self.objects.0, end);
        }
        to.extend_from_slice(&ends);
        Ok(())
    }
}

/// References to objects of the same file, u64 each, at one offset of every object, and a u16 that
/// says how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedReferences {
    /// The file.
    pub objects: Objects,
    /// The place where the number stands in an object: a multiple of 2.
    pub count_at: usize,
    /// The place where they begin in an object: a multiple of 8.
    pub at: usize,
}

impl Edges for CountedReferences {
    /// Nothing: there may be many.
    type Start = ();

    fn records(&self) -> Heap {
        self.objects.0
    }

    #[inline]
    fn start(&self, _view: View<'_>, _at: usize) {}

    #[inline]
    fn follow<P: PageRead, const PREFETCH: bool>(
        &self,
        ahead: &Ahead<'_, P, PREFETCH>,
        from: Reference,
        (): (),
        to: &mut Vec<Reference>,
    ) -> Result<()> {
        let first = to.len();
        let is_whole = self.objects.read_at(ahead.pages(), from, |view, at| {
            to.truncate(first);
            let count = usize::from(view.u16(at + self.count_at));
            if at + self.at + size_of::<u64>() * count > PAGE_BYTES {
                return false;
            }
            let words = (0..count).map(|place| view.u64(at + self.at + size_of::<u64>() * place));
            to.extend(words.map(Reference).filter(|&end| end != Reference(0)));
            true
        })?;
        if !is_whole {
            return Err(too_short(from));
        }
        to[first..].iter().for_each(|&end| ahead.note(self.objects.0, end));
        Ok(())
    }
}

#[cold]
fn too_short(object: Reference) -> crate::error::LodeError {
    let corruption = Corruption("it is too short for its references");
    object.id().map_or_else(|| corruption.on(0), |id| corruption.in_record(id))
}
