"""The design of a study: a plan whose variants differ in the switches of one engine.

A **switch** is a tactic with two values, its base and its other one; a tactic that has more values
is a switch for each. A **combination** is the set of the switches that are at their other value: a
variant of the plan. The base has none there, the other end all of them but further values.
"""

from dataclasses import dataclass
from typing import Annotated

from loadstone.text.kinds import Json, Name, Ordinal, Scale, Words
from loadstone.text.shape import one_of


@dataclass(frozen=True, slots=True)
class Switch:
    """A tactic, its base value, and its other value."""

    tactic: str
    base: str
    other: str
    group: str = ""
    """The group of mechanisms that it belongs to, as its engine declares: `storage`,
    `execution`."""
    counters: tuple[str, ...] = ()
    """Fields of a sample that count its work: where all are 0, it has nothing to change."""
    further: bool = False
    """Whether it is a further value of a tactic that a switch before it has: measured alone, and at
    base at the other end."""

    @property
    def key(self) -> str:
        """Its name in its study: the tactic, and a further value with it."""
        return f"{self.tactic}={self.other}" if self.further else self.tactic

    @property
    def name(self) -> str:
        """As in the command of a study: `join=hash,merge`."""
        return f"{self.tactic}={self.base},{self.other}"


@dataclass(frozen=True, slots=True)
class Combination:
    """A variant of the plan, and the switches, by key, that it has at their other value, in the
    order of the study's."""

    variant: str
    flipped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Study:
    """The switches of a plan, and the combinations with which each operation begins, the base
    first. An A/A control of the base is not among them."""

    switches: tuple[Switch, ...]
    combinations: tuple[Combination, ...]
    screened: bool = False
    """Whether the switches of a group are flipped together at first, since there are many."""
    steered: bool = False
    """Whether an operation's own blocks decide what else is measured, and what is not
    (`studies/steering.py`). The rule is the plan's, the decisions are in the record."""

    @property
    def base(self) -> str:
        """The variant that has every switch at its base value."""
        return self.combinations[0].variant


HELD, PRUNED, OPENED, TAKEN_APART = "held", "pruned", "opened", "taken apart"
DECISIONS = (HELD, PRUNED, OPENED, TAKEN_APART)
"""The possible decisions on an operation's tactics: they are left at base at the other end, because
with them a statement takes too long, or relations would have to be loaded anew (held), or because
they have no work to change (pruned); the switches of a group are flipped one by one (opened); all
combinations of three are measured."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision about one operation at one scale, made from the operation's own blocks."""

    operation: Name
    rows: Scale
    kind: Annotated[str, one_of(DECISIONS)]
    tactics: Annotated[tuple[str, ...], Json(1 << 16)]
    """Its subject: tactics, or the groups that are opened."""
    blocks: Ordinal
    """The blocks that it follows from: all that were complete then. The first combinations of the
    first block, each once, decide what is held and pruned: 0."""
    reason: Words
    combinations: Annotated[tuple[Combination, ...], Json(1 << 20)] = ()
    """The combinations measured from then on that the plan does not list. Of `TAKEN_APART`, none
    where time was short."""
    undone: bool = False
    """Whether it was called for, and not carried out."""
