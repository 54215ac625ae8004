"""The Markdown report: the verdict and the portrait, for a pull request or a README."""

import re
from collections.abc import Iterable
from typing import ClassVar

from loadstone.record.model import Run
from loadstone.report import figures, reproduce
from loadstone.report.base import Report
from loadstone.report.growth import growth
from loadstone.report.portrait import Figure, Portrait, Row, View, portrait
from loadstone.report.terms import terms
from loadstone.report.verdict import circumstances, headline, verdict

HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


class MarkdownReport(Report):
    """For people who read a diff: compact, no colours, no charts."""

    suffix: ClassVar[str] = ".md"

    def render(self, run: Run) -> bytes:
        """UTF-8, GitHub's Markdown."""
        return ("\n".join(_lines(portrait(run))) + "\n").encode()


def _lines(whole: Portrait) -> Iterable[str]:
    run = whole.run
    yield f"**{plain(headline(whole))}**  "
    yield f"{plain(circumstances(run))}  "
    yield plain(verdict(whole).sentence())
    for view in whole.views:
        yield ""
        yield from _view(whole, view)
    yield from _growth(whole)
    yield from _reasons(whole)
    unequal = terms(whole).unequal
    if unequal:
        yield ""
        yield f"Terms that are not equal: {plain(', '.join(unequal))}."
    yield ""
    command = reproduce.command(run).replace("`", "'")
    yield f"Again: `{command}` · run {run.run_id}, plan {run.plan.hash}"


def plain(text: str) -> str:
    """Text that Markdown leaves as it is, also inside a table: one line, nothing active."""
    text = "".join(HTML.get(c, c if ord(c) >= 32 else " ") for c in text)
    return re.sub(r"([\\`*_\[\]|~])", r"\\\1", text)


def _view(whole: Portrait, view: View) -> Iterable[str]:
    yield f"{figures.number(view.rows)} tuples, {view.temperature}; median, times the row's best"
    yield ""
    yield f"| operation | unit | {' | '.join(plain(v) for v in whole.competitors)} |"
    yield f"|---|---|{'--:|' * len(whole.competitors)}"
    for group, rows in view.groups:
        for row in rows:
            cells = " | ".join(_cell(row, row.figures.get(v)) for v in whole.competitors)
            yield f"| {plain(group)}: {plain(row.operation.title)} | {row.unit.symbol} | {cells} |"


def _cell(row: Row, figure: Figure | None) -> str:
    if figure is None:
        return ""
    if figure.elapsed_ns is None:
        words = {"gap": "gap", "pending": "not run"}.get(figure.status)
        return words or f"**{plain(shorten(figure.reason))}**"
    number = figures.digits(figure.elapsed_ns.value / row.unit.ns)
    if figure.status == "invalid":
        return f"~~{number}~~ invalid"
    if figure.temperature == "unproved":
        return f"{number} *unproved*"
    if figure.best or figure.ratio is None:
        return f"**{number}**"
    about = "≈" if figure.tied else ""
    return f"{number} {about}{figures.times(figure.ratio.value)}"


def shorten(text: str, most: int = 60) -> str:
    """Cut where a reason grows longer than a table's cell."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _growth(whole: Portrait) -> Iterable[str]:
    steep = [line for line in growth(whole) if line.exponent > 1.2]
    if steep:
        yield ""
        yield "Growing faster than the data (exponent of time over tuples):"
        yield ""
        for line in steep:
            name = f"{line.operation.title} ({line.operation.name}) on {line.variant}"
            yield f"- {plain(name)}, {line.temperature}: {line.exponent:.2f}"


def _reasons(whole: Portrait) -> Iterable[str]:
    bad = [f for f in whole.figures.values() if f.status in ("failed", "invalid")]
    if bad:
        yield ""
        yield "Failed or invalid:"
        yield ""
        for figure in bad:
            cell = figure.cell
            where = f"{cell.operation} on {cell.variant}, {cell.rows:,} tuples, {cell.temperature}"
            yield f"- {plain(where)}: {plain(figure.reason)}"
