"""A private server of lode, of pages or of statements: a process with the database open, which ends
with its worker."""

import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from loadstone.engines import private_server
from loadstone.engines.private_server import STOP_S_MAX, ServerProcess, last_words
from loadstone.errors import EngineError

_STEPS = ((signal.SIGTERM, STOP_S_MAX),)
_CREDENTIALS = struct.Struct("3i")
"""What `SO_PEERCRED` gives: the process, its user, its group."""


class PageServer:
    """One server of the database at `path`, which it creates if it does not exist. The database
    stays when it stops."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._process = ServerProcess()
        self._folder = -1
        """A descriptor of the database's folder while the server runs."""
        self._words: IO[bytes] | None = None
        """The server's error output, while it runs."""

    @property
    def pid(self) -> int | None:
        """The server's process while it runs."""
        return self._process.pid

    @property
    def address(self) -> str:
        """Its address for this process, by way of the folder's descriptor: a socket's path has 107
        bytes at most, and a folder's may be longer."""
        return f"/proc/self/fd/{self._folder}/{_socket(self.path).name}"

    def start(self, tactics: Mapping[str, str], *, statements: bool = False) -> None:
        """Start it, and wait until clients can come: to serve pages, or to execute `statements`.
        Raises `EngineError` with its last words."""
        self.stop()
        end_orphan(self.path)
        self._folder = os.open(self.path.parent, os.O_PATH | os.O_DIRECTORY)
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the server
        kind = ["--statements"] if statements else []
        words = "&".join(f"{name}={value}" for name, value in tactics.items())
        self._process.launch(
            [
                *(sys.executable, "-m", "loadstone", "lode", "serve", str(self.path.resolve())),
                *("--create", "--listen", _socket(self.path).name, "--tactic", words),
                *kind,
            ],
            log=self._words,
            cwd=self.path.parent,
            # Committed work is in the log, and nobody is left to close the database for.
            with_parent=signal.SIGKILL,
            options={"stdout": subprocess.PIPE},
        )
        if not self._process.says_something():
            self._process.end(_STEPS)
            said_last = last_words(Path(f"/proc/self/fd/{self._words.fileno()}"))
            self._let_go()
            raise EngineError(
                f"lode: the server of {self.path} did not start: {said_last}",
                hint="loadstone lode serve --help",
            )

    def stop(self) -> Sequence[int]:
        """Let it close the database; kill it if it does not end. Returns the processes ended."""
        pids = self._process.end(_STEPS)
        self._let_go()
        return pids

    def remove(self) -> None:
        """Stop it, and remove what a killed one leaves beside the database."""
        self.stop()
        end_orphan(self.path)
        _socket(self.path).unlink(missing_ok=True)

    def _let_go(self) -> None:
        if self._words is not None:
            self._words.close()
            self._words = None
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1


def end_orphan(path: Path) -> Sequence[int]:
    """End a server of that database whose worker was killed. Returns the processes ended."""
    return private_server.end_orphan(
        lambda: _listener(path), (signal.SIGKILL,), f"which serves {path}"
    )


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
