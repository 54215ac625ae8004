//! `checkpoint`: how long the log may become.

use super::describe::{bytes_of, number_tactic};

/// Several results of 20 MB, each of which would else wait for a checkpoint of its own. A restart
/// reads all of it again, which takes the longer the smaller the changes are.
const BYTES_DEFAULT: u64 = 256 << 20;

const BYTES_MIN: u64 = 64 << 10;

number_tactic! {
    /// **What it does.** Sets after how many bytes of log all changed pages are written to the
    /// volume, so that a restart needs nothing older. It is done by the transaction that passes
    /// the mark, after its commit, while others run; if none does, the log begins anew.
    /// **What it buys.** A restart after a crash that reads only so much log, and a log file of
    /// about that size.
    /// **What it costs.** Each changed page is written to its place, and before that to the log,
    /// against torn writes, if the log does not have it whole since the checkpoint before; the
    /// transaction that does it returns later. Of a page that changes often the more is written the
    /// shorter the log is.
    /// **What a crash can lose.** Nothing: it only decides how long the restart takes.
    /// **Do not combine with.** A measurement of single commits that is short against it: one of
    /// them pays for all.
    /// **Source.** Fuzzy checkpoints as in Haerder and Reuter, "Principles of
    /// Transaction-Oriented Database Recovery", 1983; page images in the log as in PostgreSQL.
    "checkpoint" CheckpointBytes(u64) {
        default: BYTES_DEFAULT,
        values: "bytes from 65536": "a number, or one with KiB, MiB or GiB: 16777216 is 16MiB",
        parse: |text| bytes_of(text).filter(|&bytes| bytes >= BYTES_MIN),
    }
}
