//! `log`: what a transaction writes to the log.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** Chooses what a transaction writes to the log. With `page-diff`, a page is
    /// copied to a shadow when a transaction first changes it; at commit the two are compared in
    /// words of 64 bits and only the runs that differ are logged (runs less than four words apart
    /// as one). What would undo a change is logged only when the page is written out before the
    /// commit. With `page-grain`, the whole old page is logged at the first change and the whole
    /// new page at commit; there is no shadow.
    /// **What it buys.** `page-diff`: about as many log bytes as bytes were changed, none where a
    /// value was set back. `page-grain`: no comparison and half the memory, since no page is held
    /// twice.
    /// **What it costs.** `page-diff`: a copy at the first change of each page, a comparison at
    /// commit, and a second page of memory for each changed page in the cache. `page-grain`: more
    /// than 8,192 bytes of log for each changed page, be it for one byte.
    /// **What a crash can lose.** Nothing more under one than under the other: what is kept is
    /// decided by `durability`.
    /// **Do not combine with.** Nothing is excluded; but `page-grain` with small updates measures
    /// the bandwidth of the log, and `page-diff` with a cache smaller than the changed pages
    /// measures eviction.
    /// **Source.** Saito and Bershad, "A Transactional Memory Service in an Extensible Operating
    /// System", USENIX 1998 (Rhino), sections on page diffing and page grain logging.
    "log" Logging {
        /// The runs of words that a transaction changed.
        PageDiff = "page-diff",
        /// The whole page, before and after.
        PageGrain = "page-grain",
    }
}
