"""A private page server of lode: a process with the database open, which ends with its worker."""

import contextlib
import ctypes
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from loadstone.errors import EngineError
from loadstone.text.files import tail

STOP_S_MAX = 60.0
"""The time that writing a large cache back may take."""
KILL_S_MAX = 5.0

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_CREDENTIALS = struct.Struct("3i")
"""Of `SO_PEERCRED`: the process, its user, its group."""


class PageServer:
    """One server of the database at `path`, which it creates if it does not exist. The database
    stays when it stops."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._process: subprocess.Popen[str] | None = None
        self._folder = -1
        """A descriptor of the database's folder while the server runs."""
        self._words: IO[bytes] | None = None
        """The server's error output, while it runs."""

    @property
    def pid(self) -> int | None:
        """The server's process while it runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def address(self) -> str:
        """Its address for this process, by way of the folder's descriptor: a socket's path has 107
        bytes at most, and a folder's may be longer."""
        return f"/proc/self/fd/{self._folder}/{_socket(self.path).name}"

    def start(self, tactics: Mapping[str, str]) -> None:
        """Start it, and wait until clients can come. Raises `EngineError` with its last words."""
        self.stop()
        end_orphan(self.path)
        self._folder = os.open(self.path.parent, os.O_PATH | os.O_DIRECTORY)
        # In a file: nobody reads a pipe while the server runs, and a full one would stop it.
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the server
        words = "&".join(f"{name}={value}" for name, value in tactics.items())
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "loadstone.cli", "lode", "serve", str(self.path.resolve())),
                *("--create", "--listen", _socket(self.path).name, "--tactic", words),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._words,
            text=True,
            cwd=self.path.parent,
            # Ctrl-C at the terminal is the runner's business, not the server's.
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        said = self._process.stdout
        if said is None or not said.readline():
            self._process.communicate()
            said_last = tail(Path(f"/proc/self/fd/{self._words.fileno()}")).strip()
            self._let_go()
            raise EngineError(
                f"lode: the page server of {self.path} did not start: {said_last}",
                hint="loadstone lode serve --help",
            )

    def stop(self) -> Sequence[int]:
        """Let it close the database; kill it if it does not end. Returns the processes ended."""
        process = self._process
        if process is None:
            return ()
        if process.poll() is None:
            process.terminate()
        try:
            process.communicate(timeout=STOP_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        self._let_go()
        return (process.pid,)

    def remove(self) -> None:
        """Stop it, and remove what a killed one leaves beside the database."""
        self.stop()
        end_orphan(self.path)
        _socket(self.path).unlink(missing_ok=True)

    def _let_go(self) -> None:
        self._process = None
        if self._words is not None:
            self._words.close()
            self._words = None
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1


def end_orphan(path: Path) -> Sequence[int]:
    """End a server of that database whose worker was killed. Returns the processes ended."""
    pid = _listener(path)
    if pid is None:
        return ()
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return ()
    try:
        # Looked at again, now that the number cannot be given to another process unseen.
        if _listener(path) != pid:
            return ()
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(watched, signal.SIGKILL)
        if select.select([watched], [], [], KILL_S_MAX)[0]:
            return (pid,)
    finally:
        os.close(watched)
    raise EngineError(f"cannot end process {pid}, which serves {path}", hint=f"kill -9 {pid}")


def _listener(path: Path) -> int | None:
    """The process that listens at the database's socket."""
    try:
        folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"/proc/self/fd/{folder}/{_socket(path).name}")
            found = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except OSError:
        return None
    finally:
        os.close(folder)
    return int(_CREDENTIALS.unpack(found)[0])


def _socket(path: Path) -> Path:
    return path.with_name(f"{path.name}-socket")


def _die_with_parent() -> None:
    # Runs in the child between fork and exec: no import, no lock, no allocation to speak of. What
    # was committed is in the log, and nobody is left to close the database for.
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
