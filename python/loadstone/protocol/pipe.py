"""The pipe between the runner and one worker: one message a line, requests down, replies up.

A worker marks the start of each timed statement in shared memory, so that the runner can hold it to
the time limit without interrupting it. A third way down says that the runner wants no reply to a
request any more, so that the statement in flight is ended.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from loadstone._core import clock_ns
from loadstone.errors import (
    EngineError,
    LoadstoneError,
    ProtocolError,
    TimeLimitError,
    UnsupportedError,
    WorkerDiedError,
)
from loadstone.protocol.deadline import Board
from loadstone.protocol.descendants import KILL_S_MAX, Descendants
from loadstone.protocol.messages import Failed, Reply, Request
from loadstone.protocol.wire import UNWANTED, fitting, numbered, to_line, to_reply
from loadstone.text.files import tail

R = TypeVar("R", bound=Reply)

UNTIMED_LIMIT_S = 900.0
"""Loading, checking and explaining may take this long before a worker counts as hung."""
END_S_MAX = 15.0
"""An engine that ends statements has ended one by then, and rolled back what it changed."""
CLOSE_S_MAX = 30.0
"""A worker that was instructed to end, and has nothing to remove, has ended by then."""


class Worker:
    """A child process that owns one engine of one variant. `seam` is its benchmark's: what the
    engine is requested. Not shared between threads.

    It inherits the descriptors `held`: the run's claim to its folder, and its hold on a user's
    database. Nobody may have those before a worker that outlives its runner has removed what it
    made.
    """

    def __init__(
        self,
        name: str,
        seam: str,
        log: Path,
        held: Sequence[int],
        environment: Mapping[str, str],
    ) -> None:
        self.name = name
        self._log = log
        self._buffer = b""
        self._asked = 0
        self._unwanted = 0
        """The last request whose statement took too long, and is to be ended."""
        self._was_partly = False
        """Whether another statement of that request had ended in time."""
        self._closed = False
        requests, self._down = os.pipe()
        self._up, replies = os.pipe()
        wanted, self._wanted = os.pipe()
        self._board, board = Board.make()
        with log.open("ab") as stream:
            # A session of its own: Ctrl-C in the terminal reaches the runner alone, which lets the
            # engine remove its data; and one signal ends a worker with its children.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "loadstone.worker.main", seam,
                 *map(str, (requests, replies, board, wanted))],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                pass_fds=(requests, replies, board, wanted, *held),
                env=environment,
                start_new_session=True,
            )  # fmt: skip
        for descriptor in (requests, replies, board, wanted):
            os.close(descriptor)

    def ask(
        self,
        request: Request[R],
        limit_s: float = UNTIMED_LIMIT_S,
        untimed_s: float | None = None,
    ) -> R:
        """Send a request and wait for its reply. `limit_s` holds for each timed statement,
        `untimed_s` for all else, if it is another one than usual.

        Raises `TimeLimitError`, `WorkerDiedError`, `ProtocolError`, or the error that the worker
        reported. After one that hung or died the worker is unusable: call `kill`.
        """
        self._asked += 1
        line = to_line(self._asked, request)
        try:
            _write_all(self._down, line)
        except BrokenPipeError:
            raise self._died() from None
        asked_ns = clock_ns()
        number, sent = numbered(self._reply(asked_ns, limit_s, untimed_s))
        while number != self._asked:  # of a request whose runner was interrupted
            number, sent = numbered(self._reply(asked_ns, limit_s, untimed_s))
        reply = to_reply(sent)
        if self._unwanted == number:  # also where it came to its end meanwhile: it took longer
            partly = self._was_partly
            raise TimeLimitError(limit_s, of_statement=True, partly=partly, hung=False)
        if isinstance(reply, Failed):
            raise _error_from(reply)
        return fitting(request, reply)

    def _reply(self, asked_ns: int, limit_s: float, untimed_s: float | None) -> bytes:
        untimed_s = untimed_s or UNTIMED_LIMIT_S
        while b"\n" not in self._buffer:
            now_ns = clock_ns()
            overdue_ns, timed = self._board.overdue_ns(
                asked_ns, int(limit_s * 1e9), int(untimed_s * 1e9)
            )
            if timed and self._unwanted == self._asked:
                overdue_ns += int(END_S_MAX * 1e9)
            elif timed and now_ns >= overdue_ns and self._wanted >= 0:
                self._unwanted = self._asked
                self._was_partly = self._board.ended_since(asked_ns)
                with contextlib.suppress(BrokenPipeError):  # its death shows in the next look
                    os.write(self._wanted, UNWANTED.pack(self._asked))
                continue
            if now_ns >= overdue_ns:
                limit_s = limit_s if timed else untimed_s
                partly = timed and self._board.ended_since(asked_ns)
                raise TimeLimitError(limit_s, of_statement=timed, partly=partly)
            # No statement that begins from now on can be overdue before the limit has passed.
            look_s = min((overdue_ns - now_ns) / 1e9, limit_s)
            if not select.select([self._up], [], [], look_s)[0]:
                continue
            chunk = os.read(self._up, 1 << 20)
            if not chunk:
                raise self._died()
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _died(self) -> WorkerDiedError:
        code = self._process.wait()
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        if code == -signal.SIGBUS:
            how += ": a file that it has mapped cannot grow or be read; is the disk full?"
        return WorkerDiedError(
            f"the worker of {self.name} died ({how})", hint=f"its last output: {self.last_words()}"
        )

    def last_words(self) -> str:
        """The end of the output of the worker and its engine."""
        text = tail(self._log).strip()
        return text.splitlines()[-1][:300] if text else "none"

    def strike(self) -> None:
        """Kill the worker and its group, and do no more: the thread that waits for its reply sees
        it die. To be called from another thread."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def kill(self) -> list[int]:
        """End the worker, and every process that it or its engine started, at once. Returns those
        that could not be ended."""
        below = Descendants(self._process.pid)
        self.strike()
        remain = []
        try:
            self._process.wait(timeout=KILL_S_MAX)
        except subprocess.TimeoutExpired:  # in the kernel, where no signal reaches it
            remain = [self._process.pid]
        remain += below.end()
        self._close()
        return remain

    def cut_short(self) -> None:
        """End the statement that the worker is in: nobody waits for its reply. From then on it only
        removes its engine's data."""
        self._let_go("_wanted")

    def close(self) -> list[int]:
        """Let the worker end by itself, because its requests end; else kill it. Returns processes
        that could not be ended."""
        self._close(up=False)
        try:
            self._process.wait(timeout=CLOSE_S_MAX)
        except subprocess.TimeoutExpired:
            return self.kill()
        self._close()
        return []

    def _close(self, *, up: bool = True) -> None:
        for name in ("_down", "_wanted", "_up") if up else ("_down",):
            self._let_go(name)
        if up and not self._closed:
            self._closed = True
            self._board.close()

    def _let_go(self, name: str) -> None:
        descriptor = getattr(self, name)
        if descriptor >= 0:
            os.close(descriptor)
            setattr(self, name, -1)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _error_from(reply: Failed) -> LoadstoneError:
    """Any error that is not one of the kinds below is the engine's."""
    kinds = {kind.__name__: kind for kind in (UnsupportedError, ProtocolError)}
    return kinds.get(reply.kind, EngineError)(reply.message, hint=reply.hint)
