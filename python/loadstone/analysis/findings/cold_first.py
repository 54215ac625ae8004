"""A cold row's difference beside that of the same two variants when warm: whether it is there only
the first time, or always.

    cold difference = what is there warm, too + what only the first statement of a new process takes

The second part is the work of once: reading files, opening the catalog, touching code and memory
that no statement has touched, planning what stays planned. Of proved cold cells with three samples
or more, each of the slowest longer than each of the fastest by more than what counts as equal, and
both variants warm with an interval. A part is named where it is more than half of the difference in
every pair of cold samples and at either bound of the warm times.

The part that is there warm, too, has the warm row's cause, and its grade: `unexplained` where that
row has none.

False where the warm statement is another one (a plan that is made anew for the warm caches), or
where a warm statement does less because an earlier one kept its result.
"""

from collections.abc import Iterator
from math import log

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.cold_spent import apart_when_cold, typical_ns
from loadstone.analysis.findings.distance import measured
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, Finding, Grade, Number, terms_of
from loadstone.analysis.findings.said import beyond_all, said_longer, said_part
from loadstone.analysis.summary import Row
from loadstone.statistics.arithmetic import less
from loadstone.statistics.estimate import Estimate
from loadstone.studies.plan_shape import same_plans
from loadstone.text.numbers import number, times

RULE = "first"
ALWAYS, ONCE = "as when warm", "only the first time"


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each cold row whose two variants are measured warm, too."""
    warm = {(row.operation.name, row.rows): row for row in seen.rows if row.temperature == "warm"}
    for row in seen.rows:
        beside = warm.get((row.operation.name, row.rows))
        if row.temperature == "cold" and beside is not None:
            found = _of(seen, row, beside)
            if found:
                yield found


def _of(seen: Evidence, row: Row, beside: Row) -> Finding | None:
    pair = apart_when_cold(row)
    if pair is None:
        return None
    warm = {figure.cell.variant: figure for figure in measured(beside)}
    both = [warm.get(figure.cell.variant) for figure in pair]
    slow, fast = (figure.elapsed_ns if figure else None for figure in both)
    if slow is None or fast is None or None in (slow.low, slow.high, fast.low, fast.high):
        return None
    if not all(_one_plan(seen, one, other) for one, other in zip(pair, both, strict=True)):
        return None
    always_ns = less(slow, fast)
    always = _share(pair, always_ns)
    once = Estimate(1 - always.value, 1 - (always.high or 0.0), 1 - (always.low or 0.0))
    for kind, share in ((ALWAYS, always), (ONCE, once)):
        if share.low is not None and share.low > MOST:
            return _finding(seen, pair, kind, share, always_ns)
    return None


def _one_plan(seen: Evidence, cold: CellSummary, warm: CellSummary | None) -> bool:
    """A plan that is another one when warm makes it another statement; one that is not reported
    does not."""
    return (
        warm is not None and same_plans(seen.statements(cold), seen.statements(warm)) is not False
    )


def _share(pair: tuple[CellSummary, CellSummary], always_ns: Estimate) -> Estimate:
    """Of the difference of the cold medians; its bounds are the widest."""
    slow, fast = (figure.samples for figure in pair)
    longer = [one.elapsed_ns - other.elapsed_ns for one in slow for other in fast]
    low, high = always_ns.low or 0.0, always_ns.high or 0.0
    bounds = [bound / ns for bound in (low, high) for ns in (min(longer), max(longer))]
    whole = typical_ns(pair[0]) - typical_ns(pair[1])
    return Estimate(always_ns.value / whole, min(bounds), max(bounds))


def _finding(
    seen: Evidence,
    pair: tuple[CellSummary, CellSummary],
    kind: str,
    share: Estimate,
    always_ns: Estimate,
) -> Finding:
    slow, fast = pair
    names = [seen.whole.labels[figure.cell.variant] for figure in pair]
    ratio = typical_ns(slow) / typical_ns(fast)
    words = f"{said_part(share)} is "
    words += (
        "there when warm, too" if kind == ALWAYS else "there the first time only, not when warm"
    )
    counts = f"{number(len(slow.samples))} and {number(len(fast.samples))}"
    return Finding(
        rule=RULE,
        kind=kind,
        grade=Grade.UNEXPLAINED if kind == ALWAYS else Grade.CONSISTENT,
        operation=slow.cell.operation,
        rows=slow.cell.rows,
        temperature=slow.cell.temperature,
        variant=slow.cell.variant,
        against=fast.cell.variant,
        brief=f"{names[0]} ~{times(ratio)}: {words}",
        sentence=f"Cold, each sample of {names[0]} takes longer than each of {names[1]}, in the"
        f" medians ~{times(ratio)} ({counts} samples); warm it takes {said_longer(always_ns)}:"
        f" {words}.{beyond_all(share)}",
        numbers=(
            Number("ratio", Estimate(ratio), "ratio"),
            Number("difference when warm", always_ns, "ns"),
            Number(f"{kind}, least and most of all pairs", share, "share"),
        ),
        cells=(
            *(figure.cell.key for figure in pair),
            *(figure.cell.key.removesuffix("cold") + "warm" for figure in pair),
        ),
        terms=terms_of(seen.whole.labels, pair),
        weight=log(ratio) * MOST,
        answers=True,
    )
