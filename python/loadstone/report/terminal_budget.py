"""Time budgets on the terminal: where each engine's time goes, over all operations."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from loadstone.analysis.budget import budgets
from loadstone.analysis.budget_overview import overviews, shown_first
from loadstone.analysis.summary import Summary
from loadstone.report.budget_words import overview_rows, quality_line
from loadstone.report.screen import folded
from loadstone.report.terminal_figures import FiguresTable
from loadstone.text.numbers import plural, scaled

ROWS_MAX = 12
"""The largest: a screen has more to show, and the page has them all."""


def time_budgets(whole: Summary) -> Iterable[Text | Table]:
    """The largest scale's, warm if there is any; nothing for a run without budgets."""
    found = budgets(whole.run)
    shown = shown_first(overviews(found))
    if shown is None:
        return
    table = FiguresTable(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        title=f"Where the time goes, mean of {plural(shown.operations, 'operation')}: "
        f"{scaled(shown.rows, whole.words.scale)}, {shown.temperature}",
        title_justify="left",
        title_style="dim",
    )
    table.add_column("")
    for variant in shown.variants:
        table.add_column(folded(whole.labels[variant], 14), justify="right", no_wrap=True)
    for name, shares in overview_rows(shown, ROWS_MAX):
        table.add_row(name, *shares)
    yield Text("")
    yield table
    yield Text(quality_line(found), style="dim")
