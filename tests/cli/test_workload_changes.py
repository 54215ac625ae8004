"""Statements of a workload that change data, run as their user runs them."""

import pytest
from desk import Desk
from workload_fixture import QUICK, statuses, with_statement

CHANGING = """
[[statement]]
name = "credit"
sql = "UPDATE customer SET credit = coalesce(credit, 0) + 1 WHERE city = :city"
parameters.city = { list = ["Oslo"] }
[[statement]]
name = "enter"
sql = "INSERT INTO customer (id, name, city) VALUES (:id, 'New', 'Bern')"
parameters.id = { sequence = [10, 1] }
[[statement]]
name = "all"
sql = "SELECT id, credit FROM customer ORDER BY id"
"""


@pytest.mark.slow
def test_changes_are_agreed_on_and_put_back_before_the_next_sample(desk: Desk) -> None:
    with_statement(desk, CHANGING)
    ran = desk.run("run", "./shop", *QUICK, "--temperature", "cold", "--repeat-cold", "2",
                   "--record", str(desk.record))  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    run = desk.read()
    # An insertion may need to read no data at all: then nothing of it can be cold.
    others = {r.cell.operation: r.reason for r in run.results if r.status != "ok"}
    assert set(others) <= {"enter"}, others
    assert {(one.basis, one.engines) for one in run.agreements} == {("agreed", "sqlite, duckdb")}
    rows = {(r.cell.operation, a.rows) for r in run.results for a in r.answers}
    # Of the query as many as in the file, whatever was changed before it.
    assert rows == {("credit", 2), ("enter", 1), ("all", 3)}
    assert {load.relation for load in run.loads} == {"customer", "customer__0"}


@pytest.mark.slow
def test_a_study_and_time_budgets_take_changes_and_queries(desk: Desk) -> None:
    with_statement(desk, CHANGING)
    studied = desk.run("study", "./shop", "--on", "sqlite", "--vary", "durability=full,none",
                       "--seconds", "8", "--no-limits", "--no-report", "--operation", "credit",
                       "--record", str(desk.record))  # fmt: skip
    assert studied.returncode == 0, studied.stderr
    results = desk.read().results
    assert {r.status for r in results} <= {"ok", "gap"}
    assert {a.right for r in results for a in r.answers} == {True}
    assert {r.cell.variant for r in results if r.samples} >= {"sqlite", "sqlite?durability=none"}
    other = desk.folder / "budget.loadstone"
    ran = desk.run("run", "./shop", *QUICK, "--budget", "--operation", "credit", "--operation",
                   "all", "--record", str(other))  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "time budgets" in ran.stdout
    page = other.with_suffix(".html").read_text("utf-8")
    assert "the change, committed" in page
    assert "its rows to the client" in page


@pytest.mark.slow
def test_engines_that_change_as_many_rows_otherwise_are_both_left_without_a_figure(
    desk: Desk,
) -> None:
    with_statement(
        desk,
        '[[statement]]\nname = "s"\nsql = "UPDATE customer SET city = \'Bern\' WHERE id = 1"\n'
        "text.duckdb = \"UPDATE customer SET city = 'Bonn' WHERE id = 1\"\n",
    )
    ran = desk.run("run", "./shop", *QUICK, "--record", str(desk.record))
    assert ran.returncode == 8
    assert set(statuses(desk).values()) == {"invalid"}
    (result, *_) = desk.read().results
    assert "duckdb gives 1 row, sqlite gives 1 row" in result.reason
    assert "'came', 1, 'Ann', 'Bonn'" in result.reason


@pytest.mark.slow
def test_a_change_that_is_another_each_time_is_no_answer(desk: Desk) -> None:
    with_statement(
        desk, '[[statement]]\nname = "s"\nsql = "UPDATE customer SET credit = random()"\n'
    )
    on = ("--on", "sqlite", *QUICK[4:])
    ran = desk.run("run", "./shop", *on, "--record", str(desk.record))
    assert ran.returncode == 1
    assert {r.status for r in desk.read().results} == {"failed"}
    (result, *_) = desk.read().results
    assert "volatile" in result.reason


def test_a_text_that_changes_another_table_is_refused(desk: Desk) -> None:
    with_statement(
        desk,
        '[[statement]]\nname = "s"\nsql = "DELETE FROM customer"\n'
        'text.duckdb = "SELECT * FROM customer"\n',
    )
    ran = desk.run("run", "./shop", "--dry-run")
    assert ran.returncode == 2
    assert "changes no table, another customer" in ran.stderr
    both = desk.run("run", "--sql", "DELETE FROM customer", "--data", "shop/customer.csv",
                    "--users", "2", "--on", "sqlite", "--dry-run")  # fmt: skip
    assert both.returncode == 2
    assert "they would get into each other's way" in both.stderr
