//! Records that lead to each other by way of joining ones, as OO1's parts do by its connections: a
//! joining record is in two lists, that of the record which it leaves and that of the record which
//! it leads to.

use crate::error::{LodeError, Result};
use crate::heap::{Heap, Reference};
use crate::pages::PageRead;
use crate::slotted::Corruption;
use crate::view::View;
use crate::walk::{Ahead, Edges};

use super::{LINK_BYTES, LinkField, NO_ID, Ring, offset, stray};

/// From the parents of one list to the parents of another, over the records that are children in
/// both. With the two lists exchanged it leads back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joined {
    /// The parents, in both lists.
    pub records: Heap,
    /// The children, in both lists.
    pub joints: Heap,
    /// The list that is followed.
    pub along: LinkField,
    /// The list whose parent is at the other end.
    pub across: LinkField,
}

const SHORT: Corruption = Corruption("it is too short for its links");

impl Joined {
    /// Show each joining record of a record, and the record at its other end, in the order of the
    /// list.
    ///
    /// # Errors
    ///
    /// [`LodeError::Corrupt`] where the list leads to another parent's records or runs in a
    /// circle, and what `each` says.
    pub fn joints<E: From<LodeError>>(
        &self,
        pages: &impl PageRead,
        from: Reference,
        each: impl FnMut(Reference, Reference) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = self.records.read_at(pages, from, |view, at| self.start(view, at))?;
        self.joints_from(pages, from, first, each)
    }

    /// The same from the first joining record on.
    #[inline]
    fn joints_from<E: From<LodeError>>(
        &self,
        pages: &impl PageRead,
        from: Reference,
        first: Reference,
        mut each: impl FnMut(Reference, Reference) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut next, mut ring) = (first, Ring::default());
        while next != Reference(0) && !next.is_to_same(from) {
            let ends = |view: View<'_>, at| {
                let link: [u64; LINK_BYTES / 8] = view.words(at + self.along.child_at)?;
                let [across] = view.words(at + self.across.child_at + offset::PARENT)?;
                Some((link.map(Reference), Reference(across)))
            };
            let id = next.id().ok_or_else(|| no_id(from))?;
            ring.step(id)?;
            let ends = self.joints.read_at(pages, next, ends).map_err(|error| stray(error, id))?;
            let ([parent, following], across) = ends.ok_or_else(|| SHORT.in_record(id))?;
            if !parent.is_to_same(from) {
                return Err(Corruption("it is in the list of another parent").in_record(id).into());
            }
            each(next, across)?;
            next = following;
        }
        Ok(())
    }
}

#[cold]
fn no_id(from: Reference) -> LodeError {
    from.id().map_or_else(|| NO_ID.on(0), |id| NO_ID.in_record(id))
}

impl Edges for Joined {
    /// The first joining record.
    type Start = Reference;

    fn records(&self) -> Heap {
        self.records
    }

    #[inline]
    fn start(&self, view: View<'_>, at: usize) -> Reference {
        Reference(view.u64(at + self.along.parent_at + offset::FIRST))
    }

    #[inline]
    fn follow<P: PageRead, const PREFETCH: bool>(
        &self,
        ahead: &Ahead<'_, P, PREFETCH>,
        from: Reference,
        start: Reference,
        to: &mut Vec<Reference>,
    ) -> Result<()> {
        self.joints_from(ahead.pages(), from, start, |_, end| {
            ahead.note(self.records, end);
            to.push(end);
            Ok(())
        })
    }
}
