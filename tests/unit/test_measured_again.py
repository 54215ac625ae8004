"""A disturbed cell is measured again while there is time, and counts where it was calmer. The
engine is real; the machine's state is what the test says."""

import itertools
from math import inf
from pathlib import Path

import pytest

from loadstone import measuring
from loadstone.diagnostics import Exit
from loadstone.machine.conditions import Conditions
from loadstone.plan.plan import Cell
from loadstone.record import read
from loadstone.record.model import CellResult, Condition, Disturbance
from loadstone.run import runner, stage
from loadstone.run.planned import plan_from
from loadstone.statistics import validity
from loadstone.statistics.disturbance import calmer

CALM, BUSY = Condition(0.0, 0.0, 0.0), Condition(0.0, 0.7, 0.0)
CHOICES = {
    "on": ["sqlite"], "rows": [1000], "temperature": ["warm"], "repeat": 6, "overhead": False,
    "operations": ["select-1%-heap", "min-heap", "select-1%-clustered", "project-1%"],
}  # fmt: skip


@pytest.fixture
def states(monkeypatch, tmp_path):
    """Sets what each group finds; from the last one on, all find the same."""
    monkeypatch.setattr(validity, "SPAN_MAX", inf)  # the machine under the test may be busy itself
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path / "scratch"))

    def found(*conditions):
        left = itertools.chain(conditions, itertools.repeat(conditions[-1]))
        monkeypatch.setattr(Conditions, "end", lambda self: next(left))

    return found


def ran(tmp_path: Path) -> tuple[int, Path]:
    path = tmp_path / "r.loadstone"
    return measuring.start(plan_from(CHOICES, None), path, page=False), path


def statuses(path: Path) -> list[str]:
    return [result.status for result in read(path).results]


def test_a_disturbed_cell_is_measured_again_and_the_calmer_one_counts(states, tmp_path, capsys):
    states(CALM, BUSY, CALM)
    code, path = ran(tmp_path)
    assert (code, statuses(path)) == (Exit.OK, ["ok"] * 4)
    assert "measured again" in capsys.readouterr().err
    assert {cell.condition for cell in read(path).results} == {CALM}


def test_a_machine_that_stays_busy_is_not_tried_for_ever_and_nothing_usable_is_an_error(
    states, tmp_path, capsys, monkeypatch
):
    states(BUSY)
    monkeypatch.setattr(validity, "PRINTED_SPAN_MAX", float("inf"))  # what real samples scatter by
    monkeypatch.setattr(stage, "calmer", lambda after, before: False)
    code, path = ran(tmp_path)
    run = read(path)
    assert set(statuses(path)) == {"disturbed"}
    assert [event.kind for event in run.events] == ["measured again"] * 3, "of four groups"
    assert code == Exit.NOTHING_USABLE
    printed = capsys.readouterr()
    assert "no figure of this run is usable: 4 " in printed.err
    reported = " ".join(printed.out.split())
    assert "4 cells disturbed: other programs took 70% of the processors' time" in reported
    assert "end other programs" in reported
    assert f"loadstone run --resume {path}" in "".join(printed.out.split("\n"))

    monkeypatch.setattr(stage, "calmer", calmer)
    # Later, when the machine is idle, its record is made whole.
    states(CALM)
    assert measuring.resume(path, {}, page=False) == Exit.OK
    assert statuses(path) == ["ok"] * 4


@pytest.mark.parametrize(("chosen", "share"), [({}, 0.05), ({"operations": ["min-heap"]}, 0.5)])
def test_a_preset_keeps_to_the_time_that_was_announced(chosen, share):
    plan = plan_from({"on": ["sqlite"], "rows": [1000], **chosen}, None).plan
    hour_ns, second_ns = 3600 * 10**9, 10**9
    assert runner.again_limit_ns(plan, hour_ns) == share * hour_ns
    assert runner.again_limit_ns(plan, second_ns) == 5 * second_ns, "seconds are always there"


def test_no_second_try_begins_that_would_end_after_that_time(states, tmp_path, monkeypatch):
    """A benchmark may be measured in one group, which takes as long as all of it."""
    states(BUSY)
    monkeypatch.setattr(stage, "calmer", lambda after, before: False)
    monkeypatch.setattr(runner, "again_limit_ns", lambda plan, spent_ns: 1e6)
    _, path = ran(tmp_path)
    assert read(path).events == ()


def result(status, low=None):
    found = Disturbance(low, low, 1.0) if low else None
    return CellResult(Cell("a", "b", 1, "warm", 1), status, "", "", disturbance=found)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([result("disturbed", 0.5)], [result("ok")], True),
        ([result("disturbed", 0.5)], [result("disturbed", 0.7)], True),
        ([result("disturbed", 0.5)], [result("disturbed", 0.55)], False),
        ([result("disturbed", 0.5)], [result("disturbed", 0.5)], False),
        ([result("disturbed", 0.5)], [result("invalid", 0.05)], False),
        ([result("ok"), result("disturbed", 0.5)], [result("disturbed", 0.9)] * 2, False),
        ([result("disturbed", 0.5)], [result("failed")], True),
        ([result("disturbed", 0.5)], [result("censored")], True),
    ],
)
def test_the_calmer_one_counts_and_a_failure_always(before, after, expected):
    assert calmer(after, before) is expected
