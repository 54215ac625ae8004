"""A comparison on the terminal: a table of pairs and one of terms for each two sides."""

from collections.abc import Iterable
from typing import TextIO

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.analysis.compare.cells import FASTER, SLOWER, UNDECIDED
from loadstone.analysis.compare.compare import NO_REGRESSION, UNDECIDED_YET, Comparison, Matched
from loadstone.analysis.compare.terms import EQUAL, Entry, shown
from loadstone.diagnostics import console
from loadstone.record.changed_answers import sentence
from loadstone.report.comparison import wording
from loadstone.report.screen import one_line
from loadstone.report.terminal_figures import FiguresTable

STYLES = {SLOWER: "red", FASTER: "green", UNDECIDED: "yellow"}
STYLES_OF_OUTCOME = {NO_REGRESSION: "bold", UNDECIDED_YET: "bold yellow"}
VALUE_MAX = 32
"""Characters of a term's value: two of them and a mark fit a terminal's line."""
WIDTH_PIPED = 120


def show(comparison: Comparison, out: TextIO) -> None:
    """Print all of it; in a pipe as wide as it is, so that no cell is cut."""
    width = None if out.isatty() else WIDTH_PIPED
    screen = console(file=out, width=width)
    for part in _parts(comparison):
        screen.print(part)


def _parts(comparison: Comparison) -> Iterable[RenderableType]:
    style = STYLES_OF_OUTCOME.get(comparison.outcome, "bold red")
    yield from (Text(sentence(each), style="bold red") for each in comparison.changed)
    yield Text(comparison.sentence(), style=style)
    yield Text(wording.runs(comparison), style="dim")
    for matched in comparison.matched:
        yield Text("")
        yield Text(one_line(matched.match.name, 200), style="bold")
        if flag := wording.flag(matched):
            yield Text(one_line(flag, 1000), style="yellow")
        if matched.pairs:
            yield _pairs(matched)
        for line in wording.plans(matched):
            yield Text(one_line(f"plans: {line}", 1000))
        for rest in wording.remainders(matched):
            line = f"{rest.count} not compared: {rest.reason} ({rest.operations})"
            yield Text(one_line(line, 1000), style="yellow")
        unequal = [e for e in wording.terms(matched) if e.verdict != EQUAL]
        if unequal:
            yield _terms(unequal)
        if equal := wording.equal_terms(matched):
            yield Text(one_line(equal, 400), style="dim")


def _pairs(matched: Matched) -> Table:
    table = FiguresTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in wording.HEADINGS:
        right = heading in ("tuples", "A", "B", "B / A of pairs")
        table.add_column(heading, justify="right" if right else "left")
    for pair in matched.pairs:
        *figures, verdict = wording.cells(pair)
        table.add_row(
            *(Text(one_line(figure, 80)) for figure in figures),
            Text(verdict, style=STYLES.get(verdict, "")),
        )
    return table


def _terms(unequal: Iterable[Entry]) -> Table:
    table = Table(*wording.TERM_HEADINGS, box=None, pad_edge=False, header_style="dim")
    for entry in unequal:
        values = (Text(one_line(shown(side), VALUE_MAX)) for side in (entry.a, entry.b))
        mark = Text(wording.MARKS[entry.verdict])
        table.add_row(Text(one_line(entry.key, 80)), *values, mark, style="yellow")
    return table
