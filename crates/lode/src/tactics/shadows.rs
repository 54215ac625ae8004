//! `shadows`: where page diffing's second copies of pages lie.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** Under `log=page-diff`, chooses whose memory the copies are in that pages
    /// are compared with at the commit. With `beside`, it is memory of its own, as much as there
    /// are changed pages in the cache. With `cache`, each copy takes a frame of the cache: a page
    /// makes room for it, as for a page that is read. Where the cache lends no more (a quarter of
    /// it holds pages whatever happens), the old page is logged whole instead, as undo, and at the
    /// commit the new one, as under `log=page-grain`.
    /// **What it buys.** `beside`: as many pages in the cache as without the copies. `cache`: one
    /// limit for all the memory that pages take, so that schemes of logging are compared with the
    /// same memory.
    /// **What it costs.** `beside`: memory that `cache` does not count. `cache`: what the paper saw
    /// in large databases. As soon as changed pages fill half of the cache, they are written out
    /// before the commit, each after an undo record and an image of it; and fewer pages stay for
    /// readers. Huge pages (`hugepages`) are given up once copies leave the whole volume no room.
    /// **What a crash can lose.** Nothing, under either.
    /// **Do not combine with.** Another `log`: there are no shadows then.
    /// **Source.** Saito and Bershad, USENIX 1998 (Rhino): page diffing needs two pages of memory
    /// for each changed one; figures 10 and 11.
    "shadows" Shadows {
        /// Memory of their own.
        Beside = "beside",
        /// Frames of the cache.
        Cache = "cache",
    }
}
