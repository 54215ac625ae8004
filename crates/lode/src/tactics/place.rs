//! `place`: where the database is, for the program that uses it.

#![expect(clippy::doc_markdown, reason = "DeWitt is a name")]

use super::describe::{Description, describe, named_tactic};

named_tactic! {
    /// **What it does.** With `embedded`, the program has the files open itself. With `server`,
    /// another process has, and the program keeps the pages that it used in a cache of its own. It
    /// asks the server for locks, whose answers say which of those pages others have changed since,
    /// and for pages that it does not have; it changes copies and sends, at commit, what differs.
    /// `cache`, `hugepages`, `replacement` and `readahead` hold in both processes, `swizzle` and
    /// `prefetch` in the program's; everything else is the server's. A program that makes a whole
    /// database does so before it is served.
    /// **What it buys.** Several processes read and change one database at once, none of them can
    /// take the others down, and what one of them has read before it reads again at the price of
    /// `embedded`.
    /// **What it costs.** A way to the server and back for each transaction under `locks=database`,
    /// and for each page that it locks under `locks=page`; one for each page, or each extent with
    /// `readahead`, that is not cached; one for the commit. Pages lie in memory twice. What one
    /// transaction changes must fit the program's cache.
    /// **What a crash can lose.** Of the program: what it had not committed. Of the server: what
    /// `durability` says.
    /// **Do not combine with.** `locks=page` together with `readahead=on`: a page that the program
    /// has not locked yet is of no use to it, so that nothing would be read ahead.
    /// **Source.** OO1's database on a workstation and on a server: Cattell and Skeen, "Object
    /// Operations Benchmark", TODS 1992; DeWitt, Futtersack, Maier and Velez, "A Study of Three
    /// Alternative Workstation-Server Architectures for Object Oriented Database Systems", VLDB
    /// 1990; Franklin, Carey and Livny, "Transactional Client-Server Cache Consistency", TODS 1997.
    "place" Place {
        /// In the program's process.
        Embedded = "embedded",
        /// In a process of its own, which serves pages.
        Server = "server",
    }
}

/// The one tactic that is not among [`super::Tactics`]: it says whether a program has a
/// [`crate::Database`] or a [`crate::remote::Remote`].
pub fn place() -> Description {
    describe::<Place>()
}
