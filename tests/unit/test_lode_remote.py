"""lode from Python at a page server of the same process: one API for both places."""

import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from loadstone.errors import LodeError
from loadstone.lode import Database, Remote, Server, connect

LINKS = bytes(32)


@pytest.fixture
def server(tmp_path) -> Iterator[Server]:
    with Database(tmp_path / "a.lode", locks="page").serve(str(tmp_path / "socket")) as server:
        yield server


@pytest.fixture
def remote(server) -> Iterator[Remote]:
    with connect(server.address) as remote:
        yield remote


def in_another_thread(act: Callable[[], Any]) -> Any:
    """The answer there, or the error raised."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(act())
        except LodeError as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return outcome[0]


def test_every_kind_of_file_is_had_at_a_server(remote):
    with remote.writing() as writing:
        parts = writing.heap("parts")
        links = writing.links(parts, parts, parent_at=0, child_at=16)
        wheel, spoke = (parts.insert(LINKS + name) for name in (b"wheel", b"spoke"))
        assert links.append(wheel, spoke)
        writing.hash("by id").insert(7, wheel)
        writing.btree("by name").put(b"wheel", b"7")
        things = writing.objects("things")
        leaf = things.insert(b"leaf")
        root = things.insert(leaf.to_bytes(8, "little"))
    for _ in range(2):
        with remote.reading() as reading:
            kinds = ["hash", "btree", "heap", "objects"]
            assert [kind for _, kind in reading.files()] == kinds
            parts = reading.heap("parts")
            links = reading.links(parts, parts, parent_at=0, child_at=16)
            assert reading.hash("by id").get(7) == wheel
            assert [record[32:] for _, record in links.children(wheel)] == [b"spoke"]
            assert reading.btree("by name").range() == [(b"wheel", b"7")]
            assert reading.objects("things").follow(root, 0) == (leaf, b"leaf")
        remote.forget()


def test_a_block_left_by_an_exception_is_rolled_back(remote):
    with pytest.raises(ZeroDivisionError), remote.writing() as writing:
        writing.btree("parts").put(b"wheel", b"7")
        raise ZeroDivisionError
    with remote.writing() as writing:
        writing.btree("parts").put(b"spoke", b"9")
        writing.rollback()
    with remote.reading() as reading:
        assert reading.files() == []


def test_a_transaction_stays_in_its_thread_and_may_be_dropped_in_another(remote):
    held = [remote.writing().btree("parts")]
    reported = in_another_thread(lambda: held[0].put(b"wheel", b"7"))
    assert "use it there" in reported.message
    held[0].put(b"wheel", b"7")
    in_another_thread(held.clear)
    # Were it still there, this would wait for its locks.
    with remote.writing() as writing:
        writing.btree("parts").put(b"wheel", b"9")
        assert in_another_thread(writing.commit) is None
    with remote.reading() as reading:
        assert reading.btree("parts").get(b"wheel") == b"9"


def test_threads_have_transactions_of_their_own(remote):
    with remote.writing() as writing:
        writing.btree("parts")

    def put(number: int) -> None:
        with remote.writing() as writing:
            writing.btree("parts").put(number.to_bytes(8, "big"), b"")

    for number in range(5):
        assert in_another_thread(partial(put, number)) is None
    with remote.reading() as reading:
        assert len(reading.btree("parts").range()) == 5


def test_a_client_chooses_some_tactics_and_is_reported_the_servers(server):
    with connect(server.address, cache="1MiB", swizzle="on", prefetch="on") as remote:
        assert (remote.tactics["cache"], remote.tactics["swizzle"]) == (str(1 << 20), "on")
        assert remote.tactics["prefetch"] == "on"
        assert remote.tactics["locks"] == "page"
        before = remote.counters()
        with remote.reading() as reading:
            reading.files()
        after = remote.counters()
        assert after["traffic"]["round_trips"] > before["traffic"]["round_trips"]
        assert after["buffer"]["misses"] > before["buffer"]["misses"]
        assert after["buffer"]["prefetches"] == 0  # nothing was walked along
    with pytest.raises(LodeError, match="durability is the server's"):
        connect(server.address, durability="none")
    with pytest.raises(LodeError, match="no tactic is called"):
        connect(server.address, durabilty="none")


def test_a_served_database_is_the_servers_alone(tmp_path):
    database = Database(tmp_path / "a.lode")
    begun = database.writing()
    with pytest.raises(LodeError, match="has not ended"):
        database.serve(str(tmp_path / "socket"))
    assert list(tmp_path.glob("socket")) == []
    begun.rollback()
    with pytest.raises(LodeError, match="loopback"):
        database.serve("0.0.0.0:0")
    with database.serve("127.0.0.1:0") as server:
        assert not server.address.endswith(":0")
        for late in (database.writing, database.checkpoint, lambda: database.serve("other")):
            with pytest.raises(LodeError, match="closed"):
                late()
        database.close()
        with connect(server.address) as remote, remote.writing() as writing:
            writing.btree("parts").put(b"wheel", b"7")
    with Database(tmp_path / "a.lode") as database, database.reading() as reading:
        assert database.recovery is None
        assert reading.btree("parts").get(b"wheel") == b"7"


def test_what_is_gone_says_so(server, remote):
    remote.close()
    remote.close()
    for late in (remote.writing, remote.reading, remote.counters, remote.forget):
        with pytest.raises(LodeError, match="connect again"):
            late()
    with connect(server.address) as other:
        server.stop()
        server.stop()
        server.wait()
        with other.reading() as reading, pytest.raises(LodeError, match="is gone"):
            reading.files()
    with pytest.raises(LodeError, match="start it"):
        connect(server.address)


def test_waiting_ends_with_the_server_and_by_a_signal(server):
    class ReportedError(Exception):
        pass

    def show_result(*_: object) -> None:
        raise ReportedError

    before = signal.signal(signal.SIGUSR1, show_result)
    try:
        main = threading.main_thread().ident
        assert main is not None
        with pytest.raises(ReportedError):
            threading.Timer(0, lambda: signal.pthread_kill(main, signal.SIGUSR1)).start()
            server.wait()
    finally:
        signal.signal(signal.SIGUSR1, before)
    waiting = threading.Thread(target=server.wait)
    waiting.start()
    server.stop()
    waiting.join()
