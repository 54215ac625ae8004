"""After a run: the page's order, on one screen of text."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from loadstone.analysis.advice import advice
from loadstone.analysis.calibration import calibration
from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.chapters import chapters, circumstances_of, headline_of, verdict_of
from loadstone.analysis.cold_warm import cost_of_cold
from loadstone.analysis.findings.learned import learned
from loadstone.analysis.growth import growth, steepest
from loadstone.analysis.ladder import ladders
from loadstone.analysis.published import comparisons
from loadstone.analysis.standing import UNDECIDED, typically_behind, unjudged
from loadstone.analysis.summary import Row, Summary, View, summarise
from loadstone.analysis.terms import terms
from loadstone.analysis.verdict import OWN, Verdict, circumstances, headline, verdict
from loadstone.control_characters import legible
from loadstone.errors import is_of_full_disk
from loadstone.plan.plan import join_names
from loadstone.record.model import Run
from loadstone.report.calibration_table import calibration_table, short
from loadstone.report.findings_words import brief_lines, chapters_lines
from loadstone.report.ladder_words import brief, clients_line, round_trips_line
from loadstone.report.legible import legible_run
from loadstone.report.paper_words import paper_line
from loadstone.report.reproduce import tables
from loadstone.report.screen import COLUMNS_MAX, bar_of, folded, one_line
from loadstone.report.shades import bar_share
from loadstone.report.terminal_budget import time_budgets
from loadstone.report.terminal_figures import FiguresTable
from loadstone.report.terminal_users import concurrent_users
from loadstone.report.unequal_words import unequal_lines
from loadstone.text.numbers import listing, number, plural, scaled, times
from loadstone.text.reasons import kind_of, kinds, together

"""Errors of engines on a full disk."""
BAR_WIDTH = 7
BARS_MAX = 5
"""Variants: beside more of them a screen has no room for bars."""
KEPT = {
    "disturbed": ". Their figures are kept, each with a wider interval, and not ranked.",
    "invalid": ".",
}
LINES_MAX = 4
"""Of failures and remarks: the page has them all."""
FINDINGS_MAX = 3
"""The weightiest: the page has them all."""


def summary(run: Run, record: Path, page: Path | None) -> Iterable[Text | Table]:
    """The parts of the summary, from top to bottom."""
    run = legible_run(run, lines=False)
    whole = summarise(run)
    yield Text(headline(whole), style="bold")
    yield Text(circumstances(run), style="dim")
    yield _verdict(whole)
    yield from _learned(whole)
    view = whole.largest_with("warm") or next(iter(whole.views), None)
    if view is not None and whole.competitors:
        yield Text("")
        yield _groups(whole, view)
        # One client for all stands in the headline.
        if len(set(whole.clients.values())) > 1:
            yield Text(clients_line(whole), style="dim")
    yield from time_budgets(whole)
    yield from _block("Calls, times the cost of a call", _calls(whole), "")
    way = round_trips_line(whole)
    yield from [Text(way, style="dim")] if way else []
    yield from concurrent_users(run)
    failures = _failures(whole)
    beyond = _remarks(whole)
    if failures or beyond:
        yield from (Text(""), Text("Problems", style="bold"))
        yield from _lines(failures, "red", cut=False)
        yield from _lines(beyond, "yellow", cut=False)
        if any(figure.disturbance for figure in whole.figures.values()):
            again = Text("To measure the disturbed cells again: ")
            yield again.append(f"loadstone run --resume {shlex.quote(str(record))}", style="bold")
    rest = [
        *_growth(whole),
        *_cold(whole),
        *_terms(whole),
        *_calibration(whole),
        *tables(run, COLUMNS_MAX),
    ]
    yield from _block("", rest, "")
    yield Text("")
    yield from _report(whole, record, page)
    yield Text(f"record  {legible(str(record))}")


def chapters_summary(
    runs: Sequence[Run], record: Path, page: Path | None
) -> Iterable[Text | Table]:
    """The parts of the summary of several benchmarks: what is said of all, then each one's ratios
    and problems."""
    found = chapters([summarise(legible_run(run, lines=False)) for run in runs])
    yield Text(headline_of([one.whole for one in found]), style="bold")
    yield Text(circumstances_of([one.whole.run for one in found]), style="dim")
    yield _clauses(verdict_of(found))
    lines = [f"{one.whole.words.title}: {line}" for one, line in chapters_lines(found)]
    yield from _brief(lines)
    for one in found:
        yield from (Text(""), Text(one.title, style="bold"))
        yield _clauses(one.verdict)
        view = one.whole.largest_with("warm") or next(iter(one.whole.views), None)
        if view is not None and one.whole.competitors:
            yield _groups(one.whole, view)
        yield from concurrent_users(one.whole.run)
        yield from _lines(_failures(one.whole), "red", cut=False)
        yield from _lines(_remarks(one.whole), "yellow", cut=False)
    if any(f.disturbance for one in found for f in one.whole.figures.values()):
        again = Text("To measure the disturbed cells again: ")
        yield again.append(f"loadstone run --resume {shlex.quote(str(record))}", style="bold")
    yield Text("")
    if page is not None:
        yield Text("report  ").append(legible(str(page)), style="bold")
    yield Text(f"record  {legible(str(record))}")


def _learned(whole: Summary) -> Iterable[Text]:
    """The weightiest findings, a line each, cut to the screen: the report has them whole."""
    yield from _brief(brief_lines(whole, learned(whole)))


def _brief(lines: Sequence[str]) -> Iterable[Text]:
    if not lines:
        return
    yield Text("")
    for line in lines[:FINDINGS_MAX]:
        yield Text(line, no_wrap=True, overflow="ellipsis")


def _report(whole: Summary, record: Path, page: Path | None) -> Iterable[Text]:
    """The place where the report is, and how many of the paper's tables it has."""
    tables = paper_line(comparisons(whole))
    if page is not None or tables:
        line = Text("report  ").append(
            legible(str(page or f"loadstone report {record}")), style="bold"
        )
        yield line.append(f", with {tables}" if tables else "")


def _verdict(whole: Summary) -> Text:
    return _clauses(verdict(whole))


def _clauses(judged: Verdict) -> Text:
    line = Text()
    for words, fine in judged.clauses():
        line.append(" · " if line else "").append(one_line(words, 200), style="" if fine else "red")
    return line


def _groups(whole: Summary, view: View) -> Table:
    """For each group of operations and each variant, the median of its ratios to the row's best."""
    table = FiguresTable(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        title="Ratio to the fastest, median of each group: "
        f"{scaled(view.rows, whole.words.scale)}, {view.temperature}{unjudged(whole.run)}",
        title_justify="left",
        title_style="dim",
    )
    table.add_column(
        "", min_width=max((min(len(group), 18) for group, _ in view.groups), default=0)
    )
    crowded = len(whole.competitors) > BARS_MAX
    for variant in whole.competitors:
        # Cells may wrap as the labels do: a table too wide for the screen shortens what may.
        table.add_column(folded(whole.names[variant], 10 if crowded else 20))
    for group, rows in view.groups:
        table.add_row(
            one_line(group, 32), *(_ratio(rows, v, bar=not crowded) for v in whole.competitors)
        )
    return table


def _ratio(rows: Sequence[Row], variant: str, *, bar: bool) -> Text:
    figures = [row.figures[variant] for row in rows if variant in row.figures]
    bounds = [figure.ratio_least for figure in figures if figure.ratio_least is not None]
    typical = typically_behind((figure.ratio for figure in figures), bounds)
    counts = {
        status: len([figure for figure in figures if figure.status == status])
        for status in ("failed", "spared", "disturbed", "invalid")
    }
    counts |= Counter(figure.kind for figure in figures if figure.label)
    counts["unproved"] = len([figure for figure in figures if figure.unproved])
    ended = sum(figure.status == "censored" for figure in figures)
    text = Text()
    mark = "≠" if any(figure.unequal for figure in figures) else ""
    if typical is not None:
        ratio, is_bound = typical
        text.append(f"{'>' * is_bound + times(ratio) + mark:>6} ", style="")
        text.append(bar_of(bar_share(ratio), BAR_WIDTH) if bar else "", style="blue")
    elif any(figure.ratio for figure in figures):
        text.append(f"{UNDECIDED + mark:>6} ")
    elif not any(counts.values()) and not ended:
        text.append(figures[0].status if figures else "", style="dim")
    if ended:
        text.append(f" {ended} ended", style="yellow")
    for status, count in counts.items():
        if count:
            text.append(f" {count} {status}", style="red" if status == "failed" else "dim")
    return text


def _block(title: str, lines: Sequence[str], style: str) -> Iterable[Text]:
    if not lines:
        return
    yield Text("")
    if title:
        yield Text(title, style="bold")
    yield from _lines(lines, style, cut=bool(title))


def _lines(lines: Sequence[str], style: str, *, cut: bool = True) -> Iterable[Text]:
    for line in lines[:LINES_MAX]:
        yield Text(line, style, no_wrap=cut, overflow="ellipsis" if cut else "fold")
    if len(lines) > LINES_MAX:
        yield Text(f"… and {len(lines) - LINES_MAX} more, in the report", style="dim")


def _failures(whole: Summary) -> list[str]:
    """The reasons of failed cells, and of gaps that no plan names, with their counts, the commonest
    first, and the remedy."""
    figures = whole.figures.values()
    found = [figure for figure in figures if figure.status == "gap" and not figure.cell.gap]
    failed = [figure for figure in figures if figure.status == "failed"]
    return _reasons(whole, failed, "failed") + _reasons(whole, found, "are gaps")


def _reasons(whole: Summary, figures: Sequence[CellSummary], are: str) -> list[str]:
    said = []
    for kind, reasons in kinds(figure.reason for figure in figures).items():
        own = [figure.cell for figure in figures if kind_of(figure.reason) == kind]
        cell = own[0]
        at = f"{scaled(cell.rows, whole.words.scale)}, {cell.temperature}"
        where = f"{cell.operation} on {cell.variant}, {at}"
        if len(own) > 1:
            where = f"{plural(len(own), 'cell')} {are}, the first {where}"
        said.append(f"{where}: {one_line(together(reasons), 160)}")
        if is_of_full_disk(reasons[0]):
            said[-1] += (
                ". To do: free space in the scratch folder, which `loadstone doctor` names, or set"
                " LOADSTONE_SCRATCH to another"
            )
    return said


def _beyond(whole: Summary, status: str) -> list[str]:
    """The reasons of disturbed or invalid cells with their counts, and the remedy; the commonest
    first.

    Of the run's own cells, as the verdict counts them: of the harness overhead and the controls
    only if there are no others.
    """
    about = [figure for figure in whole.figures.values() if figure.role in OWN]
    bad = [figure for figure in about or whole.figures.values() if figure.status == status]
    said = []
    for kind, reasons in kinds(figure.reason for figure in bad).items():
        own = [figure.cell for figure in bad if kind_of(figure.reason) == kind]
        places = join_names([f"{cell.operation} on {cell.variant}" for cell in own], 2)
        line = f"{plural(len(own), 'cell')} {status}: {one_line(together(reasons), 200)} ({places})"
        said.append(f"{line}{KEPT[status]}")
        if todo := advice(reasons[0]):
            said[-1] += f" To do: {todo}."
    return said


def _remarks(whole: Summary) -> list[str]:
    labels = [f"{where}: {one_line(label, 300)}" for where, label in whole.answer_labels]
    return [*labels, *_beyond(whole, "disturbed"), *_beyond(whole, "invalid")]


def _calibration(whole: Summary) -> list[str]:
    found = calibration(whole)
    remarks = [r.text for r in calibration_table(found, whole.labels).remarks if not r.fine]
    said = short(found)
    return [*([f"Calibration: {said}"] if said else []), *remarks]


def _calls(whole: Summary) -> list[str]:
    """The first argument for each variant, at the largest scale."""
    found = ladders(whole)
    largest = max((ladder.rows for ladder in found), default=0)
    return [
        f"{whole.names[ladder.variant]}: {brief(ladder.arguments[0])}"
        for ladder in found
        if ladder.rows == largest and ladder.arguments
    ]


def _growth(whole: Summary) -> list[str]:
    """The steepest line, and how many more there are."""
    steep = steepest(growth(whole))
    if not steep:
        return []
    line = steep[0]
    more = f" (and {plural(len(steep) - 1, 'more line')})" if len(steep) > 1 else ""
    where = f"{line.operation.name} on {line.variant}, {line.temperature}"
    return [f"Growing faster than the data: {where}: {whole.words.scale}^{line.reported}{more}"]


def _cold(whole: Summary) -> list[str]:
    """The cost of a cold start for each variant, median of its operations that were proved cold."""
    costs = cost_of_cold(whole)
    counts = {cost.operations for cost in costs.values()}
    said = [
        f"{whole.names[variant]} {times(cost.ratio)}"
        + (f" ({_of_operations(cost.operations)})" if len(counts) > 1 else "")
        for variant, cost in costs.items()
    ]
    alike = f", {_of_operations(*counts)}" if len(counts) == 1 else ""
    return [f"Cold over warm{alike}: {listing(said)}"] if said else []


def _of_operations(count: int) -> str:
    """Of what a figure is reported: one operation has no median."""
    return f"median of {number(count)} operations" if count > 1 else "of 1 operation"


def _terms(whole: Summary) -> list[str]:
    unequal = terms(whole).unequal
    # Unequal terms at cells are reported with their values; of the others the terms' names must do.
    marked = unequal_lines(whole)
    rest = [key for key in unequal if all(f"{key}: " not in line for line in marked)]
    reported = [*marked, *([listing(rest)] if rest else [])]
    return [f"Unequal terms (≠): {one_line(' · '.join(reported), 400)}"] if reported else []
