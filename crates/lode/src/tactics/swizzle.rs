//! `swizzle`: whether references are followed as addresses.

#![expect(clippy::doc_markdown, reason = "DeWitt is a name")]

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** A reference says which record it means, and where in its page that lay
    /// when the reference was written. With `on`, the follower reads there at once and
    /// validates the record tag that stands there: neither the page's header nor its
    /// slots are read, and a page's number is its address. With `off`, the record is found through
    /// the page's slots each time. The bytes on the medium are the same.
    /// **What it buys.** A visit for little more than what following a pointer costs; above all
    /// where the data outgrow the processor's caches, of which the slots take two lines more.
    /// **What it costs.** A reference to what has since moved within its page is followed twice,
    /// once in vain and once through the slots. With `replacement=lru` or `lru-2` each visit is
    /// noted all the same.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** Nothing.
    /// **Source.** Cattell and Skeen, "Object Operations Benchmark", TODS 1992, sections 7 and 10;
    /// White
    /// and DeWitt, "A Performance Study of Alternative Object Faulting and Pointer Swizzling
    /// Strategies", VLDB 1992.
    "swizzle" Swizzle {
        /// Resolved each time.
        Off = "off",
        /// Followed to where they lead, while that page is in memory.
        On = "on",
    }
}
