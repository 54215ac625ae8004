"""A run in somebody's database leaves it as it was, and its password nowhere."""

import os
import signal
from collections.abc import Iterator

import pytest
from desk import Desk, children, command_line
from user_server import SECRET, UserServer, user_server

CHOICES = ("--rows", "1000", "--repeat", "2", "--repeat-cold", "1", "--no-floor",
           "--operation", "select-1%-heap", "--operation", "append-indexed",
           "--record", "r.loadstone")  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[UserServer]:
    with user_server() as running:
        yield running


def test_a_run_leaves_everything_else_as_it_was(desk: Desk, server: UserServer):
    before = server.fingerprint()
    done = desk.run("run", "--on", server.url(), *CHOICES)
    assert done.returncode == 0, done.stderr
    assert server.fingerprint() == before
    results = desk.read().results
    assert {result.status for result in results} == {"ok"}
    cold = {r.temperature_shown for r in results if r.cell.temperature == "cold"}
    assert cold == {"unproved"}
    written = b"".join(path.read_bytes() for path in desk.folder.rglob("*") if path.is_file())
    for told in (done.stdout, done.stderr, written.decode(errors="replace")):
        assert SECRET not in told
        assert "p%2520ss" not in told


def test_a_killed_run_is_swept_by_clean_and_shows_no_secret(desk: Desk, server: UserServer):
    before = server.fingerprint()
    secret = {"PGPASSWORD": SECRET}
    desk.environment.update(secret)
    process = desk.start("run", "--on", server.url(secret=None), *CHOICES)
    assert process.stderr is not None
    process.stderr.readline()
    workers = children(process.pid)
    shown = "".join(map(command_line, [process.pid, *workers]))
    for pid in [*workers, process.pid]:  # the workers too: nobody is left to tidy up
        os.kill(pid, signal.SIGKILL)
    process.communicate()
    assert SECRET not in shown
    assert server.fingerprint() != before
    url = server.url(secret=None)
    asked = desk.run("clean", "--on", url)
    assert "loadstone_" in asked.stdout + asked.stderr
    assert server.fingerprint() != before
    done = desk.run("clean", "--on", url, "--yes")
    assert done.returncode == 0, done.stderr
    assert server.fingerprint() == before
    assert desk.leftovers() == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://alice:wr0ng@127.0.0.1:{port}/app", "password"),
        ("postgresql://alice:wr0ng@127.0.0.1:1/app", "127.0.0.1:1"),
        ("postgresql://alice:wr0ng@127.0.0.1:{port}/app?sslmode=perhaps", "sslmode"),
    ],
)
def test_what_cannot_be_reached_is_named_without_its_password(
    desk: Desk, server: UserServer, url: str, message: str
):
    done = desk.run("run", "--on", url.format(port=server.port), *CHOICES)
    assert done.returncode == 3, done.stderr
    assert message in done.stderr
    assert "wr0ng" not in done.stderr
    assert "Traceback" not in done.stderr
    assert not desk.record.exists()
    assert desk.leftovers() == []
