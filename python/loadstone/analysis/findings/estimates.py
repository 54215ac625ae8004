"""An optimizer's estimate that is off by a factor of ten: the rows that the topmost operator of a
plan expects, against the rows of the answer, which the oracle counted.

Of retrievals only: the topmost operator of an update does not deliver what it changes. `consistent
with` a wrong plan only in so far as the estimate is wrong; that it costs time is not claimed.

False where an engine prints an estimate that it did not make.
"""

from collections.abc import Iterator
from math import log

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import measured
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Grade, Number
from loadstone.analysis.plans.operators import read
from loadstone.plan.variant import engine_of
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import number, times

RULE = "estimates"
FACTOR = 10
RETRIEVALS = frozenset({"relation", "client", "file"})


def find(seen: Evidence) -> Iterator[Finding]:
    """One for each variant, operation and scale whose plan expects ten times too many or too few
    rows; its plans at other temperatures are the same."""
    seen_before = set()
    for row in seen.rows:
        for figure in measured(row) if row.operation.destination in RETRIEVALS else ():
            place = row.operation.name, row.rows, figure.cell.variant
            found = _off(seen, figure) if place not in seen_before else None
            if found:
                seen_before.add(place)
                yield _finding(seen, figure, *found)


def _off(seen: Evidence, figure: CellSummary) -> tuple[int, int] | None:
    """(expected, delivered) of the variation that is off least, if all are off."""
    result = seen.results[figure.cell.key]
    delivered = {answer.variation: answer.expected_rows for answer in result.answers}
    engine = engine_of(figure.cell.variant)
    pairs = [
        (expected, delivered[text.variation])
        for text in result.statements
        if text.variation in delivered
        and (expected := read(engine, text.plan).rows_expected) is not None
    ]
    if not pairs or min(map(_factor, pairs)) < FACTOR:
        return None
    return min(pairs, key=_factor)


def _factor(pair: tuple[int, int]) -> float:
    expected, delivered = (max(each, 1) for each in pair)
    return max(expected / delivered, delivered / expected)


def _finding(seen: Evidence, figure: CellSummary, expected: int, delivered: int) -> Finding:
    name = seen.whole.labels[figure.cell.variant]
    factor = _factor((expected, delivered))
    way = "many" if expected > delivered else "few"
    estimated = (
        f"expects {number(expected)} {seen.whole.words.answer}, the answer has {number(delivered)}"
    )
    return seen.finding(
        RULE,
        f"too {way}",
        figure,
        grade=Grade.UNEXPLAINED,
        brief=f"the plan of {name} {estimated}",
        sentence=f"The plan of {name} {estimated}: {times(factor)} too {way}, in every"
        " variation with estimates. The record does not show whether that costs time.",
        numbers=(
            Number("rows expected", Estimate(float(expected)), "tuples"),
            Number("rows delivered", Estimate(float(delivered)), "tuples"),
        ),
        weight=log(factor) / 10,
    )
