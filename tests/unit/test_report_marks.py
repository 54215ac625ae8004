"""The marks that stand beside a figure wherever the figure stands, and only by right."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from contradictions import contradictions
from oo1_report_fixture import make_oo1_run
from report_fixture import FEW, make_run
from rich.console import Console

from loadstone import registry
from loadstone.analysis.measured import LOAD, SIZE
from loadstone.analysis.published import comparisons
from loadstone.analysis.summary import summarise
from loadstone.plan.workload import TRANSLATED_OTHERWISE
from loadstone.record.model import Disturbance, Run
from loadstone.report.panel import panels
from loadstone.report.paper_words import paper_tables, unmeasured
from loadstone.report.terminal import print_summary
from loadstone.report.terminal_progress import Progress

NAMES = ("html", "md", "csv")
OTHERS = "other programs took 70% of the processors' time"


def rendered(run: Run, name: str) -> str:
    return registry.load_report(name)().render(run).decode()


def spoiled(run: Run, status: str, disturbance: Disturbance | None = None, **where: str) -> Run:
    """The run with the measured cells of some operation, variant or temperature beyond a limit."""
    return replace(run, results=tuple(
        replace(r, status=status, reason=OTHERS, disturbance=disturbance)
        if r.samples and all(getattr(r.cell, key) == value for key, value in where.items()) else r
        for r in run.results
    ))  # fmt: skip


def of_cold_alone(run: Run) -> Run:
    """Without a proof of anything, so that every cold figure is unproved."""
    cells = tuple(cell for cell in run.plan.cells if cell.temperature == "cold")
    results = tuple(replace(r, evidence=()) for r in run.results if r.cell.temperature == "cold")
    return replace(run, plan=replace(run.plan, cells=cells), results=results)


@pytest.mark.parametrize("status", ["ok", "disturbed", "invalid"])
def test_unproved_is_said_wherever_the_figure_stands(status: str) -> None:
    run = of_cold_alone(make_run(("select-10%-heap",), scales=(10_000,)))
    if status != "ok":
        run = spoiled(run, status, Disturbance(0.3, 0.5, 1.2))
    figures = summarise(run).figures.values()
    assert [f.temperature for f in figures] == ["unproved"] * 3
    assert contradictions(run, *(rendered(run, name) for name in NAMES)) == []
    page = rendered(run, "html")
    cells = re.findall(r'<td class="[^"]*"><button.*?</button></td>', page, re.DOTALL)
    assert len(cells) == 3
    assert all("unproved: planned as cold" in c and "<i>unproved</i>" in c for c in cells)
    row = next(
        line for line in rendered(run, "md").splitlines() if line.startswith("| Selections:")
    )
    assert row.count("*unproved*") == 3
    paper = page.partition('<table class="published">')[2].partition("</table>")[0]
    assert paper.count("<i>unproved</i>") in (0, 3)
    screen = Console(file=io.StringIO(), width=200, color_system=None)
    progress = Progress(run.plan, run.presentation, 3, screen)
    progress.open()
    for result in run.results:
        progress.on_result(result)
    progress.close()
    assert screen.file.getvalue().count("unproved") == 3
    screen = Console(file=io.StringIO(), width=200, color_system=None)
    print_summary(run, Path("a.loadstone"), None, screen)
    assert screen.file.getvalue().count("1 unproved") == 3


def test_a_label_stands_in_every_format_and_its_figure_is_not_ranked() -> None:
    run = make_run(("select-10%-heap",), scales=(10_000,))
    label = f"{TRANSLATED_OTHERWISE}: duckdb gives 1 row, sqlite 2"
    run = replace(run, results=tuple(
        replace(r, label=label) if r.cell.variant == "duckdb" and r.samples else r
        for r in run.results
    ))  # fmt: skip
    figures = [f for f in summarise(run).figures.values() if f.label]
    assert figures and all(f.elapsed_ns and f.status == "ok" for f in figures)
    assert all(f.ratio is None and not f.best for f in figures)
    for name in (*NAMES, "json"):
        assert label in rendered(run, name), name
    screen = Console(file=io.StringIO(), width=200, color_system=None)
    print_summary(run, Path("a.loadstone"), None, screen)
    assert label in screen.file.getvalue()


def test_a_rung_that_needs_no_data_may_read_nothing() -> None:
    """Of what has no answer the evidence alone decides."""
    run = make_run(("select-10%-heap",), scales=(10_000,))

    def reading_nothing(result, answers):
        samples = tuple(replace(s, read_bytes=0) for s in result.samples)
        return replace(result, samples=samples, answers=answers)

    cold = next(r for r in run.results if r.cell.temperature == "cold")
    assert reading_nothing(cold, ()).temperature_shown == "cold"
    assert reading_nothing(cold, cold.answers).temperature_shown == "unproved"
    assert replace(reading_nothing(cold, ()), evidence=()).temperature_shown == "unproved"


def test_an_interval_is_called_what_it_is() -> None:
    run = make_run(("select-10%-heap",), scales=(10_000,))
    left = spoiled(run, "disturbed", Disturbance(0.3, 0.5, 1.2), variant="sqlite")
    (panel,) = panels(summarise(left))
    reported = {
        (s.figure.cell.variant, s.figure.cell.temperature): s.interval_is for s in panel.strips
    }
    assert reported["sqlite", "warm"] == "range that the disturbance leaves"
    assert reported["sqlite", "cold"] == "range of the samples, range that the disturbance leaves"
    assert reported["duckdb", "warm"] == "95 %"
    assert reported["duckdb", "cold"] == ""
    page = rendered(left, "html")
    assert '<th scope="col">interval</th>' in page
    assert "95 % interval" not in page


def test_a_thread_does_not_compute_for_longer_than_the_clock_ran() -> None:
    run = make_run(("select-10%-heap",), scales=(10_000,))

    def share(busy: float, threads: int | None) -> float | None:
        results = tuple(
            replace(r, samples=tuple(
                replace(s, client_cpu_ns=int(s.elapsed_ns * busy), client_threads=threads)
                for s in r.samples
            ))
            for r in run.results
        )  # fmt: skip
        figures = summarise(replace(run, results=results)).figures
        return figures["select-10%-heap|sqlite|10000|warm"].client_cpu_share

    assert share(1.4, 1) is None
    assert share(0.9, 1) == pytest.approx(0.9, rel=0.01)
    assert share(1.4, 2) == pytest.approx(1.4, rel=0.01)
    assert share(1.4, None) == pytest.approx(1.4, rel=0.01)


def test_loads_beside_disturbed_cells_are_not_ranked() -> None:
    def rows(run: Run):
        found = comparisons(summarise(run))
        assert found
        return {row.operation: row for t in found.tables if t.number == "II" for row in t.rows}

    calm = make_oo1_run()
    assert any(one.best for one in rows(calm)[LOAD].measured.values())
    beside = rows(spoiled(calm, "disturbed", Disturbance(0.3, 0.5, 1.2)))
    assert not any(one.ratio or one.best for one in beside[LOAD].measured.values())
    assert beside[LOAD].gain is None
    assert {one.interval for one in beside[LOAD].measured.values()} == {"disturbed"}
    assert any(one.best for one in beside[SIZE].measured.values()), "a size knows no clock"


def test_markdown_has_the_marks_of_the_page() -> None:
    run = make_oo1_run()
    figures = [f for f in summarise(run).figures.values() if f.role.value != "harness overhead"]
    text = rendered(run, "md").partition("**The paper")[0]
    assert sum(f.few_visits for f in figures) > 0
    assert len(re.findall(r" °(?= |$)", text, re.MULTILINE)) >= sum(f.few_visits for f in figures)
    assert "° Some traversal visited fewer than 100 parts" in text
    quick = make_run(("select-1-hash-client",), scales=(10_000,))
    near = [
        f for f in summarise(quick).figures.values() if f.near_overhead and f.cell.variant != "null"
    ]
    assert near
    reported = rendered(quick, "md")
    assert len(re.findall(r" \\\*(?= [|≠])", reported)) == len(near)
    assert "The harness overhead is more than a tenth of this figure" in reported


def test_a_table_of_invalid_figures_says_so() -> None:
    run = make_run(FEW, scales=(10_000,))
    found = comparisons(summarise(spoiled(run, "invalid", operation="joinAselB-heap")))
    assert found
    line = next(one for one in unmeasured(found) if one.startswith("Table 4"))
    assert line == "Table 4. Joins without index: its figures are invalid"
    assert all("Table 4" not in t.title for t in paper_tables(found, summarise(run)))
