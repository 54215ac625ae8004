"""Processes killed in the middle: what was committed is there again, and nothing stays behind."""

import contextlib
import os
import random
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from engine_kinds import ENGINES, MakeEngine
from samples import as_rows, rows, stream, table

from loadstone.engines.abilities import processes_ended
from loadstone.engines.base import Engine
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.engines.postgresql.server import end_orphan
from loadstone.errors import EngineError
from loadstone.plan.variant import Variant

pytestmark = [pytest.mark.machine, pytest.mark.slow]

DEATH_S_MAX = 20.0
SERVERS = ("postgresql",)
READINGS = 5

WORKER = """
import sys
from pathlib import Path
from engine_kinds import ENGINES
from samples import rows, said, stream, table
from loadstone.plan.variant import Variant

engine = ENGINES[sys.argv[1]](Variant(sys.argv[1]), Path(sys.argv[2]), "run1")
engine.start()
engine.load(table(), stream(rows()))
new = "append to t (unique1 = 99, unique2 = 99, big = 99, string = 'committed')"
engine.run(said(engine, new))
print(*engine.processes(), flush=True)
sys.stdin.read()
"""


@contextmanager
def watched(pid: int) -> Iterator[int]:
    """A descriptor that becomes readable when the process dies."""
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def dies(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], DEATH_S_MAX)[0])


@contextmanager
def worker(name: str, scratch: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A process that has loaded a table and waits, with the server processes it says it has."""
    command = [sys.executable, "-c", WORKER, name, str(scratch)]
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    ) as process:
        assert process.stdout is not None
        try:
            yield process, [int(pid) for pid in process.stdout.readline().split()]
        finally:
            process.kill()


def test_the_commits_of_a_killed_worker_are_there(
    name: str, scratch: Path, make: MakeEngine
) -> None:
    with worker(name, scratch) as (process, _):
        process.kill()
        process.wait()
    processes_ended(ENGINES[name], scratch)
    heir = make(name)
    heir.start()
    found = sorted(as_rows(heir.contents("t")))
    assert found == sorted([*rows(), (99, 99, 99, "committed")])


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_dies_with_its_worker(name: str, scratch: Path, make: MakeEngine) -> None:
    make(name)
    with worker(name, scratch) as (process, pids):
        assert pids
        with watched(pids[0]) as server:
            process.kill()
            assert dies(server)


@pytest.mark.parametrize("name", SERVERS)
def test_an_orphan_is_found_by_its_folder_and_ended(engine: Engine) -> None:
    (pid,) = engine.processes()
    assert list(engine.abandon(engine.scratch)) == [pid]
    assert list(engine.abandon(engine.scratch)) == []


def test_a_stranger_with_the_number_of_a_dead_server_is_left_alone(scratch: Path) -> None:
    data = scratch / "postgresql" / "data"
    data.mkdir(parents=True)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as stranger:
        (data / "postmaster.pid").write_text(f"{stranger.pid}\n{data}\n")
        assert list(end_orphan(scratch)) == []
        assert stranger.poll() is None


@pytest.mark.parametrize("name", SERVERS)
def test_a_killed_server_is_an_error_and_comes_back(engine: Engine) -> None:
    engine.load(table(indexes=("unique1",)), stream(rows()))
    (pid,) = engine.processes()
    with watched(pid) as server:
        os.kill(pid, signal.SIGKILL)
        assert dies(server)
    with pytest.raises(EngineError):
        for _ in range(1000):
            # The session's own process notices a moment later that its postmaster is gone.
            engine.run("UPDATE t SET big = big")
    engine.start()
    assert len(as_rows(engine.read("SELECT * FROM t"))) == len(rows())
    assert engine.run("DELETE FROM t") == len(rows())


@pytest.mark.parametrize("name", SERVERS)
def test_a_killed_server_comes_back_after_stop(engine: Engine) -> None:
    engine.load(table(), stream(rows()))
    os.kill(engine.processes()[0], signal.SIGKILL)
    engine.stop()
    engine.start()
    assert len(as_rows(engine.read("SELECT * FROM t"))) == len(rows())


def test_a_socket_folder_too_deep_for_the_kernel_is_placed_elsewhere(scratch: Path) -> None:
    deep = scratch / ("d" * 100)
    deep.mkdir()
    engine = PostgresqlEngine(Variant("postgresql"), deep, "run1")
    engine.start()
    socket = (deep / "postgresql" / "socket").resolve()
    assert not socket.is_relative_to(deep)
    assert engine.fetch("SELECT 1") == [(1,)]
    engine.remove()
    assert not socket.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to another account")
def test_a_folder_the_server_cannot_enter_is_reported(scratch: Path) -> None:
    scratch.chmod(0o700)
    engine = PostgresqlEngine(Variant("postgresql"), scratch, "run1")
    with pytest.raises(EngineError, match="cannot enter") as caught:
        engine.start()
    assert "LOADSTONE_SCRATCH" in caught.value.hint
    engine.remove()


def test_a_server_that_will_not_start_says_why(make: MakeEngine) -> None:
    engine = make("postgresql")
    engine.start()
    engine.stop()
    with (engine.scratch / "postgresql" / "data" / "postgresql.conf").open("a") as settings:
        settings.write("nonsense = 1\n")
    with pytest.raises(EngineError, match="nonsense") as caught:
        engine.start()
    assert "server.log" in caught.value.hint


def of_the_kernel() -> set[str]:
    """Shared memory of PostgreSQL servers on this machine that no process uses."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    segments = {line.split()[1] for line in lines if line.split()[6] == "0"}
    files = {path.name for path in Path("/dev/shm").glob("PostgreSQL.*")}  # noqa: S108
    for process in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            used = process.read_text()
            files = {name for name in files if name not in used}
    return segments | files


MAKER = """
import sys
from pathlib import Path
from loadstone.engines.postgresql.server import PrivateServer
print(flush=True)
PrivateServer(Path(sys.argv[1])).launch({})
sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["worker", "group", "everything"])
def test_a_server_killed_anywhere_leaves_no_memory(
    scratch: Path, how: str, chance: random.Random
) -> None:
    before = of_the_kernel()
    for number in range(4):
        folder = scratch / str(number)
        folder.mkdir(mode=0o755)
        process = subprocess.Popen(
            [sys.executable, "-c", MAKER, str(folder)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline()
        select.select([], [], [], chance.random())  # any point of its making, or a running server
        pids = descendants(process.pid)
        if how == "group":
            os.killpg(process.pid, signal.SIGKILL)
        for pid in [process.pid, *(pids if how == "everything" else ())]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.communicate()
        PostgresqlEngine.abandon(folder)
        shutil.rmtree(folder)
    # An object that a server of another test has only just made, or freed, is there in some
    # readings.
    left = [of_the_kernel() - before for _ in range(READINGS)]
    assert not set.intersection(*left)


def descendants(pid: int) -> list[int]:
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [one for child in map(int, found) for one in (child, *descendants(child))]
