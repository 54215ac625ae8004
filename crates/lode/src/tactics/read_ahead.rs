//! `readahead`: whether a page brings its extent along.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** With `on`, a page that is not in memory is read together with the rest of
    /// its extent.
    /// **What it buys.** A scan waits once for an extent instead of once for each page, above all
    /// with `disk=direct`, where nobody else reads ahead.
    /// **What it costs.** Single look-ups read an extent for one page, and what comes along drives
    /// other pages out.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** A cache of less than four extents: it is refused.
    /// **Source.** FS-INGRES's read-ahead: Stonebraker and others 1981.
    "readahead" ReadAhead {
        /// Only the page that is wanted.
        Off = "off",
        /// The whole extent.
        On = "on",
    }
}
