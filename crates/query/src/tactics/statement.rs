//! `statement`: whether a text that comes again is known.

use lode::tactics::describe::named_tactic;

named_tactic! {
    /// **What it does.** Decides what becomes of a text once it has run. `kept`: of the last 256
    /// texts what they were read as stays, with their plans and compiled code, until the catalog
    /// says otherwise of a relation that they name. `text`: nothing stays, so that every text is
    /// read, checked, planned and compiled each time. A prepared statement keeps its own under
    /// both.
    /// **What it buys.** `kept`: a text that comes again begins at once. `text`: what a command
    /// costs that nobody has sent before.
    /// **What it costs.** `kept`: the memory of 256 texts, and of their code. `text`: reading and
    /// planning, which is most of a short command, and with `execution=compiled` a millisecond.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** Nothing.
    /// **Source.** "The parse-at-run-time strategy is one of the major mistakes in the design":
    /// Stonebraker and others, "Performance Enhancements to a Relational Database System",
    /// UCB/ERL M81/62, 1981, section 1.1.
    "statement" Texts {
        /// Keep the plans and the code of the last texts.
        Kept = "kept",
        /// Every text anew.
        Text = "text",
    }
}
