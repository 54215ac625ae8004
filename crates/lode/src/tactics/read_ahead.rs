//! `readahead`: whether a page brings its extent along, and a scan what comes next.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** With `on`, a page that is not in memory is read together with the rest of
    /// its extent; a reader that misses one extent right after another is given longer runs, up to
    /// 512 KiB, and threads bring several of these before they are requested. So they do with the
    /// extents that a program names because its references lead there, as OO7's traversals do.
    /// **What it buys.** A scan waits for the disk's bandwidth and not for each page's latency,
    /// above all with `disk=direct`, where nobody else reads ahead.
    /// **What it costs.** Single look-ups read an extent for one page, and what comes along drives
    /// other pages out; a scan that ends early has read up to 3 MiB too much. Four threads.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** A cache of less than four extents: it is refused.
    /// **Source.** FS-INGRES's read-ahead: Stonebraker and others 1981.
    "readahead" ReadAhead {
        /// Only the page that is wanted.
        Off = "off",
        /// The whole extent, and more for scans.
        On = "on",
    }
}
