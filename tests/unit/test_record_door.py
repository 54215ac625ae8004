"""A record comes in by one door: nothing that it holds or that lies beside it is carried out."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from test_record import AT, CELLS, fresh, result

from loadstone.errors import RecordError
from loadstone.plan.plan import SAMPLES_MAX
from loadstone.record import Recorder, door, read, reader
from loadstone.record.door import JOURNAL_MAGIC


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "r.loadstone"
    recorder = fresh(path)
    recorder.cell(result(CELLS[0]))
    recorder.end("interrupted", 1)
    return path


def listing(folder: Path) -> dict[str, object]:
    """Everything in a folder, with what it is."""
    return {
        path.name: path.read_bytes()
        if path.is_file() and not path.is_symlink()
        else path.lstat()[:3]
        for path in folder.iterdir()
    }


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
SCHEMAS = {
    "a view that does not end": "ALTER TABLE sample RENAME TO s; CREATE VIEW sample AS "
    f"{ENDLESS} SELECT s.* FROM s, n",
    "a view of the run": f"ALTER TABLE run RENAME TO r; CREATE VIEW run AS {ENDLESS} SELECT r.* "
    "FROM r, n WHERE i > 1000000000000",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON session BEGIN DELETE FROM cell; END",
    "another table": "CREATE TABLE notes (a)",
    "an index": "CREATE INDEX i ON cell (status)",
    "a virtual table": "CREATE VIRTUAL TABLE v USING fts5(a)",
    "a column more": "ALTER TABLE cell ADD COLUMN more TEXT",
    "a generated column": "ALTER TABLE cell ADD COLUMN more AS (hex(zeroblob(1000000000)))",
    "a table less": "DROP TABLE answer",
    "a check": "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, "
    "'answer_ok INTEGER NOT NULL', 'answer_ok INTEGER NOT NULL CHECK (load_extension(''x''))')",
    "no SQL at all": "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE' || "
    "zeroblob(9)",
    "two tables in one place": "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage = 2",
}


@pytest.mark.parametrize("change", SCHEMAS.values(), ids=SCHEMAS)
def test_a_file_that_defines_anything_else_is_refused_unread(record: Path, change: str):
    with closing(sqlite3.connect(record)) as connection:
        connection.executescript(change)
    before = listing(record.parent)
    for opened in (read, Recorder.resume):
        with pytest.raises(RecordError, match=r"does not have the tables|damaged"):
            opened(record)
    assert listing(record.parent) == before


def crafted(name: Path, page_bytes: int = 4096) -> bytes:
    """A journal that makes SQLite remove the file `name`, whose transaction it belongs to."""
    encoded = str(name).encode()
    header = JOURNAL_MAGIC + bytes(4) + bytes(4) + (1).to_bytes(4) + (512).to_bytes(4)
    header += page_bytes.to_bytes(4) + bytes(512 - 28)
    checksum = sum(encoded).to_bytes(4)
    locked = (0x40000000 // page_bytes + 1).to_bytes(4)
    return header + locked + encoded + len(encoded).to_bytes(4) + checksum + JOURNAL_MAGIC


def test_a_journal_that_names_a_file_removes_none(record: Path):
    victim = record.with_name("thesis")
    victim.write_bytes(b"")  # a list of journals that is empty: nobody needs it any more
    record.with_name(f"{record.name}-journal").write_bytes(crafted(victim))
    before = listing(record.parent)
    for opened in (read, Recorder.resume):
        with pytest.raises(RecordError, match="names another file"):
            opened(record)
    assert listing(record.parent) == before


def test_a_journal_that_makes_a_record_too_large_is_refused(record: Path, monkeypatch):
    monkeypatch.setattr(door, "FILE_BYTES_MAX", 1 << 20)
    header = JOURNAL_MAGIC + bytes(8) + (1 << 9).to_bytes(4)
    header += (512).to_bytes(4) + (4096).to_bytes(4) + bytes(512 - 28)
    record.with_name(f"{record.name}-journal").write_bytes(header)
    before = listing(record.parent)
    with pytest.raises(RecordError, match="larger than a record may be"):
        read(record)
    assert listing(record.parent) == before


@pytest.mark.parametrize(("table", "columns", "values"), [
    ("event", "session_id, at, kind, variant, message", f"1, '{AT}', 'reported', '', ''"),
    ("sample", "cell_id, ordinal, round, variation, started_ns, elapsed_ns", "1, n, 0, 0, 1, 1"),
])  # fmt: skip
def test_a_record_of_too_many_rows_is_refused(
    record: Path, table: str, columns: str, values: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reader.ROWS_MAX >= 2 * SAMPLES_MAX  # what a run writes must be read
    with closing(sqlite3.connect(record)) as connection:
        connection.executescript(
            "WITH RECURSIVE c(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM c WHERE n < 400)"
            f" INSERT INTO {table} ({columns}) SELECT {values} FROM c"
        )
    read(record)
    monkeypatch.setattr(reader, "ROWS_MAX", 300)
    with pytest.raises(RecordError, match=f"its table {table} has more than 300 rows"):
        read(record)


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("kind", ["text", "link", "folder", "fifo"])
def test_a_file_in_the_way_of_a_record_is_kept(record: Path, suffix: str, kind: str):
    victim = record.with_name("thesis")
    victim.write_text("years of work")
    beside = record.with_name(record.name + suffix)
    if kind == "text":
        beside.write_text("years of work")
    elif kind == "link":
        beside.symlink_to(victim)
    elif kind == "folder":
        beside.mkdir()
    else:
        os.mkfifo(beside)
    before = listing(record.parent)
    assert len(read(record).results) == 1
    with pytest.raises(RecordError, match="is in the way"):
        Recorder.resume(record)
    assert listing(record.parent) == before
    record.unlink()
    with pytest.raises(RecordError, match="is in the way"):
        fresh(record)
    assert victim.read_text() == "years of work"
    assert os.path.lexists(beside)


@pytest.mark.parametrize("events", [1, 100])
def test_a_kill_at_any_point_of_a_transaction_leaves_a_record_to_go_on_with(
    record: Path, tmp_path: Path, events: int
):
    """`events` many overflow the cache and have the journal synced; few leave it as it began."""
    before = read(record)
    killed = tmp_path / "killed.loadstone"
    recorder = Recorder.resume(record)
    recorder._connection.execute("PRAGMA cache_size=1")
    recorder._connection.execute("BEGIN")
    event = (1, AT, "x", "x", "x" * 5000)
    recorder._connection.executemany("INSERT INTO event VALUES (?,?,?,?,?)", [event] * events)
    killed.write_bytes(record.read_bytes())
    left = record.with_name(f"{record.name}-journal").read_bytes()
    assert left.startswith(JOURNAL_MAGIC) == (events > 1)
    recorder._connection.execute("ROLLBACK")
    for length in {0, 12, 20, 28, 512, len(left) // 2, len(left)}:
        killed.with_name(f"{killed.name}-journal").write_bytes(left[:length])
        if events == 1 or length == len(left):
            assert read(killed).results == before.results
            with closing(Recorder.resume(killed)._connection):
                pass


def test_only_a_file_is_a_record(record: Path):
    fifo, folder = record.with_name("fifo"), record.with_name("folder")
    loop, link = record.with_name("loop"), record.with_name("link")
    os.mkfifo(fifo)
    folder.mkdir()
    loop.symlink_to(loop)
    link.symlink_to(record)
    for path in (fifo, folder, loop, Path("/dev/zero"), Path("/dev/null"), record / "below"):
        for opened in (read, Recorder.resume):
            with pytest.raises(RecordError):
                opened(path)
        if path != loop:
            with pytest.raises(RecordError):
                fresh(path)
    assert read(link) == read(record)


def test_a_file_in_wal_mode_is_refused_and_its_log_left_alone(record: Path):
    with closing(sqlite3.connect(record)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("DELETE FROM cell")
        connection.commit()
        before = listing(record.parent)
        with pytest.raises(RecordError, match="WAL mode"):
            read(record)
        assert listing(record.parent) == before
