"""A paper's tables beside today's figures. The shape, the ratios, survives forty years.

A table stands beside figures of the scale it was measured at, each row at the temperature it names,
or warm. A row without a counterpart says why.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from loadstone.analysis.derived import THROUGHPUT, DerivedCell, DerivedHeading, cell, heading
from loadstone.analysis.measured import LOAD, SIZE, Source, Today, operations_of
from loadstone.analysis.summary import Summary, View
from loadstone.record.model import BELIEVED
from loadstone.text.numbers import listing

UNITS_NS = {
    "ms": 1e6,
    "milliseconds": 1e6,
    "s": 1e9,
    "sec": 1e9,
    "seconds": 1e9,
    "minutes": 60e9,
    "hours": 3600e9,
    "ticks": 1e9 / 60,
}
BYTES_OF_MB = 1e6
MARKED = re.compile(r"^([\d.]+)\*$")
"""A value with a footnote of the paper."""
NUMBER = re.compile(r"^[\d.,]+[^\w\s]*$")
"""A value that is one, with a sign of the paper's behind it: `78000+`."""
OVER = re.compile(r"^>\s*([\d.]+)\s*(ms|s|sec|seconds|minutes|hours)$")


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A paper's printed value: `text` as printed, `time_ns` (of the table's quantity) or
    `size_bytes` if it is one of them, `over` if the paper only says that it took longer; `ratio` to
    the paper's best of the row."""

    text: str
    time_ns: float | None
    over: bool = False
    ratio: float | None = None
    size_bytes: float | None = None

    @property
    def exact(self) -> float | None:
        """The comparable value: ns or bytes; None for a bound."""
        return None if self.over else self.time_ns or self.size_bytes

    @property
    def best(self) -> bool:
        """Whether the paper has no better value in its row."""
        return self.ratio is not None and self.ratio <= 1


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One row of a table. `gain` is the paper's best over today's best, and `gain_of` names them:
    their designs may differ. `absent` says why the row has no counterpart today."""

    label: str
    operation: str | None
    published: Mapping[str, PublishedValue]
    measured: Mapping[str, Today]
    gain: float | None
    gain_of: tuple[str, str] | None = None
    absent: str = ""
    derived: tuple[DerivedCell, ...] = ()

    @property
    def measured_today(self) -> bool:
        """Whether any variant has a usable figure."""
        return any(f.status in BELIEVED and f.known for f in self.measured.values())

    @property
    def drawn(self) -> bool:
        """Whether it belongs in a drawing of operations."""
        return self.operation not in (SIZE, LOAD)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One table of the paper. `quantity` is what its times are, `elapsed` or `cpu`, then and today;
    `derived` are the columns that the paper computed from others. `missing` says why this run has
    no figure for it, and `add` which options would add one;
    `apart` those of a run of its own that would have one."""

    number: str
    title: str
    unit: str
    note: str
    systems: tuple[str, ...]
    rows: tuple[ComparisonRow, ...]
    missing: str = ""
    add: str = ""
    apart: str = ""
    quantity: str = "elapsed"
    derived: tuple[DerivedHeading, ...] = ()

    @property
    def timed(self) -> bool:
        """Whether its values are times."""
        return self.unit.lower() in UNITS_NS

    @property
    def in_words(self) -> bool:
        """Whether it is a figure of times of which the paper prints no number: what its text says
        of each stands in their place."""
        values = [value for row in self.rows for value in row.published.values()]
        numbered = any(value.over or NUMBER.match(value.text) for value in values)
        return self.timed and bool(values) and not numbered

    @property
    def heading(self) -> str:
        """Its number and title, as the paper has them."""
        if self.title.startswith("Appendix"):
            return self.title
        is_figure = self.number.startswith("Figure")
        return f"{self.number if is_figure else f'Table {self.number}'}. {self.title}"

    @property
    def few_visits(self) -> bool:
        """Whether some normalised figure of today needs a warning."""
        return any(f.few_visits and f.text for row in self.rows for f in row.measured.values())

    @property
    def drawn(self) -> tuple[ComparisonRow, ...]:
        """The rows that are drawn."""
        return tuple(row for row in self.rows if row.drawn)

    @property
    def measured(self) -> bool:
        """Whether any row has a usable figure of today."""
        return any(row.measured_today for row in self.rows)


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All tables of the paper beside a run. `rows` and `temperature` are those of all of them; None
    where tables and rows name their own. `reimplemented` says as which
    variants systems of the paper run again, and which of these are not in the run."""

    citation: str
    systems: Mapping[str, str]
    rows: int | None
    temperature: str | None
    tables: tuple[Comparison, ...]
    reimplemented: str = ""

    @property
    def in_words(self) -> bool:
        """Whether all of them are figures without numbers."""
        return all(table.in_words for table in self.tables)


def comparisons(summary: Summary) -> Comparisons | None:
    """The paper's tables, each beside the part of the run nearest to the paper's measurement."""
    published = summary.run.published
    tables = published.get("tables")
    if not tables or not summary.views:
        return None
    scales = {_scale(table, summary) for table in tables}
    own = len(scales) > 1 or any("@" in (row[1] or "") for t in tables for row in t["rows"])
    view = _view(summary, min(scales))
    editions = {table.get("edition") or "" for table in tables}
    return Comparisons(
        citation=str(published.get("citation", "")),
        systems={str(k): str(v) for k, v in (published.get("systems") or {}).items()},
        rows=None if own else min(scales),
        temperature=None if own else view.temperature if view else "warm",
        tables=tuple(_table(table, summary, editions) for table in tables),
        reimplemented=_reimplemented(summary),
    )


def _scale(table: Mapping[str, Any], summary: Summary) -> int:
    """The scale that a table stands beside: its own, or, where its relations have one size, any
    that was run."""
    scale = int(table["scale"])
    run = [view.rows for view in summary.views]
    return min(run) if table.get("fixed") and scale not in run else scale


def _view(summary: Summary, rows: int) -> View | None:
    """The view beside a row that names no temperature; None if the scale was not run."""
    at = [view for view in summary.views if view.rows == rows]
    return min(at, key=lambda view: view.temperature != "warm", default=None)


def _reimplemented(summary: Summary) -> str:
    reimplemented = summary.words.reimplemented
    if not reimplemented:
        return ""
    reported = listing([f"{system} as {variant}" for system, variant in reimplemented.items()])
    absent = [variant for variant in reimplemented.values() if variant not in summary.competitors]
    missing = f" (not in this run: {listing(absent)})" if absent else ""
    return f"Systems of the paper, re-implemented: {reported}{missing}."


def _table(table: Mapping[str, Any], summary: Summary, editions: set[str]) -> Comparison:
    unit_ns = UNITS_NS.get(str(table["unit"]).lower())
    view = _view(summary, _scale(table, summary))
    absent = _absent(table, summary)
    designs = _designs(table, summary, absent)
    variants = _variants(table, summary)
    lack = _lack(table, summary, editions, asked=designs is not None, variants=variants)
    apart = designs is not None and not designs.isdisjoint(summary.words.apart)
    source = (
        None
        if lack.why or view is None
        else Source(
            summary, view, variants, apart, int(table.get("requests") or 0), _quantity(table)
        )
    )
    columns = table.get("derived") or ()
    derived = tuple(heading(column, source) for column in columns)
    rows = []
    for label, operation, values in table["rows"]:
        why = absent.get(label, "")
        found = source.row(operation) if source and not why else {}
        why = why or ("" if found or not source else source.why(operation))
        row = (label, operation, values)
        own = (
            cell(c, head, row, source, table["rows"])
            for c, head in zip(columns, derived, strict=True)
        )
        rows.append(replace(_row(row, unit_ns, found, why), derived=tuple(own)))
    note = (
        table.get("note") or "",
        "" if lack.why else _place(table, summary),
        _pairs(derived, summary) if source else "",
    )
    return Comparison(
        number=str(table["number"]),
        title=str(table["title"]),
        unit=str(table["unit"]),
        note=" ".join(filter(None, note)),
        systems=tuple(table["systems"]),
        rows=tuple(rows),
        missing=lack.why,
        add=lack.add,
        apart=lack.apart,
        quantity=_quantity(table),
        derived=derived,
    )


def _quantity(table: Mapping[str, Any]) -> str:
    """The quantity of a table's times; records of earlier schemas do not name it."""
    return str(table.get("quantity") or "elapsed")


def _pairs(derived: Sequence[DerivedHeading], summary: Summary) -> str:
    """The variants to add, of systems that are re-implemented, for derived columns of today."""
    known = summary.words.reimplemented
    wanted = dict.fromkeys(
        known[system]
        for one in derived
        if one.today is None and one.kind != THROUGHPUT and {one.before, one.after} <= set(known)
        for system in (one.before, one.after)
        if known[system] not in summary.columns
    )
    options = " ".join(f"--on '{variant}'" for variant in wanted)
    return f"For today's derived columns add {options}." if options else ""


def _absent(table: Mapping[str, Any], summary: Summary) -> Mapping[str, str]:
    """Row's label -> why the run's edition has no counterpart."""
    reported = table.get("absent") or {}
    edition = summary.run.plan.edition
    return {
        label: f"no counterpart: {why[edition]}"
        for label, why in reported.items()
        if edition in why
    }


def _variants(table: Mapping[str, Any], summary: Summary) -> tuple[str, ...]:
    """The columns whose variants are of the table's design."""
    wanted = table.get("only") or {}
    reported = {(term.variant, term.key): term.read_back for term in summary.run.terms}
    return tuple(
        variant
        for variant in summary.columns
        if all(_is(reported.get((variant, key)), value) for key, value in wanted.items())
    )


def _is(read_back: str | None, value: str) -> bool:
    """Whether a reading has the wanted value; an engine may add to it:
    `objects: one value a part`."""
    return read_back is not None and read_back.partition(":")[0].casefold() == value.casefold()


def _place(table: Mapping[str, Any], summary: Summary) -> str:
    """A note on the place of today's databases, if the paper's is across a network."""
    if table.get("place") != "remote":
        return ""
    far = {term.variant for term in summary.run.terms if _is(term.read_back, "remote")
           and term.key == "place"}  # fmt: skip
    names = listing(summary.labels[variant] for variant in summary.columns if variant in far)
    local = "local: on the client's machine"
    return f"Today's are {local}{f', except {names}' if names else ''}."


def _designs(
    table: Mapping[str, Any], summary: Summary, absent: Mapping[str, str]
) -> frozenset[str] | None:
    """The designs of a table's operations; None where none of them was planned at its scale."""
    rows = _scale(table, summary)
    rated = [
        operation
        for label, operation, _ in table["rows"]
        if operation not in (None, SIZE, LOAD) and label not in absent
    ]
    names = {name for operation in rated for name in operations_of(operation)}
    planned = {cell.operation for cell in summary.run.plan.cells if cell.rows == rows}
    planned |= {point.operation for point in summary.run.users if point.rows == rows}
    if names and not names & planned:
        return None
    return frozenset(text.design for text in summary.run.operations if text.name in names)


class _Lack(NamedTuple):
    """The reason why a table has no comparable figure, empty if it may have one; the options to add
    to the command, or those of a run of its own."""

    why: str = ""
    add: str = ""
    apart: str = ""


def _lack(
    table: Mapping[str, Any],
    summary: Summary,
    editions: set[str],
    *,
    asked: bool,
    variants: Sequence[str],
) -> _Lack:
    """The lack of a table. `asked`: some operation of it was planned at its scale; `variants`:
    those of its design."""
    scale, edition = _scale(table, summary), table.get("edition") or ""
    at_scale = any(view.rows == scale for view in summary.views)
    # Tables without an edition are of the one that no table names.
    run_edition = summary.run.plan.edition
    run_edition = run_edition if run_edition in editions else ""
    if edition != run_edition:
        if not edition:
            return _Lack("not run in this edition: leave out --edition")
        # Added, it would take the place of the run's own edition, and of the figures of that one.
        options = f"--edition {edition}" + ("" if at_scale else f" --rows {scale}")
        why = f"not run in this edition: make a run of its own with {options}"
        return _Lack(why, apart=options)
    if not at_scale:
        return _adding(f"not run at {scale:,}", f"--rows {scale}")
    if not asked:
        lack = _adding("its operations were not run", "--preset full")
        return lack._replace(why=f"{lack.why}, without --operation")
    if not variants:
        wanted = "&".join(f"{key}={value}" for key, value in table["only"].items())
        known = [v for v in summary.words.reimplemented.values() if v.endswith(f"?{wanted}")]
        why = f"no variant with {wanted} was run"
        return _adding(why, f"--on '{known[0]}'") if known else _Lack(why)
    return _Lack()


def _adding(why: str, options: str) -> _Lack:
    return _Lack(f"{why}: add {options}", add=options)


def _row(
    row: tuple[str, str | None, Mapping[str, float | str]],
    unit_ns: float | None,
    measured: Mapping[str, Today],
    absent: str,
) -> ComparisonRow:
    label, operation, values = row
    size = operation == SIZE
    printed = {s: _size(value) if size else _printed(value, unit_ns) for s, value in values.items()}
    best = min((value.exact for value in printed.values() if value.exact), default=None)
    published = {
        system: replace(value, ratio=value.exact / best if value.exact and best else None)
        for system, value in printed.items()
    }
    fastest = [(variant, figure.quantity) for variant, figure in measured.items() if figure.best]
    variant, today = fastest[0] if fastest else ("", None)
    if not best or not today:
        return ComparisonRow(label, operation, published, measured, None, None, absent)
    winners = listing(system for system, value in printed.items() if value.exact == best)
    gain = best / today
    return ComparisonRow(label, operation, published, measured, gain, (winners, variant), absent)


def _size(value: float | str) -> PublishedValue:
    size_bytes = value * BYTES_OF_MB if isinstance(value, int | float) else None
    return PublishedValue(_text(value), None, size_bytes=size_bytes)


def _text(value: float | str) -> str:
    """As printed: a number keeps the digits of the file."""
    return str(value)


def _printed(value: float | str, unit_ns: float | None) -> PublishedValue:
    if isinstance(value, int | float):
        return PublishedValue(_text(value), value * unit_ns if unit_ns else None)
    over = OVER.match(value)
    if over and unit_ns:
        return PublishedValue(value, float(over[1]) * UNITS_NS[over[2]], over=True)
    marked = MARKED.match(value)
    return PublishedValue(value, float(marked[1]) * unit_ns if marked and unit_ns else None)
