"""`loadstone run oo7`: engines behind OO7's program agree, in a run with its page."""

import pytest
from desk import Desk

from loadstone import _core

PARTS = 1_000
MEASURES = ("T1", "T2a", "T6", "Q1", "Q7", "S1")
ENGINES = ("memory", "sqlite")


@pytest.mark.slow
def test_engines_agree_warm_and_cold(desk: Desk) -> None:
    named = [word for name in MEASURES for word in ("--operation", name)]
    on = [word for engine in (*ENGINES, "python-null") for word in ("--on", engine)]
    done = desk.run(
        "run", "oo7", "--rows", str(PARTS), "--record", "r.loadstone", "--no-limits",
        *named, *on, "--repeat", "2", "--temperature", "warm", "--temperature", "cold",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert run.pending == ()
    oracle = _core.Oo7Oracle(PARTS)
    found = {}
    for result in run.results:
        cell = result.cell
        found[cell.operation, cell.variant, cell.temperature] = (result.status, result.reason)
        for answer in result.answers:
            assert answer.right
            assert oracle.answer(cell.operation, 1) == (answer.rows, answer.checksum)
    for measure in MEASURES:
        for temperature in ("warm", "cold"):
            assert found[measure, "sqlite", temperature][0] == "ok"
        assert found[measure, "memory", "warm"][0] == "ok"
        # An engine without a program for OO7, or one that keeps nothing, is a gap with its reason.
        assert found[measure, "memory", "cold"][0] == "gap"
        assert found[measure, "python-null", "warm"] == ("gap", "it has no program for OO7")
    commits = [
        sample.commit_ns
        for result in run.results
        if (result.cell.operation, result.cell.variant) == ("T2a", "sqlite")
        for sample in result.samples
    ]
    assert commits
    assert all(commits)
    page = (desk.folder / "r.html").read_text(encoding="utf-8")
    assert "OO7" in page
    assert "atomic parts" in page
    assert desk.leftovers() == []


@pytest.mark.slow
def test_users_leave_what_was_acknowledged(desk: Desk) -> None:
    done = desk.run(
        "run", "oo7", "--rows", str(PARTS), "--record", "r.loadstone", "--no-limits",
        "--on", "lode?locks=page", "--on", "sqlite", "--on", "memory", "--repeat", "2",
        "--operation", "M1", "--operation", "M2", "--users", "3", "--writers", "2",
        "--rate", "200", "--loop-seconds", "0.2", "--no-report", "--temperature", "warm",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert {result.status for result in run.results} <= {"ok", "disturbed"}
    reported = {(it.operation, it.model, it.beside) for it in run.users if it.variant == "sqlite"}
    # M1 alone, M2 alone, and each beside the other.
    assert {operation for operation, _, _ in reported} == {"M1", "M2"}
    assert any(beside for _, _, beside in reported)
    for point in run.users:
        if point.variant == "null":
            continue
        if point.variant == "memory":
            assert (point.status, "no concurrency control" in point.reason) == ("gap", True)
            continue
        assert point.completed > 0, point.reason
        if point.operation == "M2":
            # Three components of two atomic parts, swapped by each commit.
            assert point.links_checked == 6 * point.completed
    assert desk.leftovers() == []
