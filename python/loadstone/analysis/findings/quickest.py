"""A cost of each statement, seen in another operation: most of a row's difference is there also in
one in which the fast variant takes next to nothing, so that there is little to be done in it.

Of statements at the same scale and temperature. It is for rows of which the scales say nothing
(`fixed`), since relations of a fixed size do not grow. Silent where the difference in that other
operation is larger than the row's: then it is none that each statement has. A program's measure is
many statements, and none of them is the quickest. Nor is one of a user's workload, where two that
are quick on one engine may be slow on the other by the same cause.

False where that other statement has the slow variant do work of this size that the row's does not.
"""

from collections.abc import Iterator
from dataclasses import replace

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, Finding, Number
from loadstone.analysis.findings.said import said_ns, said_part, said_ratio
from loadstone.analysis.ladder import WHOLE_SHARE_MAX
from loadstone.analysis.summary import Row
from loadstone.statistics.arithmetic import over
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_part import difference

RULE = "quickest"
QUICK = 2.0
"""A statement that takes the fast variant at most so many times its least has as little to do."""


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each warm distance of statements."""
    if seen.whole.run.plan.workload is not None:
        return
    for far in seen.far():
        is_program = any(sample.calls is not None for sample in far.slow.samples)
        if far.row.temperature == "cold" or is_program:
            continue
        found = _quickest(seen, far)
        share = over(found[1], far.ns) if found else None
        if found is None or share is None or share.low is None or share.low <= MOST:
            continue
        if share.value <= WHOLE_SHARE_MAX:
            yield _finding(far, *found, share)


def _quickest(seen: Evidence, far: Distance) -> tuple[Row, Estimate] | None:
    """Of the other operations in which the fast variant takes at most twice its least time, that in
    which the slow one takes longer by the least, and by how much; None unless that is certain."""
    pairs = [(row, *pair) for row in seen.rows if (pair := _pair(far, row))]
    least_ns = min((_elapsed(fast) for _, _, fast in pairs), default=0.0)
    quick = [
        (row, difference(slow.samples, fast.samples))
        for row, slow, fast in pairs
        if _elapsed(fast) <= QUICK * least_ns
    ]
    known = [(row, longer) for row, longer in quick if longer is not None]
    found = min(known, key=lambda each: each[1].value, default=None)
    return found if found and found[1].low is not None and found[1].low > 0 else None


def _pair(far: Distance, row: Row) -> tuple[CellSummary, CellSummary] | None:
    """Both variants in a row of another operation of the same scale and temperature."""
    same = (row.rows, row.temperature) == (far.row.rows, far.row.temperature)
    if not same or row.operation.name == far.row.operation.name:
        return None
    return far.pair_in(row)


def _elapsed(figure: CellSummary) -> float:
    return figure.elapsed_ns.value if figure.elapsed_ns else float("inf")


def _finding(far: Distance, row: Row, longer: Estimate, share: Estimate) -> Finding:
    slow, fast = far.names
    quickest = row.operation.name
    words = f"{said_part(share)} is there also in {quickest}, of the quickest of {fast}"
    pair = far.slow.cell, far.fast.cell
    return far.finding(
        RULE,
        "a cost of each statement",
        brief=f"{words}: a cost of each statement",
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}, {said_ns(far.ns)}"
        f" longer: {words}, in which {slow} takes {said_ns(longer)} longer: a cost of each"
        " statement.",
        numbers=(
            Number("difference", far.ns, "ns"),
            Number(f"difference in {quickest}", longer, "ns"),
            Number("share", share, "share"),
        ),
        cells=(*far.cells, *(replace(cell, operation=quickest).key for cell in pair)),
        share=share,
    )
