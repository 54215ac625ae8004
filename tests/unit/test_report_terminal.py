"""The terminal: lines where nobody watches, a table where somebody does, one screen after it."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from report_fixture import ALL, make_run
from rich.console import Console

from loadstone.analysis.pace import Pace
from loadstone.record.model import Run
from loadstone.report.terminal import print_summary
from loadstone.report.terminal_figures import FiguresTable
from loadstone.report.terminal_progress import Progress

RUN = replace(make_run(ALL), users=())


def console(*, terminal: bool, height: int = 30) -> Console:
    return Console(
        file=io.StringIO(), width=100, height=height, force_terminal=terminal, highlight=False,
        markup=False, color_system="standard" if terminal else None,
    )  # fmt: skip


def test_one_line_for_each_finished_operation() -> None:
    screen = console(terminal=False)
    progress = Progress(RUN.plan, RUN.presentation, len(RUN.plan.cells), screen)
    progress.open()
    for result in RUN.results:
        progress.on_status("working")
        progress.on_result(result)
    progress.close()
    lines = screen.file.getvalue().splitlines()
    units = {(r.cell.rows, r.cell.temperature, r.cell.operation) for r in RUN.results}
    reasons = [line for line in lines if line.startswith("  ")]
    assert len(lines) - len(reasons) == len(units) - 1  # one operation is pending on one engine
    assert len(reasons) == 2, "those that are too long for a table, each once"
    wrong = "postgresql?parallelism=2 failed: wrong answer: 99 tuples, 100 expected"
    assert wrong in reasons[0]
    first = next(line for line in lines if line.startswith("10,000 warm select-1%-heap:"))
    for name in ("sqlite", "duckdb", "postgresql", "null"):
        assert name in first
    assert not any("\x1b" in line for line in lines)


def test_a_narrow_table_has_its_title_in_one_line() -> None:
    title = "Ratio to the fastest, median of each group: 2 rows, warm"
    table = FiguresTable(title=title, box=None)
    table.add_column("")
    table.add_row("gap")
    screen = console(terminal=False)
    screen.print(table)
    assert screen.file.getvalue().splitlines()[0].strip() == title


def failing(reason: str) -> Run:
    """A run of which every cell of one engine failed for the same reason, but for a number."""

    def change(place, result):
        if result.cell.variant != "duckdb" or result.cell.gap:
            return result
        return replace(result, status="failed", reason=f"{reason} {place}", samples=())

    return replace(RUN, results=tuple(change(i, r) for i, r in enumerate(RUN.results)))


def test_a_reason_is_reported_in_full_the_first_time_and_once_in_the_end() -> None:
    reason = (
        "could not be started again: duckdb: Could not write file: No space left on device, try"
    )
    run = failing(reason)
    screen = console(terminal=False)
    progress = Progress(run.plan, run.presentation, len(run.plan.cells), screen)
    for result in run.results:
        progress.on_result(result)
    assert screen.file.getvalue().count(reason) == 1
    summary = console(terminal=False)
    print_summary(run, Path("r.loadstone"), None, summary)
    reported = " ".join(summary.file.getvalue().split())
    assert reported.count(reason) == 1
    assert "116 cells failed, the first select-1%-heap on duckdb, 10,000 tuples, warm: " in reported
    assert "To do: free space in the scratch folder, which `loadstone doctor` names, or" in reported


@pytest.mark.parametrize("height", [12, 24, 40])
def test_the_live_table_fits_the_screen(height: int) -> None:
    screen = console(terminal=True, height=height)
    progress = Progress(RUN.plan, RUN.presentation, len(RUN.plan.cells), screen)
    progress.open()
    try:
        for result in RUN.results:
            progress.on_result(result)
        measuring = console(terminal=False, height=height)
        measuring.print(progress._screen())
    finally:
        progress.close()
    shown = measuring.file.getvalue()
    assert len(shown.splitlines()) <= height
    assert f"{len(RUN.results)} of {len(RUN.plan.cells)} cells" in shown


def test_an_estimate_needs_a_first_cell() -> None:
    pace = Pace(RUN.plan.cells, len(RUN.plan.cells), 0)
    assert pace.left_s(0) is None
    pace.expect(30.0, 10**9)
    assert pace.left_s(11 * 10**9) == 20.0
    assert pace.left_s(99 * 10**9) == 0.0
    half = RUN.plan.cells[: len(RUN.plan.cells) // 2]
    for place, cell in enumerate(half, start=1):
        pace.end(cell, place * 1_000_000_000, again=False)
    pace.end(half[0], 10**12, again=True)
    assert pace.done == len(half)
    assert pace.left_s(10**12) == pytest.approx(len(RUN.plan.cells) - len(half))


def summary(*, terminal: bool) -> str:
    screen = console(terminal=terminal)
    print_summary(RUN, Path("runs/a.loadstone"), Path("runs/a.html"), screen)
    return screen.file.getvalue()


def test_an_unproved_cell_is_not_reported_as_cold() -> None:
    """Of an engine with proof of no cell, nothing is said of cold over warm."""

    def doubted(result):
        if result.cell.variant != "duckdb":
            return result
        evidence = tuple(replace(e, proved=False, reason="warm") for e in result.evidence)
        return replace(result, evidence=evidence)

    def line(run: Run) -> str:
        screen = console(terminal=False)
        print_summary(run, Path("runs/a.loadstone"), None, screen)
        text = " ".join(screen.file.getvalue().split())
        return text.partition("Cold over warm")[2].partition("Unequal terms")[0]

    assert "duckdb" in line(RUN)
    reported = line(replace(RUN, results=tuple(map(doubted, RUN.results))))
    assert "sqlite" in reported
    assert "duckdb" not in reported


def test_cold_over_warm_says_of_how_many_operations_it_is_the_median() -> None:
    def line(*operations: str) -> str:
        kept = tuple(r for r in RUN.results if r.cell.operation in operations)
        screen = console(terminal=False)
        print_summary(replace(RUN, results=kept), Path("runs/a.loadstone"), None, screen)
        text = " ".join(screen.file.getvalue().split())
        return text.partition("Cold over warm")[2].partition("Unequal terms")[0]

    assert line("select-10%-heap").startswith(", of 1 operation: sqlite ")
    assert "median" not in line("select-10%-heap")
    both = line("select-10%-heap", "select-1%-clustered")
    assert both.startswith(", median of 2 operations: sqlite ")
    # DuckDB has no hash organisation.
    uneven = line("select-10%-heap", "select-1-hash-client")
    assert re.search(
        r"sqlite \S+ \(median of 2 operations\), duckdb \S+ \(of 1 operation\)", uneven
    )


def test_a_run_of_artificial_engines_has_no_empty_table_and_no_answers_of_none() -> None:
    cells = [r for r in RUN.results if r.cell.variant == "sqlite"]
    cells = [replace(r, cell=replace(r.cell, variant="fixed"), answers=()) for r in cells]
    plan = replace(RUN.plan, variants=("fixed",), roles=(("fixed", "control"),),
                   cells=tuple(r.cell for r in cells))  # fmt: skip
    screen = console(terminal=False)
    run = replace(RUN, plan=plan, results=tuple(cells))
    print_summary(run, Path("runs/a.loadstone"), None, screen)
    assert "Times the fastest" not in screen.file.getvalue()
    assert "0 of 0" not in screen.file.getvalue()


def test_what_is_said_of_disturbed_cells_adds_up_to_what_the_verdict_counts() -> None:
    """An A/A control's cells are the harness's matter, in both."""
    run = replace(RUN, results=tuple(
        replace(r, status="invalid", reason="too busy") if r.samples else r
        for r in RUN.results
    ))  # fmt: skip
    screen = console(terminal=False)
    print_summary(run, Path("runs/a.loadstone"), None, screen)
    text = " ".join(screen.file.getvalue().split())
    reported, counted = (
        re.search(r"(\d+) cells invalid: too busy", text),
        re.search(r"(\d+) invalid", text),
    )
    assert reported[1] == counted[1]


def test_the_summary_fits_one_screen_and_says_what_matters() -> None:
    text = summary(terminal=False)
    assert len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= 100
    for words in (
        "Wisconsin (1983)", "answers right", "Joins, no index", "Problems",
        "wrong answer: 99 tuples", "Growing faster", "Cold over warm",
        "Unequal terms (≠): isolation: duckdb snapshot and", "runs/a.html", "runs/a.loadstone",
        "1 cell invalid: the client was busy", "Calibration: harness overhead",
        "runs/a.html, with the paper's tables, 4 of 4",
    ):  # fmt: skip
        assert words in text, words


def test_a_crowded_table_keeps_the_names_of_its_rows() -> None:
    """Four systems with disturbed cells: at 80 columns the labels were squeezed to nothing."""
    disturbed = tuple(
        replace(result, status="disturbed" if place % 3 else "invalid", reason="beside others")
        if result.status == "ok" else result
        for place, result in enumerate(RUN.results)
    )  # fmt: skip
    screen = Console(file=io.StringIO(), width=64, color_system=None)
    print_summary(replace(RUN, results=disturbed), Path("run.loadstone"), None, screen)
    shown = screen.file.getvalue()
    table = shown.partition("Ratio to the fastest")[2].partition("Problems")[0]
    assert "disturbed" in table
    for group in ("Selections", "Joins,", "Projections"):
        assert f"\n{group}" in table, group


def test_hostile_reasons_cannot_steer_the_terminal() -> None:
    assert "\x1b[31m\n=1+1" not in summary(terminal=True)
    text = summary(terminal=False)
    assert "\x1b" not in text
    assert not any(line.startswith("=1+1") for line in text.splitlines())


def test_no_colour_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    from loadstone.report.screen import screen_of

    monkeypatch.setenv("NO_COLOR", "1")
    assert screen_of(stderr=False).no_color


@pytest.mark.parametrize(("status", "word"), [("censored", "ended"), ("spared", "spared")])
def test_a_group_says_how_many_of_its_cells_have_no_figure(status: str, word: str) -> None:
    """Without them its median flatters the engine whose slowest statements were ended."""

    def change(result):
        own = result.cell.operation == "select-1%-heap" and result.cell.variant == "duckdb"
        return replace(result, status=status, reason="> 10 s", samples=()) if own else result

    screen = console(terminal=False)
    print_summary(
        replace(RUN, results=tuple(map(change, RUN.results))), Path("r.loadstone"), None, screen
    )
    row = next(x for x in screen.file.getvalue().splitlines() if x.startswith("Selections"))
    assert f"1 {word}" in row


def test_a_group_of_which_all_was_ended_says_so_once() -> None:
    ended = [
        replace(one, status="censored", reason="> 10 s", samples=(), longer_than_ns=10**10)
        for one in RUN.results
    ]
    screen = console(terminal=False)
    print_summary(replace(RUN, results=tuple(ended)), Path("r.loadstone"), None, screen)
    row = next(x for x in screen.file.getvalue().splitlines() if x.startswith("Selections"))
    assert "ended" in row and "censored" not in row
