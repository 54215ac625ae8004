"""A run that takes time budgets, and a study that opens its groups, killed anywhere and resumed:
the record is whole, and nothing stands in it twice."""

import random
import select
import sqlite3
from contextlib import closing

import pytest
from desk import Desk, children
from redecided import redecided

from loadstone.errors import RecordError
from loadstone.machine.page_cache import wait_until_dead
from loadstone.plan.study import OPENED
from loadstone.record import Run

pytestmark = [pytest.mark.machine, pytest.mark.slow]

RECORD = ("--no-limits", "--no-report", "--record", "r.loadstone")
BUDGET = ("run", "--rows", "1000", "--repeat", "2", "--repeat-cold", "1", "--repeat-seconds", "0",
          "--no-overhead", "--on", "sqlite", "--on", "duckdb", "--budget",
          "--operation", "select-1%-heap", "--operation", "append-indexed",
          "--operation", "sum-partitions-heap")  # fmt: skip
VARIED = ("durability", "journal", "cache=268435456,1048576", "mmap", "temp_store",
          "parallelism=1,2", "automatic_index", "statistics", "page_size")  # fmt: skip
STUDY = ("study", "wisconsin", "--on", "sqlite", "--rows", "1000", "--seconds", "4",
         *(word for name in VARIED for word in ("--vary", name)),
         "--operation", "append-indexed", "--operation", "select-1%-heap")  # fmt: skip
BUDGET_TABLES = ("budget", "budget_thread", "budget_part", "budget_block", "budget_rung")
LINES_MAX = 7
"""Those that a session shows, at most, before it is killed."""
STRUCK_WITHIN_S = 3.0
"""Of the last of them: more than is between two, on a machine with nothing else to do."""


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    """Half as many as elsewhere: after each all of it is measured that was not recorded."""
    return max(1, int(request.config.getoption("--kills")) // 2)


def killed_until_whole(desk: Desk, start: tuple[str, ...], kills: int, dice: random.Random) -> Run:
    """The record of a run that was killed so often at any moment, and then let go on."""
    command, held = start[0], None
    while kills:
        begun = (*start, *RECORD) if held is None else (command, "--resume", "r.loadstone",
                                                        "--no-report")  # fmt: skip
        process = desk.start(*begun, announced=False)
        assert process.stderr is not None
        for _ in range(dice.randint(0, LINES_MAX)):
            process.stderr.readline()
        select.select([], [], [], dice.random() * STRUCK_WITHIN_S)
        workers = children(process.pid) if process.poll() is None else []
        process.kill()
        reported = process.communicate()[1]
        assert "internal error" not in reported
        kills -= process.returncode != 0
        held = record_of(desk)
        assert_nothing_twice(desk)
        if held is not None and not held.pending:
            desk.record.unlink()
            held = None
        if dice.random() < 0.5:  # else the next session meets them while they tidy up
            assert wait_until_dead(workers, limit_s=30)
    while held is None or held.pending:
        done = desk.run(*((*start, *RECORD) if held is None else (command, "--resume",
                          "r.loadstone", "--no-report")))  # fmt: skip
        assert done.returncode == 0, done.stderr
        held = desk.read()
    assert_nothing_twice(desk)
    assert {result.cell for result in held.results} >= set(held.plan.cells)
    assert desk.run("clean", "--yes").returncode == 0
    assert desk.leftovers() == []
    return held


def record_of(desk: Desk) -> Run | None:
    try:
        return desk.read()
    except RecordError:
        return None


def assert_nothing_twice(desk: Desk) -> None:
    if record_of(desk) is None:
        return
    with closing(sqlite3.connect(desk.record)) as connection:
        for columns, table in (
            ("operation, variant, rows, temperature", "cell"),
            ("cell_id", "budget"),
            ("cell_id, block, rung", "budget_block"),
            ("cell_id, rung", "budget_rung"),
            ("cell_id, ordinal", "sample"),
            ("operation, rows, kind, tactics", "decision"),
        ):
            rows = connection.execute(f"SELECT {columns} FROM {table}").fetchall()
            assert len(rows) == len({*rows}), table
        for table in BUDGET_TABLES:
            (orphans,) = connection.execute(
                f"SELECT count(*) FROM {table} WHERE cell_id NOT IN (SELECT cell_id FROM cell)"
            ).fetchone()
            assert orphans == 0, table


@pytest.mark.timeout(0)  # --kills decides how long it takes
def test_a_run_with_budgets_killed_anywhere_is_whole_when_it_is_resumed(
    desk: Desk, kills: int, chance: random.Random
) -> None:
    run = killed_until_whole(desk, BUDGET, kills, chance)
    assert {result.status for result in run.results} == {"ok"}
    for result in run.results:
        assert (result.budget is not None) is (result.cell.temperature == "warm"), result.cell
        if result.budget is not None:
            assert result.budget.statements and result.budget.blocks


@pytest.mark.timeout(0)
def test_a_study_with_open_groups_killed_anywhere_is_whole_when_it_is_resumed(
    desk: Desk, kills: int, chance: random.Random
) -> None:
    run = killed_until_whole(desk, STUDY, kills, chance)
    assert run.plan.study is not None and run.plan.study.screened
    for operation, (reported, again) in redecided(run).items():
        assert reported == again, operation
    measured = {result.cell.operation for result in run.results if result.samples}
    assert measured == {"append-indexed", "select-1%-heap"}
    assert OPENED in {one.kind for one in run.decisions if one.operation == "append-indexed"}
