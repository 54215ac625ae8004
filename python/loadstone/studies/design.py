"""Which combinations a study measures: by its plan at first, and after each decision.

Every design has both ends, and every block measures all combinations of the design once, so that
each effect is a contrast within one block. For k parts, k >= 4: `two_ended` has 2k + 2
combinations, `walk` (there and back) 2k, both together 4k - 4, `factorial` 2^k.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from loadstone.plan.plan import Plan
from loadstone.plan.study import HELD, OPENED, PRUNED, TAKEN_APART, Decision, Study
from loadstone.plan.study import Combination as Planned

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


PARTS_MAX = 8
"""With more parts, groups of them are flipped first (`grouped`)."""


def two_ended(parts: Parts) -> tuple[Combination, ...]:
    """Base; each part alone; all but each part; all."""
    end = every(parts)
    alone = parts.values()
    return _once([BASE, *alone, *(end - part for part in alone), end])


def walk(parts: Parts) -> tuple[Combination, ...]:
    """From base to the other end, one part more at each step: in the order of the parts, and in
    the reverse order."""
    order = list(parts.values())
    return _once([*_prefixes(order), *_prefixes(order[::-1])])


def two_ended_and_walk(parts: Parts) -> tuple[Combination, ...]:
    """Both, for a cross-check of each share."""
    return _once([*two_ended(parts), *walk(parts)])


def factorial(parts: Parts, held: Combination = BASE) -> tuple[Combination, ...]:
    """Every combination of the parts, the switches of `held` at their other value in all."""
    chosen = parts.values()
    sizes = range(len(parts) + 1)
    return _once(held.union(*some) for size in sizes for some in combinations(chosen, size))


def confirming(parts: Parts) -> tuple[Combination, ...]:
    """Each part alone: the one combination that a part keeps whose work counters are zero at both
    ends."""
    return _once(parts.values())


def _prefixes(order: Sequence[Combination]) -> list[Combination]:
    return [BASE.union(*order[:length]) for length in range(len(order) + 1)]


def _once(chosen: Iterable[Combination]) -> tuple[Combination, ...]:
    return tuple(dict.fromkeys(chosen))


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


GROUP_SUFFIX = " switches"
"""Of a group's name as a part: `log` is a tactic, too."""


def first_design(study: Study, name: str) -> Design:
    """Of every operation: each switch a part, or, where the study is screened, each group."""
    names = [switch.key for switch in study.switches if not switch.further]
    further = parts_of(switch.key for switch in study.switches if switch.further)
    return Design(name, _screened(study) if study.screened else parts_of(names), {}, further)


def design_after(plan: Plan, study: Study, decisions: Iterable[Decision]) -> Design:
    """Of an operation of which these decisions were made."""
    found = first_design(study, plan.design)
    for one in decisions:
        if one.kind == HELD:
            found = found.holding(one.tactics)
        elif one.kind == PRUNED:
            found = found.pruning(one.tactics)
        elif one.kind == OPENED:
            found = found.opening(one.tactics)
    return found


def of_operation(decisions: Iterable[Decision], operation: str, rows: int) -> tuple[Decision, ...]:
    """Those about one operation at one scale."""
    return tuple(one for one in decisions if (one.operation, one.rows) == (operation, rows))


def taken_apart(decisions: Iterable[Decision]) -> Decision | None:
    """That which has all combinations of three measured, or calls for it."""
    return next((one for one in decisions if one.kind == TAKEN_APART), None)


def all_combinations(study: Study, decisions: Iterable[Decision]) -> tuple[Planned, ...]:
    """The plan's, and those that decisions added, each once."""
    return tuple(dict.fromkeys(_all(study, decisions)))


def _all(study: Study, decisions: Iterable[Decision]) -> Iterator[Planned]:
    yield from study.combinations
    for one in decisions:
        yield from one.combinations


def _screened(study: Study) -> Parts:
    groups: dict[str, list[str]] = {}
    ends = [switch for switch in study.switches if not switch.further]
    for switch in ends:
        if switch.group:
            groups.setdefault(switch.group, []).append(switch.key)
    named = {f"{name}{GROUP_SUFFIX}": own for name, own in groups.items() if len(own) > 1}
    return grouped((switch.key for switch in ends), named)
