"""The only way to open a record, which may come from anybody.

The bytes are read once, under the lock that a writer respects, and then examined in memory: SQLite
never opens the file or its neighbours, and nothing is written there. A journal that a killed run
left is rolled back by SQLite on a private copy of both. Before any other statement runs, the
definitions in the file must equal ours: no view, no trigger, no other table. The contents of the
tables are checked when they are read, against `schema`.
"""

import errno
import fcntl
import os
import sqlite3
import stat
import struct
import tempfile
import time
from contextlib import closing
from functools import cache
from pathlib import Path

from loadstone.errors import RecordError
from loadstone.record.schema import APPLICATION_ID, SCHEMA_VERSION, TABLES, definitions

FILE_BYTES_MAX = 1 << 30
"""Of a record: it is read as a whole."""
STEPS_MAX = 1_000_000
"""Thousands of steps of SQLite's programs before a statement is given up as endless."""
LOCK_TRIES, LOCK_PAUSE_S = 500, 0.01
_SQLITE = b"SQLite format 3\0"
_DEFINED = "SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT ?"
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_JOURNAL_HEADER = struct.Struct(">8sIIIII")
_PAGES = frozenset(1 << power for power in range(9, 17))
_SECTORS = frozenset(1 << power for power in range(5, 17))
_RESERVED_BYTE, _SHARED_FIRST, _SHARED_BYTES = 0x40000001, 0x40000002, 510
"""The bytes by which SQLite locks a file (os.h): a writer at work, and readers."""
_FLOCK = struct.Struct("@hhqqi")
"""The kernel's `struct flock`, for `fcntl`."""


def opened(path: Path) -> sqlite3.Connection:
    """A record's content, in memory and for reading. Raises `RecordError` with the reason."""
    return _looked_at(content(path), path)


def owned(path: Path) -> sqlite3.Connection:
    """A record opened for writing by the run that owns it: first examined as `opened` does; then
    SQLite rolls back the journal of a killed run. Raises `RecordError`."""
    data = content(path)
    _looked_at(data, path).close()
    check_beside(path)
    try:
        connection = sqlite3.connect(
            f"{_real(path).as_uri()}?mode=rw", uri=True, isolation_level=None
        )
        connection.execute("PRAGMA trusted_schema=OFF")
        check_definitions(connection, path)
    except sqlite3.Error as error:
        raise RecordError(
            f"cannot write the record {path}: {error}", hint="make it and its folder writable"
        ) from error
    if content(path) != data:
        connection.close()
        raise RecordError(
            f"{path} changed while it was opened", hint="does another program write to it?"
        )
    return connection


def _looked_at(data: bytes, path: Path) -> sqlite3.Connection:
    _check_header(data, path)
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        _confine(connection)
        connection.deserialize(data)
        check_definitions(connection, path)
        if (found := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise RecordError(f"{path} is damaged: {found}", hint="it may be truncated")
    except (sqlite3.Error, UnicodeDecodeError) as error:
        connection.close()
        raise RecordError(f"{path} is damaged: {error}", hint="it may be truncated") from error
    except RecordError:
        connection.close()
        raise
    return connection


def check_beside(path: Path) -> None:
    """Refuse to write a record if SQLite's own file names beside it are taken: a foreign file of
    such a name would be overwritten or removed. Raises `RecordError`."""
    path = _real(path)
    for suffix in ("-journal", "-wal", "-shm"):
        beside = _beside(path, suffix)
        try:
            found = beside.lstat()
        except OSError:
            continue
        if suffix == "-journal" and stat.S_ISREG(found.st_mode):
            start = _bytes(beside)
            if _is_journal(start) and not _names_a_file(start):
                continue
        raise RecordError(
            f"{beside} is in the way: a record writes a file of that name, and this is not its own",
            hint="move it away, or name another record",
        )


def content(path: Path) -> bytes:
    """A record's bytes as the last transaction that ended left them. Raises `RecordError`."""
    real = _real(path)
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise RecordError(f"there is no record {path}", hint="`loadstone run` writes one") from None
    except OSError as error:
        raise RecordError(f"cannot read the record {path}: {error.strerror}") from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise RecordError(f"{path} is not a file")
        if found.st_size > FILE_BYTES_MAX:
            raise RecordError(f"{path} exceeds {FILE_BYTES_MAX:,} bytes, the limit of a record")
        _lock(descriptor, path)
        data = _all(descriptor, FILE_BYTES_MAX)
        left = b"" if _being_written(descriptor) else _bytes(_beside(real, "-journal"))
    finally:
        os.close(descriptor)  # which gives the lock back
    return _rolled_back(data, left, path) if data and left.strip(b"\0") else data


def _rolled_back(data: bytes, journal: bytes, path: Path) -> bytes:
    """The content before the transaction that the journal belongs to, as SQLite restores it from a
    copy of both. Raises `RecordError`."""
    if _names_a_file(journal):
        raise RecordError(
            f"{path} cannot be read: its journal names another file, which no record's journal does"
        )
    try:
        with tempfile.TemporaryDirectory(prefix="loadstone-") as folder:
            copy = Path(folder, "record")
            copy.write_bytes(data)
            _beside(copy, "-journal").write_bytes(journal)
            with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                _confine(connection)
                connection.execute("PRAGMA schema_version")
            if copy.stat().st_size > FILE_BYTES_MAX:
                raise RecordError(f"{path}: its journal makes it larger than a record may be")
            return copy.read_bytes()
    except (OSError, sqlite3.Error) as error:
        raise RecordError(f"{path} cannot be read: its journal: {error}") from error


def _names_a_file(journal: bytes) -> bool:
    """Whether it belongs to a transaction over several files, which no record is written in:
    SQLite would remove the file that it names."""
    return journal.endswith(JOURNAL_MAGIC) and len(journal) > _JOURNAL_HEADER.size


def _is_journal(found: bytes) -> bool:
    """Whether SQLite left it: empty, of zeros, or with a header.

    Until SQLite syncs a journal, zeros stand for the magic number and the count of pages, though
    the rest of the header and pages follow: a kill leaves that behind in most transactions.
    """
    if not found.strip(b"\0"):
        return True
    if not found.startswith((JOURNAL_MAGIC, bytes(12))):
        return False
    if len(found) < _JOURNAL_HEADER.size:
        return True  # cut off by a full disk
    *_, sector_bytes, page_bytes = _JOURNAL_HEADER.unpack_from(found)
    return sector_bytes in _SECTORS and page_bytes in _PAGES


def check_definitions(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that defines anything but a record's tables. Raises `RecordError`."""
    found = connection.execute(_DEFINED, (len(TABLES) + 1,)).fetchall()
    if sorted(found) != _made_by(definitions()):
        raise RecordError(
            f"{path} does not have the tables of a record of schema {SCHEMA_VERSION}",
            hint="it is damaged, or was made by another program",
        )


@cache
def _made_by(script: str) -> list[tuple[str, ...]]:
    """The definitions of tables as SQLite keeps them."""
    with closing(sqlite3.connect(":memory:")) as ours:
        ours.executescript(script)
        return sorted(ours.execute(_DEFINED, (-1,)))


def _check_header(data: bytes, path: Path) -> None:
    """Refuse files that are no record of ours, or of another format."""
    if not data:
        raise RecordError(
            f"{path} is empty: its run ended before it began", hint="start the run again"
        )
    if not data.startswith(_SQLITE) or len(data) < 512:
        raise RecordError(
            f"{path} is not a readable record: file is not a database",
            hint="it may be truncated or not ours",
        )
    version = int.from_bytes(data[60:64], signed=True)  # as SQLite reads `user_version`
    application = int.from_bytes(data[68:72])
    if application != APPLICATION_ID:
        raise RecordError(f"{path} is a SQLite file, but not a Loadstone record")
    if version != SCHEMA_VERSION:
        raise RecordError(
            f"{path} has schema {version}; this Loadstone reads {SCHEMA_VERSION}",
            hint="read it with the Loadstone that wrote it",
        )
    if data[18:20] != b"\1\1":
        raise RecordError(
            f"{path} was put into WAL mode by another program",
            hint="sqlite3 FILE 'PRAGMA journal_mode=DELETE' puts it back",
        )


def _confine(connection: sqlite3.Connection) -> None:
    """Limit the file's statements to its own tables, and to finite time."""
    steps = iter(range(STEPS_MAX))
    connection.set_progress_handler(lambda: next(steps, None) is None, 1_000)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1 << 27)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    connection.execute("PRAGMA query_only=ON")


def _lock(descriptor: int, path: Path) -> None:
    """SQLite's shared lock, so that no commit is half read. Closing the file releases it."""
    for _ in range(LOCK_TRIES):
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, _SHARED_BYTES, _SHARED_FIRST)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EAGAIN):
                return  # a file system without locks: then nobody writes beside us, either
            # Another process notifies nobody when its lock goes: it can only be asked again.
            time.sleep(LOCK_PAUSE_S)  # noqa: TID251
        else:
            return
    raise RecordError(f"{path} is locked: another program writes to it", hint="try again")


def _being_written(descriptor: int) -> bool:
    """Whether a process holds SQLite's writer lock: then the journal beside it is its own."""
    asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, _RESERVED_BYTE, 1, 0)
    try:
        kind, *_ = _FLOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    except OSError:
        return False
    return bool(kind != fcntl.F_UNLCK)


def _real(path: Path) -> Path:
    """The path without links: a journal is named after the file, not after a link to it."""
    return Path(os.path.realpath(path))


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _bytes(path: Path) -> bytes:
    """A file's bytes; none if no regular file has that name."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG):
            return b""
        raise RecordError(f"cannot read {path}: {error.strerror}") from error
    try:
        ours = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return _all(descriptor, FILE_BYTES_MAX) if ours else b""
    finally:
        os.close(descriptor)


def _all(descriptor: int, bytes_max: int) -> bytes:
    parts = []
    while bytes_max > 0 and (part := os.read(descriptor, min(bytes_max, 1 << 24))):
        parts.append(part)
        bytes_max -= len(part)
    return b"".join(parts)
