"""Which combinations an operation's blocks measure, decided by their own times: each decision a
pure function of what was measured before it, so that a record can be held against it.

    scouting   each combination once, in the first block's processes, a long statement ended;
               what was ended alone is held at base at the other end; what has no work is pruned
    blocks     until every figure is known closely, or time is over
    opening    the switches of each group that does something, one by one
    taking apart   all combinations of the three largest, where three act together
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from loadstone.statistics.study.design import (
    confirming,
    factorial,
    two_ended,
    two_ended_and_walk,
    walk,
)
from loadstone.statistics.study.parts import Combination, Parts, every, opened

DESIGNS = {
    "two-ended": two_ended,
    "walk": walk,
    "both": two_ended_and_walk,
    "factorial": factorial,
}
"""The combinations of a design's parts, by its name."""


@dataclass(frozen=True, slots=True)
class Design:
    """The combinations of an operation's blocks."""

    name: str
    """One of `DESIGNS`."""
    parts: Parts
    """The parts flipped at the other end: switches, and groups that are not opened."""
    held: Parts
    """At base at both ends: with one of these alone a statement takes too long."""
    pruned: Parts
    """At base at both ends, and alone in one combination: these have no work to change, or are
    further values of a tactic that is among the parts."""

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """All of a block, the base first."""
        return (*DESIGNS[self.name](self.parts), *confirming(self.pruned))

    def holding(self, names: Collection[str]) -> "Design":
        """The same with these parts held."""
        moved = {name: self.parts[name] for name in self.parts if name in names}
        return replace(self, parts=_without(self.parts, names), held={**self.held, **moved})

    def pruning(self, names: Collection[str]) -> "Design":
        """The same with these parts pruned."""
        moved = {name: self.parts[name] for name in self.parts if name in names}
        return replace(self, parts=_without(self.parts, names), pruned={**self.pruned, **moved})

    def opening(self, names: Collection[str]) -> "Design":
        """The same with the switches of these groups as parts of their own."""
        return replace(self, parts=opened(self.parts, names))

    def is_group(self, name: str) -> bool:
        """Whether a part is a group of switches that can be opened."""
        return self.parts[name] != frozenset({name})


def to_hold(
    design: Design, times: Mapping[Combination, float], ended: Collection[Combination]
) -> str | None:
    """The part to leave at base at the other end next: the first whose statement was ended alone;
    or, where it was ended with all parts flipped, the one with the longest time alone. None where
    neither was, or nothing is left. `times`: of the combinations that came to their end."""
    for name, switches in design.parts.items():
        if switches in ended:
            return name
    if every(design.parts) not in ended or not design.parts:
        return None
    return max(design.parts, key=lambda name: times.get(design.parts[name], 0.0))


def _without(parts: Parts, names: Collection[str]) -> Parts:
    return {name: switches for name, switches in parts.items() if name not in names}
