"""lode in a server's process: it goes when its worker does, comes back when it is killed, and says
what it cannot do."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from loadstone import _core
from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.rust.lode import LodeClient
from loadstone.errors import EngineError, InputError, UnsupportedError
from loadstone.machine.page_cache import wait_until_dead
from loadstone.plan.variant import parse_variant

PARTS = 200
DEATH_S_MAX = 20.0
MEASURES = ("scan", "lookup", "traversal", "insert", "group")
ORACLE = _core.Oo1Oracle(PARTS)

WORKER = """
import sys
from pathlib import Path
from loadstone.clients.rust.lode import LodeClient
from loadstone.plan.variant import Variant

client = LodeClient(Variant("lode", (("place", "server"),)), Path(sys.argv[1]), "run1")
client.start()
print(*client.processes(), flush=True)
sys.stdin.read()
"""


def build(scratch: Path, tactics: str = "") -> LodeClient:
    text = f"lode?place=server{tactics}"
    client = LodeClient(
        parse_variant(text, frozenset(LodeClient.capabilities.tactics)), scratch, "run1"
    )  # fmt: skip
    client.expect(Database(PARTS))
    return client


@pytest.fixture
def client(scratch: Path) -> Iterator[LodeClient]:
    client = build(scratch)
    client.start()
    client.load()
    yield client
    client.remove()
    assert list(scratch.iterdir()) == []


def right(client: LodeClient) -> bool:
    found = (client.measure(measure, 1) for measure in MEASURES)
    return [(seen.visits, seen.checksum) for seen in found] == [
        ORACLE.answer(measure, 1) for measure in MEASURES
    ]


@contextmanager
def worker(scratch: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process that has started a server and waits, with the server's number."""
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, str(scratch)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


def test_a_process_of_its_own_has_the_files(client: LodeClient) -> None:
    (pid,) = client.processes()
    assert pid != os.getpid()
    held = {os.path.realpath(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()}
    ours = {os.path.realpath(entry) for entry in Path("/proc/self/fd").iterdir()}
    for file in client.files():
        assert str(file.resolve()) in held - ours
    terms = client.terms()
    assert (terms["place"], terms["setting.load"]) == ("server", "by the program itself, before"
                                                       " the files are served")  # fmt: skip
    assert float(terms["round_trip_ns"]) > 0


def test_a_stop_ends_the_server_and_a_start_finds_all(client: LodeClient) -> None:
    processes = client.processes()
    assert list(client.stop()) == list(processes)
    assert wait_until_dead(list(processes), limit_s=DEATH_S_MAX)
    assert client.processes() == ()
    assert list(client.stop()) == []
    client.start()
    assert right(client)


def test_a_killed_server_is_an_error_and_comes_back(client: LodeClient) -> None:
    for mend in (client.start, client.load):
        (pid,) = client.processes()
        os.kill(pid, signal.SIGKILL)
        assert wait_until_dead([pid], limit_s=DEATH_S_MAX)
        with pytest.raises(EngineError, match="page server is gone"):
            client.measure("lookup", 1)
        assert client.processes() == ()
        mend()
        assert right(client)


def test_a_server_dies_with_its_worker(scratch: Path) -> None:
    with worker(scratch) as (process, pid):
        server = os.pidfd_open(pid)
        process.kill()
        assert wait_until_dead([pid], limit_s=DEATH_S_MAX)
        os.close(server)
    heir = build(scratch)
    heir.start()
    heir.load()
    assert right(heir)
    heir.remove()
    assert list(scratch.iterdir()) == []


def test_an_orphan_is_found_by_its_socket_and_ended(client: LodeClient) -> None:
    (pid,) = client.processes()
    assert list(LodeClient.abandon(client.scratch)) == [pid]
    assert list(LodeClient.abandon(client.scratch)) == []


def test_a_folder_too_deep_for_a_sockets_path_will_do(scratch: Path) -> None:
    deep = scratch / ("d" * 150)
    deep.mkdir()
    client = build(deep)
    client.start()
    client.load()
    assert right(client)
    processes = list(client.processes())
    assert list(LodeClient.abandon(deep)) == processes != []
    client.remove()
    assert list(deep.iterdir()) == []


def test_a_server_that_does_not_start_says_why(scratch: Path) -> None:
    for name in (LodeClient.file, f"{LodeClient.file}-log"):
        (scratch / name).write_text("something else")
    client = build(scratch)
    with pytest.raises(EngineError, match="no lode database"):
        client.start()
    assert client.processes() == ()
    client.remove()
    assert list(scratch.iterdir()) == []


def test_a_tactic_that_would_do_nothing_at_a_server_is_refused(scratch: Path) -> None:
    for tactics, what in (
        ("&locks=page&readahead=on", "with locks=page at a server"),
        ("&locks=relation&readahead=on", "locks=relation"),
        ("&access=btree&prefetch=on", "prefetch=on with this access"),
    ):
        client = build(scratch, tactics)
        with pytest.raises((InputError, UnsupportedError), match=what):
            client.start()
        client.remove()
    assert list(scratch.iterdir()) == []
