//! Rows that steps have put aside, because a table did not fit into memory: one step after another,
//! through code that begins there.

use std::sync::Arc;

use super::call::Handle;
use super::stage::Stage;
use super::{Passed, pass};
use crate::error::Result;
use crate::execution::State;
use crate::execution::compiled::code::{Begin, Way};
use crate::execution::compiled::code_of;
use crate::execution::evaluation::Known;
use crate::execution::joining::{Aside, RowForm};
use crate::plan::Pipeline;
use crate::table::{Duplicates, JoinTable};
use crate::tuple::Layout;

/// The rows that a step has put aside.
enum Rest {
    /// Rows that look for entries of other tables.
    Rows(Box<Aside>),
    /// Tuples of which each comes once, for that slot.
    Tuples(Box<Duplicates>, usize),
}

/// Runs what every step of a pipeline has put aside. `by` and `way` are those of its own code.
///
/// # Errors
///
/// As of the pipeline.
pub(super) fn run(
    pipeline: &Pipeline,
    (by, way): (Option<&Layout>, &Way),
    known: &Known,
    mut passed: Passed<'_>,
    state: &mut State<'_>,
) -> Result<()> {
    for number in 0..pipeline.steps.len() {
        let Some(rest) = rest_of(&mut passed.stages[number], state) else { continue };
        let begin = match rest {
            Rest::Rows(_) => Begin::At(number),
            Rest::Tuples(..) => Begin::Behind(number),
        };
        let aside = way.aside.iter().copied().filter(|at| *at > number).collect();
        let way = Way { begin, aside, ..*way };
        let code = code_of(pipeline, by, &way, state)?;
        passed = pass(&code, pipeline, known, passed, state, |handle| match rest {
            Rest::Rows(aside) => look_up(handle, number, *aside),
            Rest::Tuples(seen, slot) => let_through(handle, slot, *seen),
        })?;
    }
    Ok(())
}

/// The rows that a step has put aside, if it has.
fn rest_of(of: &mut Stage, state: &mut State<'_>) -> Option<Rest> {
    match of {
        Stage::Probe { table, aside, .. } => {
            let aside = aside.take()?;
            state.let_go(table.take());
            Some(Rest::Rows(aside))
        }
        Stage::Distinct { seen, slot, .. } => {
            let seen = seen.take()?;
            seen.has_aside().then_some(Rest::Tuples(seen, *slot))
        }
        Stage::None | Stage::Groups(_) => None,
    }
}

/// Rows look their entries up in one table after another.
fn look_up(handle: Handle, number: usize, aside: Aside) -> Result<()> {
    let mut tuples: Vec<(usize, Vec<u8>)> = Vec::new();
    let set_table = |now: Option<&Arc<JoinTable>>| {
        handle.with(|run, state| {
            if let Stage::Probe { table, .. } = &mut run.stages[number] {
                *table = now.map(Arc::clone);
            }
            state.check_cancelled()
        })
    };
    aside.finish(&mut |form, table, rows| {
        set_table(Some(table))?;
        if tuples.is_empty() {
            tuples.extend(form.slots.iter().map(|(slot, bytes)| (*slot, vec![0; *bytes])));
        }
        for row in rows.chunks_exact(form.bytes()) {
            show(handle, form, row, &mut tuples);
            handle.call(0, &[], &[], 1)?;
        }
        set_table(None)
    })
}

/// Puts a row into the frame. Its tuples are there until the next row is; what is staged of it by
/// then holds nothing of them.
fn show(handle: Handle, form: &RowForm, row: &[u8], tuples: &mut [(usize, Vec<u8>)]) {
    for (slot, tuple) in tuples {
        form.unpack(row, *slot, tuple);
        handle.set_frame(*slot, tuple.as_ptr());
    }
    for (slot, id) in form.ids(row) {
        handle.set_frame_id(slot, id);
    }
}

/// Tuples that have not come before go on, each once.
fn let_through(handle: Handle, slot: usize, seen: Duplicates) -> Result<()> {
    seen.finish(&mut |new| {
        handle.with(|_, state| state.check_cancelled())?;
        for tuple in new {
            handle.set_frame(slot, *tuple);
            handle.call(0, &[], &[], 1)?;
        }
        Ok(())
    })
}
