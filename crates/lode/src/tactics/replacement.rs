//! `replacement`: which page makes room.

#![expect(clippy::doc_markdown, reason = "DeWitt is a name")]

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** Chooses the page that leaves a full cache. `clock`: a hand goes round
    /// and takes the first page that was not used since it last came by. `lru`: the page whose
    /// last use is longest ago. `lru-2`: the page whose last but one use is longest ago. `random`:
    /// any.
    /// **What it buys.** `clock`: nearly what `lru` finds, for nothing per use. `lru-2`: a scan
    /// does not drive out what is used again and again. `random`: no bad case, above all for a scan
    /// that is repeated over slightly more than the cache.
    /// **What it costs.** `lru` and `lru-2` note each use of a page. `lru` fails wholly on repeated
    /// scans of more than the cache: each page leaves just before it is wanted.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** A database that fits the cache: it is then never asked.
    /// **Source.** Bitton, DeWitt and Turbyfill 1983 (LRU is worst for the inner relation of
    /// nested loops); O'Neil, O'Neil and Weikum, "The LRU-K Page Replacement Algorithm", SIGMOD
    /// 1993; clock as in Multics (Corbato 1968).
    "replacement" Replacement {
        /// The first that was not used since the hand came by.
        Clock = "clock",
        /// The one whose last use is longest ago.
        Lru = "lru",
        /// The one whose last but one use is longest ago.
        Lru2 = "lru-2",
        /// Any.
        Random = "random",
    }
}
