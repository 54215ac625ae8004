"""The tactics that lode reads back are the ones that can be seen from outside: by the system's own
tables, by the bytes of its files, by who has to wait for whom. Its read-backs come from the open
database's configuration, and these tests prove that the two agree."""

import fcntl
import itertools
import os
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_clients import loaded_client

from loadstone.lode import Database

PAGE_BYTES = 4096
RESERVED_BYTES = 1 << 36
"""Of addresses, of which each page has its own: that is how its cache is found among mappings."""


@contextmanager
def created(folder: Path, **tactics: str | int) -> Iterator[tuple[Database, Path]]:
    path = folder / "a"
    with Database(path, "create", **tactics) as database:
        yield database, path


def is_direct(path: Path, pid: int | str = "self") -> bool:
    """Whether a process has a file open past the system's cache. Asserts that it is open."""
    found = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        if os.path.realpath(entry) == str(path.resolve()):
            reported = Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text()
            flags = int(re.search(r"flags:\t(\d+)", reported)[1], 8)
            if pid == "self":
                assert flags & os.O_DIRECT == fcntl.fcntl(int(entry.name), fcntl.F_GETFL) & (
                    os.O_DIRECT
                )
            found.add(bool(flags & os.O_DIRECT))
    (direct,) = found
    return direct


@pytest.mark.parametrize("disk", ["buffered", "direct"])
def test_disk_is_how_the_system_has_the_files_open(disk: str, tmp_path: Path) -> None:
    with created(tmp_path, disk=disk) as (database, path):
        assert database.tactics["disk"] == disk
        for file in (path, Path(f"{path}-log")):
            assert is_direct(file) == (disk == "direct")


@pytest.mark.parametrize("place", ["embedded", "server"])
@pytest.mark.parametrize("disk", ["buffered", "direct"])
def test_a_program_s_term_disk_is_how_the_files_are_open(disk: str, place: str) -> None:
    with loaded_client(f"lode?disk={disk}&place={place}") as client:
        assert client.terms()["disk"] == disk
        (pid,) = client.processes() or ("self",)
        (file,) = (path for path in client.files() if path.name == client.file)  # type: ignore[attr-defined]
        assert is_direct(file, pid) == (disk == "direct")


@pytest.mark.parametrize("asked", ["on", "off"])
def test_hugepages_are_what_the_kernel_was_asked_for(asked: str, tmp_path: Path) -> None:
    with created(tmp_path, hugepages=asked, cache="4MiB") as (database, _):
        fill(database, records=100)
        assert database.tactics["hugepages"] == asked
        assert any(piece.huge for piece in cache_pieces()) == (asked == "on")
        # `on` is: where everything fits.
        fill(database, records=6_000)
        assert not any(piece.huge for piece in cache_pieces())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("lode", "pieces of 2 MiB"),
        ("lode?cache=4194304&shadows=cache", "pieces of 2 MiB"),
        ("lode?hugepages=off", "pages of 4 KiB"),
        ("lode?cache=262144", "pages of 4 KiB"),
    ],
)
def test_a_program_s_term_of_the_memory_behind_the_cache_is_what_the_kernel_was_asked_for(
    text: str, found: str
) -> None:
    """Whatever `hugepages` requests: so a tactic that takes them away has it beside it. That copies
    may lie in the cache does not; that they lie there and leave no room does."""
    with loaded_client(text) as client:
        assert client.terms()["memory behind the cache"] == found
        assert any(piece.huge for piece in cache_pieces()) == (found == "pieces of 2 MiB")


class Piece:
    """A mapping, as /proc/self/smaps shows."""

    def __init__(self, lines: list[str]) -> None:
        self.first, self.end = (int(part, 16) for part in lines[0].split()[0].split("-"))
        reported = dict(line.split(":", 1) for line in lines[1:])
        self.resident_bytes = int(reported["Rss"].split()[0]) * 1024
        self.huge = "hg" in reported["VmFlags"].split()


def cache_pieces() -> list[Piece]:
    """The mappings that lode's one cache in this process consists of."""
    pieces: list[Piece] = []
    lines: list[str] = []
    for line in [*Path("/proc/self/smaps").read_text().splitlines(), "0-0 "]:
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            if lines:
                pieces.append(Piece(lines))
            lines = []
        lines.append(line)
    largest = max(pieces, key=lambda piece: piece.end - piece.first)
    first = largest.end - RESERVED_BYTES
    own = [piece for piece in pieces if first <= piece.first < largest.end]
    assert sum(piece.end - piece.first for piece in own) == RESERVED_BYTES
    return own


def fill(database: Database, records: int) -> list[int]:
    with database.writing() as transaction:
        heap = transaction.heap("a")
        return [heap.insert(b"a" * 900) for _ in range(records)]


@pytest.mark.parametrize("cache_bytes", [1 << 20, 2 << 20])
def test_cache_is_what_is_in_memory_of_a_larger_database(cache_bytes: int, tmp_path: Path) -> None:
    with created(tmp_path, cache=cache_bytes, hugepages="off") as (database, path):
        fill(database, records=20_000)
        database.checkpoint()
        with database.reading() as transaction:
            assert len(transaction.heap("a").scan()) == 20_000
        assert path.stat().st_size > 4 * cache_bytes
        assert database.tactics["cache"] == str(cache_bytes)
        resident_bytes = sum(piece.resident_bytes for piece in cache_pieces())
        assert cache_bytes / 2 < resident_bytes <= cache_bytes


@pytest.mark.parametrize("pages", [4, 8, 16, 32, 64])
def test_extent_is_how_many_pages_of_a_file_lie_together(pages: int, tmp_path: Path) -> None:
    """Of two files that grow side by side."""
    with created(tmp_path, extent=pages) as (database, path):
        with database.writing() as transaction:
            heaps = [(transaction.heap(name), name.encode() * 900) for name in "ab"]
            for _ in range(1_500):
                for heap, record in heaps:
                    heap.insert(record)
        database.checkpoint()
        data = path.read_bytes()
    kinds = [
        max("ab", key=lambda kind: page.count(kind.encode()))
        for start in range(0, len(data), PAGE_BYTES)
        if (page := data[start : start + PAGE_BYTES]).strip(b"\0")
    ]
    runs = Counter(len(list(run)) for _, run in itertools.groupby(kinds))
    assert runs.most_common(1)[0][0] == pages
    with Database(path, "open", extent=4) as again:
        assert again.tactics["extent"] == str(pages)  # as the database was made


@pytest.mark.parametrize("log", ["page-diff", "page-grain", "set-range"])
def test_log_is_what_a_commit_writes_to_the_file(log: str, tmp_path: Path) -> None:
    """For one byte that changed."""
    with created(tmp_path, log=log, durability="full") as (database, path):
        (record,) = fill(database, records=1)
        file = Path(f"{path}-log")
        before = file.read_bytes()
        with database.writing() as transaction:
            transaction.heap("a").update(record, b"a" * 899 + b"b")
        after = file.read_bytes()
        assert database.tactics["log"] == log
    assert len(after) == len(before)  # it grows in steps, ahead of what is written
    pairs = enumerate(zip(before, after, strict=True))
    changed = [place for place, (old, new) in pairs if old != new]
    span_bytes = changed[-1] - changed[0]
    assert (span_bytes > 2 * PAGE_BYTES) == (log == "page-grain")
    assert (span_bytes < 500) == (log == "page-diff")


@pytest.mark.parametrize("shadows", ["beside", "cache"])
def test_shadows_are_what_drives_changed_pages_to_the_file(shadows: str, tmp_path: Path) -> None:
    """Before the commit, of a transaction whose pages fill more than half of the cache."""
    with created(tmp_path, shadows=shadows, cache=64 * PAGE_BYTES, checkpoint="64MiB") as (
        database, path,
    ):  # fmt: skip
        records = fill(database, records=40 * 4)
        database.checkpoint()
        before = path.read_bytes()
        assert database.tactics["shadows"] == shadows
        with database.writing() as transaction:
            heap = transaction.heap("a")
            for record in records:
                heap.update(record, b"z" * 900)
            is_written = path.read_bytes() != before
        assert is_written == (shadows == "cache")


@pytest.mark.parametrize(
    ("locks", "file", "meet"),
    [
        ("database", "b", False),
        ("relation", "b", True),
        ("relation", "a", False),
        ("page", "a", True),
    ],
)
def test_locks_are_what_two_writers_of_two_pages_wait_for(
    locks: str, file: str, meet: bool, tmp_path: Path
) -> None:
    with created(tmp_path, locks=locks) as (database, _):
        with database.writing() as transaction:
            ids = {
                name: [transaction.heap(name).insert(b"x" * 900) for _ in range(50)]
                for name in "ab"
            }
        ended = threading.Event()

        def other() -> None:
            with database.writing() as transaction:
                transaction.heap(file).update(ids[file][40], b"y" * 900)
            ended.set()

        beside = threading.Thread(target=other)
        with database.writing() as transaction:
            transaction.heap("a").update(ids["a"][7], b"y" * 900)
            beside.start()
            # One of the two happens, whichever it is.
            while not ended.wait(0.001) and not database.counters()["locks"]["waits"]:
                pass
            met = ended.is_set()
        beside.join()
        assert database.tactics["locks"] == locks
        assert met == meet


USERS, COMMITS = 8, 25
COMMITTER = f"""
import sys, threading
from loadstone.lode import Database

with Database(sys.argv[1], "create", durability=sys.argv[2]) as database:
    with database.writing() as transaction:
        record = transaction.heap("a").insert(b"x" * 900)
    database.checkpoint()

    def commit(user):
        for turn in range({COMMITS}):
            with database.writing() as transaction:
                transaction.heap("a").update(record, bytes([turn + 1, user]) * 450)

    before = database.counters()["log"]["syncs"]
    users = [threading.Thread(target=commit, args=(user,)) for user in range(int(sys.argv[3]))]
    for user in users:
        user.start()
    for user in users:
        user.join()
    print(database.counters()["log"]["syncs"] - before, database.tactics["durability"])
    database.abandon()
"""
SYNCS = re.compile(r"\b(?:fsync|fdatasync|sync_file_range)\(\d+")


def syncs_of(folder: Path, durability: str, users: int, *tracer: str) -> int:
    """Of the log, for the commits of concurrent users of one record."""
    (folder / "a").unlink(missing_ok=True)
    (folder / "a-log").unlink(missing_ok=True)
    command = [*tracer, sys.executable, "-c", COMMITTER, str(folder / "a"), durability, str(users)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not done.stderr
    counted, reported = done.stdout.split()
    assert reported == durability
    return int(counted)


def test_durability_is_when_the_log_is_synced(tmp_path: Path) -> None:
    # Until it is synced, `full` keeps its lock: nobody else has a commit to share the sync with.
    assert syncs_of(tmp_path, "full", 1) == COMMITS
    assert syncs_of(tmp_path, "full", USERS) == USERS * COMMITS
    assert syncs_of(tmp_path, "group", 1) == COMMITS
    shared = (syncs_of(tmp_path, "group", USERS) < USERS * COMMITS for _ in range(20))
    assert any(shared)
    assert syncs_of(tmp_path, "none", USERS) == 0


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace counts the calls")
@pytest.mark.parametrize("durability", ["full", "group", "none"])
def test_the_syncs_that_lode_counts_are_the_systems(durability: str, tmp_path: Path) -> None:
    counts = []
    for users in (0, 2):
        calls = tmp_path / "calls"
        tracer = ("strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range", "-o")
        try:
            counted = syncs_of(tmp_path, durability, users, *tracer, str(calls))
        except subprocess.CalledProcessError as refused:
            pytest.skip(f"no process may be traced here: {refused.stderr[-200:]}")
        counts.append((counted, len(SYNCS.findall(calls.read_text()))))
    (none, before), (counted, after) = counts
    assert none == 0
    assert after - before == counted
