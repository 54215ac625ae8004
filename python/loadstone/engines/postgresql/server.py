"""A private PostgreSQL server with its own data folder; it ends with its worker.

On a Unix socket only, unless it is instructed to listen: on the loopback interface, or in a network
namespace of its own.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from loadstone.engines import private_server
from loadstone.engines.postgresql import shared_memory
from loadstone.engines.postgresql.binaries import Account, binaries, built, server_account
from loadstone.engines.postgresql.network_namespace import NetworkNamespace
from loadstone.engines.private_server import (
    KILL_S_MAX,
    LOOPBACK,
    SOCKET_BYTES_MAX,
    STOP_S_MAX,
    ServerProcess,
    gone_within,
    last_words,
    remove_socket_folder,
    signalled_with_parent,
)
from loadstone.errors import EngineError, InputError
from loadstone.text.files import read_text

PID_FILE_BYTES_MAX = 4096

PORT = 5432
USER = "loadstone"
DATABASE = "postgres"
MAKE_S_MAX = 20.0
"""An `initdb` that was instructed to end has ended by then; it takes half a second in all."""

_FOLDER = "postgresql"
_SOCKET_NAME = ".s.PGSQL.65535"
_STEPS = ((signal.SIGINT, STOP_S_MAX), (signal.SIGQUIT, KILL_S_MAX))
"""A fast shutdown, which writes all back; then one that leaves it to the log."""


class PrivateServer:
    """One server in `scratch`. Data survives `stop`; `remove` deletes it."""

    def __init__(self, scratch: Path, build: Path | None = None) -> None:
        """`build`: the folder of its programs, if they are not the wheel's."""
        self._build = build
        self.home = scratch / _FOLDER
        self.port = PORT
        self.listens = ""
        """The interface of TCP connections; empty for none."""
        self._apart: NetworkNamespace | None = None
        self._process = ServerProcess()

    @property
    def data(self) -> Path:
        """The data folder (PGDATA)."""
        return self.home / "data"

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.home / "server.log"

    @property
    def alive(self) -> bool:
        """Whether the process we started still runs."""
        return self._process.alive

    @property
    def pid(self) -> int | None:
        """The postmaster's process id while it runs."""
        return self._process.pid

    def address(self) -> dict[str, str | int]:
        """Connection parameters."""
        folder = str((self.home / "socket").resolve())
        return {"host": folder, "port": self.port, "user": USER, "dbname": DATABASE}

    def listen(self) -> None:
        """From the next launch on, listen on the loopback interface, too, at a port that is free
        now. Nobody can log in through it before a password is set."""
        with socket.create_server((LOOPBACK, 0)) as free:
            self.port = free.getsockname()[1]
        self.listens = LOOPBACK

    def live_apart(self, owner: str) -> None:
        """From the next launch on, run in a network namespace of its own, and listen there, too, on
        the one address at the end of the cable. Nobody can log in through it before a password is
        set."""
        if self._apart is None:
            self._apart = NetworkNamespace(self.home.parent, owner)

    def socket_pair(self) -> tuple[socket.socket, socket.socket]:
        """Two connected sockets that use the same way as the server's clients: (theirs, the
        server's). Raises `OSError`."""
        if not self.listens:
            return socket.socketpair()
        with self._network():
            listener = socket.create_server((self.listens, 0))
        with listener:
            near = socket.create_connection(listener.getsockname())
            return near, listener.accept()[0]

    def not_data(self, database: str) -> Mapping[Path, str]:
        """The server's files that no session of ours reads, each with the reason. `database`: the
        folder of our database; empty as long as it is not known."""
        base = self.data / "base"
        ours = (database, "pgsql_tmp")
        others = [path for path in base.iterdir() if path.name not in ours] if base.is_dir() else []
        return {
            self.log: "the server's log, which it never reads",
            self.home / "socket": "the server's socket and its lock, perhaps on a tmpfs",
            self.data / "pg_wal": "the log, which only a start after a crash reads",
            **dict.fromkeys(others if database else (), "a database of the server's own"),
        }

    def launch(self, settings: Mapping[str, str]) -> None:
        """Create the data folder if there is none, then start the server with these settings; do
        not wait for it."""
        end_orphan(self.home.parent)
        account = server_account()
        programs = binaries(account) if self._build is None else built(account, self._build)
        self._prepare(account)
        if self._apart is not None:
            self._apart.open()
            self.listens = self._apart.address
        if not (self.data / "PG_VERSION").exists():
            self._initialise(programs, account)
        options = [f"--{name}={value}" for name, value in self._options(settings).items()]
        with self.log.open("ab") as log, self._network():
            self._process.launch(
                [str(programs / "postgres"), "-D", str(self.data), *options],
                log=log,
                cwd=Path("/"),
                with_parent=signal.SIGQUIT,
                options={"env": _environment(), **account.process_options},
            )

    def ended_within(self, limit_s: float) -> bool:
        """Wait for the server to end, at most `limit_s`."""
        return self._process.ended_within(limit_s)

    def last_words(self) -> str:
        """The end of its log, in one line."""
        return last_words(self.log)

    def stop(self) -> Sequence[int]:
        """Shut down fast but cleanly; kill processes that do not end. Returns the processes
        ended."""
        pids = self._process.end(_STEPS)
        if self._apart is not None:
            self._apart.close()
        return pids

    def remove(self) -> None:
        """Stop it and delete all its files."""
        self.stop()
        end_orphan(self.home.parent)
        remove_socket_folder(self.home)
        if self.home.exists():
            shutil.rmtree(self.home)

    def _network(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if self._apart is None else self._apart.entered()

    def _options(self, settings: Mapping[str, str]) -> dict[str, str]:
        return {
            "listen_addresses": self.listens,
            "port": str(self.port),
            "unix_socket_directories": str((self.home / "socket").resolve()),
            "unix_socket_permissions": "0700",
            **settings,
        }

    def _prepare(self, account: Account) -> None:
        if not account.reaches(self.home.parent):
            raise EngineError(
                f"the server's account (uid {account.uid}) cannot enter {self.home.parent}",
                hint="PostgreSQL refuses root: keep scratch folders where every account may pass,"
                " for one LOADSTONE_SCRATCH=/var/tmp/loadstone",
            )
        remove_socket_folder(self.home)
        folder = self.home / "socket"
        self.home.mkdir(mode=0o700, exist_ok=True)
        if len(os.fsencode(folder / _SOCKET_NAME)) <= SOCKET_BYTES_MAX:
            folder.mkdir(mode=0o700)
        else:
            folder.symlink_to(tempfile.mkdtemp(prefix="loadstone-"))
        self.log.touch()
        for path in (self.home, folder.resolve(), self.log):
            os.chown(path, account.uid, account.gid)

    def _initialise(self, programs: Path, account: Account) -> None:
        # A folder without PG_VERSION is what an initdb killed halfway leaves.
        shutil.rmtree(self.data, ignore_errors=True)
        command = [str(programs / "initdb"), "-D", str(self.data), "-U", USER, "--auth-local=trust"]
        # By TCP anybody on this machine could come: those need a password, and none is set yet.
        command += ["--auth-host=scram-sha-256"]
        # Nothing is in it yet that a crash of the machine could lose: the load syncs what counts.
        command += ["--no-sync", "--locale=C", "--encoding=UTF8"]
        # In a session of its own, and reported to end: killed at once, its server would leave its
        # shared memory in the kernel, where nobody would find out whose it was.
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            cwd="/",
            env=_environment(),
            start_new_session=True,
            # `initdb` lets its server end, and removes what it made.
            preexec_fn=signalled_with_parent(signal.SIGTERM),
            **account.process_options,
        )
        if done.returncode != 0:
            words = "; ".join((done.stderr or done.stdout).strip().splitlines()[-3:])
            raise EngineError(
                f"initdb failed in {self.home}: {words}",
                hint="a new server takes some 40 MB",
            )
        if self._apart is not None:
            # Admit the machine at the other end of the cable, and nobody else.
            with (self.data / "pg_hba.conf").open("a", encoding="ascii") as rules:
                rules.write("host all all samenet scram-sha-256\n")


def is_relation(path: Path) -> bool:
    """Whether a file of a data folder holds a relation or an index made after `initdb`
    (`FirstNormalObjectId` of access/transam.h): `base/5/16391.1`, `base/5/16391_vm`."""
    number = re.match(r"\d+", path.name)
    return path.parent.parent.name == "base" and number is not None and int(number[0]) >= 16384


def end_orphan(scratch: Path) -> Sequence[int]:
    """End a server whose worker was killed. Returns the process ids that were ended."""
    data = scratch / _FOLDER / "data"
    ended = [*_end_makers(data), *_end_postmaster(scratch, data)]
    for pid in _working_in(data):
        if not gone_within(pid, KILL_S_MAX):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            gone_within(pid, KILL_S_MAX)
    # When nobody has it any more, and before the folder goes, by which it is known as ours.
    shared_memory.free(data)
    return ended


def _end_makers(data: Path) -> list[int]:
    """Let an `initdb` end whose worker was killed; kill what does not follow."""
    argument = os.fsencode(data)
    makers = [pid for pid in _processes() if _is_maker(_command(pid), argument)]
    for pid in makers:
        if not gone_within(pid, MAKE_S_MAX):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return makers


def _is_maker(command: list[bytes], data: bytes) -> bool:
    return bool(command) and command[0].endswith(b"/initdb") and data in command


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _command(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def _end_postmaster(scratch: Path, data: Path) -> Sequence[int]:
    if _postmaster(data) is None:
        _forget_zombie(data)
        return ()
    steps = (signal.SIGQUIT, signal.SIGKILL)
    return private_server.end_orphan(lambda: _postmaster(data), steps, f"a server in {scratch}")


def _forget_zombie(data: Path) -> None:
    """Remove the pid file of a killed server that is not reaped yet.

    A zombie answers `kill -0`, so a new server would take it for a living one and refuse to start.
    The file may only go when no other process of that server works in the folder any more.
    """
    pid_file = data / "postmaster.pid"
    try:
        pid = int(read_text(pid_file, PID_FILE_BYTES_MAX, "the pid file").split("\n", 1)[0])
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (InputError, OSError, ValueError):
        return
    if state == "Z" and all(gone_within(child, KILL_S_MAX) for child in _working_in(data)):
        pid_file.unlink(missing_ok=True)


def _working_in(data: Path) -> list[int]:
    """Processes whose working folder is the data folder, as every server process's is."""
    found = []
    for pid in _processes():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/cwd").readlink() == data:
                found.append(pid)
    return found


def _postmaster(data: Path) -> int | None:
    """The live server of a data folder, recognised by its pid file and its command line."""
    try:
        text = read_text(data / "postmaster.pid", PID_FILE_BYTES_MAX, "the pid file")
        pid = int(text.split("\n", 1)[0])
    except (InputError, ValueError):
        return None
    return pid if os.fsencode(data) in _command(pid) else None


def _environment() -> dict[str, str]:
    """Nothing of the caller's: neither PG* variables nor a locale may change the server."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
