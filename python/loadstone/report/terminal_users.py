"""Concurrent users, after a run: for each operation a small table of either loop."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.table import Table
from rich.text import Text

from loadstone.analysis.user_points import UsersRow, UsersTable, users_tables
from loadstone.record.model import Run
from loadstone.report.screen import one_line
from loadstone.report.terminal_figures import FiguresTable
from loadstone.text.numbers import number, plural
from loadstone.text.reasons import kind_of, together

LEFT_OUT = ("status", "requests/s", "p90", "p99.9", "max")
"""Columns that a screen has no room for; a status that is not ok is a line below the table."""
VARIANT_CHARACTERS = 12
"""Of a variant's name in one line at least, if it has them: an engine's name is not broken."""
NOTES_MAX = 4
REASON_CHARACTERS = 240
"""The length of a loop's reason: the share of other programs, then a failed request's message."""
STYLES = {"failed": "red", "disturbed": "dim", "invalid": "dim", "gap": "dim"}


def concurrent_users(run: Run) -> Iterable[Text | Table]:
    """The tables with their remarks; nothing if the run had no users."""
    for table in users_tables(run):
        yield Text("")
        yield Text(table.title, style="dim")
        for (operation, rows), group in groupby(table.rows, key=_subject):
            several = len({row.point.rows for row in table.rows}) > 1
            heading = f"{operation}, {number(rows)}" if several else operation
            # Above it, since a name wider than those of its engines would be broken.
            yield Text(one_line(heading, 120), style="bold")
            yield _table(table, list(group))
        yield from _notes(table)
        for remark in table.remarks[:NOTES_MAX]:
            yield Text(one_line(remark, 160), style="dim")
        if len(table.remarks) > NOTES_MAX:
            left = len(table.remarks[NOTES_MAX:])
            yield Text(f"… and {left} more, in the report", style="dim")


def _notes(table: UsersTable) -> Iterable[Text]:
    """Loops whose reasons differ only in numbers are grouped."""
    reported: dict[str, list[str]] = {}
    for note in table.notes:
        reported.setdefault(kind_of(_reason(note)), []).append(note)
    for notes in list(reported.values())[:NOTES_MAX]:
        words = f"{plural(len(notes), 'loop')} {together([_reason(note) for note in notes])}"
        yield Text(one_line(notes[0] if len(notes) == 1 else words, REASON_CHARACTERS), style="dim")
    if len(reported) > NOTES_MAX:
        yield Text(f"… and {len(reported) - NOTES_MAX} more, in the report", style="dim")


def _reason(note: str) -> str:
    return note.partition(" loop: ")[2]


def _subject(row: UsersRow) -> tuple[str, int]:
    return row.point.operation, row.point.rows


def _table(table: UsersTable, rows: Sequence[UsersRow]) -> Table:
    figures = [
        place
        for place, name in enumerate(table.headings)
        if place >= table.names and not name.endswith(LEFT_OUT)
    ]
    shown = FiguresTable(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    widest = max(len(row.point.variant) for row in rows)
    shown.add_column(overflow="fold", min_width=min(widest, VARIANT_CHARACTERS))
    for place in figures:
        width = max(len(row.texts[place]) for row in rows)
        shown.add_column(table.headings[place], justify="right", min_width=width)
    for row in rows:
        texts = (row.texts[place] for place in figures)
        style = STYLES.get(row.point.status, "")
        shown.add_row(one_line(row.point.variant, 120), *texts, style=style)
    return shown
