"""Growth faster than the data: the exponent of time over size is above 1, with its interval.

`consistent with` where other operators are planned at the largest scale than at the smallest, or
the plan looks at each pair of rows; else `unexplained`. The exponent is that of `analysis/growth`,
with the same bounds.

False where the scales did not meet the same machine, or caches hold the one and not the other.
"""

from collections.abc import Iterator
from math import log

from loadstone.analysis.findings.distance import in_order
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Grade, Number, terms_of
from loadstone.analysis.growth import Growth, growth
from loadstone.analysis.plans.difference import plan_difference
from loadstone.analysis.plans.operators import read
from loadstone.plan.variant import engine_of
from loadstone.record.model import CellResult
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import number, scaled

RULE = "steep"


def find(seen: Evidence) -> Iterator[Finding]:
    """One for each line that is steep."""
    for line in growth(seen.whole):
        cells = _cells(seen, line)
        if line.steep and all(map(in_order, cells)):
            yield _finding(seen, line, cells)


def _cells(seen: Evidence, line: Growth) -> list[CellResult]:
    keys = (f"{line.operation.name}|{line.variant}|{rows}|{line.temperature}"
            for rows in line.sizes)  # fmt: skip
    return [seen.results[key] for key in keys if key in seen.results]


def _finding(seen: Evidence, line: Growth, cells: list[CellResult]) -> Finding:
    cause = _cause(cells)
    scale = seen.whole.words.scale
    name = seen.whole.labels[line.variant]
    ends = f"{number(line.sizes[0])} to {scaled(line.sizes[-1], scale)}"
    exponent = Estimate(line.exponent, line.low, line.high)
    power = f"{line.exponent:.2f} ({line.low or 0:.2f} to {line.high or 0:.2f})"
    largest = max(line.sizes)
    keys = tuple(cell.cell.key for cell in cells)
    return Finding(
        rule=RULE,
        kind="growth",
        grade=Grade.CONSISTENT if cause else Grade.UNEXPLAINED,
        operation=line.operation.name,
        rows=largest,
        temperature=line.temperature,
        variant=line.variant,
        against="",
        brief=f"{name} grows as {scale}^{power}",
        sentence=f"From {ends}, the time of {name} grows as {scale}^{power}: faster than the data."
        + (f" {cause}" if cause else " The record has no cause for it."),
        numbers=(Number("exponent", exponent, "exponent"),),
        cells=keys,
        terms=terms_of(seen.whole.labels, (seen.whole.figures[key] for key in keys)),
        weight=(line.exponent - 1) * log(largest / line.sizes[0]),
    )


def _cause(cells: list[CellResult]) -> str:
    apart = plan_difference(cells[0], cells[-1], named=False)
    if apart.is_another_way:
        return f"Its plan at the smallest scale beside the one at the largest: {apart.words()}."
    engine = engine_of(cells[-1].cell.variant)
    plans = [read(engine, text.plan) for text in cells[-1].statements]
    joins = [plan.pair_joins for plan in plans]
    if not joins or not all(joins):
        return ""
    return f"Its plan looks at each pair of rows: {joins[0][0]}."
