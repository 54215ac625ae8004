"""The paper's tables beside today's figures, in words, the same for every format of plain text."""

from collections import Counter
from dataclasses import dataclass

from loadstone.analysis.derived import THROUGHPUT, TIME, DerivedCell, DerivedHeading
from loadstone.analysis.measured import Today
from loadstone.analysis.published import Comparison, ComparisonRow, Comparisons
from loadstone.analysis.standing import GUESS
from loadstone.analysis.summary import Summary
from loadstone.record.model import MEASURED
from loadstone.text.numbers import digits, duration, listing, plural, scaled, times

FEW = "°"
TIMES_OF = {"elapsed": "elapsed", "cpu": "of CPU time"}
"""Quantity of a table's times -> its words behind their unit."""
FORMULAS = {
    "gain": "({before} − {after}) / {after}, %",  # noqa: RUF001 - the sign, not a dash
    "loss": "({after} − {before}) / {after}, %",  # noqa: RUF001
    "ratio": "{before} / {after}",
    "saved": "{before} − {after}, {unit}",  # noqa: RUF001
    "sampled": "of {before}, {unit}",
    THROUGHPUT: "one user's as 1",
}


@dataclass(frozen=True, slots=True)
class PaperCell:
    """A printed figure, or the reason for none; `ratio` to the best of the row's era, and `best` if
    it is that one."""

    text: str
    ratio: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table with some figure of today. A row is its label and a cell for each heading: the
    paper's systems and the columns derived from them, the variants, and the ratio of best over
    best."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[PaperCell, ...]], ...]
    notes: tuple[str, ...]


def paper_tables(found: Comparisons, summary: Summary) -> tuple[PaperTable, ...]:
    """Those of which this run measured something."""
    return tuple(_table(table, summary) for table in found.tables if table.measured)


def unmeasured(found: Comparisons) -> tuple[str, ...]:
    """A line for each of the others: the reason, and the options to add."""
    others = (table for table in found.tables if not table.measured)
    return tuple(f"{table.heading}: {nothing(table)}" for table in others)


def nothing(table: Comparison) -> str:
    """Why a table has no usable figure: the table's reason, or row by row."""
    if any(one.status == "invalid" for row in table.rows for one in row.measured.values()):
        return "its figures are invalid"
    rows = [f"{row.label}: {row.absent}" for row in table.rows if row.absent]
    return table.missing or "; ".join(rows) or "no figure"


def lead(found: Comparisons, summary: Summary) -> str:
    """The text above the tables."""
    scale = summary.words.scale
    at = (
        f"{scaled(found.rows, scale)}, {found.temperature}"
        if found.rows is not None
        else f"at the table's number of {scale} and each row's temperature"
    )
    said = (
        f"{found.citation}. As published, beside this run, {at}; ratios to the best of the same"
        " era. Best over best: the paper's fastest over today's, both named; their designs may"
        " differ."
    )
    if found.in_words:
        said = f"{found.citation}. What it says of its figures, in words, beside this run, {at}."
    return " ".join(filter(None, (said, summary.words.basis, found.reimplemented)))


def paper_line(found: Comparisons | None) -> str:
    """The number of tables with figures, and the options that give the others some; empty if the
    paper has none."""
    if found is None:
        return ""
    measured = len([table for table in found.tables if table.measured])
    said = f"the paper's tables, {measured} of {len(found.tables)} beside today's figures"
    adds = [table.add for table in found.tables if table.add]
    if adds:
        said += f"; for {plural(len(adds), 'other')} add {listing(dict.fromkeys(adds))}"
    for options, count in Counter(t.apart for t in found.tables if t.apart).items():
        said += f"; for {plural(count, 'other')} make a run of its own with {options}"
    return said


def _table(table: Comparison, summary: Summary) -> PaperTable:
    today = [summary.headings[variant] for variant in summary.columns]
    best = () if table.in_words else ("best over best",)
    notes = [table.note] if table.note else []
    if table.few_visits:
        notes.append(f"{FEW} {summary.words.varying.sentence}.")
    return PaperTable(
        f"{table.heading}; {values_are(table)}",
        (*table.systems, *derived_headings(table, summary), *today, *best),
        tuple((row.label, _cells(row, table, summary)) for row in table.rows),
        tuple(notes),
    )


def _cells(row: ComparisonRow, table: Comparison, summary: Summary) -> tuple[PaperCell, ...]:
    columns = summary.columns
    published = (_published(row, system) for system in table.systems)
    today = [_today(row.measured.get(variant)) for variant in columns]
    if row.absent and today:
        today[0] = PaperCell(row.absent)
    derived = map(PaperCell, derived_cells(row, table))
    best = () if table.in_words else (PaperCell(gain(row, summary)),)
    return (*published, *derived, *today, *best)


def values_are(table: Comparison) -> str:
    """The unit of a paper's values, with what its times are."""
    if table.in_words:
        return f"{TIMES_OF[table.quantity]}, in words"
    unit = f"{table.unit} {TIMES_OF[table.quantity]}" if table.timed else table.unit
    return f"{unit}, as printed"


def derived_headings(table: Comparison, summary: Summary) -> list[str]:
    """Of each derived column its heading, and that of the same today where the run has both
    variants."""
    return [words for one in table.derived for words in _derived_heading(one, table, summary)]


def derived_cells(row: ComparisonRow, table: Comparison) -> list[str]:
    """A row's cells below them."""
    pairs = zip(row.derived, table.derived, strict=True)
    return [text for one, head in pairs for text in _derived_cell(one, head)]


def _derived_heading(one: DerivedHeading, table: Comparison, summary: Summary) -> tuple[str, ...]:
    formula = FORMULAS[one.kind].format(before=one.before, after=one.after, unit=table.unit)
    then = f"{one.name}: {formula}, as printed"
    if one.kind == THROUGHPUT:
        return then, *(f"today: {summary.labels[variant]}" for variant in one.each)
    if one.today is None:
        return (then,)
    before, after = (summary.labels[variant] for variant in one.today)
    now = FORMULAS[one.kind].format(before=before, after=after, unit="").rstrip(", ")
    return then, f"today: {now}"


def _derived_cell(one: DerivedCell, head: DerivedHeading) -> tuple[str, ...]:
    """A row's derived value as printed, with the one that follows from its times where it differs;
    and today's."""
    then = one.printed
    if one.recomputed is not None:
        then += f" (recomputed {one.recomputed:.{one.places}f})"
    if head.kind == THROUGHPUT:
        return then, *("" if value is None else digits(value) for value in one.each)
    if head.today is None:
        return (then,)
    return then, _derived_today(one, head)


def _derived_today(one: DerivedCell, head: DerivedHeading) -> str:
    value = one.today
    if value is None:
        return one.unknown
    written = duration if head.measure == TIME else digits
    if value.low is None or value.high is None:
        return f"{GUESS}{written(value.value)}"
    if head.kind == "sampled" and not value.value:
        return f"none seen, at most {written(value.high)}"
    return f"{written(value.value)} ({written(value.low)} … {written(value.high)})"


def gain(row: ComparisonRow, summary: Summary) -> str:
    """The ratio of the paper's best over today's, and their names."""
    if row.gain is None or row.gain_of is None:
        return ""
    system, variant = row.gain_of
    return f"{times(row.gain)} {system} / {summary.labels[variant]}"


def _published(row: ComparisonRow, system: str) -> PaperCell:
    value = row.published.get(system)
    if value is None:
        return PaperCell("")
    if value.ratio is None:
        return PaperCell(value.text)
    return PaperCell(value.text, "" if value.best else times(value.ratio), value.best)


def _today(figure: Today | None) -> PaperCell:
    if figure is None:
        return PaperCell("")
    if figure.unknown:
        return PaperCell(figure.unknown)
    if figure.longer_than_ns is not None:
        return PaperCell(figure.text, figure.standing)
    if figure.status not in MEASURED or not figure.text:
        return PaperCell("not run" if figure.status == "pending" else figure.status)
    unproved = "unproved " if figure.temperature == "unproved" else ""
    marks = "".join(f" ≠{term.mark}" for term in figure.unequal)
    text = f"{unproved}{figure.text}{FEW if figure.few_visits else ''}{marks}"
    if figure.status == "invalid":
        return PaperCell(f"({text}) invalid")
    if figure.status == "disturbed":
        return PaperCell(f"{text} ({figure.interval})")
    if figure.best or figure.ratio is None:
        return PaperCell(text, best=figure.best)
    return PaperCell(text, figure.standing)
