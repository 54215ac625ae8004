"""The component that a difference is made in, by the sampled time budgets of both sides.

Named where both budgets close, the sampler cost neither more than 5 %, and the watched statements
differ by what the row does (within a third); and where, with certainty, the component is more than
half of the difference. Functions that no component claims, and what the samples miss, are none.

False where functions are put to the wrong component, and where a component of the one does the work
that another name stands for in the other.
"""

from collections.abc import Iterator

from loadstone.analysis.budget import ASLEEP, COMPONENT, KERNEL, WAITING, BudgetRow, CellBudget
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, Finding, Number
from loadstone.analysis.findings.said import said_ns, said_part, said_ratio
from loadstone.plan.budget_words import UNCLASSIFIED
from loadstone.statistics.estimate import Estimate

RULE = "components"
OBSERVER_MAX = 1.05
ALIKE = 1 / 3
"""The distance that the watched statements' difference may have from the row's, as a share of
it."""
NAMED = (COMPONENT, KERNEL, WAITING, ASLEEP)


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each distance of two budgets."""
    for far in seen.far():
        slow, fast = seen.budget(far.slow), seen.budget(far.fast)
        if slow is None or fast is None or not (_sound(slow) and _sound(fast)):
            continue
        longer_ns = slow.elapsed_ns - fast.elapsed_ns
        if abs(longer_ns - far.ns.value) > ALIKE * far.ns.value:
            continue
        beside = {(row.kind, row.name): row for row in fast.rows}
        shares = [
            (row, _share(slow, row, fast, beside.get((row.kind, row.name)), longer_ns))
            for row in slow.rows
            if row.kind in NAMED and row.name != UNCLASSIFIED
        ]
        most = [each for each in shares if each[1].low is not None and each[1].low > MOST]
        if most:
            yield _finding(far, *most[0])


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


def _share(
    slow: CellBudget, row: BudgetRow, fast: CellBudget, other: BudgetRow | None, longer_ns: float
) -> Estimate:
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
