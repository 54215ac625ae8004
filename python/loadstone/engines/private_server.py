"""The life of a private server, of any engine: its start in a session of its own, its end, and its
end with the worker.

Each engine keeps its own command, sign of readiness, signals, and way to recognise an orphan.
"""

import contextlib
import ctypes
import math
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from loadstone.errors import EngineError
from loadstone.text.files import tail

LOOPBACK = "127.0.0.1"
"""The address of a server of ours, which no other machine reaches."""
STOP_S_MAX = 60.0
"""Writing a large cache back may take so long."""
KILL_S_MAX = 5.0
SESSIONS_MAX = 300
"""Sessions of a private server: the most users that a plan can request, and some of our own."""
SOCKET_BYTES_MAX = 107
"""The length of a Unix socket's path: `sun_path` holds 108 bytes, the last one zero (unix(7))."""

_LOG_LINES_SHOWN = 5
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class ServerProcess:
    """The process of one server of ours, as long as this worker lives."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def alive(self) -> bool:
        """Whether the process that was started still runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """Its process id while it runs; of a server of many processes, that of the first."""
        return self._process.pid if self._process is not None and self.alive else None

    def launch(
        self, command: Sequence[str], *, log: IO[bytes], cwd: Path, with_parent: signal.Signals,
        options: Mapping[str, Any],
    ) -> None:  # fmt: skip
        """Start it; do not wait for it.

        Its errors go to `log`, a file: no one reads a pipe while the server runs, and a full pipe
        would stop it. `with_parent` is the signal that the kernel sends it if this process dies;
        `options` are further options of `subprocess.Popen`.
        """
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stderr=log,
            cwd=cwd,
            # Ctrl-C at the terminal is the runner's business, not the server's.
            start_new_session=True,
            preexec_fn=signalled_with_parent(with_parent),
            **{"stdout": log, **options},
        )

    def says_something(self) -> bool:
        """Wait for a line on its standard output, which `options` made a pipe; False if it ended
        without one."""
        said = self._process.stdout if self._process is not None else None
        return said is not None and bool(said.readline())

    def ended_within(self, limit_s: float) -> bool:
        """Wait for the server to end, at most `limit_s`."""
        return self._process is None or _ended_within(self._process, limit_s)

    def end(self, steps: Sequence[tuple[signal.Signals, float]]) -> Sequence[int]:
        """Send each signal in turn, with its time limit in seconds, until the server has ended;
        kill it if none ends it. Returns the processes ended."""
        process, self._process = self._process, None
        if process is None:
            return ()
        pids = [process.pid, *_children(process.pid)]
        try:
            for step, limit_s in steps:
                if process.poll() is None:
                    process.send_signal(step)
                if _ended_within(process, limit_s):
                    return pids
            process.kill()
            process.wait()
        finally:
            if process.stdout is not None:
                process.stdout.close()
        return pids


def _ended_within(process: subprocess.Popen[bytes], limit_s: float) -> bool:
    """Wait for a child to end, at most `limit_s`; seen the moment it ends. `Popen.wait` looks again
    after sleeps of up to 50 ms, and a cold sample waits for a server's end and its start."""
    if process.poll() is not None:
        return True
    # It is ours and not waited for, so its number is nobody else's.
    watched = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(watched, select.POLLIN)
        poll.poll(math.ceil(limit_s * 1e3))
    finally:
        os.close(watched)
    return process.poll() is not None


def last_words(log: Path) -> str:
    """The end of a server's log, in one line."""
    lines = tail(log).strip().splitlines()
    return "; ".join(line.strip() for line in lines[-_LOG_LINES_SHOWN:])


def remove_socket_folder(home: Path) -> None:
    """Remove the folder of a server's socket; where its path was too long for a socket, what the
    link there leads to, too."""
    folder = home / "socket"
    if folder.is_symlink():
        shutil.rmtree(folder.resolve(), ignore_errors=True)
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def end_orphan(
    find: Callable[[], int | None], steps: Sequence[signal.Signals], what: str
) -> Sequence[int]:
    """End a server whose worker was killed. `find` returns its process id; each signal of `steps`
    is tried in turn. Returns the processes ended. Raises `EngineError`; `what` describes the server
    in it."""
    pid = find()
    if pid is None:
        return ()
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return ()
    try:
        # Looked at again, now that the number cannot be given to another process unseen.
        if find() != pid:
            return ()
        for step in steps:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(watched, step)
            if select.select([watched], [], [], KILL_S_MAX)[0]:
                return (pid,)
    finally:
        os.close(watched)
    raise EngineError(f"cannot end process {pid}, {what}", hint=f"kill -9 {pid}")


def processes_with(argument: str) -> list[int]:
    """The living processes whose command has that argument: by it servers of ours are known."""
    wanted = os.fsencode(argument)
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def gone_within(pid: int, limit_s: float) -> bool:
    """Wait for the end of a process that need not be our child, at most `limit_s`."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], limit_s)[0])
    finally:
        os.close(watched)


def signalled_with_parent(step: signal.Signals) -> Callable[[], None]:
    """For `preexec_fn`: the new process gets that signal when its parent ends."""
    number = int(step)

    def ask() -> None:
        # Between fork and exec: no import, no lock, no allocation to speak of.
        if _LIBC is not None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, number)

    return ask


def _children(pid: int) -> list[int]:
    try:
        return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
