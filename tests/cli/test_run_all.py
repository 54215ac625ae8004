"""`loadstone run --all`: several benchmarks in one record, killed, resumed and compared."""

import random
import re
import signal
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from desk import Desk

from loadstone import registry
from loadstone.diagnostics import Exit
from loadstone.plan.chapters import file_of, hash_of, read_chapters
from loadstone.record import read_chapters as read_record
from loadstone.record.model import NOT_MEASURED
from loadstone.run.chapters import plan_all

PLAN = """
on = "sqlite"
overhead = false
repeat = 2
rounds = 1
repeat_s = 0.0
[ingres]
temperature = ["warm"]
operations = ["a-constant", "b-project"]
[wisconsin]
rows = 1000
temperature = ["warm", "cold"]
operations = ["select-1%-heap", "min-indexed"]
"""


def with_plan(desk: Desk) -> tuple[str, ...]:
    (desk.folder / "all.toml").write_text(PLAN, encoding="utf-8")
    return "run", "--all", "--plan", "all.toml", "--record", "r.loadstone", "--no-limits"


BROKEN = """
overhead = false
repeat = 2
rounds = 1
temperature = ["warm"]
[ingres]
on = "sqlite"
operations = ["a-constant"]
[wisconsin]
on = "{url}"
rows = 1000
operations = ["min-heap"]
[idm]
on = "sqlite"
rows = 1000
operations = ["retrieve-heap"]
"""


@pytest.mark.slow
def test_an_engine_that_does_not_open_ends_its_benchmark_alone(desk: Desk):
    broken = desk.folder / "broken.db"
    broken.write_text("no database at all, however long one reads in it\n" * 100, "utf-8")
    (desk.folder / "all.toml").write_text(BROKEN.format(url=f"sqlite://{broken}"), "utf-8")
    arguments = ("run", "--all", "--plan", "all.toml", "--record", "r.loadstone", "--no-limits")
    done = desk.run(*arguments)
    assert done.returncode == Exit.ENGINE, done.stderr
    assert "not a database" in done.stderr
    assert "loadstone run --resume r.loadstone" in done.stderr
    ingres, wisconsin, idm = read_record(desk.record)
    assert not ingres.pending
    assert not idm.pending
    assert len(wisconsin.pending) == 1
    assert [event.kind for event in wisconsin.events] == [NOT_MEASURED]
    page = (desk.folder / "r.html").read_text(encoding="utf-8")
    assert "wisconsin ended early: " in page
    assert "not a database" in page.partition("wisconsin ended early: ")[2][:300]
    broken.unlink()
    with closing(sqlite3.connect(broken)) as made:
        made.execute("VACUUM")
    on = f"sqlite://{broken}"
    again = desk.run("run", "--resume", "r.loadstone", "--on", on)
    assert again.returncode == Exit.OK, again.stderr
    assert not any(run.pending for run in read_record(desk.record))
    assert "ended early" not in (desk.folder / "r.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_ctrl_c_in_any_benchmark_leaves_a_record_that_goes_on(desk: Desk, chance: random.Random):
    arguments = with_plan(desk)
    for number, reported in enumerate((1, chance.randint(1, 2))):
        process = desk.start(*arguments)
        assert process.stderr is not None
        said = ""
        for _ in range(reported):
            while (line := process.stderr.readline()) and " warm " not in line:
                said += line
        process.send_signal(signal.SIGINT)
        said += process.communicate(timeout=60)[1]
        assert process.returncode == Exit.INTERRUPTED, said
        assert "continue with: loadstone run --resume r.loadstone" in said, number
        assert "Traceback" not in said
        assert desk.leftovers() == []
        # A page of what there is, whatever chapter has nothing yet.
        assert 'id="c1-summary"' in (desk.folder / "r.html").read_text(encoding="utf-8")
        arguments = ("run", "--resume", "r.loadstone")
    done = desk.run("run", "--resume", "r.loadstone")
    assert done.returncode == 0, done.stderr
    runs = read_record(desk.record)
    assert not any(run.pending for run in runs)
    found = cells(desk.record)
    assert len(found) == len(set(found)) == sum(len(run.plan.cells) for run in runs)


@pytest.mark.slow
def test_a_benchmark_alone_is_compared_with_itself_among_others(desk: Desk):
    assert desk.run(*with_plan(desk)).returncode == 0
    alone = ("--on", "sqlite", "--rows", "1000", "--no-overhead", "--repeat", "2", "--rounds", "1")
    names = ("--operation", "select-1%-heap", "--operation", "min-indexed", "--no-limits")
    done = desk.run("run", *alone, *names, "--record", "s.loadstone", "--no-report")
    assert done.returncode == 0, done.stderr
    for pair in (("r.loadstone", "s.loadstone"), ("s.loadstone", "r.loadstone")):
        compared = desk.run("compare", *pair).stdout
        before, _, other = compared.partition("INGRES (1981)")
        assert "Wisconsin (1993)" in before
        assert "select-1%-heap" in before
        assert "only one record has it" in other


@pytest.mark.slow
def test_users_are_of_the_benchmarks_that_have_operations_for_them(desk: Desk):
    plan = PLAN.replace('operations = ["select-1%-heap", "min-indexed"]',
                        'operations = ["select-one-clustered-client"]')  # fmt: skip
    (desk.folder / "all.toml").write_text(plan, encoding="utf-8")
    arguments = ("run", "--all", "--plan", "all.toml", "--record", "r.loadstone", "--no-limits")
    done = desk.run(*arguments, "--users", "2", "--loop-seconds", "0.2")
    assert done.returncode == 0, done.stderr
    ingres, wisconsin = read_record(desk.record)
    assert "ingres without --users" in done.stderr
    assert (ingres.plan.users, ingres.users) == ((), ())
    assert [point.model for point in wisconsin.users] == ["closed", "open"]
    assert 'id="c1-users"' in (desk.folder / "r.html").read_text(encoding="utf-8")


def test_users_that_no_benchmark_has_work_for_are_refused(desk: Desk):
    done = desk.run(*with_plan(desk), "--users", "2")
    assert done.returncode == Exit.INPUT
    assert "no benchmark has an operation that concurrent users can run" in done.stderr
    assert "leave out --users" in done.stderr
    assert not desk.record.exists()


@pytest.mark.slow
def test_time_budgets_are_taken_of_every_benchmark(desk: Desk):
    done = desk.run(*with_plan(desk), "--budget", "--temperature", "warm")
    assert done.returncode == 0, done.stderr
    for run in read_record(desk.record):
        assert any(result.budget is not None for result in run.results), run.plan.benchmark


def cells(record: Path) -> list[tuple[object, ...]]:
    query = (
        "SELECT session.chapter, operation, variant, rows, temperature FROM cell JOIN session"
        " ON session.session_id = cell.session_id"
    )
    with closing(sqlite3.connect(record)) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.slow
def test_a_run_killed_at_any_cell_is_resumed_in_its_benchmark(desk: Desk, chance: random.Random):
    arguments = with_plan(desk)
    for reported in (1, chance.randint(1, 3), chance.randint(1, 2)):
        process = desk.start(*arguments)
        assert process.stderr is not None
        for _ in range(reported):  # each says that the cells of an operation are in the record
            while (line := process.stderr.readline()) and " warm " not in line:
                pass
        process.kill()
        process.wait()
        process.stderr.close()
        arguments = ("run", "--resume", "r.loadstone", "--no-report")
    done = desk.run("run", "--resume", "r.loadstone")
    assert done.returncode == 0, done.stderr
    runs = read_record(desk.record)
    assert [run.plan.benchmark for run in runs] == ["ingres", "wisconsin"]
    assert not any(run.pending for run in runs)
    found = cells(desk.record)
    assert len(found) == len(set(found)) == sum(len(run.plan.cells) for run in runs)
    assert "complete: nothing to do" in desk.run("run", "--resume", "r.loadstone").stderr


@pytest.mark.slow
def test_every_format_and_a_comparison_have_both(desk: Desk):
    assert desk.run(*with_plan(desk)).returncode == 0
    page = (desk.folder / "r.html").read_text(encoding="utf-8")
    assert 'id="c0"' in page
    assert 'id="c1-summary"' in page
    assert len(page) < 2_000_000
    runs = read_record(desk.record)
    for name in ("md", "csv", "json", "parquet"):
        data = registry.load_report(name)().of(runs)
        assert b"ingres" in data.lower()
        assert b"wisconsin" in data.lower()
    compared = desk.run("compare", "r.loadstone", "r.loadstone", "--format", "json")
    assert '"benchmark":"ingres"' in compared.stdout
    assert '"benchmark":"wisconsin"' in compared.stdout
    printed = desk.run("compare", "r.loadstone", "r.loadstone")
    assert "2 benchmarks compared" in printed.stdout


def test_the_plan_file_of_a_record_plans_the_same(tmp_path: Path):
    file = tmp_path / "all.toml"
    planned = plan_all({"on": ("sqlite", "lode?access=links")}, None)
    plans = [one.plan for one in planned]
    assert {plan.benchmark for plan in plans} >= {"ingres", "wisconsin", "idm", "oo1"}
    assert {plan.benchmark: plan.on for plan in plans}["wisconsin"] == ("sqlite",)
    assert {plan.preset for plan in plans} == {"quick"}
    file.write_text(file_of(plans), encoding="utf-8")
    again = [one.plan for one in plan_all({}, file)]
    assert hash_of(again) == hash_of(plans)
    assert list(read_chapters(file)[1]) == [plan.benchmark for plan in plans]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("wisconsin",), "benchmark is for one alone"),
        (("--rows", "100"), "rows is for one alone"),
        (("--on", "memory?x=1"), "no benchmark fits"),
    ],
)
def test_a_choice_that_belongs_to_one_benchmark_is_refused(desk: Desk, arguments, message):
    done = desk.run("run", "--all", "--dry-run", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_benchmark_that_is_nothing_but_gaps_is_left_out(desk: Desk):
    done = desk.run("run", "--all", "--dry-run", "--on", "lode?prefetch=on")
    assert done.returncode == 0, done.stderr
    assert "oo7 is left out: there is nothing to measure, for every cell is a gap" in done.stderr
    assert "oo1, one after the other" in done.stdout


def test_a_dry_run_lists_every_benchmark(desk: Desk):
    done = desk.run("run", "--all", "--dry-run", "--on", "sqlite")
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    # By the year of their paper, with whatever else is installed.
    assert re.search(r"ingres, wisconsin, idm(,| and) oo1.* one after the other", last)
    with suppress(FileNotFoundError):
        assert not list((desk.folder / "runs").iterdir())
