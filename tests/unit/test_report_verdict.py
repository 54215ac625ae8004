"""What a run says about itself."""

import math
from dataclasses import replace

from report_fixture import FEW, make_run

from loadstone.record.model import Run
from loadstone.report.portrait import portrait
from loadstone.report.verdict import circumstances, headline, verdict


def judged(run: Run):
    return verdict(portrait(run))


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
    assert "no cell failed" in found.sentence()


def test_what_is_missing_is_counted() -> None:
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
    )
    found = judged(replace(run, results=shaped))
    assert found.repeat_difference is not None
    assert math.isclose(found.repeat_difference, math.log(1.2))
    noise = next(fine for words, fine in found.clauses() if "measured again" in words)
    assert not noise
    once = tuple(
        replace(r, samples=tuple(replace(s, round=0) for s in r.samples)) for r in run.results
    )
    assert judged(replace(run, results=once)).repeat_difference is None


def test_headline_and_circumstances() -> None:
    run = make_run(FEW)
    assert headline(portrait(run)) == (
        "Wisconsin (1983) on sqlite, duckdb and postgresql?parallelism=2, 10,000 and 100,000 "
        "tuples, warm and cold"
    )
    said = circumstances(run)
    assert said.startswith("AMD EPYC 9B45, 2 CPUs, 24.0 GiB, Debian")
    assert "78.2 s" in said
    assert said.endswith("in 2 sessions")
    bare = replace(run, sessions=())
    assert circumstances(bare) == "21 November 2026 13:15 UTC"
