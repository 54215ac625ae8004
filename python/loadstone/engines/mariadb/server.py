"""A private MariaDB server with its own data folder, on a Unix socket only; it ends with its
worker."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loadstone.engines import private_server
from loadstone.engines.mariadb.programs import Programs
from loadstone.engines.private_server import (
    SOCKET_BYTES_MAX,
    STOP_S_MAX,
    ServerProcess,
    last_words,
    processes_with,
    remove_socket_folder,
    signalled_with_parent,
)
from loadstone.errors import EngineError
from loadstone.text.zone import UTC

ACCOUNT = "loadstone"
DATABASE = "loadstone"
COLLATION = "utf8mb4_nopad_bin"
"""Texts compare by bytes, trailing blanks included."""
COLLATION_OF_MYSQL = "utf8mb4_0900_bin"
"""The same of MySQL, from 8.0.17 on."""

_FOLDER = "mariadb"
_SOCKET_NAME = "socket"
_SHUTDOWN = ((signal.SIGTERM, STOP_S_MAX),)
"""A clean shutdown, which writes all back; `ServerProcess.end` kills what it does not end."""
_ACCOUNT = (
    "INSERT INTO mysql.global_priv (Host, User, Priv)"
    " VALUES ('localhost', 'loadstone', '{\"access\":18446744073709551615}');"
)
"""The account that a server of ours has, with every right: who comes through the socket's folder,
which is closed to others, needs no password, and there is no other way."""
_DATABASE = f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4 COLLATE {COLLATION};"

_FORGETS: Mapping[str, str] = {
    "innodb-buffer-pool-dump-at-shutdown": "OFF",
    "innodb-buffer-pool-load-at-startup": "OFF",
}
"""Else the server would write down the pages that it had, and read them in at its next start."""


class PrivateServer:
    """One server in `scratch`. Data survives `stop`; `remove` deletes it."""

    def __init__(self, scratch: Path, programs: Programs | None) -> None:
        """`programs` may be missing where nothing is launched."""
        self._programs = programs
        self.home = scratch / _FOLDER
        self.timezone = UTC
        self._process = ServerProcess()

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.home / "data"

    @property
    def loading(self) -> Path:
        """The one folder from which the server reads files that a statement names."""
        return self.home / "load"

    @property
    def temporary(self) -> Path:
        """The folder of what does not fit into memory."""
        return self.home / "tmp"

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.home / "server.log"

    @property
    def socket(self) -> Path:
        """The place where it listens."""
        return (self.home / "socket").resolve() / _SOCKET_NAME

    @property
    def alive(self) -> bool:
        """Whether the process we started still runs."""
        return self._process.alive

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self._process.pid

    def launch(self, of_data: Mapping[str, str], settings: Mapping[str, str]) -> None:
        """Create the data folder if there is none, then start the server with these settings; do
        not wait for it. `of_data` are settings that the folder is made with, too."""
        if self._programs is None:
            raise EngineError("mariadb: there is no program to start")
        end_orphan(self.home.parent)
        self._prepare()
        if not self.data.exists():
            self._initialise(self._programs, of_data)
        options = self._options(self._programs, {**of_data, **settings})
        options |= {"socket": str(self.socket), "pid-file": str(self.home / "server.pid")}
        with self.log.open("ab") as log:
            self._process.launch(
                [*_command(self._programs, self.data), *_written(options)],
                log=log,
                cwd=Path("/"),
                # At once: what was committed is in the log, and the next start recovers.
                with_parent=signal.SIGKILL,
                options={"env": {**_environment(), "TZ": self.timezone}},
            )

    def ended_within(self, limit_s: float) -> bool:
        """Wait for the server to end, at most `limit_s`."""
        return self._process.ended_within(limit_s)

    def last_words(self) -> str:
        """The end of its log, in one line."""
        return last_words(self.log)

    def stop(self) -> Sequence[int]:
        """Shut down cleanly; kill it if it does not end. Returns the processes ended."""
        return self._process.end(_SHUTDOWN)

    def remove(self) -> None:
        """Stop it and delete all its files."""
        self.stop()
        end_orphan(self.home.parent)
        remove_socket_folder(self.home)
        if self.home.exists():
            shutil.rmtree(self.home)

    def _options(self, programs: Programs, settings: Mapping[str, str]) -> dict[str, str]:
        return {
            "lc-messages-dir": str(programs.share),
            "character-sets-dir": str(programs.share / "charsets"),
            "tmpdir": str(self.temporary),
            "secure-file-priv": str(self.loading),
            **_FORGETS,
            **settings,
        }

    def _prepare(self) -> None:
        remove_socket_folder(self.home)
        self.home.mkdir(mode=0o700, exist_ok=True)
        for folder in (self.loading, self.temporary):
            folder.mkdir(mode=0o700, exist_ok=True)
        folder = self.home / "socket"
        if len(os.fsencode(folder / _SOCKET_NAME)) <= SOCKET_BYTES_MAX:
            folder.mkdir(mode=0o700)
        else:
            folder.symlink_to(tempfile.mkdtemp(prefix="loadstone-"))

    def _initialise(self, programs: Programs, of_data: Mapping[str, str]) -> None:
        # Under another name until it is whole: a worker may be killed on the way.
        draft = self.home / "making"
        shutil.rmtree(draft, ignore_errors=True)
        (draft / "mysql").mkdir(parents=True, mode=0o700)
        tables = programs.system_tables.read_text(encoding="utf-8")
        # Nothing is in it yet that a crash of the machine could lose: the load syncs what counts.
        options = self._options(programs, {**of_data, "innodb-flush-log-at-trx-commit": "0"})
        done = subprocess.run(
            [*_command(programs, draft), "--bootstrap", *_written(options)],
            input="\n".join(("USE mysql;", tables, _ACCOUNT, _DATABASE)),
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            env=_environment(),
            start_new_session=True,
            preexec_fn=signalled_with_parent(signal.SIGKILL),
        )
        if done.returncode != 0:
            words = "; ".join(done.stderr.strip().splitlines()[-3:])
            raise EngineError(
                f"mariadbd --bootstrap failed in {self.home}: {words}",
                hint="a new server takes some 130 MB",
            )
        draft.rename(self.data)


def _command(programs: Programs, data: Path) -> list[str]:
    """The server as this account, on a data folder; without the files of the machine's own."""
    command = [str(programs.server), "--no-defaults", f"--datadir={data}"]
    # It refuses root unless root is named.
    return [*command, "--user=root"] if os.geteuid() == 0 else command


def _written(options: Mapping[str, str]) -> list[str]:
    """Options in a command; one without a value is a word alone."""
    return [f"--{name}={value}" if value else f"--{name}" for name, value in options.items()]


def end_orphan(scratch: Path) -> Sequence[int]:
    """End a server whose worker was killed. Returns the process ids that were ended."""
    home = scratch / _FOLDER
    ended: list[int] = []
    for data in (home / "making", home / "data"):
        ended += private_server.end_orphan(
            lambda data=data: _server_of(data),  # type: ignore[misc]
            (signal.SIGKILL,),
            f"a server in {scratch}",
        )
    return ended


def _server_of(data: Path) -> int | None:
    """The live server of a data folder, recognised by its command; not one of another's child."""
    return next(iter(processes_with(f"--datadir={data}")), None)


def _environment() -> dict[str, Any]:
    """Nothing of the caller's: neither MYSQL_* variables nor a locale may change the server."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
