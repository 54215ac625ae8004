//! `hugepages`: whether the cache may lie in the processor's large pages.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** With `on`, the kernel is asked to back the cache in pieces of 2 MiB, as
    /// long as the whole volume has room in `cache`, beside the frames that are lent (`shadows`,
    /// `memory`); from the moment it has not, and with `off`, in pages of 4 KiB. `pages_huge` among
    /// the counters shows which. The page that is read, locked, logged and evicted stays the one of
    /// 4 KiB.
    /// **What it buys.** A visit that finds its page in memory need not wait for the page's
    /// address: a processor remembers those of some thousand pages, and each other one takes it a
    /// walk through tables, twice as long in a virtual machine.
    /// **What it costs.** Up to 2 MiB of zeros at the first page of each piece; memory for the
    /// piece's other pages before they are read, within the cap.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** Nothing; where the kernel has no huge pages to give, nothing
    /// happens.
    /// **Source.** Navarro, Iyer, Druschel and Cox, "Practical, Transparent Operating System
    /// Support for Superpages", OSDI 2002.
    "hugepages" HugePages {
        /// The place where everything fits.
        On = "on",
        /// Never.
        Off = "off",
    }
}
