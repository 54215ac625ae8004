"""SQLite through APSW: one file in the scratch folder, WAL journal, one connection."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import apsw

from loadstone.engines.base import Capabilities, Engine, Structure, Table
from loadstone.errors import EngineError, UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa

CACHE_BYTES_DEFAULT = 256 * 1024 * 1024
BUSY_MS_MAX = 5000

_SYNCHRONOUS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}
_SETTINGS = (
    "journal_mode",
    "page_size",
    "wal_autocheckpoint",
    "mmap_size",
    "temp_store",
    "locking_mode",
    "auto_vacuum",
    "automatic_index",
    "encoding",
)
_HASH_GAP = "SQLite has B-trees only: no hash organisation and no hash index"


class SqliteEngine(Engine):
    """A heap is a rowid table, a clustered relation a WITHOUT ROWID table."""

    name: ClassVar[str] = "sqlite"
    dialect: ClassVar[str] = "sqlite"
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures={
            "heap": Structure(supported=True, note="rowid table: a B-tree in order of insertion"),
            "clustered": Structure(
                supported=True, note="WITHOUT ROWID table: the primary key's B-tree holds the rows"
            ),
            "hash": Structure(supported=False, note=_HASH_GAP),
            "nonclustered": Structure(supported=True),
        },
        tactics={
            "durability": ("full", "none"),
            "cache": (str(CACHE_BYTES_DEFAULT), "<bytes>"),
            "parallelism": ("1",),
        },
    )

    _connection: apsw.Connection | None = None

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """SQLite as linked into APSW, and APSW."""
        return {"sqlite": apsw.sqlite_lib_version(), "apsw": apsw.apsw_version()}

    @property
    def path(self) -> Path:
        """The database file."""
        return self.scratch / "sqlite.db"

    def start(self) -> None:
        """Open the file and set every tactic."""
        self.check(self.variant)
        if self._connection is not None:
            return
        with _errors():
            connection = apsw.Connection(str(self.path))
            self._connection = connection
            connection.set_busy_timeout(BUSY_MS_MAX)
            connection.pragma("journal_mode", "wal")
            durability = self.tactic("durability")
            connection.pragma("synchronous", "OFF" if durability == "none" else "FULL")
            # A negative cache_size counts KiB, a positive one pages.
            connection.pragma("cache_size", -max(1, int(self.tactic("cache")) // 1024))
            connection.pragma("mmap_size", 0)

    def stop(self) -> Sequence[int]:
        """Close: the last connection writes the WAL back and gives up its cache."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with _errors():
                connection.close()
        return ()

    def terms(self) -> Mapping[str, str]:
        """Read back by PRAGMA; what was decided at compile time from the compile options."""
        db = self._open()
        with _errors():
            synchronous = _SYNCHRONOUS[str(db.pragma("synchronous"))]
            options = apsw.compile_options
            statistics = "sqlite_stat1 + stat4" if "ENABLE_STAT4" in options else "sqlite_stat1"
            return {
                "version": apsw.sqlite_lib_version(),
                "durability": "none" if synchronous == "OFF" else "full",
                "isolation": "serializable",
                "cache": str(_cache_bytes(db)),
                "parallelism": "1",
                "setting.synchronous": synchronous,
                "setting.statistics": statistics,
                "setting.threadsafe": next(o for o in options if o.startswith("THREADSAFE")),
                **{f"setting.{name}": str(db.pragma(name)) for name in _SETTINGS},
            }

    def tables(self) -> Sequence[str]:
        """All tables of the file but SQLite's own."""
        query = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        names = [str(row[0]) for row in self.fetch(query)]
        return [name for name in names if not name.startswith("sqlite_")]

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """Insert by one prepared statement in one transaction, indexes included."""
        if table.organisation == "hash":
            raise UnsupportedError(_HASH_GAP, hint="leave the hash structure to another engine")
        db = self._open()
        quoted = self.quote(table.name)
        places = ",".join("?" * len(table.attributes))
        with _errors(), db:
            db.execute(f"DROP TABLE IF EXISTS {quoted}")
            db.execute(self._definition(table))
            insert = f"INSERT INTO {quoted} VALUES ({places})"  # noqa: S608
            for batch in rows:
                columns = (column.to_pylist() for column in batch.columns)
                db.executemany(insert, zip(*columns, strict=True))
            for attribute in table.indexes:
                index = self.quote(f"{table.name}.{attribute}")
                db.execute(f"CREATE INDEX {index} ON {quoted} ({self.quote(attribute)})")
        return int(self.fetch(f"SELECT count(*) FROM {quoted}")[0][0])  # noqa: S608

    def settle(self, tables: Sequence[str]) -> None:
        """ANALYZE each table, then write the WAL back and empty it."""
        db = self._open()
        with _errors():
            for table in tables:
                db.execute(f"ANALYZE {self.quote(table)}")
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def run(self, statement: str) -> int:
        """Step to the end. SQLite counts no rows of a CREATE TABLE AS."""
        db = self._open()
        before = db.total_changes()
        with _errors():
            for _ in db.execute(statement):
                pass
        counted = statement.lstrip()[:6].upper() in ("INSERT", "UPDATE", "DELETE")
        return db.total_changes() - before if counted else -1

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Every row as a tuple."""
        with _errors():
            return self._open().execute(statement).fetchall()

    def read(self, statement: str) -> "list[tuple[Any, ...]] | pa.Table":
        """As `fetch`: there is no quicker way."""
        return self.fetch(statement)

    def drop(self, table: str) -> None:
        """Drop the table; its indexes go with it."""
        with _errors():
            self._open().execute(f"DROP TABLE IF EXISTS {self.quote(table)}")

    def explain(self, statement: str) -> str:
        """EXPLAIN QUERY PLAN, indented by depth."""
        depths = {0: 0}
        lines = []
        for node, parent, _, detail in self.fetch(f"EXPLAIN QUERY PLAN {statement}"):
            depths[node] = depths.get(parent, 0) + 1
            lines.append("  " * (depths[node] - 1) + str(detail))
        return "\n".join(lines) or "(nothing to search or scan)"

    def size_bytes(self) -> int:
        """Pages in use, times their size."""
        db = self._open()
        with _errors():
            pages = _number(db, "page_count") - _number(db, "freelist_count")
            return pages * _number(db, "page_size")

    def files(self) -> Sequence[Path]:
        """The database and its WAL."""
        return [path for path in self._family()[:2] if path.exists()]

    def remove(self) -> None:
        """Close and delete the files."""
        self.stop()
        for path in self._family():
            path.unlink(missing_ok=True)

    def _family(self) -> list[Path]:
        return [self.path.with_name(self.path.name + tail) for tail in ("", "-wal", "-shm")]

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            raise EngineError("sqlite is not started", hint="call start() first")
        return self._connection

    def _definition(self, table: Table) -> str:
        columns = [
            f"{self.quote(a.name)} {'INTEGER' if a.type.startswith('int') else 'TEXT'}"
            for a in table.attributes
        ]
        tail = ""
        if table.organisation == "clustered" and table.key is not None:
            key = [table.key] + ([table.tiebreaker] if table.tiebreaker else [])
            columns.append(f"PRIMARY KEY ({', '.join(self.quote(name) for name in key)})")
            tail = " WITHOUT ROWID"
        return f"CREATE TABLE {self.quote(table.name)} ({', '.join(columns)}){tail}"


def _cache_bytes(db: apsw.Connection) -> int:
    size = _number(db, "cache_size")
    return -size * 1024 if size < 0 else size * _number(db, "page_size")


def _number(db: apsw.Connection, pragma: str) -> int:
    return int(str(db.pragma(pragma)))


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise EngineError(f"sqlite: {error}") from error
