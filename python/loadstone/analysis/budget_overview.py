"""The parts of each engine's time over all operations of a scale, and how well the budgets of a
run hold: whether they close, what no rule claims, and what the sampler cost."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from loadstone.analysis.budget import (
    ASLEEP,
    RESIDUAL,
    WAITING,
    CellBudget,
    OperationBudget,
    is_notable,
)
from loadstone.record.budget import ALL

_LAST = {WAITING: 1, ASLEEP: 2, RESIDUAL: 3}
"""The places of rows that are no component, at the end."""


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A row of the budgets: each variant's share of its time, the mean of its operations' shares;
    0 for a variant whose time never went there."""

    kind: str
    name: str
    shares: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Overview:
    """The budgets of one scale and temperature: the components of the largest shares first, then
    time off the CPU and the residual."""

    rows: int
    temperature: str
    operations: int
    variants: tuple[str, ...]
    parts: tuple[OverviewRow, ...]

    @property
    def shown(self) -> tuple[OverviewRow, ...]:
        """The rows with a notable share of some variant's time."""
        return tuple(row for row in self.parts if any(map(is_notable, row.shares.values())))

    def largest(self, most: int) -> tuple[OverviewRow, ...]:
        """So many of those at most, those of the largest share of some variant's time; the largest
        comes first."""
        return tuple(sorted(self.shown, key=_largest)[:most])

    def beside(self, shown: Collection[OverviewRow]) -> Mapping[str, float]:
        """Each variant's share of all other rows together; empty where there are none."""
        left = [row for row in self.parts if row not in shown]
        return {name: sum(row.shares[name] for row in left) for name in self.variants if left}


@dataclass(frozen=True, slots=True)
class BudgetQuality:
    """The quality of the budgets of a run. `closed` of `judged` cells add up within 5 %; medians
    are over cells, None where there is no cell to take one of."""

    cells: int
    judged: int
    closed: int
    unclosed: tuple[CellBudget, ...]
    unclassified_median: float | None
    observer_median: float | None
    """Of what the sampler cost, as a share of the time without it."""
    reasons: tuple[str, ...]
    """Why something was not seen, each once."""


def overviews(found: Sequence[OperationBudget]) -> tuple[Overview, ...]:
    """One for each scale and temperature, in the order of the budgets."""
    grouped: dict[tuple[int, str], list[OperationBudget]] = defaultdict(list)
    for operation in found:
        grouped[operation.rows, operation.temperature].append(operation)
    return tuple(_overview(rows, temperature, own) for (rows, temperature), own in grouped.items())


def _overview(rows: int, temperature: str, own: Sequence[OperationBudget]) -> Overview:
    cells = [cell for operation in own for cell in operation.cells if cell.rows]
    variants = tuple(dict.fromkeys(cell.cell.variant for cell in cells))
    shares: dict[tuple[str, str], dict[str, list[float]]] = {}
    for cell in cells:
        for row in cell.rows:
            by_variant = shares.setdefault((row.kind, row.name), defaultdict(list))
            by_variant[cell.cell.variant].append(row.share)
    counts = {variant: sum(cell.cell.variant == variant for cell in cells) for variant in variants}
    parts = [
        OverviewRow(*key, {name: sum(known.get(name, ())) / counts[name] for name in variants})
        for key, known in shares.items()
    ]
    measured = sum(any(cell.rows for cell in operation.cells) for operation in own)
    return Overview(rows, temperature, measured, variants, tuple(sorted(parts, key=_place)))


def _place(row: OverviewRow) -> tuple[int, float, str]:
    return _LAST.get(row.kind, 0), -fmean(row.shares.values()), row.name


def _largest(row: OverviewRow) -> tuple[float, str]:
    return -max(map(abs, row.shares.values())), row.name


def shown_first(found: Sequence[Overview]) -> Overview | None:
    """The largest scale's, warm if there is any; None without one."""
    return max(found, key=lambda view: (view.temperature == "warm", view.rows), default=None)


def budget_quality(found: Iterable[OperationBudget]) -> BudgetQuality:
    """Over all cells that have a budget."""
    cells = [cell for operation in found for cell in operation.cells]
    judged = [cell for cell in cells if cell.closes is not None]
    whole = [cell for cell in cells if cell.sampled == ALL and cell.rows]
    observers = [cell.observer.value for cell in cells if cell.observer is not None]
    return BudgetQuality(
        cells=len(cells),
        judged=len(judged),
        closed=sum(bool(cell.closes) for cell in judged),
        unclosed=tuple(cell for cell in judged if not cell.closes),
        unclassified_median=_median([cell.unclassified_share for cell in whole]),
        observer_median=None if not observers else median(observers) - 1,
        reasons=tuple(dict.fromkeys(cell.reason for cell in cells if cell.reason)),
    )


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
