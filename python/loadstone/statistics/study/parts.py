"""The parts that a study flips, and the combinations of them that it measures."""

from collections.abc import Iterable, Mapping, Sequence

Combination = frozenset[str]
"""The switches (tactics) that are at their other value; all others are at base."""
Parts = Mapping[str, Combination]
"""Name -> the switches flipped together: one, or a group. No two parts have a switch in common.
Where an order matters (a walk, a waterfall), it is the order of this mapping."""

BASE: Combination = frozenset()
"""Every switch at its base value."""


def parts_of(switches: Iterable[str]) -> Parts:
    """Each switch a part of its own, under its own name."""
    return {switch: frozenset({switch}) for switch in switches}


def grouped(switches: Iterable[str], groups: Mapping[str, Sequence[str]]) -> Parts:
    """Each group of switches one part, in the groups' order; then each switch that is in none."""
    found: Parts = {name: frozenset(members) for name, members in groups.items()}
    taken = every(found)
    return {**found, **parts_of(switch for switch in switches if switch not in taken)}


def opened(parts: Parts, names: Iterable[str]) -> Parts:
    """The parts named replaced by their switches, each a part of its own."""
    chosen = frozenset(names)
    found: dict[str, Combination] = {}
    for name, members in parts.items():
        found.update(parts_of(sorted(members)) if name in chosen else {name: members})
    return found


def every(parts: Parts) -> Combination:
    """The combination with all parts flipped: the other end of a study."""
    return frozenset().union(*parts.values())
