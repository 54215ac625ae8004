"""Columns that a paper derived from two of its systems, beside the same of today.

Then: as printed, and recomputed from the printed times where that differs in the printed digits.
Now: of the two variants that re-implement the systems, if the run has both: by pairs of samples, or
by the medians with their bounds where a figure is disturbed or has too few pairs.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.measured import Source, Today, cpu_ns, processor_time, users_of
from loadstone.record.model import BELIEVED, CellResult
from loadstone.statistics.arithmetic import less, over, scaled
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import paired_difference, paired_ratio
from loadstone.statistics.time_budget import wilson

PERCENT, FACTOR, TIME = "%", "factor", "time"
THROUGHPUT = "throughput"
"""A column of every variant, and not of two."""
MEASURES = {"gain": PERCENT, "loss": PERCENT, "ratio": FACTOR, "saved": TIME, "sampled": TIME,
            THROUGHPUT: FACTOR}  # fmt: skip
"""Formula -> the kind of its values."""
TOO_SHORT = "too short to count"
PaperRow = tuple[str, str | None, Mapping[str, float | str]]
"""A row's label, its operation, and the value of each system."""
NO_BUDGET = "add --budget"
NOT_SAMPLED = "not sampled"


@dataclass(frozen=True, slots=True)
class DerivedHeading:
    """A derived column: its name, its formula, the paper's systems and the variants that are these
    today; None where a run lacks one."""

    name: str
    kind: str
    before: str
    after: str
    today: tuple[str, str] | None
    each: tuple[str, ...] = ()
    """Of a throughput: the variants, each of which has its own today."""

    @property
    def measure(self) -> str:
        """The kind of its values: a percentage, a factor or a time."""
        return MEASURES[self.kind]


@dataclass(frozen=True, slots=True)
class DerivedCell:
    """A row's value: as printed, to so many decimal places; as recomputed where that is another;
    and of today (of a time, in ns). `unknown` says why there is none of today."""

    printed: str = ""
    places: int = 0
    recomputed: float | None = None
    today: Estimate | None = None
    unknown: str = ""
    each: tuple[float | None, ...] = ()
    """Of a throughput: that of each variant, by the column's `each`; None where it is not known."""


def heading(column: Mapping[str, Any], source: Source | None) -> DerivedHeading:
    """The heading of a table's derived column."""
    before, after = str(column["before"]), str(column["after"])
    if column["kind"] == THROUGHPUT:
        each = source.variants if source is not None else ()
        return DerivedHeading(str(column["name"]), THROUGHPUT, before, after, None, each)
    variants: tuple[str, str] | None = None
    if source is not None:
        known = source.summary.words.reimplemented
        pair = known.get(before, ""), known.get(after, "")
        variants = pair if set(pair) <= set(source.variants) else None
    return DerivedHeading(str(column["name"]), str(column["kind"]), before, after, variants)


def cell(
    column: Mapping[str, Any],
    head: DerivedHeading,
    row: PaperRow,
    source: Source | None,
    rows: Sequence[PaperRow],
) -> DerivedCell:
    """The value of a row, one of the table's."""
    label, operation, values = row
    printed = column["printed"].get(label)
    if head.kind == THROUGHPUT:
        one = next((each for each in rows if each[1] and users_of(each[1]) == 1), None)
        now = DerivedCell(each=_rates(head, operation, one, source))
        found = _rate(operation, one and one[2].get(head.before), values.get(head.before))
    else:
        now = _today(column, head, operation, source)
        found = _recomputed(head.kind, values.get(head.before), values.get(head.after))
    if printed is None:
        # A sampled time stands beside the paper's alone: a cold cell has no samples.
        return DerivedCell() if head.kind == "sampled" else now
    places = len(str(printed).partition(".")[2])
    same = found is None or abs(found - printed) <= 0.5 * 10**-places + 1e-9
    recomputed = None if same else found
    return replace(now, printed=str(printed), places=places, recomputed=recomputed)


def _rate(operation: str | None, one: Any, time: Any) -> float | None:
    """The answers a second of a row's users over those of one user, by the times in which each has
    as many answers."""
    users = users_of(operation or "")
    if users is None or not isinstance(one, int | float) or not isinstance(time, int | float):
        return None
    return users * one / time if time else None


def _rates(
    head: DerivedHeading, operation: str | None, one: PaperRow | None, source: Source | None
) -> tuple[float | None, ...]:
    """That of each variant's closed loops."""
    if source is None or operation is None or one is None:
        return (None,) * len(head.each)
    alone, together = source.row(one[1]), source.row(operation)
    return tuple(
        _rate(operation, _believed(alone.get(variant)), _believed(together.get(variant)))
        for variant in head.each
    )


def _believed(figure: Today | None) -> float | None:
    if figure is None or figure.status not in BELIEVED or figure.elapsed_ns is None:
        return None
    return figure.elapsed_ns.value


def _recomputed(kind: str, before: Any, after: Any) -> float | None:
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return None
    if kind == "gain":
        return 100 * (before - after) / after
    if kind == "loss":
        return 100 * (after - before) / after
    if kind == "ratio":
        return before / after
    return before - after if kind == "saved" else None


def _today(
    column: Mapping[str, Any], head: DerivedHeading, operation: str | None, source: Source | None
) -> DerivedCell:
    if source is None or head.today is None or operation is None:
        return DerivedCell()
    found = source.cells(operation)
    before, after = (found.get(variant) for variant in head.today)
    if before is None or after is None:
        return DerivedCell()
    for one in (before, after):
        if one.status not in BELIEVED or one.elapsed_ns is None:
            return DerivedCell(unknown="not run" if one.status == "pending" else one.status)
    if head.kind == "sampled":
        return _sampled(column, before, source)
    if head.kind == "saved":
        return DerivedCell(today=_saved(before, after))
    if source.quantity == "cpu":
        times = [processor_time([one]) for one in (before, after)]
        why = next((one.unknown or TOO_SHORT for one in times if one.quantity is None), "")
        if why:
            return DerivedCell(unknown=why)
    ratio = _ratio(before, after, source.quantity)
    return DerivedCell(today=_as(head.kind, ratio)) if ratio else DerivedCell()


def _ratio(before: CellSummary, after: CellSummary, quantity: str) -> Estimate | None:
    """One time over the other."""
    first, second = (_samples(one, quantity) for one in (before, after))
    if {before.status, after.status} == {"ok"}:
        ratio = paired_ratio(first, second)
        if ratio is not None and _is_bounded(ratio):
            return ratio
    if quantity == "cpu":
        above, below = (processor_time([one]).cpu_ns for one in (before, after))
    else:
        above, below = before.elapsed_ns, after.elapsed_ns
    return over(above, below) if above and below else None


def _saved(before: CellSummary, after: CellSummary) -> Estimate | None:
    """One elapsed time less the other, as the ratio beside it: by pairs where it is."""
    if {before.status, after.status} == {"ok"}:
        difference = paired_difference(before.samples, after.samples)
        if difference is not None and _is_bounded(difference):
            return difference
    first, second = before.elapsed_ns, after.elapsed_ns
    return less(first, second) if first and second else None


def _is_bounded(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.high is not None


def _samples(figure: CellSummary, quantity: str) -> Sequence[Any]:
    """The samples, their elapsed time replaced where another is compared."""
    if quantity != "cpu":
        return figure.samples
    return [replace(sample, elapsed_ns=cpu_ns(sample) or 1) for sample in figure.samples]


def _as(kind: str, ratio: Estimate) -> Estimate:
    """A ratio as the value of a formula."""
    if kind == "ratio":
        return ratio

    def percent(value: float) -> float:
        return 100 * (value - 1 if kind == "gain" else 1 - value)

    bounds = [None if bound is None else percent(bound) for bound in (ratio.low, ratio.high)]
    low, high = bounds if kind == "gain" else bounds[::-1]
    return Estimate(percent(ratio.value), low, high)


def _sampled(column: Mapping[str, Any], figure: CellSummary, source: Source) -> DerivedCell:
    """A multiple of the time in some functions, as the sampler of a time budget saw them, with the
    interval that the number of its samples leaves; 0 where it saw none of them."""
    results = (r for r in source.summary.run.results if r.cell.key == figure.cell.key)
    result: CellResult | None = next(results, None)
    budget = result.budget if result else None
    if budget is None or not budget.statements:
        return DerivedCell(unknown=NO_BUDGET if budget is None else NOT_SAMPLED)
    patterns = column.get("functions") or ()
    seen = unnamed = 0
    for part in budget.parts:
        if any(re.match(pattern, part.function) for pattern in patterns):
            seen += part.samples
        elif not part.function:
            unnamed += part.samples
    samples = sum(part.samples for part in budget.parts)
    if not samples:
        return DerivedCell(unknown=NOT_SAMPLED)
    each_ns = budget.period_ns / budget.statements
    # Functions that kept no name may all be among them.
    low, high = wilson(seen, samples)[0], wilson(seen + unnamed, samples)[1]
    time = Estimate(seen * each_ns, low * samples * each_ns, high * samples * each_ns)
    return DerivedCell(today=scaled(time, float(column.get("factor", 1.0))))
