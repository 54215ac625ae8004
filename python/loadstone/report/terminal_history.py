"""A history on a terminal of any width: a block of lines for each record, and for each cell that
changed or lost a figure."""

from collections.abc import Iterable

from loadstone.analysis.history import History, Reported, Trend
from loadstone.diagnostics import console
from loadstone.report.history import (
    changes,
    figure,
    noteworthy,
    record_row,
    sentence,
)
from loadstone.text.numbers import plural

INDENT = 2


def show(found: History) -> None:
    """Print the records, the trends that changed, and a sentence about all."""
    from rich.padding import Padding
    from rich.text import Text

    screen = console()
    for title, blocks in (
        ("Records", map(_record, found.reported)),
        ("Cells that changed, or lost a figure", map(_trend, noteworthy(found))),
    ):
        for place, (heading, *lines) in enumerate(blocks):
            if not place:
                screen.print(Text(title, "italic"))
            screen.print(Text(heading, "bold"))
            for line in lines:
                screen.print(Padding(Text(line), (0, 0, 0, INDENT), expand=False))
            screen.print()
    screen.print(Text(sentence(found)))


def _record(reported: Reported) -> Iterable[str]:
    moment, name, run, order, findings = record_row(reported)
    yield f"{moment}  {name}"
    cell = "cell" if order.endswith(" 1") else "cells"
    yield f"{run}: {order} {cell} in order"
    yield findings


def _trend(trend: Trend) -> Iterable[str]:
    first, last = figure(trend.points[0]), figure(trend.points[-1])
    count = len(trend.points) - len(trend.lost)
    scale = f"{plural(trend.rows, 'tuple')}, {trend.temperature}"
    yield f"{trend.operation} ({scale}) on {trend.variant}"
    yield f"{trend.benchmark}: {plural(count, 'figure')}, the first {first}, the last {last}"
    yield from changes(trend)
