"""PostgreSQL at each place where its program may have it: in a network namespace of its own, too,
of which nothing stays behind."""

import os
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loadstone import _core
from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.rust.postgresql import PostgresqlClient
from loadstone.engines.postgresql import network_namespace
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.engines.postgresql.network_namespace import NetworkNamespace, link_name, remove_link
from loadstone.errors import EngineError
from loadstone.plan.variant import Variant

pytestmark = pytest.mark.slow

PARTS = 200
DEATH_S_MAX = 20.0
MEASURES = ("lookup", "traversal", "reverse", "insert", "range", "scan", "lookup-batch")

WORKER = """
import sys
from pathlib import Path
from loadstone.clients.rust.postgresql import PostgresqlClient
from loadstone.plan.variant import Variant

client = PostgresqlClient(Variant("postgresql", (("place", "remote"),)), Path(sys.argv[1]), "run1")
client.start()
print(*client.processes(), flush=True)
sys.stdin.read()
"""

MakeClient = Callable[[str], PostgresqlClient]


@pytest.fixture(scope="session")
def permitted(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip where the kernel or `ip` does not let us make a network namespace."""
    namespace = NetworkNamespace(tmp_path_factory.mktemp("namespace"), "run1")
    try:
        namespace.open()
    except EngineError as error:
        pytest.skip(error.message)
    namespace.close()


@pytest.fixture
def client_at(scratch: Path) -> Iterator[MakeClient]:
    made: list[PostgresqlClient] = []

    def build(place: str) -> PostgresqlClient:
        made.append(PostgresqlClient(Variant("postgresql", (("place", place),)), scratch, "run1"))
        made[-1].expect(Database(PARTS))
        return made[-1]

    yield build
    for client in made:
        client.remove()
    assert list(scratch.iterdir()) == []


def links() -> set[str]:
    return {name for _, name in socket.if_nameindex()}


def held_namespaces() -> list[str]:
    """Those that a descriptor of this process keeps alive."""
    descriptors = list(Path("/proc/self/fd").iterdir())
    targets = [str(each.readlink()) for each in descriptors if each.exists()]
    return [target for target in targets if target.startswith("net:")]


def alias(link: str) -> str:
    return Path(f"/sys/class/net/{link}/ifalias").read_text(encoding="utf-8").strip()


@pytest.fixture(params=["socket", "tcp", "remote"])
def place(request: pytest.FixtureRequest) -> str:
    if request.param == "remote":
        request.getfixturevalue("permitted")
    return str(request.param)


def test_answers_are_the_oracles_and_the_round_trip_is_reported(
    client_at: MakeClient, place: str
) -> None:
    client = client_at(place)
    client.start()
    client.load()
    oracle = _core.Oo1Oracle(PARTS)
    found = {measure: client.measure(measure, 1) for measure in MEASURES}
    answers = {measure: (each.visits, each.checksum) for measure, each in found.items()}
    assert answers == {measure: oracle.answer(measure, 1) for measure in MEASURES}
    terms = client.terms()
    assert terms["place"] == place
    assert int(terms["round_trip_ns"]) > 0
    # Once measured, it stays: a reader of the terms must not find another figure each time.
    assert client.terms()["round_trip_ns"] == terms["round_trip_ns"]


@pytest.mark.usefixtures("permitted")
def test_a_remote_server_is_apart_and_reached_by_a_marked_cable(
    client_at: MakeClient, scratch: Path
) -> None:
    client = client_at("remote")
    client.start()
    client.load()
    (pid,) = client.processes()
    own = Path("/proc/self/ns/net").readlink()
    assert Path(f"/proc/{pid}/ns/net").readlink() != own
    assert alias(link_name(scratch)) == "loadstone run run1"
    seen = client.measure("lookup", 1)
    client.stop()
    assert link_name(scratch) not in links()
    client.start()
    assert client.measure("lookup", 1).checksum == seen.checksum
    client.remove()
    assert link_name(scratch) not in links()
    assert Path("/proc/self/ns/net").readlink() == own
    assert held_namespaces() == []


@pytest.mark.usefixtures("permitted")
def test_of_a_killed_worker_nothing_is_left(client_at: MakeClient, scratch: Path) -> None:
    client_at("remote")  # removes the data in the end
    command = [sys.executable, "-c", WORKER, str(scratch)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as worker:
        assert worker.stdout is not None
        pid = int(worker.stdout.readline())
        assert link_name(scratch) in links()
        server = os.pidfd_open(pid)
        worker.kill()
    try:
        # The engine is asked, as `loadstone clean` asks it.
        PostgresqlEngine.abandon(scratch)
        assert select.select([server], [], [], DEATH_S_MAX)[0]
    finally:
        os.close(server)
    assert link_name(scratch) not in links()


@pytest.mark.usefixtures("permitted")
def test_a_cable_without_our_mark_is_left_alone(scratch: Path) -> None:
    link = link_name(scratch)
    subprocess.run(["ip", "link", "add", link, "type", "veth"], check=True)
    try:
        remove_link(scratch)
        assert link in links()
        with pytest.raises(EngineError, match="exists") as caught:
            NetworkNamespace(scratch, "run1").open()
        assert "place=tcp" in caught.value.hint
        assert link in links()
    finally:
        subprocess.run(["ip", "link", "delete", link], check=True)


@pytest.mark.parametrize("lacking", ["right", "program"])
def test_where_it_is_not_permitted_the_reason_is_reported(
    client_at: MakeClient, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    if lacking == "right":

        class Refusing:
            @staticmethod
            def unshare(flags: int) -> int:
                del flags
                network_namespace.ctypes.set_errno(1)
                return -1

            setns = staticmethod(network_namespace._LIBC.setns)

        monkeypatch.setattr(network_namespace, "_LIBC", Refusing)
    elif os.geteuid() != 0:
        pytest.skip("without the right, `ip` is not asked")
    else:
        monkeypatch.setattr(network_namespace.shutil, "which", lambda *_, **__: None)
    with pytest.raises(EngineError, match="network namespace") as caught:
        client_at("remote").start()
    assert "root" in caught.value.hint
    assert "iproute2" in caught.value.hint
