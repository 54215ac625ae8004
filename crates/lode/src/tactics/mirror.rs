//! `mirror`: whether the files are there twice, and which of the two is read.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** Keeps the volume and the log twice: beside the database, and in the folder
    /// `NAME-mirror`, which may be a symbolic link to one on another device. Writes and syncs go to
    /// both copies, a read goes to one: `idle` chooses the copy with fewer reads under way and,
    /// of two alike, the nearer; `nearer` the one whose last read ended nearer; `first` the
    /// first always, so that it has the cost and not the gain. Every page read is checked, and one
    /// that is damaged is read from the other copy and mended.
    /// **What it buys.** One device may be lost while the database is used, and be filled again
    /// while it is used. Two reads at once have two devices.
    /// **What it costs.** Twice the bytes written; each sync waits for the slower device, and each
    /// page read is summed once more. A database that is opened with another value than before
    /// stays what it is: `off` leaves the second copy behind, and to fill it again copies
    /// everything.
    /// **What a crash can lose.** Nothing, also together with one of the devices.
    /// **Do not combine with.** Two folders on one device, where it is safety or speed that is
    /// wanted: they are lost together and read no faster than one.
    /// **Source.** The mirrored disks of the Intelligent Database Machine, of which the nearer was
    /// read: Simon, "Mirrored Disk Performance", Britton Lee, 1985; which copy to read: Bitton and
    /// Gray, "Disk Shadowing", VLDB 1988.
    "mirror" Mirroring {
        /// One copy.
        Off = "off",
        /// Two; the one with fewer reads under way is read.
        Idle = "idle",
        /// Two; the one whose last read ended nearer is read.
        Nearer = "nearer",
        /// Two; the first is read.
        First = "first",
    }
}
