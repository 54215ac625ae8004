//! `log`: what a transaction writes to the log.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** Chooses what a transaction writes to the log. With `page-diff`, a page is
    /// copied to a shadow when a transaction first changes it; at commit the two are compared in
    /// words of 64 bits and only the runs that differ are logged (runs less than four words apart
    /// as one), of all pages together: of a short run the bytes that differ, behind a mask. What
    /// would undo a change is logged only when the page is written out before the commit. With
    /// `page-grain`, the whole old page is logged at the first change and the whole new page at
    /// commit; there is no shadow. With `set-range`, the program says before a write
    /// which bytes of the page it will write; these are kept as they were, in memory, and at commit
    /// each range is logged as it is then, as often as it was said: ranges are not merged, nothing
    /// is compared, no page is copied. A program says them by `Heap::change_range`, and changes
    /// nothing else by that; whatever does not say a range has said the page, once for
    /// each transaction. What was never said does not exist: only what was said can be written.
    /// As with `page-diff`, what would undo a change is logged only when the page is written
    /// out before the commit (in the papers such a page stays in memory instead).
    /// **What it buys.** `page-diff`: about as many log bytes as bytes were changed, none where a
    /// value was set back. `page-grain`: no comparison and half the memory, since no page is held
    /// twice. `set-range`: neither a page's copy nor a comparison, and log bytes that the program
    /// decides.
    /// **What it costs.** `page-diff`: a copy at the first change of each page, a comparison at
    /// commit, and a second page of memory for each changed page in the cache. `page-grain`: more
    /// than 8,192 bytes of log for each changed page, be it for one byte. `set-range`: a call for
    /// each range, its old bytes and 4 more in memory until the transaction ends, and its new
    /// bytes and 4 more in the log, also where a value is what it was; a page of log where an
    /// access method says a page.
    /// **What a crash can lose.** Nothing more under one than under the other: what is kept is
    /// decided by `durability`.
    /// **Do not combine with.** Nothing is excluded; but `page-grain` with small updates measures
    /// the bandwidth of the log, `page-diff` with a cache smaller than the changed pages measures
    /// eviction, and `set-range` with records that are put in or change their length measures
    /// whole pages, since only changes in place say a range.
    /// **Source.** Saito and Bershad, "A Transactional Memory Service in an Extensible Operating
    /// System", USENIX 1998 (Rhino), sections on page diffing and page grain logging; set-range as
    /// in Satyanarayanan et al., "Lightweight Recoverable Virtual Memory", SOSP 1993.
    "log" Logging {
        /// The runs of words that a transaction changed.
        PageDiff = "page-diff",
        /// The whole page, before and after.
        PageGrain = "page-grain",
        /// The ranges that were said before they were written, each as often as it was said.
        SetRange = "set-range",
    }
}
