//! Walks: from a record along its references to others and on from these, depth first.
//!
//! The way in which records lead to each other is an [`Edges`]: by references in the records
//! themselves ([`crate::objects`]), or by joining records in lists ([`crate::links`]), in either
//! direction. A walk goes every path of a length, so that a record is visited as often as paths
//! lead to it, as OO1's traversal wants it. It keeps the references that it has yet to follow, and
//! nothing of the records.
//!
//! Records are read where their references say that they lie ([`Heap::read_at`]): swizzled, where
//! the tactics swizzle. Whether they are prefetched is asked once, before the first step, and the
//! walk is compiled for either answer.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::ops::ControlFlow;

use crate::error::{LodeError, Result};
use crate::heap::{Heap, Reference};
use crate::pages::PageRead;
use crate::slotted::Corruption;
use crate::view::View;

/// The way in which the records of a heap lead to each other, in one direction.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use lode::{Edges, LodeError, Objects, Reading, Reference, References};
///
/// /// The sum of the first words of what can be reached in three steps.
/// fn sum(reading: &Reading, objects: Objects, from: Reference) -> Result<u64, LodeError> {
///     let (edges, mut sum) = (References::<3> { objects, at: 8 }, 0);
///     let end = edges.walk(reading, from, 3, |view, at| view.u64(at), |_, word| {
///         sum += word;
///         ControlFlow::<()>::Continue(())
///     });
///     end.map(|_| sum)
/// }
/// # let folder = tempfile::tempdir().expect("a folder for the example");
/// # let path = folder.path().join("parts.lode");
/// # let database = lode::Database::create(&path, &lode::Tactics::default())?;
/// # let mut writing = database.writing();
/// # let objects = writing.objects("parts")?;
/// # let hub = objects.insert(&mut writing, &[&7_u64.to_le_bytes()[..], &[0; 24]].concat(), None)?;
/// # let hub = objects.reference(&writing, hub)?.0.to_le_bytes();
/// # let rim = [&[0; 8][..], &hub, &[0; 8], &hub].concat();
/// # let rim = objects.insert(&mut writing, &rim, None)?;
/// # let rim = objects.reference(&writing, rim)?;
/// # writing.commit()?;
/// assert_eq!(sum(&database.reading(), objects, rim)?, 7 + 7);
/// # Ok::<(), LodeError>(())
/// ```
pub trait Edges: Copy {
    /// The data that a visit takes along from a record, to go on from it.
    type Start;

    /// The records.
    fn records(&self) -> Heap;

    /// The data to take along from a record, as [`Heap::read_at`] shows it; it may be called again.
    fn start(&self, view: View<'_>, at: usize) -> Self::Start;

    /// Append references to those that a record leads to, in their order, and report `ahead` of
    /// each as soon as it is known. The word 0 leads nowhere.
    fn follow<P: PageRead, const PREFETCH: bool>(
        &self,
        ahead: &Ahead<'_, P, PREFETCH>,
        from: Reference,
        start: Self::Start,
        to: &mut Vec<Reference>,
    ) -> Result<()>;

    /// Append references to those that a record leads to, in their order.
    ///
    /// # Errors
    ///
    /// [`LodeError::Missing`] where there is no such record, and what the pages say.
    fn ends(&self, pages: &impl PageRead, from: Reference, to: &mut Vec<Reference>) -> Result<()> {
        let start = self.records().read_at(pages, from, |view, at| self.start(view, at))?;
        self.follow(&Ahead::<_, false>::over(pages), from, start, to)
    }

    /// Visit what can be reached from a record in at most `depth` steps, every path by itself: a
    /// record before those that it leads to, these in their order. The record itself is not
    /// visited: who begins there has it.
    ///
    /// `inspect` sees a record as [`Heap::read_at`] shows it (and may be called again), `each` gets
    /// what it made of it and can end the walk. Memory grows with `depth` and with the number of
    /// references of the records on the way.
    ///
    /// # Errors
    ///
    /// [`LodeError::Missing`] where there is no record to begin with, [`LodeError::Corrupt`] where
    /// a reference leads to none, and what the pages say.
    #[expect(clippy::inline_always, reason = "what is visited should stay in registers")]
    #[inline(always)]
    fn walk<R, B>(
        &self,
        pages: &impl PageRead,
        from: Reference,
        depth: u32,
        inspect: impl FnMut(View<'_>, usize) -> R,
        each: impl FnMut(Reference, R) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        if pages.prefetches() {
            let ahead = Ahead::<_, true>::over(pages);
            let walked = run(*self, &ahead, from, depth, inspect, each);
            pages.note_prefetches(ahead.prefetches.get());
            walked
        } else {
            run(*self, &Ahead::<_, false>::over(pages), from, depth, inspect, each)
        }
    }
}

/// The pages of a walk, and what it does about records that it will visit: the tactic `prefetch`.
pub struct Ahead<'a, P, const PREFETCH: bool> {
    pages: &'a P,
    prefetches: Cell<u64>,
}

impl<'a, P: PageRead, const PREFETCH: bool> Ahead<'a, P, PREFETCH> {
    const fn over(pages: &'a P) -> Self {
        Self { pages, prefetches: Cell::new(0) }
    }

    /// The pages.
    #[inline]
    pub const fn pages(&self) -> &'a P {
        self.pages
    }

    /// A reference is known that will be followed.
    #[inline]
    pub fn note(&self, records: Heap, to: Reference) {
        if PREFETCH {
            records.prefetch(self.pages, to);
            self.prefetches.set(self.prefetches.get() + 1);
        }
    }
}

/// Walk. The references of a level stand behind those of the level above it: the last first, so
/// that the next one to follow is at the end; those of the last level, which are followed no
/// further, in their order.
#[inline(never)]
fn run<E: Edges, P: PageRead, const PREFETCH: bool, R, B>(
    edges: E,
    ahead: &Ahead<'_, P, PREFETCH>,
    from: Reference,
    depth: u32,
    mut inspect: impl FnMut(View<'_>, usize) -> R,
    mut each: impl FnMut(Reference, R) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    if depth == 0 {
        return Ok(ControlFlow::Continue(()));
    }
    let (pages, records) = (ahead.pages, edges.records());
    let (mut left, mut above) = (Vec::new(), Vec::new());
    let start = records.read_at(pages, from, |view, at| edges.start(view, at))?;
    edges.follow(ahead, from, start, &mut left)?;
    // Where the references of this level begin, and how many levels are below it.
    let (mut first, mut below) = (0, depth - 1);
    if below > 0 {
        left.reverse();
    }
    loop {
        if below == 0 {
            for &to in &left[first..] {
                let seen = records.read_at(pages, to, &mut inspect);
                if let ControlFlow::Break(end) = each(to, seen.map_err(|error| stray(error, to))?) {
                    return Ok(ControlFlow::Break(end));
                }
            }
            left.truncate(first);
        } else if left.len() > first
            && let Some(to) = left.pop()
        {
            let seen =
                records.read_at(pages, to, |view, at| (inspect(view, at), edges.start(view, at)));
            let (seen, start) = seen.map_err(|error| stray(error, to))?;
            above.push(first);
            (first, below) = (left.len(), below - 1);
            // First, so that what is prefetched comes while the record is looked at.
            edges.follow(ahead, to, start, &mut left)?;
            if let ControlFlow::Break(end) = each(to, seen) {
                return Ok(ControlFlow::Break(end));
            }
            if below > 0 {
                left[first..].reverse();
            }
            continue;
        }
        match above.pop() {
            Some(start) => (first, below) = (start, below + 1),
            None => return Ok(ControlFlow::Continue(())),
        }
    }
}

/// A reference to a record that is not there is damage, and not the caller's mistake.
#[cold]
fn stray(error: LodeError, to: Reference) -> LodeError {
    match (error, to.id()) {
        (LodeError::Missing { .. }, Some(id)) => {
            Corruption("references lead to it and it is not there").in_record(id)
        }
        (error, _) => error,
    }
}
