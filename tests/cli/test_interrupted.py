"""Whatever signal ends a run, at whatever point: nothing runs on, and nothing is left that is not
reported, or that `loadstone clean` does not find."""

import os
import random
import select
import signal
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from desk import Desk
from user_file import user_file
from user_server import SECRET, UserServer, user_server

from loadstone.machine.page_cache import wait_until_dead

pytestmark = [pytest.mark.machine, pytest.mark.slow]

CHOICES = ("--rows", "1000", "--repeat", "2", "--repeat-cold", "1", "--no-overhead", "--no-limits",
           "--no-report", "--operation", "select-1%-heap", "--operation", "append-indexed",
           "--record", "r.loadstone")  # fmt: skip
WAYS = {
    "ctrl-c": (signal.SIGINT,),
    "ctrl-c-twice": (signal.SIGINT, signal.SIGINT),
    "ctrl-c-thrice": (signal.SIGINT, signal.SIGINT, signal.SIGINT),
    "terminated": (signal.SIGTERM,),
    "hung-up": (signal.SIGHUP,),
    "both": (signal.SIGHUP, signal.SIGTERM),
    "killed": (signal.SIGKILL,),
}


@pytest.fixture(scope="module")
def server() -> Iterator[UserServer]:
    with user_server() as running:
        yield running


def below(pid: int) -> list[int]:
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(child) for child in listed.read_text().split()]
    return [one for child in found for one in (child, *below(child))]


@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_run_ended_by_a_signal_leaves_nothing_unseen(
    desk: Desk, server: UserServer, way: str, chance: random.Random
):
    desk.environment["PGPASSWORD"] = SECRET
    user = user_file(desk.folder / "u.db", analysed=False)
    before = (user.fingerprint(), server.fingerprint())
    url = server.url(secret=None)
    on = ("--on", "postgresql", "--on", user.url, "--on", url)
    process = desk.start("run", *on, *CHOICES)
    assert process.stderr is not None
    reported = process.stderr.readline() if chance.random() < 0.7 else ""
    # Any point of its start, of its measuring, or of its end.
    select.select([], [], [], chance.random() * (2.0 if reported else 6.0))
    started = below(process.pid)
    for number in WAYS[way]:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)
        select.select([], [], [], chance.random() * 0.3)
        started += below(process.pid)
    reported += process.communicate(timeout=90)[1]
    assert "Traceback" not in reported
    # By the signal itself before there was anything to remove.
    by_signal = {-number for number in WAYS[way]}
    assert process.returncode in {0, 1, 7, 8, 130, *by_signal}, reported
    assert process.returncode != 7 or "may be left" in reported, reported
    assert wait_until_dead(started, limit_s=30)
    server.wait_for_sessions()
    if way != "killed":
        assert desk.leftovers() == []
    for where, now in ((user.url, user.fingerprint), (url, server.fingerprint)):
        if now() != before[where == url]:
            assert way == "killed" or f"loadstone clean --on {where}" in reported
    done = desk.run("clean", "--yes", "--on", user.url, "--on", url)
    assert done.returncode == 0, done.stderr
    assert desk.leftovers() == []
    assert (user.fingerprint(), server.fingerprint()) == before


def test_a_run_interrupted_in_a_statement_removes_what_it_made(desk: Desk, server: UserServer):
    """The reply to the statement is none to the request that comes after it."""
    desk.environment["PGPASSWORD"] = SECRET
    before = server.fingerprint()
    url = server.url(secret=None)
    process = desk.start("run", "--on", url, *CHOICES)
    assert process.stderr is not None
    reported = process.stderr.readline()
    with closing(server.owner()) as owner, owner.transaction():
        (schema,) = owner.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'loadstone\\_%\\_%'"
        ).fetchone() or ("",)
        tables = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,))
        for (table,) in tables.fetchall():
            lock = f'LOCK TABLE "{schema}"."{table}" IN ACCESS EXCLUSIVE MODE'
            owner.execute(lock.encode())
        # Its next statement waits for us, and so does what it has to drop.
        query = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        while owner.execute(query).fetchone() == (0,):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        # Said while it waits, and not when all is over.
        while "waiting until the engines" not in reported:
            line = process.stderr.readline()
            assert line, reported
            reported += line
    reported += process.communicate(timeout=90)[1]
    assert process.returncode == 130, reported
    assert server.fingerprint() == before
