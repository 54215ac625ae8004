"""`loadstone run --all`: several benchmarks in one record, killed, resumed and compared."""

import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from desk import Desk

from loadstone import registry
from loadstone.plan.chapters import file_of, hash_of, read_chapters
from loadstone.record import read_chapters as read_record
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


def cells(record: Path) -> list[tuple[object, ...]]:
    query = (
        "SELECT session.chapter, operation, variant, rows, temperature FROM cell JOIN session"
        " ON session.session_id = cell.session_id"
    )
    with closing(sqlite3.connect(record)) as connection:
        return connection.execute(query).fetchall()


def test_a_run_killed_at_any_cell_is_resumed_in_its_benchmark(desk: Desk, chance: random.Random):
    arguments = with_plan(desk)
    for told in (1, chance.randint(1, 3), chance.randint(1, 2)):
        process = desk.start(*arguments)
        assert process.stderr is not None
        for _ in range(told):  # each says that the cells of an operation are in the record
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
        (("wisconsin",), "benchmark is a choice of one benchmark"),
        (("--rows", "100"), "rows is a choice of one benchmark"),
        (("--on", "memory?x=1"), "no benchmark fits"),
    ],
)
def test_what_belongs_to_one_benchmark_is_refused(desk: Desk, arguments, message):
    done = desk.run("run", "--all", "--dry-run", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_dry_run_lists_every_benchmark(desk: Desk):
    done = desk.run("run", "--all", "--dry-run", "--on", "sqlite")
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert "ingres, wisconsin, idm and oo1, one after the other" in last
    with suppress(FileNotFoundError):
        assert not list((desk.folder / "runs").iterdir())
