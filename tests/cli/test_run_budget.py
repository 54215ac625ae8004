"""`loadstone run --budget` takes the time of warm cells apart; where it may not look it goes on."""

import os
import subprocess
import sys

import pytest
from desk import COMMAND, Desk

from loadstone.analysis.budget import budgets
from loadstone.plan.statement_ladder import RUNGS
from loadstone.record.budget import ALL, NOTHING, PROGRAMS

TINY = ("run", "--rows", "1000", "--repeat", "2", "--repeat-cold", "1", "--rounds", "1",
        "--repeat-seconds", "0", "--no-overhead", "--no-limits", "--operation", "select-1%-heap",
        "--operation", "append-indexed", "--on", "sqlite")  # fmt: skip

pytestmark = pytest.mark.slow


def taken_apart(run):
    return {
        (cell.cell.operation, cell.cell.variant): cell
        for operation in budgets(run)
        for cell in operation.cells
    }


def test_every_warm_cell_has_a_budget_and_no_cold_one(desk: Desk):
    done = desk.run(*TINY, "--on", "lode", "--budget", "--record", "r.loadstone")
    assert done.returncode == 0, done.stderr
    assert "s of them for time budgets" in done.stderr
    run = desk.read()
    assert run.plan.budget
    warm = [result for result in run.results if result.cell.temperature == "warm"]
    assert len(warm) == 4
    assert all(result.status == "ok" for result in run.results)
    assert [result for result in run.results if result.budget is not None] == warm
    for (operation, variant), cell in taken_apart(run).items():
        assert cell.sampled in (ALL, PROGRAMS, NOTHING)
        assert sum(row.elapsed_ns for row in cell.rows) == pytest.approx(cell.elapsed_ns)
        measured = {rung.rung for rung in cell.ladder if rung.each_ns}
        lacking = {rung.rung: rung.reason for rung in cell.ladder if not rung.each_ns}
        assert measured | set(lacking) == set(RUNGS) - (
            {"counted"} if operation == "append-indexed" else set()
        )
        assert all(lacking.values()), (variant, lacking)
        total = sum(rung.beyond_ns.value for rung in cell.ladder if rung.beyond_ns)
        assert total == pytest.approx(cell.ladder[-1].each_ns.value)
    assert "Where the time goes" in (desk.folder / "r.html").read_text()
    assert "Where the time goes" in done.stdout
    assert desk.leftovers() == []


def test_without_it_nothing_is_taken_apart(desk: Desk):
    done = desk.run(*TINY, "--record", "r.loadstone", "--no-report")
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert not run.plan.budget
    assert all(result.budget is None for result in run.results)
    assert "Where the time goes" not in done.stdout


UNPRIVILEGED = """
import ctypes, os, sys
for capability in (21, 38):  # CAP_SYS_ADMIN and CAP_PERFMON, which exec gives root again unless
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # they are out of its bounding set
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a capability away")
def test_a_user_without_the_right_to_the_kernel_gets_the_rest_and_is_reported(desk: Desk):
    done = subprocess.run(
        [sys.executable, "-c", UNPRIVILEGED, *COMMAND, *TINY[:5], *TINY[7:], "--temperature",
         "warm", "--budget", "--record", "r.loadstone"],
        cwd=desk.folder, env=desk.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = taken_apart(desk.read())
    assert found
    for cell in found.values():
        if cell.sampled == ALL:
            pytest.skip("here everybody may sample the kernel")
        assert "perf_event_paranoid" in cell.reason
        assert cell.closes is None
        assert cell.kernel_share == 0
        assert sum(row.share for row in cell.rows) == pytest.approx(1)
    assert "perf_event_paranoid" in done.stdout
