"""`loadstone run --users`: loops beside the cells, in the record and on the screen; resumed."""

import sqlite3

import pytest
from desk import Desk

TO_CLIENT, RELATION = "select-one-clustered-client", "select-1%-heap"
CHOICES = ("run", "--on", "sqlite", "--rows", "1000", "--repeat", "2", "--repeat-most", "2",
           "--temperature", "warm", "--no-overhead", "--no-report", "--no-limits",
           "--record", "r.loadstone")  # fmt: skip
USERS = ("--users", "1", "--users", "3", "--rate", "200", "--loop-seconds", "0.2")


def loops(desk: Desk):
    return [(p.operation, p.users, p.model) for p in desk.read().users]


WANTED = [(TO_CLIENT, users, model) for users in (1, 3) for model in ("closed", "open")]


@pytest.mark.slow
def test_loops_are_recorded_shown_and_taken_up_again(desk: Desk):
    done = desk.run(*CHOICES, *USERS, "--operation", RELATION, "--operation", TO_CLIENT)
    assert done.returncode == 0, done.stderr
    assert loops(desk) == WANTED
    points = desk.read().users
    assert {(p.variant, p.rows, p.client, p.status, p.failed) for p in points} == {
        ("sqlite", 1000, "rust", "ok", 0)
    }
    assert all(p.completed and p.latency_ns["max"] and p.histogram for p in points)
    assert [p.rate_per_s for p in points] == [None, 200.0] * 2
    assert all(p.completed + p.skipped > 10 for p in points if p.model == "open")
    shown = " ".join(done.stdout.split())
    assert "closed loop" in shown
    assert "open loop" in shown

    # The record of a run that was killed in the middle of its loops.
    with sqlite3.connect(desk.record) as connection:
        connection.execute("DELETE FROM users WHERE rowid > 1")
    connection.close()
    before = desk.read()
    again = desk.run("run", "--resume", "r.loadstone", "--no-report")
    assert again.returncode == 0, again.stderr
    assert loops(desk) == WANTED
    assert desk.read().users[0] == before.users[0]
    assert desk.read().results == before.results
    assert "nothing to do" in desk.run("run", "--resume", "r.loadstone", "--no-report").stderr
    assert desk.leftovers() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*USERS, "--operation", RELATION), "by concurrent users"),
        (("--users", "300", "--operation", TO_CLIENT), "users must be between 1 and 256"),
        (("--users", "two", "--operation", TO_CLIENT), "--users"),
        (("--users", "2", "--rate", "0", "--operation", TO_CLIENT), "--rate"),
    ],
)
def test_a_choice_that_users_cannot_have_is_reported_before_anything_runs(
    desk: Desk, arguments, message
):
    done = desk.run(*CHOICES, *arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert list(desk.folder.iterdir()) == []


def test_dry_run_reports_of_the_loops(desk: Desk):
    done = desk.run(*CHOICES, *USERS, "--operation", TO_CLIENT, "--dry-run")
    assert "3 users: a closed and an open loop of 0.2 s" in done.stdout
