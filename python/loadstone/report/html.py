"""The page: one self-contained HTML file, no network, in the order `docs/report.md` explains."""

import base64
import gzip
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from loadstone.analysis.busy import busy_variants
from loadstone.analysis.calibration import calibration
from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.cold_warm import cold_and_warm_views, cold_warm
from loadstone.analysis.findings.learned import learned
from loadstone.analysis.growth import Growth, growth
from loadstone.analysis.published import Comparison, Comparisons, comparisons
from loadstone.analysis.standing import behind, unjudged
from loadstone.analysis.study import study_map
from loadstone.analysis.study_details import switch_details
from loadstone.analysis.study_terms import study_terms
from loadstone.analysis.study_waterfall import descents
from loadstone.analysis.summary import Summary, summarise
from loadstone.analysis.terms import terms
from loadstone.analysis.verdict import circumstances, headline, verdict
from loadstone.errors import RecordError
from loadstone.plan.role import Role
from loadstone.record.model import Run
from loadstone.report import charts, reproduce
from loadstone.report.base import Report
from loadstone.report.budget_page import budget_context
from loadstone.report.calibration_table import calibration_table
from loadstone.report.drawing import svg_of
from loadstone.report.findings_words import GRADES, NONE, OPEN_MOST, theme_words, why_words
from loadstone.report.json import encode
from loadstone.report.ladder_words import clients_line, ladder_sections, round_trips_line
from loadstone.report.legible import legible_run
from loadstone.report.panel import STRIP_PX, Panel, panels
from loadstone.report.paper_words import gain, nothing
from loadstone.report.study_page import study_context, study_panels
from loadstone.report.study_paper_page import paper_context, routines_context
from loadstone.report.unequal_words import unequal_lines
from loadstone.report.users_page import users_context
from loadstone.report.work_words import work_words
from loadstone.text import numbers

PAGE_BYTES_MAX = 2_000_000
"""A page is for a mail, and for a telephone."""
RECORD_BYTES_MAX = 400_000
"""Of the record inside the page."""
SHADES = 8
SHADE_RATIO_MAX = 100.0
"""A ratio that gets the darkest shade."""
SECTIONS = {
    "findings": "What was learned",
    "summary": "The summary",
    "budget": "Where the time goes",
    "paper": "The paper\N{RIGHT SINGLE QUOTATION MARK}s tables",
    "ladder": "The cost ladder",
    "growth": "Growth",
    "temperatures": "Cold against warm",
    "users": "Concurrent users",
    "terms": "The terms",
    "machine": "Calibration and the machine",
    "reproduce": "Run it again",
}
"""The page's sections, with their headings. An empty section is left out."""
SECTIONS_OF_STUDY = {
    "findings": "What was learned",
    "study": "What each switch changes",
    "enhancements": "The paper\N{RIGHT SINGLE QUOTATION MARK}s changes, then and now",
    "break_even": "When it pays off",
    "waterfall": "From base to the other end",
    "study_terms": "The terms",
    "machine": "Calibration and the machine",
    "reproduce": "Run it again",
}
"""Those of a study's page. The summary would have a column for each combination of switches."""


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
        template = _environment().get_template("page.html.j2")
        context = _context(run)
        for shorter in _shorter(context):
            page = template.render(context | shorter, contents=_contents(context)).encode()
            if len(page) <= PAGE_BYTES_MAX:
                return page
        raise RecordError(
            f"a page of run {context['run'].run_id} would have more than {PAGE_BYTES_MAX:,} bytes",
            hint="loadstone report RECORD --format md, csv, json or parquet",
        )


def shade(figure: CellSummary) -> int:
    """0 (the best) to 8 (a hundred times the best or worse), by the logarithm of the ratio."""
    ratio = behind(figure.ratio)
    if ratio is None or ratio <= 1:
        return 0
    share = math.log(ratio) / math.log(SHADE_RATIO_MAX)
    return min(SHADES, max(1, round(share * SHADES)))


def mark_letter(number: int) -> str:
    """Footnote signs: a, b, … z, aa, ab, …"""
    return (chr(96 + number // 26) if number >= 26 else "") + chr(97 + number % 26)


@cache
def _environment() -> Environment:
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
        "digits": numbers.digits,
        "duration": numbers.duration,
        "gain": gain,
        "letter": mark_letter,
        "nothing": nothing,
        "percent": numbers.percent,
        "plural": numbers.plural,
        "shade": shade,
        "size": numbers.size,
        "times": numbers.times,
        "work": work_words,
    }
    environment.globals |= {"interval": numbers.interval}
    return environment


def _context(record: Run) -> dict[str, Any]:
    whole = summarise(legible_run(record))
    run = whole.run
    own = _of_run(whole) if run.plan.study is None else _study(whole)
    return (
        _learned(whole)
        | own
        | {
            "run": run,
            "summary": whole,
            "verdict": verdict(whole),
            "headline": headline(whole),
            "circumstances": circumstances(run),
            "left_out": "",
            "unjudged": unjudged(run),
            "page_bytes_max": PAGE_BYTES_MAX,
            "words": whole.words,
            "sessions": run.sessions,
            "machine": _machine(run),
            "busy": busy_variants(whole),
            "calibration": calibration_table(calibration(whole), whole.labels),
            "command": reproduce.command(run),
            "typed": reproduce.typed(run),
            "plan": reproduce.plan_toml(run),
            # To go on with: every text as it is.
            "record_href": _data_url(encode(summarise(record))),
            "plan_hash": record.plan.hash,
            "record_name": f"loadstone-{run.run_id}.json.gz",
        }
    )


def _learned(whole: Summary) -> dict[str, Any]:
    """What the findings say, of all rows and of each."""
    found = learned(whole)
    return {
        "themes": theme_words(whole, found),
        "open_most": OPEN_MOST,
        "no_finding": NONE,
        "grades": GRADES,
        "whys": {place: why_words(why) for place, why in found.whys.items()},
        "panel_of": {},
    }


def _study(whole: Summary) -> dict[str, Any]:
    """What only the page of a study has."""
    run = whole.run
    found = study_map(run)
    assert found is not None  # noqa: S101 - asked only where the plan is a study
    details = switch_details(run, found)
    return {
        "sections": tuple(SECTIONS_OF_STUDY),
        "scales": [],
        "temperatures": [],
        "panel_template": "study_panel.html.j2",
        "panels": study_panels(details, run.operations),
        "bare_panels": study_panels(details, run.operations, plans=False),
        "terms": study_terms(run),
        **study_context(found, details, descents(found), run.operations),
        **paper_context(run, found),
    }


def _of_run(whole: Summary) -> dict[str, Any]:
    """What only the page of a run has that is no study."""
    run = whole.run
    compared = comparisons(whole)
    words = whole.words
    nominal = words.varying.nominal.values()
    return {
        "scales": list(dict.fromkeys(view.rows for view in whole.views)),
        "temperatures": list(dict.fromkeys(view.temperature for view in whole.views)),
        **_folded(panels(whole)),
        "panel_template": "panel.html.j2",
        "strip_px": STRIP_PX,
        "notes": notes(whole),
        "marks": {note[:2]: number for number, note in enumerate(notes(whole))},
        "compared": compared,
        "paper_charts": _paper_charts(compared, _ranked_names(whole)),
        "growths": _growths(whole),
        "temperature_charts": _temperature_charts(whole),
        "ladder": ladder_sections(whole),
        "ladder_wholes": numbers.listing(whole.name for whole in words.ladder.wholes),
        "clients_line": clients_line(whole),
        "unranked": unranked(whole),
        "unequal_lines": unequal_lines(whole, marks=True),
        "round_trips_line": round_trips_line(whole),
        "statements": any(result.statements for result in run.results),
        "sections": tuple(SECTIONS),
        "scaled_to": numbers.listing(map(numbers.number, dict.fromkeys(nominal))),
        **users_context(whole),
        **budget_context(whole),
        **routines_context(whole),
        "terms": terms(whole),
    }


def notes(whole: Summary) -> list[tuple[str, str, str]]:
    """(variant, storage, note) of the structures that some row of the summary exercises."""
    storages = {text.storage for text in whole.run.operations}
    return [
        note
        for note in whole.run.structure_notes
        if note[0] in whole.columns and note[1] in storages
    ]


def _shorter(context: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """What is left out of a page that is too long, more with each step."""
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
        yield bare | _folded(kept) | {"left_out": others}
    yield bare | _folded(()) | {"left_out": "the figures"}


def _folded(kept: Sequence[Panel]) -> dict[str, Any]:
    return {
        "panels": kept,
        "panel_of": {(panel.rows, panel.operation.name): panel.id for panel in kept},
    }


def _contents(context: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(id, heading) of the sections that the page has."""
    if "map" in context:
        there = {
            "enhancements": context["changes"],
            "break_even": context["paying"] or context["paying_untold"],
            "waterfall": context["falls"], "study_terms": context["terms"].switches,
        }  # fmt: skip
        return [(name, told) for name, told in SECTIONS_OF_STUDY.items() if there.get(name, True)]
    terms_told = context["terms"].rows or context["terms"].settings
    there = {
        "paper": context["compared"], "ladder": context["ladder"], "growth": context["growths"],
        "temperatures": context["temperature_charts"], "users": context["users"],
        "terms": terms_told, "budget": context["budget_views"],
    }  # fmt: skip
    return [(name, title) for name, title in SECTIONS.items() if there.get(name, True)]


UNRANKED = {
    Role.LIMIT: "not a database: it keeps and commits nothing, and is not ranked",
    Role.CONTROL: "an engine of known time, to check the instrument; not ranked",
}


def unranked(whole: Summary) -> list[tuple[str, str]]:
    """(role, meaning) of the columns that are not ranked."""
    roles = dict.fromkeys(whole.role_of(variant) for variant in whole.columns)
    return [(role.value, UNRANKED[role]) for role in roles if role in UNRANKED]


def _data_url(data: bytes) -> str:
    """The data as a link; empty where it would make the page too long."""
    packed = base64.b64encode(gzip.compress(data, mtime=0)).decode()
    fits = len(packed) <= RECORD_BYTES_MAX
    return f"data:application/gzip;base64,{packed}" if fits else ""


def _paper_charts(
    compared: Comparisons | None, names: Mapping[str, str]
) -> dict[str, list[Markup]]:
    """A table's heading -> its drawings: a paper may have one number for several sizes."""
    drawn: dict[str, list[Markup]] = {}
    for table in compared.tables if compared else ():
        if any(row.measured_today for row in table.drawn):
            drawings = [_draw(charts.paper_table(table, names))]
            if _has_shape(table):
                drawings.append(_draw(charts.paper_shape(table, names)))
            drawn[table.heading] = drawings
    return drawn


def _ranked_names(whole: Summary) -> Mapping[str, str]:
    """Names for the drawings: unranked columns appear only in the tables, where their heading says
    so."""
    return {variant: whole.names[variant] for variant in whole.competitors}


def _draw(chart: charts.Chart) -> Markup:
    return Markup(svg_of(*chart))  # noqa: S704 - Vega escapes every text in it


def _has_shape(table: Comparison) -> bool:
    return sum(row.measured_today for row in table.drawn) > 1


@dataclass(frozen=True, slots=True)
class GrowthGroup:
    """The growth of one group of operations: a drawing per variant, and the exponents."""

    name: str
    drawings: tuple[tuple[str, Markup], ...]


def _growths(whole: Summary) -> list[GrowthGroup]:
    lines = growth(whole)
    temperature = "warm" if any(line.temperature == "warm" for line in lines) else ""
    groups: dict[str, list[Growth]] = {}
    for line in lines:
        flat = line.operation.name in whole.words.ladder.flat
        if (line.temperature == temperature or not temperature) and not flat:
            groups.setdefault(line.operation.group, []).append(line)
    return [
        GrowthGroup(name, tuple(_growth_drawings(found, whole.competitors, whole.words.scale)))
        for name, found in groups.items()
    ]


def _growth_drawings(
    lines: Sequence[Growth], variants: Sequence[str], scale: str
) -> Iterable[tuple[str, Markup]]:
    domain = charts.growth_domain(lines)
    for series, variant in enumerate(variants):
        own = [line for line in lines if line.variant == variant]
        if own:
            yield variant, _draw(charts.growth_lines(own, series, domain, scale))


def _temperature_charts(whole: Summary) -> list[tuple[str, Markup]]:
    views = cold_and_warm_views(whole)
    if views is None:
        return []
    return [
        (variant, _draw(chart))
        for series, variant in enumerate(whole.competitors)
        if (chart := charts.cold_and_warm(cold_warm(*views, variant), variant, series))
    ]


def _machine(run: Run) -> dict[str, Any]:
    """Every key, of the last session that knows it."""
    return {key: value for session in run.sessions for key, value in session.machine.items()}
