"""The time that the slowest of a cold row spends and the fastest does not, where there are too
few samples for an interval: a cold sample costs a restart.

Only proved cells with three samples or more, each of the slowest longer than each of the fastest by
more than what counts as equal. A component is named where it is more than half of the difference in
every pair of their samples: waiting, with the bytes that both read, or computing.

False where the counters miss a process that works for the engine; and where the two are equal, and
chance put every sample of the one behind: of three and three in one row of ten.
"""

from collections.abc import Callable, Iterator
from math import log
from statistics import median

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import measured
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, Finding, Grade, Number, terms_of
from loadstone.analysis.findings.said import beyond_all, said_bytes
from loadstone.analysis.findings.spent import by_plan, computing_ns, several, waiting_ns
from loadstone.analysis.standing import NEAR
from loadstone.analysis.summary import Row
from loadstone.record.model import Sample
from loadstone.statistics.disturbance import COUNTED_NS_MIN
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import number, percent, times

RULE = "cold"
SAMPLES_MIN = 3


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each cold row without an interval."""
    for row in seen.rows:
        place = row.operation.name, row.rows, row.temperature
        if row.temperature == "cold" and place not in seen.distances:
            found = _of(seen, row)
            if found:
                yield found


def apart_when_cold(row: Row) -> tuple[CellSummary, CellSummary] | None:
    """The slowest and the fastest of a cold row, each sample of the one longer than each of the
    other by more than what counts as equal; else None."""
    reported = sorted((figure for figure in measured(row) if _fits(figure)), key=typical_ns)
    if len(reported) < 2:
        return None
    fast, slow = reported[0], reported[-1]
    least_ns = min(sample.elapsed_ns for sample in slow.samples)
    most_ns = max(sample.elapsed_ns for sample in fast.samples)
    return (slow, fast) if least_ns > NEAR * most_ns else None


def _of(seen: Evidence, row: Row) -> Finding | None:
    pair = apart_when_cold(row)
    if pair is None or any(map(several, pair)):
        return None
    slow, fast = pair
    least_ns = min(sample.elapsed_ns for sample in slow.samples)
    if least_ns - max(sample.elapsed_ns for sample in fast.samples) < COUNTED_NS_MIN:
        return None
    if share := _most(slow, fast, waiting_ns):
        kind, more, grade = "waiting", _read(seen, slow, fast), Grade.CONSISTENT
    elif share := _most(slow, fast, computing_ns):
        plans = seen.plans_apart(slow, fast)
        grade, kind = by_plan(plans)
        names = [seen.whole.labels[figure.cell.variant] for figure in pair]
        more = plans.words(*names) if plans.apart else ""
    else:
        return None
    return _finding(seen, (slow, fast), (kind, more, grade), share)


def _fits(figure: CellSummary) -> bool:
    return figure.temperature == "cold" and len(figure.samples) >= SAMPLES_MIN


def typical_ns(figure: CellSummary) -> float:
    """The median."""
    return median(sample.elapsed_ns for sample in figure.samples)


def _most(
    slow: CellSummary, fast: CellSummary, component: Callable[[Sample], float | None]
) -> Estimate | None:
    """The component's share of the difference: of the medians, with the least and the most of all
    pairs; None unless it is most of it in each."""
    shares = []
    for one in slow.samples:
        for other in fast.samples:
            above, below = component(one), component(other)
            if above is None or below is None:
                return None
            shares.append((above - below) / (one.elapsed_ns - other.elapsed_ns))
    return Estimate(median(shares), min(shares), max(shares)) if min(shares) > MOST else None


def _read(seen: Evidence, slow: CellSummary, fast: CellSummary) -> str:
    reported = []
    for figure in (slow, fast):
        read = [sample.read_bytes for sample in figure.samples if sample.read_bytes is not None]
        if len(read) < len(figure.samples):
            return ""
        bounds = Estimate(median(read), min(read), max(read))
        reported.append(f"{seen.whole.labels[figure.cell.variant]} reads {said_bytes(bounds)}")
    return ", ".join(reported)


def _finding(
    seen: Evidence,
    pair: tuple[CellSummary, CellSummary],
    what: tuple[str, str, Grade],
    share: Estimate,
) -> Finding:
    slow, fast = pair
    kind, more, grade = what
    names = [seen.whole.labels[figure.cell.variant] for figure in pair]
    ratio = typical_ns(slow) / typical_ns(fast)
    place = "waiting" if kind == "waiting" else "computing"
    within = share.within(0.0, 1.0)
    low, high = (percent(one or 0.0) for one in (within.low, within.high))
    span = high if low == high else f"{low.removesuffix(' %')} to {high}"
    words = f"{span} of the difference is {place}"
    words += f"; {more}" if more else ""
    counts = f"{number(len(slow.samples))} and {number(len(fast.samples))}"
    return Finding(
        rule=RULE,
        kind=kind,
        grade=grade,
        operation=slow.cell.operation,
        rows=slow.cell.rows,
        temperature=slow.cell.temperature,
        variant=slow.cell.variant,
        against=fast.cell.variant,
        brief=f"{names[0]} ~{times(ratio)}: {words}",
        sentence=f"Cold, each sample of {names[0]} takes longer than each of {names[1]}, in the"
        f" medians ~{times(ratio)} ({counts} samples, too few for an interval): in every pair"
        f" {words}.{beyond_all(share)}",
        numbers=(
            Number("ratio", Estimate(ratio), "ratio"),
            Number(f"{place}, least and most of all pairs", share, "share"),
        ),
        cells=(slow.cell.key, fast.cell.key),
        terms=terms_of(seen.whole.labels, pair),
        weight=log(ratio) * MOST,
        answers=True,
    )
