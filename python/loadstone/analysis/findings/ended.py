"""A statement that was ended: it takes longer than its limit, and so more than so many times what
the fastest of its row takes.

`consistent with` its plan where only that looks at each pair of rows, or where one engine plans
otherwise; else `unexplained`.

False where the limit ended it while others had the machine: its ratio is then that of a statement
and a busy machine.
"""

from collections.abc import Iterator
from math import log

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import in_order, is_calm
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Grade, Number, terms_of
from loadstone.analysis.findings.spent import by_plan
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import duration, times

RULE = "ended"


def find(seen: Evidence) -> Iterator[Finding]:
    """One for each cell whose ratio has a lower bound."""
    for row in seen.rows:
        best = next((one for one in row.figures.values() if one.best and in_order(one)), None)
        if best is None:
            continue
        for figure in row.figures.values():
            if figure.ratio_least is not None and is_calm(figure):
                yield _finding(seen, figure, best, figure.ratio_least)


def _finding(seen: Evidence, slow: CellSummary, best: CellSummary, least: float) -> Finding:
    plans = seen.plans_apart(slow, best)
    grade, kind = by_plan(plans)
    name, fastest = (seen.whole.labels[one.cell.variant] for one in (slow, best))
    limit = duration(slow.longer_than_ns or 0)
    words = plans.words(name, fastest) if plans.apart else ""
    return Finding(
        rule=RULE,
        kind="ended" if grade is Grade.UNEXPLAINED else kind,
        grade=grade,
        operation=slow.cell.operation,
        rows=slow.cell.rows,
        temperature=slow.cell.temperature,
        variant=slow.cell.variant,
        against=best.cell.variant,
        brief=f"ended after {limit}" + (f": {words}" if words else ""),
        sentence=f"{name} takes more than {times(least)} the time of {fastest}: its statement was"
        f" ended after {limit}" + (f"; {words}." if words else "."),
        numbers=(Number("ratio, at least", Estimate(least, least), "ratio"),),
        cells=(slow.cell.key, best.cell.key),
        terms=terms_of(seen.whole.labels, [slow, best]),
        weight=log(least),
    )
