"""After a run: the page's order, on one screen of text."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from rich.table import Table
from rich.text import Text

from loadstone.record.model import Run
from loadstone.report.charts import STEEP, largest_with
from loadstone.report.figures import listing, number, times
from loadstone.report.growth import growth
from loadstone.report.portrait import Portrait, Row, View, portrait
from loadstone.report.terminal import bar_of, one_line
from loadstone.report.terms import terms
from loadstone.report.verdict import circumstances, headline, verdict

BAR_WIDTH = 7
BAR_RATIO_MAX = 100.0
LINES_MAX = 4
"""Of failures, and of growth: the page has them all."""


def summary(run: Run, record: Path, page: Path | None) -> Iterable[Text | Table]:
    """The parts of the summary, from top to bottom."""
    whole = portrait(run)
    yield Text(headline(whole), style="bold")
    yield Text(circumstances(run), style="dim")
    yield _verdict(whole)
    view = largest_with(whole, "warm") or next(iter(whole.views), None)
    if view is not None:
        yield Text("")
        yield _groups(whole, view)
    yield from _block("Failed or invalid", _failures(whole), "red")
    yield from _block("Growing faster than the data", _growth(whole), "")
    yield from _block("", [*_cold(whole), *_terms(whole)], "")
    yield Text("")
    if page is not None:
        yield Text(f"report  {page}", style="bold")
    yield Text(f"record  {record}")


def _verdict(whole: Portrait) -> Text:
    line = Text()
    for words, fine in verdict(whole).clauses():
        line.append(" · " if line else "").append(words, style="" if fine else "red")
    return line


def _groups(whole: Portrait, view: View) -> Table:
    """For each group of operations and each variant, the middle of its ratios to the row's best."""
    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        title=f"Times the fastest, the middle of each group: {number(view.rows)} tuples, "
        f"{view.temperature}",
        title_justify="left",
        title_style="dim",
    )
    table.add_column("")
    for name in whole.names.values():
        table.add_column(one_line(name, 24), no_wrap=True)
    for group, rows in view.groups:
        table.add_row(one_line(group, 32), *(_ratio(rows, v) for v in whole.competitors))
    return table


def _ratio(rows: Sequence[Row], variant: str) -> Text:
    figures = [row.figures[variant] for row in rows if variant in row.figures]
    ratios = [figure.ratio.value for figure in figures if figure.ratio]
    failed = sum(figure.status in ("failed", "invalid") for figure in figures)
    text = Text()
    if ratios:
        middle = median(ratios)
        share = math.log(middle) / math.log(BAR_RATIO_MAX) if middle > 1 else 0.0
        text.append(f"{times(middle):>6} ").append(bar_of(share, BAR_WIDTH), style="blue")
    elif not failed:
        text.append(figures[0].status if figures else "", style="dim")
    if failed:
        text.append(f" {failed} failed", style="red")
    return text


def _block(title: str, lines: Sequence[str], style: str) -> Iterable[Text]:
    if not lines:
        return
    yield Text("")
    if title:
        yield Text(title, style="bold")
    for line in lines[:LINES_MAX]:
        yield Text(line, style, no_wrap=bool(title), overflow="ellipsis" if title else "fold")
    if len(lines) > LINES_MAX:
        yield Text(f"… and {len(lines) - LINES_MAX} more, in the report", style="dim")


def _failures(whole: Portrait) -> list[str]:
    return [
        f"{figure.cell.operation} on {figure.cell.variant}, {number(figure.cell.rows)} tuples, "
        f"{figure.cell.temperature}: {one_line(figure.reason, 90)}"
        for figure in whole.figures.values()
        if figure.status in ("failed", "invalid")
    ]


def _growth(whole: Portrait) -> list[str]:
    steep = [line for line in growth(whole) if line.exponent > STEEP]
    return [
        f"{line.operation.name} on {line.variant}, {line.temperature}: tuples^{line.exponent:.2f}"
        for line in sorted(steep, key=lambda line: -line.exponent)
    ]


def _cold(whole: Portrait) -> list[str]:
    """What a cold start costs each variant, in the middle of its operations."""
    cold = largest_with(whole, "cold")
    warm = whole.view(cold.rows, "warm") if cold else None
    if cold is None or warm is None:
        return []
    before = {row.operation.name: row for row in warm.all_rows}
    said = []
    for variant, name in whole.names.items():
        ratios = []
        for row in cold.all_rows:
            then = (
                before[row.operation.name].figures.get(variant)
                if row.operation.name in before
                else None
            )
            now = row.figures.get(variant)
            if now and then and now.elapsed_ns and then.elapsed_ns:
                ratios.append(now.elapsed_ns.value / then.elapsed_ns.value)
        if ratios:
            said.append(f"{name} {times(median(ratios))}")
    if not said:
        return []
    return [f"Cold over warm, the middle of the operations: {listing(said)}"]


def _terms(whole: Portrait) -> list[str]:
    unequal = terms(whole).unequal
    return [f"Terms that are not equal: {listing(unequal)}"] if unequal else []
