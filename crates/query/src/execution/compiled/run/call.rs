//! The way from Rust into compiled code and back: all that the one takes the other's word for.
//!
//! Compiled code gets the address of a [`Context`] and hands it to every routine; behind it is the
//! [`Run`]. A reference to either lives only while no compiled code runs.
#![expect(unsafe_code, reason = "compiled code knows addresses and no lifetimes")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use super::{Run, Stop};
use crate::error::Result;
use crate::execution::State;
use crate::execution::compiled::context::{Cell, Context, FOUND, Place, STOPPED, TEXT};
use crate::tuple::Value;

/// A context during a run.
#[derive(Clone, Copy)]
pub(super) struct Handle(*mut Context);

/// The state behind [`Context::run`].
struct Linked<'l> {
    run: &'l mut Run<'l>,
    /// Under which name the state is known at the moment.
    state: *mut State<'static>,
}

impl Handle {
    /// Links a context with what belongs to it for as long as `within` runs.
    pub fn over<T>(
        context: &mut Context,
        run: &mut Run<'_>,
        state: &mut State<'_>,
        within: impl FnOnce(Self) -> T,
    ) -> T {
        let run = ptr::from_mut(run).cast::<Run<'_>>();
        // SAFETY: only the lifetime's name changes; the link is gone when this returns.
        let run = unsafe { &mut *run };
        let mut linked = Linked { run, state: ptr::from_mut(state).cast() };
        context.run = ptr::from_mut(&mut linked).cast();
        let outcome = within(Self(context));
        context.run = ptr::null_mut();
        outcome
    }

    /// Does something with the run and the state, and calls no compiled code meanwhile.
    #[inline]
    pub fn with<T>(self, within: impl FnOnce(&mut Run<'_>, &mut State<'_>) -> T) -> T {
        // SAFETY: handles are given only to what runs within `over`, which holds both; there is no
        // other reference, since `within` gets no handle, and compiled code holds none.
        let linked = unsafe { &mut *(*self.0).run.cast::<Linked<'_>>() };
        // SAFETY: as above.
        let state = unsafe { &mut *linked.state };
        within(linked.run, state)
    }

    /// Lends the state to what calls compiled code by itself. Within, [`Handle::lent`] gives it to
    /// that code for each call.
    pub fn lend<T>(self, within: impl FnOnce(&mut State<'_>) -> T) -> T {
        // SAFETY: as of `with`. While it is lent, others reach it only by what `lent` gives them.
        let state = unsafe { (*(*self.0).run.cast::<Linked<'_>>()).state };
        // SAFETY: as above.
        let outcome = within(unsafe { &mut *state });
        self.know(state);
        outcome
    }

    /// The state is known by this reference for as long as `within` runs.
    pub fn lent<T>(self, state: &mut State<'_>, within: impl FnOnce() -> T) -> T {
        self.know(ptr::from_mut(state).cast());
        within()
    }

    fn know(self, state: *mut State<'static>) {
        // SAFETY: as of `with`.
        unsafe { (*(*self.0).run.cast::<Linked<'_>>()).state = state };
    }

    /// Calls a function of the pipeline with rows of its source: their tuples and record ids,
    /// where it has any. Whether it wants more.
    ///
    /// # Errors
    ///
    /// The error for which a routine stopped it.
    pub fn call(
        self,
        function: usize,
        tuples: &[*const u8],
        ids: &[u64],
        count: usize,
    ) -> Result<bool> {
        debug_assert!(tuples.len() == count || tuples.is_empty());
        let compiled = self.with(|run, _| run.code.machine.function(function));
        // SAFETY: the function belongs to the code of the run, which outlives it, and was compiled
        // for sources like its own: they have as many tuples as `count` says, and record ids where
        // the plan's source is a stored relation. Every place of the context is as long as the
        // code's parts say. No reference into it is alive.
        let status = unsafe { compiled(self.0, tuples.as_ptr(), ids.as_ptr(), count as u64) };
        if status != STOPPED {
            return Ok(status != FOUND);
        }
        match self.with(|run, _| run.stop.take()) {
            Some(Stop::Error(error)) => Err(error),
            Some(Stop::Panic(panic)) => resume_unwind(panic),
            None => unreachable!("compiled code stops only where a routine has kept why"),
        }
    }

    /// Fills a slot of the frame.
    pub fn set_frame(self, slot: usize, tuple: *const u8) {
        // SAFETY: the frame has a place for each slot of the pipeline, of which this is one.
        unsafe { (*(*self.0).frame.add(slot)).tuple = tuple };
    }

    /// Fills the record id of a slot of the frame.
    pub fn set_frame_id(self, slot: usize, id: u64) {
        // SAFETY: as of `set_frame`.
        unsafe { (*(*self.0).frame.add(slot)).id = id };
    }

    /// The value of a slot of the frame.
    pub fn frame(self, slot: usize) -> Place {
        // SAFETY: as of `set_frame`.
        unsafe { *(*self.0).frame.add(slot) }
    }

    /// The value in a cell of the context, for as long as its row is at hand.
    pub fn value<'v>(self, cell: usize) -> Value<'v> {
        // SAFETY: the number is one that the code's parts count; what wrote the cell saw to it that
        // a text in it is there while the row is.
        unsafe { value(*(*self.0).cells.add(cell)) }
    }

    /// The number of rows that are staged; afterwards none are.
    pub fn take_staged(self) -> usize {
        // SAFETY: as of `with`.
        unsafe { std::mem::take(&mut (*self.0).staged) as usize }
    }

    /// The number of rows that count for an update of an aggregation; afterwards none do.
    pub fn take_count(self, update: usize) -> usize {
        // SAFETY: there is one for each update of the pipeline, of which this is one.
        unsafe { std::mem::take(&mut (*(*self.0).updates.add(update)).count) as usize }
    }

    /// The place where compiled code finds what a probe found.
    pub fn set_matches(self, matches: *const *const u8) {
        // SAFETY: as of `with`.
        unsafe { (*self.0).matches = matches };
    }
}

/// Runs the body of a routine. An error or a panic is kept for [`Handle::call`], since compiled
/// code cannot be unwound.
pub(super) fn guarded(context: *mut Context, body: impl FnOnce(Handle) -> Result<u64>) -> u64 {
    let handle = Handle(context);
    let stop = match catch_unwind(AssertUnwindSafe(|| body(handle))) {
        Ok(Ok(answer)) => return answer,
        Ok(Err(error)) => Stop::Error(error),
        Err(panic) => Stop::Panic(panic),
    };
    handle.with(|run, _| run.stop = Some(stop));
    STOPPED
}

/// A value out of a cell.
///
/// # Safety
///
/// A text must be where the cell says, for as long as the value is used.
pub(super) unsafe fn value<'v>(cell: Cell) -> Value<'v> {
    if cell.tag == TEXT {
        // SAFETY: the caller's.
        return Value::Text(unsafe { text(cell.bits as *const u8, cell.bytes) });
    }
    cell.number()
}

/// A text that compiled code points to; trailing blanks may be there.
///
/// # Safety
///
/// So many bytes must be there, for as long as the text is used.
#[inline]
pub(super) unsafe fn text<'t>(start: *const u8, bytes: u64) -> &'t [u8] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(start, bytes as usize) }
}
