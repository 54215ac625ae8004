"""A paper's tables beside today's figures. What survives forty years is the shape: the ratios.

A table that names the scale it was measured at stands beside figures of that scale and no other,
each row at the temperature it names; the others beside the one view nearest to the paper.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from loadstone.record.model import BELIEVED
from loadstone.report.figures import listing
from loadstone.report.portrait import Portrait, View
from loadstone.report.today import LOAD, SIZE, Source, Today

UNITS_NS = {
    "ms": 1e6,
    "milliseconds": 1e6,
    "s": 1e9,
    "sec": 1e9,
    "seconds": 1e9,
    "minutes": 60e9,
    "hours": 3600e9,
}
BYTES_OF_MB = 1e6
MARKED = re.compile(r"^([\d.]+)\*$")
"""A value with a footnote of the paper."""
OVER = re.compile(r"^>\s*([\d.]+)\s*(ms|s|sec|seconds|minutes|hours)$")


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """What a paper printed: `text` as printed, `elapsed_ns` or `size_bytes` where that is one of
    them, `over` where the paper only says that it took longer; `ratio` to the paper's best of the
    row."""

    text: str
    elapsed_ns: float | None
    over: bool = False
    ratio: float | None = None
    size_bytes: float | None = None

    @property
    def exact(self) -> float | None:
        """What may be compared: ns or bytes; None for a bound."""
        return None if self.over else self.elapsed_ns or self.size_bytes


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One row of a table. `gain` is the paper's best over today's best."""

    label: str
    operation: str | None
    published: Mapping[str, PublishedValue]
    measured: Mapping[str, Today]
    gain: float | None

    @property
    def measured_today(self) -> bool:
        """Whether any variant has a figure that can be believed."""
        return any(f.status in BELIEVED and f.quantity for f in self.measured.values())

    @property
    def drawn(self) -> bool:
        """Whether it belongs into a drawing of operations."""
        return self.operation not in (SIZE, LOAD)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One table of the paper. `missing` says why nothing of today stands beside it, and `add`
    which words of a command line would put it there."""

    number: str
    title: str
    unit: str
    note: str
    systems: tuple[str, ...]
    rows: tuple[ComparisonRow, ...]
    missing: str = ""
    add: str = ""

    @property
    def heading(self) -> str:
        """Its number and title, as the paper has them."""
        appendix = self.title.startswith("Appendix")
        return self.title if appendix else f"Table {self.number}. {self.title}"

    @property
    def few_visits(self) -> bool:
        """Whether some normalised figure of today needs a word of warning."""
        return any(f.few_visits and f.text for row in self.rows for f in row.measured.values())

    @property
    def drawn(self) -> tuple[ComparisonRow, ...]:
        """The rows that are drawn."""
        return tuple(row for row in self.rows if row.drawn)

    @property
    def measured(self) -> bool:
        """Whether any row has a figure of today that can be believed."""
        return any(row.measured_today for row in self.rows)


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All tables of the paper beside a run. `rows` and `temperature` are of the one view that is
    beside all of them; None where tables and rows name their own. `revived` says as which
    variants systems of the paper run again, and which of these are not in the run."""

    citation: str
    systems: Mapping[str, str]
    rows: int | None
    temperature: str | None
    tables: tuple[Comparison, ...]
    revived: str = ""


PAPER_ROWS = 10_000
"""The size of the papers' large relations, to which the nearest scale of a run is compared."""


def comparisons(portrait: Portrait) -> Comparisons | None:
    """The paper's tables, each beside the part of the run nearest to what the paper measured."""
    published = portrait.run.published
    tables = published.get("tables")
    if not tables or not portrait.views:
        return None
    view = min(portrait.views, key=_distance)
    own = any(table.get("scale") is not None for table in tables)
    editions = {table.get("edition") or "" for table in tables}
    return Comparisons(
        citation=str(published.get("citation", "")),
        systems={str(k): str(v) for k, v in (published.get("systems") or {}).items()},
        rows=None if own else view.rows,
        temperature=None if own else view.temperature,
        tables=tuple(_table(table, portrait, view, editions) for table in tables),
        revived=_revived(portrait),
    )


def _distance(view: View) -> tuple[float, int]:
    return abs(math.log(view.rows / PAPER_ROWS)), 0 if view.temperature == "warm" else 1


def _revived(portrait: Portrait) -> str:
    revived = portrait.words.revived
    if not revived:
        return ""
    told = listing([f"{system} as {variant}" for system, variant in revived.items()])
    absent = [variant for variant in revived.values() if variant not in portrait.competitors]
    missing = f" (not in this run: {listing(absent)})" if absent else ""
    return f"Of the paper's systems run again: {told}{missing}."


def _table(
    table: Mapping[str, Any], portrait: Portrait, nearest: View, editions: set[str]
) -> Comparison:
    unit_ns = UNITS_NS.get(str(table["unit"]).lower())
    scale = table.get("scale")
    at = [view for view in portrait.views if scale is None or view.rows == scale]
    view = nearest if scale is None or not at else min(at, key=_distance)
    designs = _designs(table, portrait, view.rows)
    missing, add = _missing(table, portrait, editions, asked=designs is not None)
    apart = designs is not None and bool(designs & portrait.words.apart)
    source = None if missing else Source(portrait, view, apart)
    return Comparison(
        number=str(table["number"]),
        title=str(table["title"]),
        unit=str(table["unit"]),
        note=str(table.get("note") or ""),
        systems=tuple(table["systems"]),
        rows=tuple(
            _row(label, operation, values, unit_ns, source.row(operation) if source else {})
            for label, operation, values in table["rows"]
        ),
        missing=missing,
        add=add,
    )


def _designs(table: Mapping[str, Any], portrait: Portrait, rows: int) -> frozenset[str] | None:
    """The designs of a table's operations; None where none of them was planned at that scale."""
    rated = (operation for _, operation, _ in table["rows"] if operation not in (None, SIZE, LOAD))
    names = {name for operation in rated for name in operation.partition("@")[0].split("+")}
    planned = {cell.operation for cell in portrait.run.plan.cells if cell.rows == rows}
    if names and not names & planned:
        return None
    return frozenset(text.design for text in portrait.run.operations if text.name in names)


def _missing(
    table: Mapping[str, Any], portrait: Portrait, editions: set[str], *, asked: bool
) -> tuple[str, str]:
    """Why a table has nothing beside it that could be compared, and what to add to the command;
    empty where it may have. `asked`: some operation of its was planned at its scale."""
    scale, edition = table.get("scale"), table.get("edition") or ""
    # Tables without an edition are of the one that no table names.
    run_edition = portrait.run.plan.edition
    run_edition = run_edition if run_edition in editions else ""
    if edition != run_edition:
        if not edition:
            return "not run in this edition: leave out --edition", ""
        return _add("not run in this edition", f"--edition {edition}")
    if scale is not None and all(view.rows != scale for view in portrait.views):
        return _add(f"not run at {scale:,}", f"--rows {scale}")
    if not asked:
        missing, add = _add("its operations were not run", "--panel full")
        return f"{missing}, without --operation", add
    return "", ""


def _add(why: str, words: str) -> tuple[str, str]:
    return f"{why}: add {words}", words


def _row(
    label: str,
    operation: str | None,
    values: Mapping[str, float | str],
    unit_ns: float | None,
    measured: Mapping[str, Today],
) -> ComparisonRow:
    size = operation == SIZE
    printed = {s: _size(value) if size else _printed(value, unit_ns) for s, value in values.items()}
    best = min((value.exact for value in printed.values() if value.exact), default=None)
    published = {
        system: replace(value, ratio=value.exact / best if value.exact and best else None)
        for system, value in printed.items()
    }
    today = next((figure.quantity for figure in measured.values() if figure.best), None)
    gain = best / today if best and today else None
    return ComparisonRow(label, operation, published, measured, gain)


def _size(value: float | str) -> PublishedValue:
    size_bytes = value * BYTES_OF_MB if isinstance(value, int | float) else None
    return PublishedValue(_text(value), None, size_bytes=size_bytes)


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _printed(value: float | str, unit_ns: float | None) -> PublishedValue:
    if isinstance(value, int | float):
        return PublishedValue(_text(value), value * unit_ns if unit_ns else None)
    over = OVER.match(value)
    if over and unit_ns:
        return PublishedValue(value, float(over[1]) * UNITS_NS[over[2]], over=True)
    marked = MARKED.match(value)
    return PublishedValue(value, float(marked[1]) * unit_ns if marked and unit_ns else None)
