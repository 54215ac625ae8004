"""The page as values, which its templates print."""

import base64
import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from loadstone.analysis.busy import busy_variants
from loadstone.analysis.calibration import calibration
from loadstone.analysis.chapters import (
    Chapter,
    chapters,
    circumstances_of,
    headline_of,
    verdict_of,
)
from loadstone.analysis.cold_warm import cold_and_warm_views, cold_warm
from loadstone.analysis.findings.learned import Learned, learned
from loadstone.analysis.growth import Growth, growth
from loadstone.analysis.published import Comparison, Comparisons, comparisons
from loadstone.analysis.standing import unjudged
from loadstone.analysis.study_terms import study_terms
from loadstone.analysis.summary import Summary, summarise
from loadstone.analysis.terms import terms
from loadstone.analysis.verdict import circumstances, headline, verdict
from loadstone.control_characters import legible
from loadstone.plan.chapters import FOR_ALL, command_of, file_of, hash_of
from loadstone.plan.role import Role
from loadstone.record.changed_answers import changed_in, sentence
from loadstone.record.model import Run
from loadstone.report import charts, reproduce
from loadstone.report.budget_page import budget_context
from loadstone.report.calibration_table import calibration_table
from loadstone.report.drawing import svg_of
from loadstone.report.findings_words import (
    GRADES,
    NONE,
    OPEN_MOST,
    chapters_words,
    theme_words,
    why_words,
)
from loadstone.report.json import encode, encode_chapters
from loadstone.report.ladder_words import clients_line, ladder_sections, round_trips_line
from loadstone.report.legible import legible_run
from loadstone.report.panel import STRIP_PX, Panel, panels
from loadstone.report.study_page import study_context, study_panels
from loadstone.report.study_paper_page import paper_context, routines_context
from loadstone.report.unequal_words import unequal_lines
from loadstone.report.users_page import users_context
from loadstone.studies.details import switch_details
from loadstone.studies.view import study_map
from loadstone.studies.waterfall import descents
from loadstone.text import numbers

RECORD_BYTES_MAX = 400_000
"""Of the record inside the page."""
SECTIONS = {
    "findings": "Findings",
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
SECTIONS_OF_CHAPTER = tuple(name for name in SECTIONS if name not in ("findings", "reproduce"))
"""Those of one of several benchmarks: what was learned, and how to run it again, stands for all."""
SECTIONS_OF_STUDY = {
    "findings": "Findings",
    "study": "Effect of each switch",
    "enhancements": "The paper\N{RIGHT SINGLE QUOTATION MARK}s changes, then and now",
    "break_even": "When it pays off",
    "waterfall": "From base to the other end",
    "study_terms": "The terms",
    "machine": "Calibration and the machine",
    "reproduce": "Run it again",
}
"""Those of a study's page. The summary would have a column for each combination of switches."""


def page_context(record: Run) -> dict[str, Any]:
    """All that the page of a run shows."""
    whole = summarise(legible_run(record))
    run = whole.run
    own = _of_run(whole) if run.plan.study is None else _study(whole)
    reported = learned(whole)
    return (
        _common(whole, reported)
        | own
        | {
            "headline": headline(whole),
            "changed_answers": [sentence(each) for each in changed_in(run)],
            "circumstances": circumstances(run),
            "themes": theme_words(whole, reported),
            "skip_to": own["sections"][1],
            "switches": [("", own["scales"], own["temperatures"])],
            "command": reproduce.command(run),
            "plan_command": " ".join(reproduce.command(run).split()[:2]),
            "typed": reproduce.typed(run),
            "plan": reproduce.plan_toml(run),
            "tables": reproduce.tables(run),
            # To go on with: every text as it is.
            "record_href": _data_url(encode(summarise(record))),
            "plan_hash": record.plan.hash,
            "record_name": _record_name(run),
        }
    )


def chapter_context(chapter: Chapter, among: int) -> dict[str, Any]:
    """The context of one of several benchmarks on a page, which has a like share of its room."""
    whole, at = chapter.whole, f"c{chapter.number}-"
    own = _of_run(whole, at, among)
    return (
        _common(whole, chapter.learned)
        | own
        | {
            "at": at,
            "title": chapter.title,
            "headline": headline(whole),
            "verdict": chapter.verdict,
            "sections": SECTIONS_OF_CHAPTER,
        }
    )


def chapters_context(records: Sequence[Run]) -> dict[str, Any]:
    """The context of the page of several benchmarks, and in `chapters` that of each."""
    found = chapters([summarise(legible_run(run)) for run in records])
    runs = [chapter.whole.run for chapter in found]
    reported = [chapter_context(chapter, len(found)) for chapter in found]
    plans = [run.plan for run in records]
    return {
        "run": runs[0],
        "headline": headline_of([chapter.whole for chapter in found]),
        "changed_answers": [sentence(each) for run in runs for each in changed_in(run)],
        "circumstances": circumstances_of(runs),
        "verdict": verdict_of(found),
        "skip_to": "c0",
        "switches": [(one["at"], one["scales"], one["temperatures"]) for one in reported],
        "themes": chapters_words(found),
        **_GRADES,
        "panels_of": [one["panel_of"] for one in reported],
        "chapters": reported,
        "command": command_of(plans),
        "plan_command": f"loadstone run {FOR_ALL}",
        "typed": reproduce.typed(runs[0]),
        "plan": legible(file_of(plans)),
        "tables": [],  # a user's tables are in a page of their own
        "record_href": _data_url(encode_chapters([summarise(run) for run in records])),
        "plan_hash": hash_of(plans),
        "record_name": _record_name(runs[0]),
    }


def _record_name(run: Run) -> str:
    return f"loadstone-{run.run_id}.json.gz"


def _common(whole: Summary, reported: Learned) -> dict[str, Any]:
    """The parts of every run's page."""
    run = whole.run
    return _GRADES | {
        "at": "",
        "panel_of": {},
        "panels_of": [{}],
        "whys": {place: why_words(why) for place, why in reported.whys.items()},
        "run": run,
        "summary": whole,
        "verdict": verdict(whole),
        "left_out": "",
        "unjudged": unjudged(run),
        "words": whole.words,
        "sessions": run.sessions,
        "machine": _machine(run),
        "busy": busy_variants(whole),
        "calibration": calibration_table(calibration(whole), whole.labels),
    }


_GRADES = {"open_most": OPEN_MOST, "no_finding": NONE, "grades": GRADES}


def _study(whole: Summary) -> dict[str, Any]:
    """The parts of a study's page alone."""
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


def _of_run(whole: Summary, at: str = "", among: int = 1) -> dict[str, Any]:
    """The parts of the page of a run that is no study; `at` begins the names on it, on a page
    of so many chapters."""
    run = whole.run
    compared = comparisons(whole)
    words = whole.words
    nominal = words.varying.nominal.values()
    return {
        "scales": list(dict.fromkeys(view.rows for view in whole.views)),
        "temperatures": list(dict.fromkeys(view.temperature for view in whole.views)),
        **folded(panels(whole, at, among)),
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


def folded(kept: Sequence[Panel]) -> dict[str, Any]:
    """The panels that a page keeps, and where they are."""
    there = {(panel.rows, panel.operation.name): panel.id for panel in kept}
    return {"panels": kept, "panel_of": there, "panels_of": [there]}


def contents(context: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(id, heading) of the sections that the page has."""
    if "map" in context:
        there = {
            "enhancements": context["changes"],
            "break_even": context["paying"] or context["paying_unreported"],
            "waterfall": context["falls"], "study_terms": context["terms"].switches,
        }  # fmt: skip
        return [
            (name, reported)
            for name, reported in SECTIONS_OF_STUDY.items()
            if there.get(name, True)
        ]
    terms_reported = context["terms"].rows or context["terms"].settings
    there = {
        "paper": context["compared"], "ladder": context["ladder"], "growth": context["growths"],
        "temperatures": context["temperature_charts"], "users": context["users"],
        "terms": terms_reported, "budget": context["budget_views"],
    }  # fmt: skip
    own = [(name, SECTIONS[name]) for name in context["sections"]]
    return [(name, title) for name, title in own if there.get(name, True)]


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
        if any(row.measured_today for row in table.drawn) and charts.has_points(table, names):
            drawings = [_draw(charts.paper_table(table, names))]
            if _has_shape(table) and charts.has_shape(table, names):
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
    return len([row for row in table.drawn if row.measured_today]) > 1


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
