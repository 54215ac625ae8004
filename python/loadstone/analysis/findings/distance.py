"""The distance that a row's findings are about: its slowest competitor beside its fastest.

Only cells in order count (`ok`: neither failed, disturbed nor invalid; of a run without limits,
those that its machine's condition would not have disturbed), with an interval, and a difference
that is certain and beyond what counts as equal. A row without such a distance has nothing to
explain; `why_none` says why.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import log

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.finding import Finding, Grade, Number, terms_of
from loadstone.analysis.findings.said import beyond_all
from loadstone.analysis.standing import NEAR
from loadstone.analysis.summary import Row, Summary
from loadstone.plan.role import Role
from loadstone.record.model import CellResult
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_part import difference
from loadstone.statistics.validity import of_machine
from loadstone.text.numbers import listing, times

SAMPLES_MIN = 2
"""A single sample shows nothing: what is seen once may be chance."""


@dataclass(frozen=True, slots=True)
class Distance:
    """A row, its slowest and its fastest, the ratio of the two, and their difference in ns."""

    row: Row
    slow: CellSummary
    fast: CellSummary
    ratio: Estimate
    ns: Estimate
    names: tuple[str, str]
    """The way in which the two are called."""
    terms: tuple[str, ...]
    """Their unequal terms."""

    @property
    def cells(self) -> tuple[str, str]:
        """The keys of both cells."""
        return self.slow.cell.key, self.fast.cell.key

    def cells_at(self, scales: Iterable[int]) -> tuple[str, ...]:
        """The keys of both variants' cells at each scale."""
        pair = self.slow.cell, self.fast.cell
        return tuple(replace(cell, rows=rows).key for rows in scales for cell in pair)

    def pair_in(self, row: Row) -> tuple[CellSummary, CellSummary] | None:
        """The slow and the fast variant in another row; None unless both are in order there."""
        found = {figure.cell.variant: figure for figure in measured(row)}
        slow, fast = (found.get(figure.cell.variant) for figure in (self.slow, self.fast))
        return (slow, fast) if slow and fast else None

    def finding(
        self,
        rule: str,
        kind: str,
        *,
        brief: str,
        sentence: str,
        numbers: tuple[Number, ...] = (),
        share: Estimate | None = None,
        grade: Grade = Grade.CONSISTENT,
        cells: tuple[str, ...] = (),
    ) -> Finding:
        """A rule's answer to why the slowest is slower than the fastest.

        `numbers` come after the ratio. The weight is the ln of the ratio, or the `share` of it that
        the finding is about. `cells` are those that show it, if not the two.
        """
        return Finding(
            rule=rule,
            kind=kind,
            grade=grade,
            operation=self.row.operation.name,
            rows=self.row.rows,
            temperature=self.row.temperature,
            variant=self.slow.cell.variant,
            against=self.fast.cell.variant,
            brief=brief,
            sentence=sentence + beyond_all(share),
            numbers=(Number("ratio", self.ratio, "ratio"), *numbers),
            cells=cells or self.cells,
            terms=self.terms,
            weight=log(self.ratio.value) * (min(share.value, 1.0) if share else 1.0),
            answers=True,
        )


def measured(row: Row) -> list[CellSummary]:
    """The competitors of a row that can carry a finding."""
    return [
        figure
        for figure in row.figures.values()
        if figure.role is Role.COMPETITOR and figure.elapsed_ns is not None and in_order(figure)
    ]


def in_order(cell: CellSummary | CellResult) -> bool:
    """Whether a cell can carry a finding: in order, on a machine within its limits, and sampled
    more than once."""
    return cell.status == "ok" and is_calm(cell) and len(cell.samples) >= SAMPLES_MIN


def is_calm(cell: CellSummary | CellResult) -> bool:
    """Whether the machine was within its limits while a cell was measured, as far as is known."""
    return cell.condition is None or not of_machine(cell.condition)


def usable_rows(whole: Summary) -> Iterator[Row]:
    """The rows that compare engines, in the paper's order."""
    for view in whole.views:
        for row in view.all_rows:
            if row.operation.storage not in whole.words.harness:
                yield row


def distance(whole: Summary, row: Row) -> Distance | None:
    """That of a row; None where there is none to explain."""
    best = next((figure for figure in measured(row) if figure.best), None)
    behind = [
        (figure.ratio.value, figure, figure.ratio)
        for figure in measured(row)
        if figure.ratio is not None and not figure.best and _certain(figure.ratio)
    ]
    if best is None or not behind:
        return None
    _, slow, ratio = max(behind, key=lambda each: each[0])
    ns = difference(slow.samples, best.samples)
    if ns is None or ns.low is None or ns.low <= 0:
        return None
    names = whole.labels[slow.cell.variant], whole.labels[best.cell.variant]
    return Distance(row, slow, best, ratio, ns, names, terms_of(whole.labels, (slow, best)))


def _certain(ratio: Estimate) -> bool:
    return ratio.low is not None and ratio.low > 1 and ratio.value > NEAR


def _kept_out(row: Row) -> str:
    """The statuses of competitors that are not compared, as `2 disturbed and 1 gap`."""
    own = [figure for figure in row.figures.values() if figure.role is Role.COMPETITOR]
    counts = Counter(map(_standing, own))
    others = [f"{count} {status}" for status, count in counts.items() if status != "ok"]
    return listing(others) if others else "no second figure in order"


def _standing(figure: CellSummary) -> str:
    if figure.status == "ok" and figure.unproved:
        return "unproved"
    beside = figure.status == "ok" and figure.condition and of_machine(figure.condition)
    return "beyond the limits" if beside else figure.status


def why_none(row: Row) -> str:
    """Why a row has no distance to explain."""
    ratios = [
        (figure.ratio, len(figure.samples))
        for figure in measured(row)
        if figure.ratio is not None and not figure.best
    ]
    if not ratios:
        return f"nothing to compare: {_kept_out(row)}"
    largest, samples = max(ratios, key=lambda each: each[0].value)
    if largest.low is None:
        return f"too few samples to show why: {samples} give no interval"
    if any(ratio.high is None or ratio.high > NEAR for ratio, _ in ratios):
        return f"undecided: {times(max(largest.value, 1.0))} may be chance"
    return "no difference to explain"
