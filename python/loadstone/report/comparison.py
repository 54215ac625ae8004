"""A paper's tables beside today's figures. What survives forty years is the shape: the ratios."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadstone.report.portrait import Figure, Portrait, View

if TYPE_CHECKING:
    from loadstone.report.figures import Estimate

UNITS_NS = {
    "ms": 1e6,
    "milliseconds": 1e6,
    "s": 1e9,
    "sec": 1e9,
    "seconds": 1e9,
    "minutes": 60e9,
    "hours": 3600e9,
}
OVER = re.compile(r"^>\s*([\d.]+)\s*(ms|s|sec|seconds|minutes|hours)$")


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """What a paper printed: `text` as printed, `elapsed_ns` where that is a duration, `over` where
    the paper only says that it took longer; `ratio` to the paper's best of the row."""

    text: str
    elapsed_ns: float | None
    over: bool = False
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One row of a table. `gain` is the paper's best over today's best."""

    label: str
    operation: str | None
    published: Mapping[str, PublishedValue]
    measured: Mapping[str, Figure]
    gain: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One table of the paper. `view` is where today's figures come from; None if there are none."""

    number: str
    title: str
    unit: str
    note: str
    systems: tuple[str, ...]
    rows: tuple[ComparisonRow, ...]

    @property
    def measured(self) -> bool:
        """Whether any row has a figure of today."""
        return any(f.elapsed_ns for row in self.rows for f in row.measured.values())


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All tables of the paper beside one view of the run."""

    citation: str
    systems: Mapping[str, str]
    rows: int
    temperature: str
    tables: tuple[Comparison, ...]


PAPER_ROWS = 10_000
"""The size of the papers' large relations, to which the nearest scale of a run is compared."""


def comparisons(portrait: Portrait) -> Comparisons | None:
    """The paper's tables beside the view nearest to what the paper measured."""
    published = portrait.run.published
    if not published.get("tables") or not portrait.views:
        return None
    view = min(portrait.views, key=_distance)
    return Comparisons(
        citation=str(published.get("citation", "")),
        systems={str(k): str(v) for k, v in (published.get("systems") or {}).items()},
        rows=view.rows,
        temperature=view.temperature,
        tables=tuple(_table(table, view, portrait.competitors) for table in published["tables"]),
    )


def _distance(view: View) -> tuple[float, int]:
    return abs(math.log(view.rows / PAPER_ROWS)), 0 if view.temperature == "warm" else 1


def _table(table: Mapping[str, Any], view: View, competitors: Sequence[str]) -> Comparison:
    unit_ns = UNITS_NS.get(str(table["unit"]).lower())
    figures = {row.operation.name: row.figures for row in view.all_rows}
    return Comparison(
        number=str(table["number"]),
        title=str(table["title"]),
        unit=str(table["unit"]),
        note=str(table.get("note") or ""),
        systems=tuple(table["systems"]),
        rows=tuple(
            _row(label, operation, values, unit_ns, figures.get(operation) or {}, competitors)
            for label, operation, values in table["rows"]
        ),
    )


def _row(
    label: str,
    operation: str | None,
    values: Mapping[str, float | str],
    unit_ns: float | None,
    figures: Mapping[str, Figure],
    competitors: Sequence[str],
) -> ComparisonRow:
    printed = {system: _printed(value, unit_ns) for system, value in values.items()}
    exact = [p.elapsed_ns for p in printed.values() if p.elapsed_ns and not p.over]
    best_ns = min(exact, default=None)
    published = {
        system: PublishedValue(
            value.text,
            value.elapsed_ns,
            value.over,
            value.elapsed_ns / best_ns if value.elapsed_ns and best_ns and not value.over else None,
        )
        for system, value in printed.items()
    }
    measured = {variant: figures[variant] for variant in competitors if variant in figures}
    today: Estimate | None = next((f.elapsed_ns for f in measured.values() if f.best), None)
    gain = best_ns / today.value if best_ns and today else None
    return ComparisonRow(label, operation, published, measured, gain)


def _printed(value: float | str, unit_ns: float | None) -> PublishedValue:
    if isinstance(value, int | float):
        return PublishedValue(f"{value:g}", value * unit_ns if unit_ns else None)
    over = OVER.match(value)
    if over and unit_ns:
        return PublishedValue(value, float(over[1]) * UNITS_NS[over[2]], over=True)
    return PublishedValue(value, None)
