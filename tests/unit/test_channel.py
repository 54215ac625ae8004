"""The pipe to a worker: each request gets its own reply, and a worker that is ended takes along all
that it started."""

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from loadstone.errors import EngineError, ProtocolError, TimeLimitError, WorkerDiedError
from loadstone.machine.page_cache import wait_until_dead
from loadstone.protocol import environment, messages, pipe
from loadstone.protocol.descendants import Descendants
from loadstone.protocol.pipe import Worker


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    made = Worker("one", "engines", tmp_path / "log", (), environment.made(os.environ, url=False))
    yield made
    made.kill()


def test_a_reply_to_an_interrupted_request_is_not_taken_for_the_next(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Worker, asked_ns: int, limit_s: float, untimed_s: float | None) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Worker, "_reply", interrupted)
        worker.ask(messages.Remove())
    with pytest.raises(EngineError, match="no engine yet"):
        worker.ask(messages.Restart())


LOG_BYTES = 1 << 30
"""More than a message should cost. A hole in a file takes no place on disk."""


def test_of_a_log_without_end_only_the_end_is_read(worker: Worker, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("r+b") as stream:
        stream.truncate(LOG_BYTES)
        stream.seek(0, os.SEEK_END)
        stream.write(b"\nthe last words\n")
    tracemalloc.start()
    try:
        assert worker.last_words() == "the last words"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        log.write_text("\n")
        assert worker.last_words() == "none"
    finally:
        tracemalloc.stop()


# A child in a session of its own, as servers are, which has one, too, and will not end.
PARENT = """
import signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
deeper = int(sys.argv[1])
if deeper:
    subprocess.Popen([sys.executable, "-c", sys.argv[2], str(deeper - 1), sys.argv[2]],
                     start_new_session=True)
else:
    print(flush=True)
signal.pause()
"""


def test_processes_that_a_process_started_are_ended_in_whatever_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("loadstone.protocol.descendants.QUIT_S_MAX", 0.1)
    command = [sys.executable, "-c", PARENT, "2", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        below = Descendants(process.pid)
        pids = [*below._watched]
        assert len(pids) == 2
        process.kill()
        assert below.end() == []
        assert wait_until_dead(pids, limit_s=10)


def test_a_worker_that_does_not_end_is_ended(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipe, "CLOSE_S_MAX", 0.1)
    pid = worker._process.pid
    os.kill(pid, 19)  # stopped: it sees no end of its requests
    assert worker.close() == []
    assert wait_until_dead([pid], limit_s=10)


def test_a_reply_that_stops_in_the_middle_is_overdue_like_one_that_never_comes(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    up, replies = os.pipe()
    os.write(replies, b'[1, {"reply":')
    monkeypatch.setattr(worker, "_up", up)
    monkeypatch.setattr(pipe, "UNTIMED_LIMIT_S", 0.1)
    with pytest.raises(TimeLimitError):
        worker.ask(messages.Remove(), limit_s=0.1)
    for descriptor in (up, replies):
        os.close(descriptor)


def test_a_worker_refuses_what_is_no_request_and_serves_the_next(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(ProtocolError, match="unknown field `more`"):
        patch.setattr(pipe, "to_line", lambda number, _: b'[%d, {"request":"Restart","more":1}]\n'
                      % number)  # fmt: skip
        worker.ask(messages.Restart())
    assert worker.ask(messages.Remove()) == messages.Done()


def test_a_worker_that_cannot_report_what_is_asked_ends_and_says_why(worker: Worker) -> None:
    os.write(worker._down, b"nothing\n")
    with pytest.raises(WorkerDiedError) as found:
        worker.ask(messages.Remove())
    assert "a message that is no JSON" in found.value.hint
    assert "Traceback" not in (worker._log.read_text())


def test_a_reply_that_is_none_is_the_fault_of_the_protocol(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Worker, "_reply", lambda self, *_: b'[1, {"reply": "Loaded"}]')
    with pytest.raises(ProtocolError, match="missing required field"):
        worker.ask(messages.Remove())
