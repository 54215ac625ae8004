"""Concurrent users on every client that allows it: all are answered, and what they insert is linked
from both ends while they are at it, and gone afterwards."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from loadstone import _core, registry
from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.base import Client, Served
from loadstone.clients.rust.embedded import RustClient
from loadstone.errors import EngineError, UnsupportedError
from loadstone.plan.variant import parse_variant

pytestmark = pytest.mark.slow

PARTS = 200
ORACLE = _core.Oo1Oracle(PARTS)
READERS, WRITERS = 4, 3
DURATION_NS = 30_000_000
TOGETHER = (
    "sqlite?durability=none",
    "sqlite?access=clustered",
    "sqlite?access=objects",
    "lmdb",
    "lmdb?access=links&durability=none",
    "lode?swizzle=on",
    "lode?access=links&locks=page&durability=group",
    "lode?access=btree&locks=relation&durability=none",
    "lode?access=hash&locks=page&log=page-grain",
    "lode?place=server",
    "lode?access=links&locks=relation&place=server",
    "duckdb",
    "postgresql",
    "postgresql?place=tcp&statement=pipeline",
)
SHARED = (
    "sqlite?durability=none", "sqlite?access=objects", "lode?locks=page&place=server", "postgresql",
)  # fmt: skip
"""The clients of which two programs can be open: of LMDB, lode and DuckDB a process opens a file
once, and the tests of `crates/clients` have readers and writers at once."""
ALONE = ("memory", "python-dict", "python-null", "zodb", "ladybug")
CONTENTS = ("scan", "lookup", "group", "reverse-batch", "traversal-batch")


@pytest.fixture
def folder() -> Iterator[Path]:
    # Not in the closed folders of tmp_path: a server that drops to another user must get there.
    with TemporaryDirectory(prefix="loadstone-test-") as name:
        path = Path(name)
        path.chmod(0o755)
        yield path
        assert list(path.iterdir()) == []


def loaded(text: str, folder: Path) -> Client:
    try:
        kind = registry.load_client(registry.engine_named(text))
    except EngineError as missing:
        pytest.skip(missing.message)
    client = kind(parse_variant(text, frozenset(kind.capabilities.tactics)), folder, "run1")
    client.expect(Database(PARTS))
    client.start()
    client.load()
    return client


@pytest.fixture
def client(request: pytest.FixtureRequest, folder: Path) -> Iterator[Client]:
    made = loaded(request.param, folder)
    yield made
    made.remove()


def contents(client: Client) -> dict[str, tuple[int, str]]:
    found = {}
    for measure in CONTENTS:
        try:
            seen = client.measure(measure, 1)
        except UnsupportedError:
            continue
        found[measure] = (seen.visits, seen.checksum)
    return found


def assert_as_loaded(client: Client) -> None:
    found = contents(client)
    assert {"scan", "lookup", "group"} <= set(found)
    assert found == {measure: answer(measure) for measure in found}


def answer(measure: str) -> tuple[int, str]:
    known = ORACLE.answer(measure, 1)
    assert known is not None
    return known


def served_until(enough: Callable[[Served], bool], run: Callable[[int], Served]) -> Served:
    """The time that users must be at it until all get through is the machine's business: `run` is
    given twice the time until it has served `enough`."""
    for power in range(9):
        served = run(DURATION_NS << power)
        if enough(served):
            return served
    pytest.fail(f"{served.reads.completed} look-ups and {served.writes.completed} inserts")


@pytest.mark.parametrize("client", TOGETHER, indirect=True)
def test_users_at_once_are_all_answered_and_leave_no_trace(client: Client) -> None:
    for readers, writers in ((READERS, 0), (0, WRITERS)):
        users_at_will(client, readers, writers)
        users_when_due(client, readers, writers)
        assert_as_loaded(client)
    client.stop()
    client.start()
    assert_as_loaded(client)


def users_at_will(client: Client, readers: int, writers: int) -> None:
    durations = []

    def run(duration_ns: int) -> Served:
        durations.append(duration_ns)
        return client.users(readers, writers, duration_ns, None)

    users = readers + writers
    served = served_until(lambda it: it.reads.completed + it.writes.completed >= users, run)
    tally, nobody = (served.writes, served.reads) if writers else (served.reads, served.writes)
    assert served.elapsed_ns >= durations[-1]
    # Three connections of each of the last thousand parts of a writer, and of all if fewer.
    assert served.links_checked <= 3 * served.writes.completed
    assert served.links_checked >= 3 * min(served.writes.completed, 1_000)
    assert nobody.completed == 0
    assert tally.skipped == 0


def users_when_due(client: Client, readers: int, writers: int) -> None:
    starts: list[int] = []

    def run(duration_ns: int) -> Served:
        starts[:] = _core.intended_starts(1, 500.0, duration_ns)
        return client.users(readers, writers, duration_ns, starts)

    served = served_until(lambda it: it.reads.completed + it.writes.completed > 0, run)
    tally = served.writes if writers else served.reads
    assert tally.completed + tally.skipped == len(starts)
    # Each is timed from when it was due.
    assert tally.latency_ns(100.0) >= tally.service_ns(100.0) > 0  # type: ignore[operator]


@pytest.mark.parametrize("client", TOGETHER, indirect=True)
def test_readers_and_writers_at_once_are_all_answered(client: Client) -> None:
    served = served_until(
        lambda it: it.reads.completed > 0 and it.writes.completed > 0,
        lambda duration_ns: client.users(READERS, WRITERS, duration_ns, None),
    )
    assert served.links_checked > 0
    assert_as_loaded(client)


@pytest.mark.parametrize("client", SHARED, indirect=True)
def test_readers_and_writers_of_two_programs_do_not_disturb_each_other(client: Client) -> None:
    assert isinstance(client, RustClient)
    database, library = client.address()
    other = _core.oo1_client(
        client.name, database, client.program_tactics(), PARTS, library=library
    )

    def run(duration_ns: int) -> Served:
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(other.users, READERS, 0, duration_ns, None)
            written = client.users(0, WRITERS, duration_ns, None)
            return replace(written, reads=reading.result()[1])

    served_until(lambda it: it.reads.completed >= READERS and it.writes.completed >= WRITERS, run)
    assert_as_loaded(client)


WRONG_TARGET = """
CREATE TRIGGER spoil AFTER INSERT ON connection WHEN new.too <> 7
BEGIN UPDATE connection SET too = 7 WHERE frm = new.frm AND too = new.too; END
"""
ONE_WAY = """
CREATE TRIGGER spoil AFTER INSERT ON connection
BEGIN DELETE FROM connection WHERE frm = new.frm AND too = new.too; END
"""
SPOILED = (
    "sqlite?durability=none&transaction=call",
    "sqlite?durability=none&transaction=measure",
)


def spoil(client: Client, statement: str) -> None:
    """Done in another process: two copies of SQLite in one lose each other's locks."""
    (file,) = (path for path in client.files() if path.suffix == ".sqlite")
    program = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])"
    subprocess.run([sys.executable, "-c", program, str(file), statement], check=True)


@pytest.mark.parametrize("client", SPOILED, indirect=True)
@pytest.mark.parametrize("statement", [WRONG_TARGET, ONE_WAY], ids=["another part", "one way"])
def test_a_link_that_does_not_lead_both_ways_is_caught(client: Client, statement: str) -> None:
    spoil(client, statement)
    with pytest.raises(EngineError, match=r"with other connections than it was given"):
        client.users(0, WRITERS, DURATION_NS, None)
    spoil(client, "DROP TRIGGER spoil")
    # The rows that the users inserted are gone all the same.
    assert client.measure("scan", 1).checksum == answer("scan")[1]


@pytest.mark.parametrize("client", ["sqlite?durability=none"], indirect=True)
def test_a_part_that_users_do_not_find_is_reported(client: Client) -> None:
    spoil(client, "DELETE FROM part")
    with pytest.raises(EngineError, match=r"has no part \d+"):
        client.users(READERS, 0, DURATION_NS, None)


@pytest.mark.parametrize("client", ALONE, indirect=True)
def test_an_engine_with_room_for_one_user_says_so(client: Client) -> None:
    for readers, writers in ((2, 0), (0, 2)):
        with pytest.raises(UnsupportedError) as caught:
            client.users(readers, writers, DURATION_NS, None)
        assert caught.value.message.startswith(client.name)
        assert "user" in caught.value.message


@pytest.mark.parametrize("client", ["null"], indirect=True)
def test_the_null_client_has_users_that_look_up_and_none_that_insert(client: Client) -> None:
    served_until(
        lambda it: it.reads.completed >= READERS,
        lambda duration_ns: client.users(READERS, 0, duration_ns, None),
    )
    with pytest.raises(UnsupportedError, match="keeps nothing"):
        client.users(0, WRITERS, DURATION_NS, None)


def test_every_client_is_asked_for_concurrent_users() -> None:
    asked = {registry.engine_named(text) for text in (*TOGETHER, *ALONE, "null")}
    assert asked == set(registry.client_names())


def test_a_plan_knows_which_clients_serve_one_user() -> None:
    kinds = {name: registry.load_client(name) for name in registry.client_names()}
    assert {name for name, kind in kinds.items() if kind.capabilities.one_user} == set(ALONE)
