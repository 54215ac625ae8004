"""The Markdown report: verdict, summary and the paper's tables, for a pull request or a README."""

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from loadstone.analysis.budget import budgets
from loadstone.analysis.budget_overview import overviews
from loadstone.analysis.calibration import calibration
from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.chapters import (
    Chapter,
    chapters,
    circumstances_of,
    headline_of,
    verdict_of,
)
from loadstone.analysis.findings.learned import Learned, learned
from loadstone.analysis.growth import growth
from loadstone.analysis.published import comparisons
from loadstone.analysis.standing import unjudged
from loadstone.analysis.summary import Row, Summary, View, summarise
from loadstone.analysis.terms import terms
from loadstone.analysis.user_points import users_tables
from loadstone.analysis.verdict import circumstances, headline, verdict
from loadstone.control_characters import legible
from loadstone.plan.chapters import command_of, file_of, hash_of
from loadstone.plan.plan import Plan
from loadstone.record.changed_answers import changed_in, given_answers, sentence
from loadstone.record.model import Run
from loadstone.report import (
    reproduce,
)
from loadstone.report.base import Report
from loadstone.report.budget_words import overview_rows, quality_line
from loadstone.report.calibration_table import CalibrationRow, calibration_table
from loadstone.report.findings_words import NONE, ThemeWords, chapters_words, theme_words, why_words
from loadstone.report.ladder_words import (
    LadderCell,
    LadderTable,
    clients_line,
    ladder_sections,
    round_trips_line,
)
from loadstone.report.legible import legible_run
from loadstone.report.markdown_text import code, plain
from loadstone.report.paper_markdown import changes, pays_off, profile, study_map_lines
from loadstone.report.paper_words import FEW, PaperCell, PaperTable, lead, paper_tables, unmeasured
from loadstone.report.unequal_words import unequal_lines
from loadstone.studies.view import study_map
from loadstone.text import numbers

NEAR_OVERHEAD = "*"
FINDINGS_MOST = 12


class MarkdownReport(Report):
    """A compact report without colours and charts, to be read in a diff."""

    suffix: ClassVar[str] = ".md"
    mark: ClassVar[re.Pattern[bytes] | None] = re.compile(rb", plan [0-9a-f]{12}\s*\Z")

    def render(self, run: Run) -> bytes:
        """UTF-8, GitHub's Markdown."""
        return ("\n".join(_lines(summarise(legible_run(run)), run.plan.hash)) + "\n").encode()

    def render_chapters(self, runs: Sequence[Run]) -> bytes:
        """UTF-8: the verdict and the findings of all, then a chapter for each benchmark."""
        plans = [run.plan for run in runs]
        found = chapters([summarise(legible_run(run)) for run in runs])
        return ("\n".join(_chapters(found, plans)) + "\n").encode()


def _chapters(found: Sequence[Chapter], plans: Sequence[Plan]) -> Iterable[str]:
    wholes = [chapter.whole for chapter in found]
    for whole in wholes:
        yield from (f"**{plain(sentence(each))}**  " for each in changed_in(whole.run))
    yield f"**{plain(headline_of(wholes))}**  "
    yield f"{plain(circumstances_of([whole.run for whole in wholes]))}  "
    yield plain(verdict_of(found).sentence())
    yield from _themes(chapters_words(found))
    for chapter in found:
        yield from ("", f"## {plain(chapter.title)}", "")
        yield f"{plain(headline(chapter.whole))}  "
        yield plain(chapter.verdict.sentence())
        yield from _chapter(chapter.whole, chapter.learned)
    yield from ("", "<details><summary>The plan as a file</summary>", "")
    yield from ("```toml", *legible(file_of(plans)).splitlines(), "```", "", "</details>")
    run_id = plain(wholes[0].run.run_id)
    yield ""
    yield f"Run again: {code(command_of(plans))} · run {run_id}, plan {hash_of(plans)}"


def _lines(whole: Summary, plan_hash: str) -> Iterable[str]:
    run = whole.run
    yield from (f"**{plain(sentence(each))}**  " for each in changed_in(run))
    yield f"**{plain(headline(whole))}**  "
    yield f"{plain(circumstances(run))}  "
    yield plain(verdict(whole).sentence())
    found = learned(whole)
    yield from _themes(theme_words(whole, found))
    yield from _chapter(whole, found)
    yield from (f"\n{plain(line)}" for line in reproduce.tables(run))
    yield ""
    yield f"Run again: {code(reproduce.command(run))} · run {plain(run.run_id)}, plan {plan_hash}"


def _chapter(whole: Summary, found: Learned) -> Iterable[str]:
    """The part of one benchmark beneath its findings."""
    run = whole.run
    study = study_map(run)
    if study is not None:
        yield from study_map_lines(study, whole)
        yield from pays_off(study, whole)
        yield from changes(study, whole)
    else:
        yield from _body(whole, found)
    yield from _reasons(whole, "failed", "Failed:")
    yield from _reasons(whole, "gap", "Gaps that no plan names:")
    yield from _reasons(
        whole, "disturbed", "Disturbed: on an idle machine the figure lies within its interval:"
    )
    yield from _reasons(
        whole, "invalid", "Invalid: beyond a limit of the instrument, not to be used:"
    )
    yield from _labels(whole)
    yield from _answers(run)
    yield from _events(run)
    yield from _calibration(whole)
    yield from _users(run)
    if study is None:
        yield from _unequal(whole)


def _answers(run: Run) -> Iterable[str]:
    """The first rows of the answers to a user's statements."""
    lines = [
        f"- {plain(f'{text.name}: {variants}: {rows}')}"
        for text in run.operations
        for variants, rows in given_answers(run, text.name, text.rows)
    ]
    if lines:
        yield from ("", "<details><summary>Answers</summary>", "", *lines, "", "</details>")


def _themes(themes: Sequence[ThemeWords]) -> Iterable[str]:
    """The findings, the weightiest of a grade first."""
    yield from ("", "**Findings**", "")
    if not themes:
        yield NONE
    for theme in themes[:FINDINGS_MOST]:
        reported = (theme.sentence, theme.terms, f"({theme.place.words})", theme.likewise)
        yield f"- **{theme.grade}**: {plain(' '.join(filter(None, reported)))}"
    if len(themes) > FINDINGS_MOST:
        yield f"- and {len(themes) - FINDINGS_MOST} more, in the page and in JSON"


def _body(whole: Summary, found: Learned) -> Iterable[str]:
    """The part of a run that is no study."""
    for view in whole.views:
        yield ""
        yield from _view(whole, view, found)
    yield from _marks(whole)
    yield from _budget(whole)
    yield from profile(whole)
    yield from paper_lines(whole)
    yield from ladder_lines(whole)
    yield from _growth(whole)


def _unequal(whole: Summary) -> Iterable[str]:
    unequal = terms(whole).unequal
    if unequal:
        yield ""
        yield f"Unequal terms: {plain(', '.join(unequal))}."
    yield from (f"- ≠ {plain(line)}" for line in unequal_lines(whole, marks=True))


def _view(whole: Summary, view: View, found: Learned) -> Iterable[str]:
    at = plain(f"{numbers.scaled(view.rows, whole.words.scale)}, {view.temperature}")
    yield f"{at}; median, and its ratio to the row's best{unjudged(whole.run)}"
    yield ""
    yield f"| operation | unit | {' | '.join(map(plain, _columns(whole)))} | why |"
    yield f"|---|---|{'--:|' * len(whole.columns)}---|"
    for group, rows in view.groups:
        for row in rows:
            cells = " | ".join(_cell(row, row.figures.get(v)) for v in whole.columns)
            why = found.whys.get((row.operation.name, row.rows, row.temperature))
            reported = plain(why_words(why)) if why else ""
            name = f"{plain(group)}: {plain(row.operation.title)}"
            yield f"| {name} | {row.unit.symbol} | {cells} | {reported} |"


def _marks(whole: Summary) -> Iterable[str]:
    """The meaning of the marks behind figures, of those present."""
    shown = [f for f in whole.figures.values() if f.cell.variant in whole.columns]
    said = []
    if any(figure.near_overhead for figure in shown):
        said.append(f"{NEAR_OVERHEAD} The harness overhead is more than a tenth of this figure.")
    if any(figure.few_visits for figure in shown):
        few = whole.words.varying.sentence
        said.append(f"{FEW} {few}: its time is mostly the start's.")
    yield from (["", *(f"- {plain(line)}" for line in said)] if said else [])


def _columns(whole: Summary) -> Iterable[str]:
    """Each in full, with its client and with its role where it is not ranked."""
    for variant in whole.columns:
        yield variant + whole.headings[variant].removeprefix(whole.labels[variant])


def _cell(row: Row, figure: CellSummary | None) -> str:
    if figure is None:
        return ""
    if figure.elapsed_ns is None:
        if figure.longer_than_ns is not None:
            return plain(f"{figure.reason} {figure.standing}").rstrip()
        words = {"gap": "gap", "pending": "not run"}.get(figure.status)
        return words or f"**{plain(shorten(figure.reason))}**"
    number = numbers.digits(figure.elapsed_ns.value / row.unit.ns)
    marks = [NEAR_OVERHEAD] if figure.near_overhead else []
    marks += [FEW] if figure.few_visits else []
    within = numbers.interval(figure.elapsed_ns, row.unit)
    marks += unequal_marks(figure)
    label = [f"*{plain(figure.kind)}*"] if figure.label else []
    return " ".join([_compared(number, within, figure), *label, *map(plain, marks)])


def _compared(number: str, within: str, figure: CellSummary) -> str:
    unproved = " *unproved*" if figure.unproved else ""
    if figure.status == "invalid":
        return f"~~{number}~~ *invalid*{unproved}"
    if figure.status == "disturbed":
        return f"*{number} ({within})*{unproved}"
    if unproved:
        return number + unproved
    if figure.best:
        return f"**{number}**"
    return f"{number} {plain(figure.standing)}".rstrip()


def unequal_marks(figure: CellSummary) -> list[str]:
    """The terms that are not the row's, by the mark that the page has, too."""
    return [f"≠{term.mark}" for term in figure.unequal]


def shorten(text: str, most: int = 60) -> str:
    """Cut where a reason grows longer than a table's cell."""
    return text if len(text) <= most else text[: most - 1] + "…"


def paper_lines(whole: Summary) -> Iterable[str]:
    found = comparisons(whole)
    if found is None:
        return
    yield from ("", f"**The paper's tables.** {plain(lead(found, whole))}")
    for table in paper_tables(found, whole):
        yield from ("", plain(table.title), "", *_paper_table(table))
    others = unmeasured(found)
    if others:
        yield from ("", "Tables without a usable figure of this run:", "")
        yield from (f"- {plain(line)}" for line in others)


def _paper_table(table: PaperTable) -> Iterable[str]:
    yield f"|  | {' | '.join(map(plain, table.headings))} |"
    yield f"|---|{'--:|' * len(table.headings)}"
    for label, cells in table.rows:
        yield f"| {plain(label)} | {' | '.join(map(_paper_cell, cells))} |"
    for note in table.notes:
        yield from ("", plain(note))


def _paper_cell(cell: PaperCell) -> str:
    text = f"**{plain(cell.text)}**" if cell.best else plain(cell.text)
    return f"{text} {cell.ratio}" if cell.ratio else text


def ladder_lines(whole: Summary) -> Iterable[str]:
    for reported in filter(None, (clients_line(whole), round_trips_line(whole))):
        yield from ("", plain(reported))
    for section in ladder_sections(whole):
        at = f"{numbers.scaled(section.rows, whole.words.scale)}, warm"
        for table in (section.rungs, *section.accounts):
            yield from ("", plain(f"{table.title}; {at}"), "", *_ladder_table(table))
        yield from ("", *(f"- {plain(said)}" for said in section.arguments))


def _ladder_table(table: LadderTable) -> Iterable[str]:
    yield f"| {' | '.join(map(plain, table.headings))} |"
    yield f"|---|{'--:|' * (len(table.headings) - 1)}"
    for name, cells in table.rows:
        yield f"| {plain(name)} | {' | '.join(map(_ladder_cell, cells))} |"


def _ladder_cell(cell: LadderCell) -> str:
    return plain(f"{cell.text} ({cell.beyond})" if cell.beyond else cell.text)


def _budget(whole: Summary) -> Iterable[str]:
    """The place where each engine's time goes, over all operations of a scale."""
    found = budgets(whole.run)
    for view in overviews(found):
        at = f"{numbers.scaled(view.rows, whole.words.scale)}, {view.temperature}"
        counted = numbers.plural(view.operations, "operation")
        yield from ("", plain(f"Where the time goes, mean of {counted}; {at}"), "")
        names = " | ".join(plain(whole.labels[variant]) for variant in view.variants)
        yield f"| share of the time | {names} |"
        yield f"|---|{'--:|' * len(view.variants)}"
        for name, shares in overview_rows(view):
            yield f"| {plain(name)} | {' | '.join(map(plain, shares))} |"
    if found:
        yield from ("", plain(f"{quality_line(found)}."))


def _growth(whole: Summary) -> Iterable[str]:
    steep = [line for line in growth(whole) if line.steep]
    if steep:
        yield ""
        yield f"Growing faster than the data (exponent of time over {plain(whole.words.scale)}):"
        yield ""
        for line in steep:
            name = f"{line.operation.title} ({line.operation.name}) on {line.variant}"
            yield f"- {plain(name)}, {line.temperature}: {line.reported}"


def _reasons(whole: Summary, status: str, heading: str) -> Iterable[str]:
    bad = [f for f in whole.figures.values() if f.status == status and not f.cell.gap]
    if bad:
        yield from ("", heading, "")
        scale = whole.words.scale
        for figure in bad:
            cell = figure.cell
            at = f"{numbers.scaled(cell.rows, scale)}, {cell.temperature}"
            where = f"{cell.operation} on {cell.variant}, {at}"
            yield f"- {plain(where)}: {plain(figure.reason)}"


def _labels(whole: Summary) -> Iterable[str]:
    if whole.answer_labels:
        yield from ("", "Answers with a label:", "")
        yield from (f"- {plain(where)}: {plain(label)}" for where, label in whole.answer_labels)


def _calibration(whole: Summary) -> Iterable[str]:
    table = calibration_table(calibration(whole), whole.labels)
    yield from ("", "<details><summary>Calibration</summary>", "")
    for remark in table.remarks:
        words = plain(remark.text)
        yield from (words if remark.fine else f"**{words}**", "")
    if table.measured:
        yield f"| before the first cell | {' | '.join(map(plain, table.headings))} | limit |"
        yield f"|---|{'---|' * len(table.headings)}---|"
        yield from map(_calibration_row, table.measured)
        yield ""
    yield from ("| over all cells | | limit |", "|---|---|---|")
    yield from map(_calibration_row, table.observed)
    yield from ("", "</details>")


def _events(run: Run) -> Iterable[str]:
    if run.events:
        yield from ("", "Events:", "")
    for event in run.events:
        of = f" ({event.variant})" if event.variant else ""
        yield f"- {plain(f'{event.at[11:19]} {event.kind}{of}: {event.message}')}"


def _users(run: Run) -> Iterable[str]:
    for table in users_tables(run):
        yield from ("", plain(table.title), "")
        yield f"| {' | '.join(map(plain, table.headings))} |"
        yield f"|{'---|' * table.names}{'--:|' * len(table.headings[table.names :])}"
        for row in table.rows:
            yield f"| {' | '.join(map(plain, row.texts))} |"
        if table.notes:
            yield ""
            yield from (f"- {plain(note)}" for note in table.notes)
        if table.remarks:
            yield ""
            yield from (f"- {plain(remark)}" for remark in table.remarks)


def _calibration_row(row: CalibrationRow) -> str:
    values = (f"**{plain(v)}**" if row.beyond else plain(v) for v in row.values)
    return f"| {' | '.join((plain(row.name), *values, plain(row.limit)))} |"
