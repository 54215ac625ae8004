"""`loadstone run` measures, checks, records; and survives what befalls it."""

import os
import signal
import sqlite3
from pathlib import Path

import pytest
from desk import Desk, children, command_line

from loadstone.record.model import WORK

OPERATIONS = ("select-1%-heap", "select-one-clustered-client", "join-AselB-heap", "append-indexed",
              "modify-key-indexed", "delete-heap", "min-heap", "project-1%")  # fmt: skip
SMALL = ("run", "--rows", "1000", "--repeat", "3", "--repeat-cold", "1", "--no-overhead",
         "--no-limits",
         "--record", "r.loadstone", "--no-report")  # fmt: skip
WARM = (*SMALL[:5], *SMALL[7:], "--temperature", "warm")
"""Without the number of cold samples."""


def few(count=3):
    return [item for name in OPERATIONS[:count] for item in ("--operation", name)]


def test_every_engine_answers_right_and_cold_is_proved_or_says_why_not(desk: Desk):
    done = desk.run(*SMALL, *few(), "--report")
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert run.pending == ()
    assert {result.status for result in run.results} == {"ok"}
    assert {result.cell.variant for result in run.results} == {"sqlite", "duckdb", "postgresql"}
    for result in run.results:
        assert len(result.samples) == len(result.answers) == result.cell.samples
        assert all(answer.right for answer in result.answers)
        assert result.statements[0].text
        assert result.statements[0].plan
        if result.cell.temperature == "cold":
            assert len(result.evidence) == len(result.samples)
            assert all(item.proved or item.reason for item in result.evidence)
    assert run.sessions[0].outcome == "complete"
    assert {term.key for term in run.terms} >= {"version", "durability", "parallelism"}
    assert (desk.folder / "r.html").stat().st_size < 2_000_000
    assert desk.leftovers() == []


def test_an_engine_that_counts_its_work_has_it_in_every_sample(desk: Desk):
    done = desk.run(*SMALL, "--operation", "select-1%-heap", "--operation", "join-AselB-heap",
                    "--on", "lode", "--on", "sqlite", "--report")  # fmt: skip
    assert done.returncode == 0, done.stderr
    for result in desk.read().results:
        assert result.status == "ok"
        for sample in result.samples:
            work = [getattr(sample, name) for name in WORK]
            if result.cell.variant == "sqlite":
                assert work == [None] * len(WORK)
                continue
            assert None not in work
            assert sample.tuples == (1000 if "select" in result.cell.operation else 2000)
            assert sample.pages > 0
            assert sample.comparisons > 0
            # Both store their rows.
            assert sample.log_bytes > 0
    assert " tuples, " in (desk.folder / "r.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_where_operations_are_named_other_processes_take_over_what_is_loaded(desk: Desk):
    done = desk.run("run", "--rows", "1000", "--no-overhead", "--no-limits",
                    "--temperature", "warm",
                    "--on", "sqlite", "--on", "sqlite?durability=none", "--on", "duckdb",
                    "--on", "duckdb?parallelism=1", "--on", "postgresql",
                    "--on", "postgresql?durability=none", "--operation", "select-1%-heap",
                    "--precision", "0.01%", "--repeat-seconds", "6", "--record", "r.loadstone",
                    "--no-report")  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert run.events == ()
    assert {result.status for result in run.results} == {"ok"}
    assert all(answer.right for result in run.results for answer in result.answers)
    repeated = [result for result in run.results if len(result.samples) > result.cell.samples]
    assert len(repeated) >= 2, "two of the same engine are undecided at that precision"
    assert desk.leftovers() == []


def test_dry_run_prints_the_plan_and_touches_nothing(desk: Desk):
    done = desk.run(*SMALL, *few(), "--dry-run")
    assert done.returncode == 0
    assert "select-1%-heap" in done.stdout
    assert "cells" in done.stdout
    assert list(desk.folder.iterdir()) == []


def test_a_plan_file_says_the_same_as_options(desk: Desk):
    (desk.folder / "plan.toml").write_text(
        'on = ["sqlite"]\nrows = [1000]\nrepeat = 3\noperations = ["min-heap"]\noverhead = false\n'
    )
    from_file = desk.run("run", "--plan", "plan.toml", "--dry-run").stdout
    options = ("--on", "sqlite", "--rows", "1e3", "--repeat", "3", "--operation", "min-heap")
    assert from_file == desk.run("run", *options, "--no-overhead", "--dry-run").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--on", "sqlit"), "no engine 'sqlit'"),
        (("run", "--on", "sqlite?cash=1"), "no tactic 'cash'"),
        (("run", "--on", "sqlite?durability=some"), "durability"),
        (("run", "tpcc"), "no benchmark 'tpcc'"),
        (("run", "--rows", "ten"), "--rows: 'ten' is not a whole number"),
        (("run", "--rows", "5"), "rows"),
        (("run", "--edition", "1984"), "no edition '1984'"),
        (
            ("run", "--temperature", "tepid"),
            "temperature must be one of warm, cold, hot, not 'tepid'",
        ),
        (("run", "--operation", "selekt"), "no operation 'selekt'"),
        (("run", "--repeat", "many"), "--repeat"),
        (("run", "--plan", "absent.toml"), "cannot read the plan"),
        (("run", "--resume", "absent.loadstone"), "no record"),
        (("report", "absent.loadstone"), "no record"),
        (("frobnicate",), "frobnicate"),
        (("quel", "retrieve ("), "expected"),
        (("data", "wisconsin", "--rows", "-1", "--out", "x"), "--rows"),
        (("data", "wisconsin", "--format", "xls", "--out", "x"), "xls"),
    ],
)
def test_bad_input_gets_a_clear_error(desk: Desk, arguments, message):
    done = desk.run(*arguments)
    assert done.returncode in (2, 3, 4)
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(desk.folder.iterdir()) == []


def test_a_folder_that_cannot_be_written_ends_before_anything_is_measured(desk: Desk):
    (desk.folder / "file").write_text("")
    done = desk.run(*SMALL[:-3], "--record", "file/r.loadstone", "--on", "sqlite", *few(1))
    assert done.returncode == 4
    assert "cannot write the record" in done.stderr
    assert desk.leftovers() == []


def test_a_time_limit_is_a_result_and_the_run_goes_on(desk: Desk):
    done = desk.run(*WARM, "--on", "sqlite", "--on", "duckdb?parallelism=1", *few(2),
                    "--time-limit", "0.0005")  # fmt: skip
    assert done.returncode in (0, 1, 8), done.stderr
    run = desk.read()
    assert run.pending == ()
    # One that ended within the limit once, and once not, has no figure.
    failed = [result.reason for result in run.results if result.status == "failed"]
    assert all("0.0005 s once, after" in reason for reason in failed), failed
    late = [result for result in run.results if result.status == "censored"]
    assert late
    assert {result.reason for result in late} == {"> 0.0005 s"}
    assert {result.longer_than_ns for result in late} == {500_000}
    assert all(result.samples == () for result in late)
    # The engines ended them, and went on: no worker was lost.
    assert run.events == ()


@pytest.mark.slow
def test_a_killed_run_is_resumed_where_it_stopped(desk: Desk):
    process = desk.start(*SMALL, "--on", "sqlite", "--on", "duckdb", *few(8))
    assert process.stderr is not None
    process.stderr.readline()
    process.stderr.readline()
    workers = children(process.pid)
    process.kill()
    process.wait()
    process.stderr.close()
    before = desk.read()
    assert before.results
    assert before.pending
    wait_until_gone(workers)
    kept = {path.suffix for path in desk.scratch.rglob("*") if path.is_file()}
    assert kept <= {".json", ".log"}  # the workers saw the runner's end and removed their data
    done = desk.run("run", "--resume", "r.loadstone", "--no-report")
    assert done.returncode == 0, done.stderr
    after = desk.read()
    assert after.pending == ()
    assert after.results[: len(before.results)] == before.results
    assert [session.outcome for session in after.sessions] == [None, "complete"]
    assert desk.leftovers() == []


@pytest.mark.slow
def test_ctrl_c_ends_cleanly_with_what_is_there(desk: Desk):
    process = desk.start(*SMALL, "--on", "sqlite", "--on", "duckdb", *few(8))
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, reported = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume r.loadstone" in reported
    assert "Traceback" not in reported
    assert desk.read().sessions[0].outcome == "interrupted"
    assert desk.leftovers() == []


@pytest.mark.slow
def test_a_killed_worker_costs_its_cell_and_its_tables_are_mended(desk: Desk):
    process = desk.start(*WARM, "--on", "sqlite", *few(8))
    assert process.stderr is not None
    process.stderr.readline()
    spoil(desk)
    worker = next(
        pid for pid in children(process.pid) if "loadstone.worker.main" in command_line(pid)
    )
    os.kill(worker, signal.SIGKILL)
    process.communicate(timeout=90)
    run = desk.read()
    assert run.pending == ()
    failed = [result for result in run.results if result.status == "failed"]
    assert len(failed) <= 2
    assert [event.kind for event in run.events] == ["worker lost"]
    assert process.returncode == (1 if failed else 0)
    assert desk.leftovers() == []


@pytest.mark.slow
def test_a_killed_server_costs_its_cell_and_no_more(desk: Desk):
    process = desk.start(*SMALL, "--on", "postgresql", *few(8))
    assert process.stderr is not None
    process.stderr.readline()
    pid_file = next(desk.scratch.glob("*/postgresql/**/postmaster.pid"))
    os.kill(int(pid_file.read_text().splitlines()[0]), signal.SIGKILL)
    process.communicate(timeout=90)
    run = desk.read()
    assert run.pending == ()
    assert sum(result.status == "failed" for result in run.results) <= 2
    assert any(result.status == "ok" for result in run.results[-8:])
    assert desk.leftovers() == []


@pytest.mark.slow
def test_spoiled_data_turns_cells_red_and_prints_no_time(desk: Desk):
    process = desk.start(*WARM, "--on", "sqlite", *few(8))
    assert process.stderr is not None
    process.stderr.readline()
    spoil(desk)
    _, reported = process.communicate(timeout=90)
    assert process.returncode == 1
    red = [result for result in desk.read().results if result.status == "failed"]
    assert red
    for result in red:
        assert result.reason.startswith("wrong answer")
        assert result.samples == ()
    assert "wrong answer" in reported


def spoil(desk: Desk) -> None:
    """Change every row of the large relations behind the run's back."""
    database = next(path for path in desk.scratch.glob("*/sqlite/*") if is_sqlite(path))
    with sqlite3.connect(database, timeout=30) as spoiler:
        names = spoiler.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (name,) in names:
            if name.startswith("tenktup"):
                spoiler.execute(f"UPDATE {name} SET string4 = 'spoiled'")


def is_sqlite(path: Path) -> bool:
    return path.is_file() and path.read_bytes()[:15] == b"SQLite format 3"


def wait_until_gone(pids: list[int]) -> None:
    from loadstone.machine.page_cache import wait_until_dead

    assert wait_until_dead(pids, limit_s=30)
