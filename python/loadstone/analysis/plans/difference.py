"""What differs between two plans: the operators of each side that the other has not.

Plans of one engine are compared operator by operator with what they read, and in their order. Plans
of two engines are compared by topic (how they join, read, group, sort, what they keep), and only on
those that both write down. A plan that was not fully read is not compared.

False where an engine executes another plan than the one it shows, and where its operators do other
work than their names say.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadstone.analysis.plans.operators import (
    ALIKE,
    PASSING,
    PROJECTION,
    SINGLE,
    TOPICS,
    Operator,
    ReadPlan,
    read,
)
from loadstone.plan.variant import engine_of
from loadstone.record.model import CellResult

ORDER = "reads in the order of"
OTHER = "other operators"
NONE = "none"
OF_RESULTS = frozenset((*PASSING, SINGLE, "subquery scan", "rows"))
"""Operators that count, project or write a result."""
DOUBTFUL = {"sorts": "window", "reads": "search of an end"}
"""Operators that leave it open whether they do what a topic is about: a window sorts by itself in
one engine, and not in another."""
SHOWN_MAX = 4
"""Operators of one side and topic that a sentence names."""


@dataclass(frozen=True, slots=True)
class Apart:
    """One topic in which two plans differ, and the operators of each side that the other lacks."""

    topic: str
    one: tuple[str, ...]
    other: tuple[str, ...]

    def words(self, one: str = "", other: str = "") -> str:
        """`joins: hash join against nested loop`; with the sides' names where they are given."""
        sides = [_listed(side) for side in (self.one, self.other)]
        if one and other:
            return f"{self.topic}: {sides[0]} in {one}, {sides[1]} in {other}"
        return f"{self.topic}: {sides[0]} against {sides[1]}"


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """Two plans beside each other. `unread` is why they could not be compared; where it is empty
    and nothing is `apart`, they name the same operators."""

    apart: tuple[Apart, ...]
    unread: str = ""
    same_engine: bool = False
    pairs: bool = False
    """Whether the first looks at each pair of rows for a join, and the second does not."""

    @property
    def is_same(self) -> bool:
        """Whether both were read to the last line, and nothing differs."""
        return not self.apart and not self.unread

    @property
    def is_another_way(self) -> bool:
        """Whether one engine joins, reads, groups, sorts or keeps in another way, or in another
        order: more than a projection or a filter in another place."""
        return self.same_engine and any(each.topic != OTHER for each in self.apart)

    def words(self, one: str = "", other: str = "") -> str:
        """What differs, that nothing does, or why that is not known."""
        if self.apart:
            return "; ".join(each.words(one, other) for each in self.apart)
        if self.unread:
            return f"the plans were not compared: {self.unread}"
        if self.same_engine:
            return "the plans name the same operators"
        return "the plans differ in nothing that both write down"


NO_PLANS = PlanDifference((), "the record has no plans of both")


def compare(one: ReadPlan, other: ReadPlan, *, named: bool = True) -> PlanDifference:
    """Two plans of one statement; without what their operators read unless `named`."""
    same_engine = one.engine == other.engine
    unread = one.unread or other.unread
    if unread:
        return PlanDifference((), unread, same_engine)
    apart = _of_one_engine(one, other, named) if same_engine else _of_two_engines(one, other)
    silent = _is_silent(other, "joins")
    pairs = bool(one.pair_joins) and not other.pair_joins and not silent
    return PlanDifference(tuple(apart), "", same_engine, pairs)


def plan_difference(one: CellResult, other: CellResult, *, named: bool = True) -> PlanDifference:
    """The plans of two cells of one operation: of the first variation in which they differ."""
    engines = engine_of(one.cell.variant), engine_of(other.cell.variant)
    plans = {text.variation: text.plan for text in other.statements}
    pairs = [(text.plan, plans[text.variation]) for text in one.statements
             if text.variation in plans]  # fmt: skip
    if not pairs:
        return NO_PLANS
    found = [compare(read(engines[0], a), read(engines[1], b), named=named) for a, b in pairs]
    return next((each for each in found if not each.is_same), found[0])


def _of_one_engine(one: ReadPlan, other: ReadPlan, named: bool) -> list[Apart]:
    first, second = (
        Counter((each.kind, each.target if named else "") for each in plan.operators)
        for plan in (one, other)
    )
    less, more = first - second, second - first
    more_than_projected = any(kind != PROJECTION for kind, _ in (*less, *more))
    apart = []
    for topic in (*TOPICS, ""):
        sides = [_counted(side, topic, more_than_projected) for side in (less, more)]
        if any(sides):
            apart.append(Apart(topic or OTHER, *sides))
    order = [tuple(_places(plan.operators)) for plan in (one, other)]
    if named and not apart and order[0] != order[1]:
        apart.append(Apart(ORDER, *order))
    return apart


def _counted(
    side: Counter[tuple[str, str]], topic: str, without_projections: bool
) -> tuple[str, ...]:
    said = []
    for (kind, target), count in side.items():
        if Operator(kind).topic == topic and not (without_projections and kind == PROJECTION):
            words = f"{kind} of {target}" if target else kind
            said.append(f"{words} ({count} times)" if count > 1 else words)
    return tuple(said)


def _places(operators: Iterable[Operator]) -> Iterable[str]:
    return (operator.target or operator.kind for operator in operators)


def _of_two_engines(one: ReadPlan, other: ReadPlan) -> list[Apart]:
    apart = []
    for topic in TOPICS:
        sides = [_on(plan, topic) for plan in (one, other)]
        silent = any(_is_silent(plan, topic) for plan in (one, other))
        if sides[0] != sides[1] and not silent:
            apart.append(Apart(topic, *sides))
    return apart


def topics_apart(plans: Mapping[str, ReadPlan]) -> dict[str, dict[str, list[str]]]:
    """For each topic in which plans differ: its operators, each with the plans that
    have it."""
    found = {}
    for topic in TOPICS:
        ways: dict[str, list[str]] = {}
        for name, plan in plans.items():
            if not _is_silent(plan, topic):
                ways.setdefault(_listed(_on(plan, topic)), []).append(name)
        if len(ways) > 1:
            found[topic] = ways
    return found


def _is_silent(plan: ReadPlan, topic: str) -> bool:
    """Whether nothing can be said of a plan in this topic."""
    unwritten = topic in plan.unwritten and not _on(plan, topic)
    return unwritten or DOUBTFUL.get(topic) in plan.kinds


def _on(plan: ReadPlan, topic: str) -> tuple[str, ...]:
    kinds = (ALIKE.get(each.kind, each.kind) for each in plan.operators if each.topic == topic)
    return tuple(sorted(set(kinds)))


def _listed(side: Sequence[str]) -> str:
    shown = " + ".join(side[:SHOWN_MAX]) if side else NONE
    left = len(side) - SHOWN_MAX
    return f"{shown} and {left} more" if left > 0 else shown


def finds_alike(engine: str, plan: str, counted: str) -> bool | None:
    """Whether a statement and one that only counts its rows find them by the same operators; None
    where that is not known. The second may have those that count besides."""
    kinds = []
    for one in (read(engine, plan), read(engine, counted)):
        if one.unread:
            return None
        kinds.append(Counter(each.kind for each in one.operators if each.kind not in OF_RESULTS))
    return kinds[0] == kinds[1] if all(kinds) else None
