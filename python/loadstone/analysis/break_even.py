"""After how many tuples a value of a tactic pays off, of a study at several scales.

A statement is a start and a cost of each tuple. Some values of a tactic start later and take less
for each: where code is made first, say. Both come from one operation's times at the smallest and
at the largest scale; two values are compared block by block.

False where the time of a statement is no straight line over the scale: a scale between at which
two values differ otherwise than their line says is named.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import exp
from statistics import median

from loadstone.plan.role import Role
from loadstone.record.model import BELIEVED, CellResult, Run
from loadstone.statistics.estimate import CONFIDENCE, Estimate, centre
from loadstone.studies.design import BASE, all_combinations, of_operation
from loadstone.studies.design import Combination as Flipped
from loadstone.studies.observations import Block
from loadstone.studies.view import StudyMap, blocks
from loadstone.text.numbers import NS_PER_MS


@dataclass(frozen=True, slots=True)
class Crossing:
    """`value` None: never; `low` None: no interval, or never within it; `high` None: perhaps never.
    0 where it is ahead from the start. Differences are of the other side less the first, in the
    unit of the times."""

    value: float | None
    low: float | None
    high: float | None
    small: int
    large: int
    at_small: Estimate
    at_large: Estimate

    @property
    def is_only_first(self) -> bool:
        """Whether it is ahead at the small size and no more later."""
        return self.value is None and self.at_small.value < 0

    @property
    def extrapolated(self) -> bool:
        """Whether it lies beyond the largest size, where nothing was measured."""
        return self.value is not None and self.value > self.large

    def predicted(self, size: int) -> Estimate:
        """The difference that the line has at a size between the two."""
        share = (size - self.small) / (self.large - self.small)

        def at(small: float | None, large: float | None) -> float | None:
            return None if small is None or large is None else small + (large - small) * share

        value = at(self.at_small.value, self.at_large.value)
        assert value is not None  # noqa: S101 - both values are known
        low = at(self.at_small.low, self.at_large.low)
        return Estimate(value, low, at(self.at_small.high, self.at_large.high))


@dataclass(frozen=True, slots=True)
class ValueCost:
    """A value: `start_ns` is its statement's time at the smallest scale, `each_ns` what each
    further tuple takes, `compile_ns` the part of the start in which code was made (median; None if
    the engine does not count it, or made none)."""

    value: str
    start_ns: Estimate
    each_ns: Estimate
    compile_ns: float | None

    @property
    def each_ns_most(self) -> float | None:
        """Of a value whose further tuple may take nothing: what it takes at the most; else None."""
        low, high = self.each_ns.low, self.each_ns.high
        return max(high or 0.0, 0.0) if low is not None and low <= 0 else None


@dataclass(frozen=True, slots=True)
class BreakEven:
    """From how many tuples on `fast` takes less time than `slow`."""

    slow: str
    fast: str
    tuples: Crossing
    """Differences in ns."""
    bent: tuple[int, ...] = ()
    """The scales between at which the difference is not that of the line, by both intervals."""


@dataclass(frozen=True, slots=True)
class Paying:
    """The values of one tactic on one operation, in the study's order, the base first."""

    operation: str
    tactic: str
    scales: tuple[int, ...]
    values: tuple[ValueCost, ...]
    pairs: tuple[BreakEven, ...]
    """Each of two values: both ways."""

    def pair(self, slow: str, fast: str) -> BreakEven | None:
        """From how many tuples on one value is ahead of the other; None of a value and itself."""
        return next((one for one in self.pairs if (one.slow, one.fast) == (slow, fast)), None)


def break_evens(run: Run, found: StudyMap) -> tuple[Paying, ...]:
    """Of every operation that a study has at several scales: every tactic of more than two values,
    and every other of which one value surely starts later than the other and overtakes it."""
    results: dict[tuple[str, int], dict[str, CellResult]] = defaultdict(dict)
    for result in run.results:
        if result.status in BELIEVED and result.samples:
            results[result.cell.operation, result.cell.rows][result.cell.variant] = result
    names = dict.fromkeys(cell.operation for cell in run.plan.cells)
    made = []
    for name in names:
        scales = sorted(rows for operation, rows in results if operation == name)
        if len(scales) > 1:
            at = {
                rows: _Measured.of(run, found, name, rows, results[name, rows]) for rows in scales
            }
            tactics = dict.fromkeys(switch.tactic for switch in found.study.switches)
            made += [one for tactic in tactics if (one := _paying(found, name, tactic, at))]
    return tuple(made)


@dataclass(frozen=True, slots=True)
class Unreported:
    """An operation that was studied at several scales with more than two values of a tactic, and of
    which nothing is reported: so many of its cells at the smallest and the largest scale are out of
    order, or were not measured."""

    operation: str
    tactic: str
    scales: tuple[int, int]
    amiss: int
    cells: int


def unreported(run: Run, found: StudyMap, paying: Sequence[Paying]) -> tuple[Unreported, ...]:
    """Comparisons whose break-evens were requested and `paying`, the run's, has none; and why."""
    tactics = dict.fromkeys(each.tactic for each in found.study.switches if each.further)
    reported = {(one.operation, one.tactic) for one in paying}
    fit = {r.cell.key for r in run.results if r.status in BELIEVED and r.samples}
    places: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for cell in run.plan.cells:
        if run.plan.role_of(cell.variant) is Role.COMPETITOR:
            places[cell.operation][cell.rows].append(cell.key)
    missed = []
    for name, at in places.items():
        ends = min(at), max(at)
        keys = [*at[ends[0]], *at[ends[1]]]
        if len(at) > 1:
            amiss = sum(key not in fit for key in keys)
            missed += [
                Unreported(name, tactic, ends, amiss, len(keys))
                for tactic in tactics
                if (name, tactic) not in reported
            ]
    return tuple(missed)


@dataclass(frozen=True, slots=True)
class _Measured:
    """An operation at one scale: its blocks, and the compile time of each combination."""

    blocks: Sequence[Block]
    compile_ns: Mapping[Flipped, float]

    @staticmethod
    def of(
        run: Run, found: StudyMap, name: str, rows: int, results: Mapping[str, CellResult]
    ) -> "_Measured":
        decided = of_operation(run.decisions, name, rows)
        combinations = all_combinations(found.study, decided)
        made = {}
        for each in combinations:
            samples = results[each.variant].samples if each.variant in results else ()
            counted = [one.compile_ns for one in samples if one.compile_ns]
            if counted:
                made[frozenset(each.flipped)] = float(median(counted))
        return _Measured(blocks(combinations, results), made)

    def times_ns(self, combination: Flipped) -> list[float]:
        """Of each block that has it."""
        return [
            exp(block[combination]) * NS_PER_MS for block in self.blocks if combination in block
        ]

    def differences_ns(self, slow: Flipped, fast: Flipped) -> list[float]:
        """The time of `fast` less that of `slow`, of each block that has both."""
        return [
            (exp(block[fast]) - exp(block[slow])) * NS_PER_MS
            for block in self.blocks
            if {slow, fast} <= block.keys()
        ]


def _paying(
    found: StudyMap, operation: str, tactic: str, at: Mapping[int, _Measured]
) -> Paying | None:
    own = [switch for switch in found.study.switches if switch.tactic == tactic]
    values = {own[0].base: BASE} | {each.other: frozenset({each.key}) for each in own}
    scales = tuple(at)
    measured = {
        value: flipped
        for value, flipped in values.items()
        if all(at[rows].times_ns(flipped) for rows in (scales[0], scales[-1]))
    }
    if len(measured) < 2:
        return None
    pairs = tuple(
        _break_even(slow, fast, {rows: one.differences_ns(values[slow], values[fast])
                                 for rows, one in at.items()})
        for slow, fast in permutations(measured, 2)
    )  # fmt: skip
    several = any(switch.further for switch in own)
    if not several and not any((one.tuples.low or 0) > scales[0] for one in pairs):
        return None
    costs = tuple(_cost(value, flipped, at) for value, flipped in measured.items())
    return Paying(operation, tactic, scales, costs, pairs)


def _cost(value: str, flipped: Flipped, at: Mapping[int, _Measured]) -> ValueCost:
    small, *_, large = at
    first, last = (centre(at[rows].times_ns(flipped), CONFIDENCE) for rows in (small, large))
    span = large - small
    bounds = [b for b in (first.low, first.high, last.low, last.high) if b is not None]
    low, high = (
        ((bounds[2] - bounds[1]) / span, (bounds[3] - bounds[0]) / span)
        if len(bounds) == 4
        else (None, None)
    )
    each = Estimate((last.value - first.value) / span, low, high)
    return ValueCost(value, first, each, at[small].compile_ns.get(flipped))


def _break_even(slow: str, fast: str, differences_ns: Mapping[int, Sequence[float]]) -> BreakEven:
    small, *between, large = differences_ns
    found = crossing(small, differences_ns[small], large, differences_ns[large])
    bent = tuple(rows for rows in between if _bends(found, rows, differences_ns[rows]))
    return BreakEven(slow, fast, found, bent)


def _bends(found: Crossing, rows: int, differences_ns: Sequence[float]) -> bool:
    """Whether what was measured at a scale lies apart from what the line says of it."""
    if not differences_ns:
        return False
    line = found.predicted(rows)
    own = centre(differences_ns, CONFIDENCE)
    if line.low is None or line.high is None or own.low is None or own.high is None:
        return False
    return own.low > line.high or own.high < line.low


def crossing(
    small: int, at_small: Sequence[float], large: int, at_large: Sequence[float]
) -> Crossing:
    """Of the differences of both sides' times, block by block, at a small and at a large size."""
    if not 0 <= small < large:
        raise ValueError(f"a break-even needs a small and a large size, not {small} and {large}")
    # Each of the two differences errs half as often as the break-even.
    confidence = 1 - (1 - CONFIDENCE) / 2
    first, last = centre(at_small, confidence), centre(at_large, confidence)
    value = _root(small, first.value, large, last.value)
    bounds = [b for b in (first.low, first.high, last.low, last.high) if b is not None]
    if len(bounds) < 4:
        return Crossing(value, None, None, small, large, first, last)
    corners = [_root(small, d0, large, d1) for d0 in bounds[:2] for d1 in bounds[2:]]
    known = [root for root in corners if root is not None]
    return Crossing(
        value=value,
        low=min(known, default=None),
        high=max(known) if len(known) == len(corners) else None,
        small=small,
        large=large,
        at_small=first,
        at_large=last,
    )


def _root(small: int, at_small: float, large: int, at_large: float) -> float | None:
    """The place where the line reaches 0 on its way down; 0 where it is below from the start, None
    where it is not on its way down."""
    if at_small <= 0 and at_large <= 0:
        falling = at_small - at_large
        return max(small + (large - small) * at_small / falling, 0.0) if falling > 0 else 0.0
    if at_large >= at_small:
        return None
    return max(small + (large - small) * at_small / (at_small - at_large), 0.0)
