//! Memory that was freed and that the program's allocator keeps for later.
//!
//! It is nobody's in the budget, and resident all the same: after a list of 20 MiB has grown, or a
//! sort has gone to the file, half as much again as the budget may be there. Where memory is short
//! it goes back to the system at once. Elsewhere it stays with the allocator, because to request it
//! again, page by page, costs more than to keep it.

use std::sync::OnceLock;

static RETURN: OnceLock<fn()> = OnceLock::new();

/// Say how the program's allocator gives what was freed back to the system. The first one to say so
/// holds; without it nothing is given back beyond what the allocator does by itself.
pub fn return_freed_by(give: fn()) {
    _ = RETURN.set(give);
}

/// Give what was freed back to the system: where the budget is used up, seldom, and after much was
/// freed.
#[cold]
pub(crate) fn return_freed() {
    if let Some(give) = RETURN.get() {
        give();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static TIMES: Cell<usize> = const { Cell::new(0) };
    }

    /// The number of times that this thread has given memory back while it did something.
    pub(crate) fn times_returned<R>(act: impl FnOnce() -> R) -> (usize, R) {
        return_freed_by(|| TIMES.set(TIMES.get() + 1));
        let before = TIMES.get();
        let outcome = act();
        (TIMES.get() - before, outcome)
    }
}
