//! `swizzle`: whether references between objects are kept as addresses.

#![expect(clippy::doc_markdown, reason = "DeWitt is a name")]

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** With `on`, each object or record that is referred to has a word of memory
    /// of its own, in which its place and its page's stamp are kept after the first visit; the
    /// next visit, from wherever, goes there at once, if the page still has that stamp. With
    /// `off`, the reference is resolved through the page's slots each time. The bytes on the
    /// medium are the same.
    /// **What it buys.** A visit for about what following a pointer costs.
    /// **What it costs.** A page of memory for each page to which references are followed, within
    /// the cap of `cache`; what lies in a page is found anew after the page was changed or out of
    /// memory. With `replacement=lru` or `lru-2` each visit is noted all the same.
    /// **What a crash can lose.** Nothing: the words are never written.
    /// **Do not combine with.** A cache that the data overflow: half of it would hold words.
    /// **Source.** Cattell and Skeen, "Object Operations Benchmark", TODS 1992, appendix A; White
    /// and DeWitt, "A Performance Study of Alternative Object Faulting and Pointer Swizzling
    /// Strategies", VLDB 1992.
    "swizzle" Swizzle {
        /// Resolved each time.
        Off = "off",
        /// Kept beside the reference while its page is in memory.
        On = "on",
    }
}
