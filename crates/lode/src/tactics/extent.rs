//! `extent`: how many pages are given to a file together.

use super::describe::number_tactic;

const PAGES_DEFAULT: u32 = 16;

number_tactic! {
    /// **What it does.** Sets how many consecutive pages are given to a file at once, when the
    /// database is created. An existing database keeps its own.
    /// **What it buys.** A scan of a file that was filled alone reads runs of that length, and
    /// `readahead=on` brings that much for one wait.
    /// **What it costs.** Pages that small files do not fill: on average half an extent a file.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** A large extent with a cache of few pages and `readahead=on`.
    /// **Source.** The extent-based special file system of FS-INGRES: Stonebraker and others 1981.
    "extent" ExtentPages(u32) {
        default: PAGES_DEFAULT,
        values: "4, 8, 16, 32 or 64 pages": "consecutive pages that belong to one file",
        parse: |text| text.parse().ok().filter(|pages| [4, 8, 16, 32, 64].contains(pages)),
    }
}
