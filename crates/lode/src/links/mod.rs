//! Links: from a parent record to its children and from a child to its parent, by references.
//!
//! As in System R and in INDEX (OO1, section 7): a parent holds references to its first and its
//! last child, a child holds references to its parent and to the next child. The list is a ring
//! through the parent, so the last child's next is the parent.
//!
//! ```text
//!   parent { first, last } --first--> child { parent, next } --next--> child { parent, next }
//!      ^                                                                            |
//!      +------------------------------------ next ----------------------------------+
//! ```
//!
//! The place where these words lie in the records is the caller's choice ([`LinkField`]), so that a
//! record can be in several lists: OO1's connection is a child of its `from` part and of its `to`
//! part. The paper's part holds the first child only; the last one beside it makes an append cheap,
//! and keeps children in the order in which they were linked.
//!
//! To follow a link is to read one record, which is one page unless the record has moved. To append
//! changes the parent, the new child and the last one. To unlink walks to the child before, as
//! there are no links backwards: it costs as many reads as there are children before it.
//! Records that are joined by children of two lists are walked along as a graph ([`Joined`]).

mod joined;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use crate::error::{LodeError, Result};
use crate::heap::{Heap, RecordId, Reference};
use crate::page::PAGE_BYTES;
use crate::pages::{PageRead, PageWrite};
use crate::slotted::{self, Corruption};
use crate::view::View;

pub use self::joined::Joined;

/// Offsets within the links of a record.
pub mod offset {
    /// u64, in a parent: reference to its first child, 0 for none.
    pub const FIRST: usize = 0;
    /// u64, in a parent: reference to its last child, 0 for none.
    pub const LAST: usize = 8;
    /// u64, in a child: reference to its parent, 0 while it is in no list.
    pub const PARENT: usize = 0;
    /// u64, in a child: reference to the next child, to the parent in the last one, 0 while it is
    /// in no list.
    pub const NEXT: usize = 8;
}

/// Bytes that a list takes in a parent, and in a child. Zeros are a parent without children and a
/// child without a parent.
pub const LINK_BYTES: usize = 16;

const _: () = assert!(offset::LAST + size_of::<u64>() == LINK_BYTES);
const _: () = assert!(offset::NEXT + size_of::<u64>() == LINK_BYTES);

/// The place where the links of a list lie in the records of parents and of children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkField {
    parent_at: usize,
    child_at: usize,
}

/// A parent's children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Children {
    /// The one linked first.
    pub first: RecordId,
    /// The one linked last.
    pub last: RecordId,
}

/// A child's place in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The parent of the record.
    pub parent: RecordId,
    /// The child linked after it; `None` for the last.
    pub next: Option<RecordId>,
}

impl LinkField {
    /// A list whose links begin at these offsets in the parents' and in the children's records:
    /// multiples of 8, [`LINK_BYTES`] each. Panics at others, in a constant while compiling.
    pub const fn new(parent_at: usize, child_at: usize) -> Self {
        assert!(
            parent_at.is_multiple_of(8) && child_at.is_multiple_of(8),
            "links lie at multiples of 8"
        );
        assert!(parent_at < PAGE_BYTES && child_at < PAGE_BYTES, "links lie within a record");
        Self { parent_at, child_at }
    }

    /// The children that a parent's record names, as [`Heap::read`] shows it; `None` for none.
    #[inline]
    pub fn children(
        self,
        view: View<'_>,
        at: usize,
        len: usize,
    ) -> slotted::Result<Option<Children>> {
        let (first, last) = words(view, at, len, self.parent_at)?;
        match (Reference(first).id(), Reference(last).id()) {
            (Some(first), Some(last)) => Ok(Some(Children { first, last })),
            (None, None) if first | last == 0 => Ok(None),
            _ => Err(NO_ID),
        }
    }

    /// The place that a child's record names, as [`Heap::read`] shows it; `None` for none.
    #[inline]
    pub fn link(self, view: View<'_>, at: usize, len: usize) -> slotted::Result<Option<Link>> {
        let (parent, next) = words(view, at, len, self.child_at)?;
        match (Reference(parent).id(), Reference(next).id()) {
            (Some(parent), Some(next)) => {
                Ok(Some(Link { parent, next: (next != parent).then_some(next) }))
            }
            (None, None) if parent | next == 0 => Ok(None),
            _ => Err(NO_ID),
        }
    }
}

const NO_ID: Corruption = Corruption("its links are no references");

#[inline]
fn words(view: View<'_>, at: usize, len: usize, link_at: usize) -> slotted::Result<(u64, u64)> {
    if len < link_at + LINK_BYTES {
        return Err(Corruption("it is too short for its links"));
    }
    Ok((view.u64(at + link_at), view.u64(at + link_at + size_of::<u64>())))
}

/// Lists of one kind: each record of one heap has one, with records of another (or the same) heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Links {
    /// The place where the parents are.
    pub parents: Heap,
    /// The place where the children are.
    pub children: Heap,
    /// The place where their links lie.
    pub field: LinkField,
}

impl Links {
    /// The first and the last child of a record; `None` if it has none.
    pub fn children_of(&self, pages: &impl PageRead, parent: RecordId) -> Result<Option<Children>> {
        let read = |view: View<'_>, at, len| self.field.children(view, at, len);
        self.parents.read(pages, parent, read)?.map_err(|corruption| corruption.in_record(parent))
    }

    /// A child's place; `None` while it is in no list.
    pub fn link_of(&self, pages: &impl PageRead, child: RecordId) -> Result<Option<Link>> {
        let read = |view: View<'_>, at, len| self.field.link(view, at, len);
        self.children.read(pages, child, read)?.map_err(|corruption| corruption.in_record(child))
    }

    /// Visit the children of a record in the order in which they were linked. `inspect` sees a
    /// child as [`Heap::read`] shows it (and may be called again), `each` gets what it made of it
    /// and can end the walk. One record is read for the parent and one for each child.
    ///
    /// [`LodeError::Corrupt`] where the list leads to a record that is not there or not this
    /// parent's, or in a circle.
    pub fn walk<R, B>(
        &self,
        pages: &impl PageRead,
        parent: RecordId,
        inspect: impl FnMut(View<'_>, usize, usize) -> R,
        each: impl FnMut(RecordId, R) -> Result<ControlFlow<B>>,
    ) -> Result<ControlFlow<B>> {
        let first = self.children_of(pages, parent)?.map(|children| children.first);
        self.walk_from(pages, parent, first, inspect, each)
    }

    /// The same from a child on, for who has read the parent already.
    pub fn walk_from<R, B>(
        &self,
        pages: &impl PageRead,
        parent: RecordId,
        first: Option<RecordId>,
        mut inspect: impl FnMut(View<'_>, usize, usize) -> R,
        mut each: impl FnMut(RecordId, R) -> Result<ControlFlow<B>>,
    ) -> Result<ControlFlow<B>> {
        let mut following = first;
        let mut ring = Ring::default();
        while let Some(child) = following {
            ring.step(child)?;
            let read = self.children.read(pages, child, |view, at, len| {
                (self.field.link(view, at, len), inspect(view, at, len))
            });
            let (link, seen) = read.map_err(|error| stray(error, child))?;
            following = own(link, parent, child)?.next;
            let flow = each(child, seen)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Link a record as the last child of another. `false`, and nothing is changed, where it is in
    /// a list already or is the parent itself.
    pub fn append(
        &self,
        pages: &mut impl PageWrite,
        parent: RecordId,
        child: RecordId,
    ) -> Result<bool> {
        let children = self.children_of(pages, parent)?;
        if parent == child || self.link_of(pages, child)?.is_some() {
            return Ok(false);
        }
        let to_child = Some(self.children.reference(pages, child)?);
        let to_parent = Some(self.parents.reference(pages, parent)?);
        if let Some(Children { last, .. }) = children {
            let link = self.link_of(pages, last).map_err(|error| stray(error, last))?;
            if own(Ok(link), parent, last)?.next.is_some() {
                return Err(
                    Corruption("it is its parent's last child and has a next").in_record(last)
                );
            }
            self.put_child(pages, last, offset::NEXT, to_child)?;
        } else {
            self.put_parent(pages, parent, offset::FIRST, to_child)?;
        }
        self.put_parent(pages, parent, offset::LAST, to_child)?;
        self.put_child(pages, child, offset::PARENT, to_parent)?;
        self.put_child(pages, child, offset::NEXT, to_parent)?;
        Ok(true)
    }

    /// Take a child out of its list, before it is deleted or linked elsewhere. `false` where it is
    /// in none.
    pub fn unlink(&self, pages: &mut impl PageWrite, child: RecordId) -> Result<bool> {
        let Some(Link { parent, next }) = self.link_of(pages, child)? else { return Ok(false) };
        let children = self.children_of(pages, parent).map_err(|error| stray(error, parent))?;
        let Some(Children { first, last }) = children else {
            return Err(Corruption("its parent has no children").in_record(child));
        };
        if next.is_none() != (last == child) {
            return Err(
                Corruption("it and its parent do not agree on who is last").in_record(child)
            );
        }
        let before = self.before(pages, parent, first, child)?;
        let to = |next| self.children.reference(pages, next).map_err(|error| stray(error, next));
        let to_next = next.map(to).transpose()?;
        match before {
            None => self.put_parent(pages, parent, offset::FIRST, to_next)?,
            Some(before) => {
                let following = match to_next {
                    Some(next) => next,
                    None => self.parents.reference(pages, parent)?,
                };
                self.put_child(pages, before, offset::NEXT, Some(following))?;
            }
        }
        if last == child {
            let to_last =
                before.map(|before| self.children.reference(pages, before)).transpose()?;
            self.put_parent(pages, parent, offset::LAST, to_last)?;
        }
        self.put_child(pages, child, offset::PARENT, None)?;
        self.put_child(pages, child, offset::NEXT, None)?;
        Ok(true)
    }

    /// The child before a child of this parent; `None` for the first.
    fn before(
        &self,
        pages: &impl PageRead,
        parent: RecordId,
        first: RecordId,
        child: RecordId,
    ) -> Result<Option<RecordId>> {
        if first == child {
            return Ok(None);
        }
        let field = self.field;
        let next = |view: View<'_>, at, len| field.link(view, at, len);
        let found = self.walk_from(pages, parent, Some(first), next, |before, link| {
            let is_before = own(link, parent, before)?.next == Some(child);
            Ok(if is_before { ControlFlow::Break(before) } else { ControlFlow::Continue(()) })
        })?;
        match found {
            ControlFlow::Break(before) => Ok(Some(before)),
            ControlFlow::Continue(()) => {
                Err(Corruption("it is missing in its parent's list").in_record(child))
            }
        }
    }

    /// Walk a record's list to its end and hold its links against each other; the number of
    /// children.
    pub fn check(&self, pages: &impl PageRead, parent: RecordId) -> Result<u64> {
        let Some(children) = self.children_of(pages, parent)? else { return Ok(0) };
        let (mut count, mut end) = (0, None);
        let walk = self.walk_from::<_, ()>(
            pages,
            parent,
            Some(children.first),
            |_, _, _| (),
            |child, ()| {
                (count, end) = (count + 1, Some(child));
                Ok(ControlFlow::Continue(()))
            },
        );
        walk?.is_continue().then_some(()).expect("nothing breaks it off");
        if end != Some(children.last) {
            return Err(
                Corruption("its list ends at another child than its last").in_record(parent)
            );
        }
        Ok(count)
    }

    fn put_parent(
        &self,
        pages: &mut impl PageWrite,
        parent: RecordId,
        offset: usize,
        link: Option<Reference>,
    ) -> Result<()> {
        put(pages, self.parents, parent, self.field.parent_at + offset, link)
    }

    fn put_child(
        &self,
        pages: &mut impl PageWrite,
        child: RecordId,
        offset: usize,
        link: Option<Reference>,
    ) -> Result<()> {
        put(pages, self.children, child, self.field.child_at + offset, link)
    }
}

/// Write one link of a record that has been found long enough.
fn put(
    pages: &mut impl PageWrite,
    heap: Heap,
    id: RecordId,
    at: usize,
    link: Option<Reference>,
) -> Result<()> {
    let word = link.unwrap_or_default().0.to_le_bytes();
    heap.change_range(pages, id, at..at + word.len(), |link| link.copy_from_slice(&word))
}

/// A link of a child that must be this parent's.
#[inline]
fn own(link: slotted::Result<Option<Link>>, parent: RecordId, child: RecordId) -> Result<Link> {
    match link {
        Ok(Some(link)) if link.parent == parent => Ok(link),
        Ok(_) => Err(Corruption("it is in the list of another parent").in_record(child)),
        Err(corruption) => Err(corruption.in_record(child)),
    }
}

/// A link to a record that is not there is damage, and not the caller's mistake.
fn stray(error: LodeError, id: RecordId) -> LodeError {
    match error {
        LodeError::Missing { .. } => {
            Corruption("links lead to it and it is not there").in_record(id)
        }
        other => other,
    }
}

/// Sees a list that never comes back to its parent, with the memory of one id (Brent's algorithm:
/// the id kept is replaced after 1, 2, 4, … steps, so it comes to lie on the circle, and the circle
/// is shorter than the steps to come).
#[derive(Default)]
struct Ring {
    retained: Option<RecordId>,
    steps: u64,
    steps_max: u64,
}

impl Ring {
    #[inline]
    fn step(&mut self, child: RecordId) -> Result<()> {
        if self.retained == Some(child) {
            return Err(Corruption("its list runs in a circle").in_record(child));
        }
        self.steps += 1;
        if self.steps > self.steps_max {
            (self.retained, self.steps, self.steps_max) = (Some(child), 0, self.steps_max * 2 + 1);
        }
        Ok(())
    }
}
