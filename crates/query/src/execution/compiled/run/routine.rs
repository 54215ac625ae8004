//! The routines that compiled code calls. Their arguments are as [`Routine::signature`] says.
#![expect(unsafe_code, reason = "compiled code hands over addresses")]

use std::ptr;

use super::call::{Handle, guarded, text, value};
use super::source;
use super::stage::Stage;
use crate::error::{QueryError, Result};
use crate::execution::compiled::context::{Cell, Context, Routine};
use crate::tuple::{self, Value, compare_mixed, compare_texts, trimmed};

/// The address of each routine, in the order of [`Routine::ALL`].
pub(super) struct Addresses(pub [*const u8; Routine::ALL.len()]);

// SAFETY: addresses of functions are the same for all threads.
unsafe impl Sync for Addresses {}

/// For [`Context::routines`].
pub(super) static ADDRESSES: Addresses = Addresses([
    fault as *const u8,
    write as *const u8,
    copy as *const u8,
    compare_texts_of as *const u8,
    compare_mixed_of as *const u8,
    matches as *const u8,
    atan as *const u8,
    cos as *const u8,
    exp as *const u8,
    log as *const u8,
    sin as *const u8,
    power as *const u8,
    probe_integer as *const u8,
    probe as *const u8,
    group as *const u8,
    distinct as *const u8,
    inner as *const u8,
    flush as *const u8,
]);

extern "C" fn fault(context: *mut Context, site: u64, left: u64, right: u64) -> u64 {
    guarded(context, |handle| {
        handle.with(|run, state| {
            let fault = run.code.parts.sites[site as usize].fault(left, right);
            Err(state.evaluation(fault))
        })
    })
}

extern "C" fn write(context: *mut Context, target: u64, cell: *const Cell, at: *mut u8) -> u64 {
    guarded(context, |handle| {
        handle.with(|run, state| {
            let target = &run.code.parts.targets[target as usize];
            // SAFETY: the address is of a tuple of the target's length, of which there is no
            // reference; a text of the cell is of the row at hand.
            let (tuple, value) =
                unsafe { (std::slice::from_raw_parts_mut(at, target.tuple_bytes), value(*cell)) };
            let written = tuple::write(tuple, &target.field, value, target.span);
            written.map(|()| 0).map_err(|fault| state.evaluation(fault))
        })
    })
}

extern "C" fn copy(from: *const u8, to: *mut u8, bytes: u64) -> u64 {
    // SAFETY: both are within tuples, of which the one that is being made is no source.
    unsafe { ptr::copy_nonoverlapping(from, to, bytes as usize) };
    0
}

extern "C" fn compare_texts_of(
    left: *const u8,
    left_bytes: u64,
    right: *const u8,
    right_bytes: u64,
) -> u64 {
    // SAFETY: texts of the row at hand, and constants.
    let (left, right) = unsafe { (text(left, left_bytes), text(right, right_bytes)) };
    compare_texts(left, right) as i64 as u64
}

extern "C" fn compare_mixed_of(whole: i64, real: f64) -> u64 {
    compare_mixed(whole, real) as i64 as u64
}

extern "C" fn matches(context: *mut Context, pattern: u64, start: *const u8, bytes: u64) -> u64 {
    // SAFETY: a text of the row at hand, or a constant.
    let text = trimmed(unsafe { text(start, bytes) });
    guarded(context, |handle| {
        handle.with(|run, _| Ok(run.code.parts.patterns[pattern as usize].matches(text).into()))
    })
}

/// A function of a real, whose result may be infinite or no number.
macro_rules! real {
    ($name:ident, $method:ident) => {
        extern "C" fn $name(argument: f64) -> f64 {
            argument.$method()
        }
    };
}

real!(atan, atan);
real!(cos, cos);
real!(exp, exp);
real!(log, ln);
real!(sin, sin);

extern "C" fn power(left: f64, right: f64) -> f64 {
    left.powf(right)
}

extern "C" fn probe_integer(context: *mut Context, stage: u64, key: i64) -> u64 {
    guarded(context, |handle| {
        let keys = [Value::Integer(key)];
        found(handle, stage, &keys, |stage| stage.probe_integer(key))
    })
}

extern "C" fn probe(context: *mut Context, stage: u64, cells: *const Cell) -> u64 {
    guarded(context, |handle| {
        let count = handle.with(|run, _| match &run.stages[stage as usize] {
            Stage::Probe { table: Some(table), .. } => table.key().len(),
            _ => 0,
        });
        with_values(cells, count, |keys| found(handle, stage, keys, |stage| stage.probe(keys)))
    })
}

fn found(
    handle: Handle,
    stage: u64,
    keys: &[Value<'_>],
    probe: impl FnOnce(&mut Stage) -> &[*const u8],
) -> Result<u64> {
    let (start, count) = handle.with(|run, _| {
        let stage = &mut run.stages[stage as usize];
        if stage.put_aside(keys, |slot| handle.frame(slot))? {
            return Ok::<_, QueryError>((ptr::null(), 0));
        }
        let matches = probe(stage);
        Ok((matches.as_ptr(), matches.len() as u64))
    })?;
    handle.set_matches(start);
    Ok(count)
}

extern "C" fn group(context: *mut Context, stage: u64, cells: *const Cell) -> u64 {
    guarded(context, |handle| {
        handle.with(|run, _| {
            let Stage::Groups(groups) = &run.stages[stage as usize] else { return Ok(0) };
            with_values(cells, groups.by_values(), |keys| {
                let found = groups.find(keys);
                Ok(found.map_or(0, |tuple| tuple.as_ptr().addr() as u64))
            })
        })
    })
}

extern "C" fn distinct(context: *mut Context, stage: u64, at: *const u8) -> u64 {
    guarded(context, |handle| {
        handle.with(|run, _| {
            let Stage::Distinct { seen: Some(seen), tuple, .. } = &mut run.stages[stage as usize]
            else {
                return Ok(0);
            };
            debug_assert_eq!(at, tuple.as_ptr());
            // SAFETY: the buffer of this very stage, filled.
            let tuple = unsafe { std::slice::from_raw_parts(at, tuple.len()) };
            Ok(seen.insert(tuple)?.is_some().into())
        })
    })
}

extern "C" fn inner(context: *mut Context, function: u64) -> u64 {
    guarded(context, |handle| source::each(handle, function as usize).map(|()| 0))
}

extern "C" fn flush(context: *mut Context) -> u64 {
    guarded(context, |handle| handle.flush().map(|()| 0))
}

impl Handle {
    /// Hands over what is staged.
    ///
    /// # Errors
    ///
    /// Of what the receiver cannot keep.
    pub fn flush(self) -> Result<()> {
        let rows = self.take_staged();
        if rows == 0 {
            return Ok(());
        }
        self.with(|run, state| run.end.take(self, rows, state))
    }
}

/// Values that need no memory of their own.
const INLINE: usize = 4;

/// The values in so many cells side by side.
fn with_values<T>(cells: *const Cell, count: usize, then: impl FnOnce(&[Value<'_>]) -> T) -> T {
    // SAFETY: code filled as many cells as there are keys, with values of the row at hand.
    let value = |at: usize| unsafe { value(*cells.add(at)) };
    if count > INLINE {
        return then(&(0..count).map(value).collect::<Vec<_>>());
    }
    let mut inline = [Value::Null; INLINE];
    for (at, place) in inline[..count].iter_mut().enumerate() {
        *place = value(at);
    }
    then(&inline[..count])
}
