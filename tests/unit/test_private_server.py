"""A private server's process, of no engine: how it starts, ends, and is reported from a
stranger."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loadstone.engines.private_server import (
    KILL_S_MAX,
    ServerProcess,
    end_orphan,
    gone_within,
    last_words,
)

STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
while True:
    signal.pause()
"""
SOON = 0.01
"""Seconds given to a signal that is ignored."""


def started(script: str, folder: Path) -> ServerProcess:
    server = ServerProcess()
    with (folder / "log").open("ab") as log:
        server.launch(
            [sys.executable, "-I", "-S", "-c", script],
            log=log,
            cwd=folder,
            with_parent=signal.SIGKILL,
            options={"stdout": subprocess.PIPE},
        )
    return server


@pytest.fixture
def stubborn(tmp_path: Path) -> Iterator[ServerProcess]:
    server = started(STUBBORN, tmp_path)
    assert server.says_something()
    yield server
    server.end(())


def test_a_server_that_follows_no_signal_is_killed(stubborn: ServerProcess) -> None:
    pid = stubborn.pid
    assert pid is not None
    assert stubborn.end(((signal.SIGTERM, SOON),)) == [pid]
    assert gone_within(pid, KILL_S_MAX)
    assert stubborn.pid is None
    assert not stubborn.alive
    assert list(stubborn.end(())) == []


def test_its_end_is_awaited_without_a_sleep(
    stubborn: ServerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sleep would be added to each cold sample of a server, twice."""

    def slept(_: float) -> None:
        raise AssertionError("it slept")

    monkeypatch.setattr("time.sleep", slept)
    assert not stubborn.ended_within(SOON)
    assert stubborn.end([(signal.SIGTERM, SOON), (signal.SIGINT, KILL_S_MAX)])
    assert not stubborn.alive


def test_one_that_ends_before_it_is_ready_says_why(tmp_path: Path) -> None:
    server = started("import sys; sys.exit('no room\\nfor it')", tmp_path)
    assert not server.says_something()
    assert server.ended_within(KILL_S_MAX)
    assert not server.alive
    server.end(())
    assert last_words(tmp_path / "log") == "no room; for it"


def test_an_orphan_is_ended_and_then_there_is_none(stubborn: ServerProcess) -> None:
    pid = stubborn.pid
    assert list(end_orphan(lambda: pid, (signal.SIGKILL,), "ours")) == [pid]
    assert stubborn.ended_within(KILL_S_MAX)
    assert list(end_orphan(lambda: None, (signal.SIGKILL,), "ours")) == []


def test_a_number_that_is_no_servers_any_more_is_left_alone(stubborn: ServerProcess) -> None:
    found = iter([stubborn.pid, None])
    assert list(end_orphan(lambda: next(found), (signal.SIGKILL,), "ours")) == []
    assert stubborn.alive
