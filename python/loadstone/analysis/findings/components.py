"""The component that a difference is made in, by the sampled time budgets of both sides.

Named where both budgets close, the sampler cost neither more than 5 %, and the watched statements
differ by what the row does (within a third); and where, with certainty, the component is more than
half of the difference. Functions that no component claims, and what the samples miss, are none.
Where no component alone is, the fewest sampled ones that together are may be: two or three, of
which each certainly takes the slowest longer.

False where functions are put to the wrong component, and where a component of the one does the work
that another name stands for in the other.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations

from loadstone.analysis.budget import (
    ASLEEP,
    COMPONENT,
    KERNEL,
    WAITING,
    BudgetRow,
    CellBudget,
    together,
)
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, TOGETHER_MAX, Finding, Number
from loadstone.analysis.findings.said import said_ns, said_part, said_ratio
from loadstone.plan.statement_ladder import KERNEL_PREFIX, UNCLASSIFIED
from loadstone.statistics.estimate import Estimate

RULE = "components"
OBSERVER_MAX = 1.05
ALIKE = 1 / 3
"""The distance that the watched statements' difference may have from the row's, as a share of
it."""
SAMPLED = (COMPONENT, KERNEL)
NAMED = (*SAMPLED, WAITING, ASLEEP)
AROUND = (KERNEL_PREFIX, "libc calls to the kernel", "Python and driver")
"""A program is watched with what is around its loop: there counters are read, in Python and through
the kernel."""
Shared = tuple[BudgetRow, Estimate]
"""A row of the slowest, and its share of the difference."""


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each distance of two budgets: a component by itself."""
    for far, slow, fast in _comparable(seen):
        most = _alone(slow, fast)
        if most:
            yield _finding(far, *most[0])


def find_together(seen: Evidence) -> Iterator[Finding]:
    """At most one for each distance of two budgets: the fewest components that together are
    certainly most of the difference where none alone is; of as many those of the largest share."""
    for far, slow, fast in _comparable(seen):
        if _alone(slow, fast):
            continue
        around = AROUND if any(one.calls is not None for one in far.slow.samples) else ()
        longer = [
            row.name
            for row, share in _named(slow, fast)
            if (share.low or 0.0) > 0 and not row.name.startswith(around)
        ]
        for count in range(2, TOGETHER_MAX + 1):
            sums = [_sum(slow, fast, names) for names in combinations(longer, count)]
            most = _most(each for each in sums if each)
            if most:
                yield _finding(far, *max(most, key=lambda each: each[1].value))
                break


def _comparable(seen: Evidence) -> Iterator[tuple[Distance, CellBudget, CellBudget]]:
    """The distances whose two budgets are sound, and show what the row does."""
    for far in seen.far():
        slow, fast = seen.budget(far.slow), seen.budget(far.fast)
        if slow is None or fast is None or not (_sound(slow) and _sound(fast)):
            continue
        longer_ns = slow.elapsed_ns - fast.elapsed_ns
        if abs(longer_ns - far.ns.value) <= ALIKE * far.ns.value:
            yield far, slow, fast


def _alone(slow: CellBudget, fast: CellBudget) -> list[Shared]:
    return _most(_named(slow, fast, NAMED))


def _named(
    slow: CellBudget, fast: CellBudget, kinds: Collection[str] = SAMPLED
) -> Iterator[Shared]:
    beside = {row.key: row for row in fast.rows}
    for row in slow.rows:
        if row.kind in kinds and row.name != UNCLASSIFIED:
            yield row, _share(slow, row, fast, beside.get(row.key))


def _sum(slow: CellBudget, fast: CellBudget, names: Collection[str]) -> Shared | None:
    row = together(slow, names)
    return (row, _share(slow, row, fast, together(fast, names))) if row else None


def _most(shares: Iterable[Shared]) -> list[Shared]:
    return [each for each in shares if each[1].low is not None and each[1].low > MOST]


def _sound(budget: CellBudget) -> bool:
    return bool(
        budget.closes and (budget.observer is None or budget.observer.value <= OBSERVER_MAX)
    )


def _bounds(budget: CellBudget, row: BudgetRow | None) -> tuple[float, float, float]:
    """A row's ns with its bounds; one that was counted by clocks has none of its own."""
    if row is None:
        return 0.0, 0.0, 0.0
    low = row.share if row.share_low is None else row.share_low
    high = row.share if row.share_high is None else row.share_high
    return row.elapsed_ns, low * budget.elapsed_ns, high * budget.elapsed_ns


def _share(slow: CellBudget, row: BudgetRow, fast: CellBudget, other: BudgetRow | None) -> Estimate:
    longer_ns = slow.elapsed_ns - fast.elapsed_ns
    own, beside = _bounds(slow, row), _bounds(fast, other)
    return Estimate(
        (own[0] - beside[0]) / longer_ns,
        (own[1] - beside[2]) / longer_ns,
        (own[2] - beside[1]) / longer_ns,
    )


def _finding(far: Distance, row: BudgetRow, share: Estimate) -> Finding:
    slow, fast = far.names
    words = f"{said_part(share)} is {row.name}"
    most = f", most often in {row.functions[0][0]}" if row.functions else ""
    return far.finding(
        RULE,
        row.name,
        brief=words,
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}, {said_ns(far.ns)}"
        f" longer: {words}{most}, as sampled.",
        numbers=(
            Number("difference", far.ns, "ns"),
            Number(row.name, share, "share"),
        ),
        share=share,
    )
