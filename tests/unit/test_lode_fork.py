"""Children that a process forks while it has a database of lode: whatever they do with what they
inherited, nothing of the parent's is lost, and what they may not do says so."""

import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path

import pytest

from loadstone.lode import Database, DeadlockError, LodeError, connect


def in_a_child(act: Callable[[], object]) -> str:
    """The error that lode reported a child that this process forks; empty if it was reported
    nothing."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # A server has a thread, of which Python warns: that is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            act()
        except LodeError as error:
            os.write(writing, error.message.encode())
        except BaseException as error:  # noqa: BLE001 - the test's own process has to learn of it
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as reported:
        text = reported.read()
    assert os.waitpid(child, 0)[1] == 0
    return text


def numbers(database: Database) -> list[bytes]:
    with database.reading() as reading:
        return [key for key, _ in reading.btree("numbers").range()]


def put(place: Database, key: bytes) -> None:
    with place.writing() as writing:
        writing.btree("numbers").put(key, b"")


@pytest.mark.parametrize("tactics", [{}, {"disk": "direct", "readahead": "on", "locks": "page"}])
@pytest.mark.parametrize(
    "misuse",
    [
        *("close", "checkpoint", "forget", "abandon", "reading", "writing", "serve", "leave"),
        *("counters", "tactics", "recovery", "backup"),
    ],
)
def test_a_child_does_nothing_to_its_parents_database(tmp_path, tactics, misuse):
    path = tmp_path / "a.lode"
    database = Database(path, **tactics)
    put(database, b"before")

    def act() -> None:
        match misuse:
            case "tactics" | "recovery":
                getattr(database, misuse)
            case "backup":
                database.backup(tmp_path / "copy")
            case "serve":
                database.serve(str(tmp_path / "socket"))
            case "leave":
                with database:
                    raise RuntimeError
            case _:
                getattr(database, misuse)()

    reported = in_a_child(act)
    assert reported == "RuntimeError()" if misuse == "leave" else "forked from" in reported
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.lode", "a.lode-log"]
    put(database, b"during")
    # As a crash of the parent would leave it: what the child wrote would be there.
    database.abandon()
    with Database(path, "open", **tactics) as database:
        assert numbers(database) == [b"before", b"during"]


@contextmanager
def at_work(act: Callable[[], object]) -> Iterator[None]:
    """Threads that do it over and over, so that a fork meets them with whatever they hold."""
    over, begun = threading.Event(), threading.Barrier(4, timeout=60)

    def work() -> None:
        act()
        begun.wait()
        while not over.is_set():
            act()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    begun.wait()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


#: What may be asked of a database or of a connection to one, and of a transaction that is open.
ASKED = ["backup", "close", "counters", "forget", "reading", "tactics", "writing", "leave"]
ASKED_HERE = [*ASKED, "abandon", "checkpoint", "recovery", "serve"]


@pytest.mark.parametrize("tactics", [{}, {"locks": "page"}])
@pytest.mark.parametrize("has_open", [False, True])
def test_a_child_waits_for_no_thread_of_its_parent(tmp_path, tactics, has_open):
    places = {"backup": tmp_path / "copy", "serve": str(tmp_path / "socket")}

    def commit() -> None:
        with suppress(DeadlockError):
            put(database, b"again")

    with Database(tmp_path / "a.lode", durability="group", **tactics) as database:
        put(database, b"again")
        looking = database.reading()
        tree = looking.btree("numbers")
        if not has_open:
            looking.rollback()
        # A process that reads keeps out one that changes.
        with at_work(database.checkpoint if has_open else commit):
            for asked in ASKED_HERE * 3:

                def act(asked: str = asked) -> None:
                    if asked == "leave":
                        database.__exit__(None, None, None)
                        return
                    attribute = getattr(database, asked)
                    attribute(*([places[asked]] if asked in places else []))

                assert "forked from" in in_a_child(act), asked
            for act in (
                lambda: tree.get(b"again"),
                lambda: looking.files(),
                lambda: looking.__exit__(None, None, None),
                looking.rollback,
            ):
                assert "forked from" in in_a_child(act)
        if has_open:
            looking.rollback()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.lode", "a.lode-log"]


def test_a_child_waits_for_no_thread_at_a_connection(tmp_path):
    with (
        Database(tmp_path / "a.lode", durability="group").serve(str(tmp_path / "socket")) as server,
        connect(server.address) as remote,
    ):
        with at_work(lambda: put(remote, b"again")):
            for asked in ASKED * 3:

                def act(asked: str = asked) -> None:
                    if asked == "leave":
                        remote.__exit__(None, None, None)
                        return
                    attribute = getattr(remote, asked)
                    attribute(*([tmp_path / "copy"] if asked == "backup" else []))

                assert "forked from" in in_a_child(act), asked
        assert numbers(remote) == [b"again"]


@pytest.mark.parametrize("ending", ["commit", "rollback", "use", "drop"])
def test_a_transaction_that_is_open_at_the_fork_is_the_parents(tmp_path, ending):
    with Database(tmp_path / "a.lode") as database:
        kept = [database.writing()]
        kept[0].btree("numbers").put(b"mine", b"")

        def act() -> None:
            match ending:
                case "commit" | "rollback":
                    getattr(kept[0], ending)()
                case "use":
                    kept[0].btree("numbers").put(b"of the child", b"")
                case "drop":
                    kept.clear()

        reported = in_a_child(act)
        assert (reported == "") if ending == "drop" else ("forked from" in reported)
        kept[0].commit()
        assert numbers(database) == [b"mine"]


def test_a_child_hears_and_says_nothing_on_its_parents_connection(tmp_path):
    with (
        Database(tmp_path / "a.lode").serve(str(tmp_path / "socket")) as server,
        connect(server.address) as remote,
    ):
        put(remote, b"before")
        kept = [remote.writing()]
        kept[0].btree("numbers").put(b"mine", b"")
        for act in (
            lambda: put(remote, b"of the child"),
            lambda: numbers(remote),
            lambda: kept[0].commit(),
            lambda: kept[0].rollback(),
            server.stop,
            server.wait,
        ):
            assert "forked from" in in_a_child(act)
        assert in_a_child(kept.clear) == ""
        assert "forked from" in in_a_child(remote.close)
        tactics = remote.tactics

        def of_its_own() -> None:
            # Waits for the parent's lock, were it not for reading what is committed of another.
            with connect(server.address) as own:
                assert own.tactics == tactics

        assert in_a_child(of_its_own) == ""
        kept[0].commit()
        assert numbers(remote) == [b"before", b"mine"]
        assert Path(server.address).is_socket()


def test_a_closed_connection_leaves_no_lock_to_a_child(tmp_path):
    with Database(tmp_path / "a.lode").serve(str(tmp_path / "socket")) as server:
        remote = connect(server.address)
        kept = remote.writing()
        kept.btree("numbers").put(b"never committed", b"")
        with get_context("fork").Pool(1) as pool:
            remote.close()
            del kept
            with connect(server.address) as other:
                put(other, b"there")
                assert numbers(other) == [b"there"]
            pool.terminate()


def test_a_closed_database_is_free_while_a_child_lives(tmp_path):
    path = tmp_path / "a.lode"
    database = Database(path)
    put(database, b"there")
    # A process that was forked has the descriptors until it starts its program: here for ever.
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    try:
        database.close()
        with Database(path, "open") as again:
            assert numbers(again) == [b"there"]
    finally:
        os.close(writing)
        os.close(reading)
        os.waitpid(child, 0)


CREATING = """
import os, resource, sys
from pathlib import Path
from loadstone.lode import Database, LodeError

folder = Path(sys.argv[1])
free = os.open("/dev/null", os.O_RDONLY)
os.close(free)
reported = set()
for more in range(12):
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + more, 4096))
    try:
        Database(folder / "a.lode", "create", disk=sys.argv[2]).close()
        made = True
    except LodeError as error:
        made = False
        reported.add(error.message.partition(": ")[2])
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    left = sorted(entry.name for entry in folder.iterdir())
    assert left == (["a.lode", "a.lode-log"] if made else []), (more, left)
    for name in left:
        (folder / name).unlink()
assert made
print(reported)
"""


@pytest.mark.parametrize("disk", ["buffered", "direct"])
def test_a_creation_that_fails_leaves_nothing(tmp_path, disk):
    (tmp_path / "folder").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", CREATING, str(tmp_path / "folder"), disk],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "ulimit -n" in done.stdout


def test_rows_and_prepared_texts_are_the_parents(tmp_path):
    """The rows are made by a thread, for which a child would wait in vain."""
    with Database(tmp_path / "a.lode") as database:
        database.execute("create numbers (number = i4)")
        append = database.prepare("append to numbers (number = $1)")
        for number in range(100):
            append.execute(number)
        rows = database.query(
            """range of k is numbers range of l is numbers range of m is numbers
            retrieve (x = k.number, y = l.number, z = m.number)"""
        )
        held = [rows]
        for misuse in (rows.fetch, lambda: append.execute(1), rows.__arrow_c_stream__):
            assert "this one was forked from" in in_a_child(misuse)
        del rows
        assert in_a_child(held.clear) == ""
        assert len(held.pop().fetch()) == 1_000_000
