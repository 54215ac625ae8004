"""The ladder of statements: where one statement's time goes, found by timing simpler statements.

    an empty request -> a constant -> planned -> counted -> uncommitted -> the statement itself

Each rung does what the one below does, and one thing more, so that the differences add up to the
statement's time. Which rungs there are follows from where the rows go: to the client, to a file,
into a relation, or, of an update, nowhere.
"""

from dataclasses import dataclass

from loadstone.plan.presentation import Step

EMPTY, CONSTANT, PLANNED = "empty", "constant", "planned"
COUNTED, UNCOMMITTED, WHOLE = "counted", "uncommitted", "whole"
RUNGS = (EMPTY, CONSTANT, PLANNED, COUNTED, UNCOMMITTED, WHOLE)
"""The lowest first."""
WATCHED, UNWATCHED = "watched", "unwatched"
"""The statement itself with the sampler, and without: no rungs, but measured in the same blocks."""

UNCLASSIFIED = "unclassified"
"""The component of functions that no rule claims."""
KERNEL_PREFIX = "kernel: "
"""The beginning of the names of the kernel's components."""

WARMED_NS_MAX = 50_000_000
"""A statement that takes longer fills the caches in its first run, so that this run counts."""

_ABOVE_THE_PLAN = {
    "client": (COUNTED, WHOLE),
    "file": (COUNTED, WHOLE),
    "relation": (COUNTED, UNCOMMITTED, WHOLE),
    "update": (UNCOMMITTED, WHOLE),
}
_NAMES = {
    EMPTY: ("an empty request", "the way to the engine and back"),
    CONSTANT: ("a constant, prepared", "executing a statement"),
    PLANNED: ("parsed and planned", "parsing and planning"),
    COUNTED: ("its rows counted", "finding the rows"),
}
_UNCOMMITTED = {
    "relation": ("into a relation, taken back", "writing the relation"),
    "update": ("the change, taken back", "finding and changing the tuples"),
}
_WHOLE = {
    "client": ("its rows to the client", "making the rows, and their way to the client"),
    "file": ("its rows to a file", "making the rows, their way to the client, and writing them"),
    "relation": ("into a relation, committed", "the durable commit"),
    "update": ("the change, committed", "the durable commit"),
}


@dataclass(frozen=True, slots=True)
class StatementRung:
    """A rung of one operation's ladder, by its name in the record, and in words."""

    rung: str
    step: Step


def rungs_of(destination: str, operation: str = "") -> tuple[StatementRung, ...]:
    """The ladder of an operation, the lowest rung first; empty for a destination without one."""
    above = _ABOVE_THE_PLAN.get(destination, ())
    names = (EMPTY, CONSTANT, PLANNED, *above) if above else ()
    return tuple(StatementRung(name, _step(name, destination, operation)) for name in names)


def _step(name: str, destination: str, operation: str) -> Step:
    words = {UNCOMMITTED: _UNCOMMITTED, WHOLE: _WHOLE}.get(name)
    title, attributed = words[destination] if words else _NAMES[name]
    return Step(operation, 1, title, attributed)
