"""A run's verdict on itself."""

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import study_fixture
from report_fixture import AA_CONTROL, FEW, POSTGRESQL, make_run
from rich.console import Console

from loadstone import registry
from loadstone.analysis.summary import summarise
from loadstone.analysis.verdict import circumstances, headline, verdict
from loadstone.record.model import LEFT_BEHIND, CellResult, Event, Run
from loadstone.report.terminal import print_summary


def judged(run: Run):
    return verdict(summarise(run))


def test_counts() -> None:
    run = make_run(FEW, repeat=4)
    found = judged(run)
    assert found.planned == len(run.plan.cells) == sum(found.statuses.values())
    assert found.statuses["failed"] == 2
    assert found.statuses["gap"] == 4
    assert found.answers_checked - found.answers_right == 1
    assert (found.cold_measured, found.cold_proved) == (22, 21)
    assert not found.clean


def test_a_clean_run_says_so() -> None:
    run = make_run(("select-10%-heap",))
    found = judged(run)
    assert found.clean
    assert all(fine for _, fine in found.clauses())
    own = sum(cell.variant not in ("null", AA_CONTROL) for cell in run.plan.cells)
    assert found.sentence().startswith(f"{own} of {own} cells measured and in order · ")
    assert "harness" not in found.sentence()


def test_without_limits_nothing_is_in_order_and_nothing_clean() -> None:
    run = make_run(("select-10%-heap",))
    unjudged = replace(run, plan=replace(run.plan, limits=False))
    assert not judged(unjudged).clean
    assert "cells measured and judged by no limits (--no-limits) · " in judged(unjudged).sentence()
    for name in ("html", "md", "json"):
        text = registry.load_report(name)().render(unjudged).decode()
        assert "measured and in order" not in text
        assert name == "json" or "judged by no limits (--no-limits)" in text
    reported = json.loads(registry.load_report("json")().render(unjudged))["verdict"]
    assert (reported["clean"], reported["limits"]) == (False, False)
    screen = Console(file=io.StringIO(), width=200)
    print_summary(unjudged, Path("a.loadstone"), None, screen)
    assert "judged by no limits (--no-limits)" in screen.file.getvalue()


def test_every_ranking_says_that_no_limit_judged_it() -> None:
    run = make_run(("select-10%-heap",))
    assert {point.model for point in run.users} == {"closed", "open"}
    unjudged = replace(run, plan=replace(run.plan, limits=False))
    mark = "judged by no limits"
    views = len(summarise(run).views)
    for name in ("html", "md"):
        fine, marked = (registry.load_report(name)().render(r).decode() for r in (run, unjudged))
        assert mark not in fine
        # The verdict, each ranking of cells, and each of load levels.
        assert marked.count(mark) >= 1 + views + 2, name
    shown = []
    for one in (run, unjudged):
        screen = Console(file=io.StringIO(), width=200)
        print_summary(one, Path("a.loadstone"), None, screen)
        shown.append(" ".join(screen.file.getvalue().split()))
    assert mark not in shown[0]
    assert shown[1].count(mark) == 1 + 1 + 2
    for one, limits in ((run, True), (unjudged, False)):
        reported = json.loads(registry.load_report("json")().render(one))
        assert {cell["judged"] for cell in reported["cells"]} == {limits}
        assert {point["judged"] for point in reported["users"]} == {limits}


EVENTS = (
    Event("2026-11-21T13:15:02.114+00:00", "worker lost", "duckdb", "it *died* | twice"),
    Event("2026-11-21T13:16:02.114+00:00", LEFT_BEHIND, "sqlite", "tables loadstone_x in u.db"),
)


def test_possible_leftovers_in_a_database_are_reported_by_every_format() -> None:
    run = make_run(("select-10%-heap",))
    left = replace(run, events=EVENTS)
    assert judged(replace(run, events=EVENTS[:1])).clean
    assert not judged(left).clean
    assert ("something may be left in the database of sqlite", False) in judged(left).clauses()
    page, text = (registry.load_report(name)().render(left).decode() for name in ("html", "md"))
    for shown in (page, text):
        assert "something may be left in the database of sqlite" in shown
    assert "- 13:15:02 worker lost (duckdb): it \\*died\\* \\| twice" in text
    assert "- 13:16:02 left behind (sqlite): tables loadstone\\_x in u.db" in text
    assert "13:16:02 left behind (sqlite): tables loadstone_x in u.db" in page
    reported = json.loads(registry.load_report("json")().render(left))
    assert reported["verdict"]["left_behind"] == ["sqlite"]
    screen = Console(file=io.StringIO(), width=200)
    print_summary(left, Path("a.loadstone"), None, screen)
    said = " ".join(screen.file.getvalue().split())
    assert "something may be left in the database of sqlite" in said


def test_the_harness_and_controls_are_counted_apart() -> None:
    run = make_run(("select-10%-heap",))
    spoiled = tuple(
        replace(r, status="failed", reason="because") if r.cell.variant == "null" else r
        for r in run.results
    )
    found = judged(replace(run, results=spoiled))
    assert (found.own_statuses["failed"], found.statuses["failed"]) == (0, 2)
    assert ("1 of 3 cells of the harness and controls", False) in found.clauses()
    assert not found.clean
    cells = tuple(cell for cell in run.plan.cells if cell.variant == "null")
    alone = judged(replace(run, plan=replace(run.plan, cells=cells)))
    assert alone.sentence().startswith(
        "2 of 2 cells of the harness and controls measured and in order · "
    )


def test_missing_cells_are_counted() -> None:
    run = make_run(("select-10%-heap",))
    found = judged(replace(run, results=run.results[:-3]))
    assert found.statuses["pending"] == 3
    assert "3 not run" in found.sentence()


def test_noise_is_the_difference_between_rounds() -> None:
    run = make_run(("select-10%-heap",), repeat=4)
    shaped = tuple(
        replace(
            result,
            samples=tuple(replace(s, elapsed_ns=1000 + 200 * s.round) for s in result.samples),
        )
        for result in run.results
        if result.cell.variant != AA_CONTROL
    )
    # A run that has an A/A control shows noise by it, or not at all.
    assert judged(replace(run, results=shaped)).repeat_difference is None
    run = replace(
        run,
        plan=replace(run.plan, cells=tuple(c for c in run.plan.cells if c.variant != AA_CONTROL)),
    )
    found = judged(replace(run, results=shaped))
    assert found.noise is None
    assert found.repeat_difference is not None
    assert math.isclose(found.repeat_difference, math.log(1.2))
    noise = next(fine for words, fine in found.clauses() if "cell's last round differs" in words)
    assert not noise
    bad = tuple(
        r if r.cell.variant == "null" else replace(r, status="disturbed", reason="others")
        for r in shaped
    )
    assert judged(replace(run, results=bad)).repeat_difference is None
    once = tuple(
        replace(r, samples=tuple(replace(s, round=0) for s in r.samples)) for r in run.results
    )
    assert judged(replace(run, results=once)).repeat_difference is None


def test_noise_is_the_difference_of_the_a_a_control() -> None:
    run = make_run(("select-10%-heap", "min-scalar"))
    factors = {"select-10%-heap": 1.02, "min-scalar": 0.96}

    def shaped(result: CellResult) -> CellResult:
        factor = factors[result.cell.operation] if result.cell.variant == AA_CONTROL else 1.0
        return replace(
            result,
            samples=tuple(
                replace(s, elapsed_ns=round(factor * 1e6 * (1 + s.variation)))
                for s in result.samples
            ),
        )

    shaped_run = replace(run, results=tuple(map(shaped, run.results)))
    found = judged(shaped_run)
    assert found.noise is not None
    assert found.noise.cells == 2
    assert math.isclose(found.noise.worst, 1 / 0.96 - 1, rel_tol=1e-4)
    assert math.isclose(found.noise.median, (0.02 + 1 / 0.96 - 1) / 2, rel_tol=1e-4)
    # Every pair differs alike, so all of it is certain.
    assert math.isclose(found.noise.certain, found.noise.median)
    assert "A/A difference 3.1 % (at worst 4.2 %)" in found.sentence()
    assert "last round" not in found.sentence()
    spoiled = (
        replace(result, status="invalid", reason="measured twice, it differs by 14%")
        if (result.cell.operation, result.cell.variant) == ("min-scalar", AA_CONTROL)
        else result
        for result in shaped_run.results
    )
    kept = judged(replace(shaped_run, results=tuple(spoiled))).noise
    assert (kept.cells, round(kept.worst, 4)) == (1, 0.02)


def test_invalid_cells_are_counted_with_their_commonest_reason() -> None:
    run = make_run(("select-10%-heap", "min-100"))
    reasons = {
        "sqlite": "the hypervisor took 7% of the processors' time",
        "duckdb": "the hypervisor took 12% of the processors' time",
        POSTGRESQL: "measured twice, it differs by 14%",
    }
    spoiled = tuple(
        replace(result, status="invalid", reason=reasons[result.cell.variant])
        if result.cell.temperature == "warm" and result.cell.variant in reasons
        else result
        for result in run.results
    )
    found = judged(replace(run, results=spoiled))
    assert found.invalid_reason_count == 8
    assert (
        "12 invalid (mostly: the hypervisor took 7 to 12% of the processors' time)"
        in found.sentence()
    )
    assert not found.clean
    alike = tuple(
        replace(result, reason="the hypervisor took 7% of the processors' time")
        if result.status == "invalid"
        else result
        for result in spoiled
    )
    assert "12 invalid (the hypervisor took 7% of" in judged(replace(run, results=alike)).sentence()


def test_headline_and_circumstances() -> None:
    run = make_run(FEW)
    assert headline(summarise(run)) == (
        "Wisconsin (1983) on sqlite, duckdb and postgresql?parallelism=2, 10,000 and 100,000 "
        "tuples, warm and cold"
    )
    only = replace(run.plan, variants=("null",), roles=(("null", "harness overhead"),),
                   cells=tuple(c for c in run.plan.cells if c.variant == "null"))  # fmt: skip
    own = tuple(result for result in run.results if result.cell.variant == "null")
    assert headline(summarise(replace(run, plan=only, results=own))).startswith(
        "Wisconsin (1983) on the harness alone: null, "
    )
    said = circumstances(run)
    assert said.startswith("AMD EPYC 9B45, 2 CPUs, 24.0 GiB, Debian")
    assert "78.2 s" in said
    assert said.endswith("in 2 sessions")
    bare = replace(run, sessions=())
    assert circumstances(bare) == "21 November 2026 13:15 UTC"


def test_cells_that_a_study_added_are_counted_with_the_planned_ones():
    """Their answers are: one sentence may not count two sets of cells."""
    run = study_fixture.record()
    result = next(r for r in run.results if r.status == "ok" and r.samples)
    others = [
        replace(
            result, cell=replace(result.cell, variant=f"postgresql?cache={number}"), status=status
        )
        for number, status in enumerate(("ok", "disturbed", "censored", "spared"))
    ]
    before = verdict(summarise(run))
    after = verdict(summarise(replace(run, results=(*run.results, *others))))
    assert after.planned == before.planned + 4
    assert after.own_planned == before.own_planned + 3
    for status in ("ok", "disturbed", "censored", "spared"):
        assert after.own_statuses[status] == before.own_statuses[status] + 1
    assert "1 spared, as a decision made them needless" in after.sentence()


def test_a_run_spares_cells_for_another_reason_than_a_study():
    run = make_run(FEW)
    ended = replace(run.results[0], status="spared", samples=(), reason="warm it took > 60 s")
    said = judged(replace(run, results=(ended, *run.results[1:]))).sentence()
    assert "1 spared the cold start, as they were ended when warm" in said
    assert "decision" not in said
