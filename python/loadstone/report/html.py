"""The page: one self-contained HTML file, no network, in the order `docs/reference/report.md`
explains."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.standing import behind
from loadstone.errors import RecordError
from loadstone.record.model import Run
from loadstone.report.base import Report
from loadstone.report.page_context import chapters_context, contents, folded, page_context
from loadstone.report.paper_words import derived_cells, derived_headings, gain, nothing, values_are
from loadstone.report.shades import DARKEST_BEHIND, depth
from loadstone.report.work_words import work_words
from loadstone.text import numbers

PAGE_BYTES_MAX = 2_000_000
"""A page is for a mail, and for a telephone."""


class HtmlReport(Report):
    """For people: everything, on one page."""

    suffix: ClassVar[str] = ".html"
    mark: ClassVar[re.Pattern[bytes] | None] = re.compile(
        rb'<meta name="generator" content="loadstone '
    )
    printable: ClassVar[bool] = False

    def render(self, run: Run) -> bytes:
        """The page, UTF-8. Of a long record it leaves out what opens behind figures, and says so.
        Raises `RecordError` where not even that is enough."""
        template = environment().get_template("page.html.j2")
        context = page_context(run)
        for shorter in _shorter(context):
            page = template.render(context | shorter, contents=contents(context)).encode()
            if len(page) <= PAGE_BYTES_MAX:
                return page
        raise _too_long(run)

    def render_chapters(self, runs: Sequence[Run]) -> bytes:
        """The page of several benchmarks, UTF-8: what is said of all, then a chapter for each."""
        frame = environment().get_template("chapters.html.j2")
        context = chapters_context(runs)
        for shorter, own in _chapters_shorter(context):
            reported = [chapter | own for chapter in context["chapters"]]
            drawn = context | shorter | {"chapters": [*map(_chapter, reported)]}
            page = frame.render(drawn).encode()
            if len(page) <= PAGE_BYTES_MAX:
                return page
        raise _too_long(runs[0])


def _chapter(context: Mapping[str, Any]) -> dict[str, Any]:
    """A chapter as drawn: its place, its title, and its text."""
    template = environment().get_template("chapter.html.j2")
    body = template.render(context, contents=contents(context))
    drawn = Markup(body)  # noqa: S704 - the template escapes every text in it
    return {"id": context["at"].removesuffix("-"), "title": context["title"], "body": drawn}


def _chapters_shorter(
    context: Mapping[str, Any],
) -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    """As `_shorter`: what is left out of all, and of each chapter."""
    yield {}, {}
    bare = {"record_href": ""}
    yield bare, {}
    nowhere: list[dict[Any, str]] = [{} for _ in context["panels_of"]]
    yield bare | {"panels_of": nowhere}, folded(()) | {"left_out": "the figures"}


def _too_long(run: Run) -> RecordError:
    return RecordError(
        f"a page of run {run.run_id} would have more than {PAGE_BYTES_MAX:,} bytes",
        hint="loadstone report RECORD --format md, csv, json or parquet",
    )


def shade(figure: CellSummary) -> int:
    """0 (the best) to 8 (a hundred times the best or worse), by the logarithm of the ratio."""
    ratio = behind(figure.ratio)
    if ratio is None or ratio <= 1:
        return 0
    return depth(ratio, DARKEST_BEHIND)


def mark_letter(number: int) -> str:
    """Footnote signs: a, b, … z, aa, ab, …"""
    return (chr(96 + number // 26) if number >= 26 else "") + chr(97 + number % 26)


@cache
def environment() -> Environment:
    """The page's templates, compiled once in a process: that takes half the time of a page."""
    environment = Environment(
        loader=PackageLoader("loadstone.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.loopcontrols"],
    )
    environment.filters |= {
        "count": numbers.number,
        "scaled": numbers.scaled,
        "digits": numbers.digits,
        "duration": numbers.duration,
        "derived_cells": derived_cells,
        "derived_headings": derived_headings,
        "gain": gain,
        "letter": mark_letter,
        "nothing": nothing,
        "percent": numbers.percent,
        "plural": numbers.plural,
        "shade": shade,
        "size": numbers.size,
        "times": numbers.times,
        "values_are": values_are,
        "work": work_words,
    }
    environment.globals |= {"interval": numbers.interval, "page_bytes_max": PAGE_BYTES_MAX}
    return environment


def _shorter(context: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """The parts left out of a page that is too long, more with each step."""
    yield {}
    bare = {"record_href": ""}
    yield bare
    if "bare_panels" in context:
        yield bare | {"panels": context["bare_panels"], "left_out": "the cells of the plans"}
        yield bare | {"panels": (), "left_out": "the cells"}
        return
    largest = max(context["scales"], default=0)
    kept = [panel for panel in context["panels"] if panel.rows == largest]
    if len(kept) < len(context["panels"]):
        others = f"the figures of all but {numbers.number(largest)} {context['words'].scale}"
        yield bare | folded(kept) | {"left_out": others}
    yield bare | folded(()) | {"left_out": "the figures"}
