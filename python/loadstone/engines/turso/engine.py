"""Turso through pyturso: a file in the scratch folder, with a WAL.

It is a rewrite of SQLite and reads SQLite's files; what its SQL lacks is a gap. A user's file is
one, too: while Turso has a file open, nobody else may open it.
"""

import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import turso

from loadstone.engines.capabilities import Capabilities, Structure, Table
from loadstone.engines.sqlite_family import (
    BUSY_MS_MAX,
    SYNCHRONOUS,
    SqliteFamily,
    cache_bytes,
    zone_of,
)
from loadstone.engines.tactic import beside

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

VALUES_MAX = 2000
"""In one statement: of 8 attributes, 200 rows at a time took 0.75 of what one at a time took."""
SHOWN = (
    "synchronous", "journal_mode", "cache_size", "page_size", "auto_vacuum", "encoding",
    "locking_mode", "temp_store", "cache_spill", "busy_timeout", "foreign_keys",
)  # fmt: skip
"""The pragmas that are terms; those that Turso lacks read back as nothing."""
_DURABILITIES = {"FULL": "full", "EXTRA": "full", "OFF": "none"}
"""`full` if a commit waits for the device, as its system calls showed: at FULL one `fsync` of the
log for each, at OFF one for the first after a checkpoint alone."""
_PANIC = "PanicException"
"""A bug of the engine's that its driver passes on; it is no `Exception` there."""
_TMPDIR = "TMPDIR"
_claimed: list[Path] = []
_tmpdir_before: list[str | None] = []


class TursoEngine(SqliteFamily):
    """One connection, on which each statement is its own transaction."""

    name: ClassVar[str] = "turso"
    driver_errors: ClassVar[tuple[type[BaseException], ...]] = (BaseException,)
    # Ordinary: a temporary table would make files outside of the scratch folder.
    stage: ClassVar[str] = '"loadstone unordered"'
    by_key: ClassVar[Sequence[str]] = (*SqliteFamily.by_key, " USING INTEGER PRIMARY KEY")
    endings: ClassVar[Sequence[str]] = ("-wal", "-log", "-shm", "-tshm")
    capabilities: ClassVar[Capabilities] = Capabilities(
        stored_share=0.9,
        structures={
            "heap": Structure(supported=True, note="rowid table: a B-tree in order of insertion"),
            "clustered": Structure(
                supported=True,
                note="rowid table loaded in key order, with a unique index; later rows go to the"
                " end. Tables without a rowid cannot be updated",
            ),
            "hash": Structure(
                supported=False,
                note="Turso has B-trees only: no hash organisation and no hash index",
            ),
            "nonclustered": Structure(supported=True, note="B-tree"),
        },
        tactics=beside(__file__),
    )

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Turso, and the SQLite whose dialect it follows."""
        return {"turso": version("pyturso"), "sqlite": turso.sqlite_version}

    def connect(self) -> Any:
        """With the page size that a file must have before its first table."""
        connection = turso.connect(str(self.path), isolation_level=None)
        try:
            _set(connection, busy_timeout=BUSY_MS_MAX, page_size=int(self.tactic("page_size")))
            self._set_session(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_session(self, connection: Any) -> None:
        """The tactics that a connection takes at any time."""
        synchronous = "OFF" if self.tactic("durability") == "none" else "FULL"
        # A negative cache_size counts KiB, a positive one pages.
        cache_size = -max(1, int(self.tactic("cache")) // 1024)
        _set(connection, synchronous=synchronous, cache_size=cache_size)

    def is_driver_error(self, error: BaseException) -> bool:
        """Also a panic, and what the driver's Rust part raises."""
        kind = type(error)
        package = kind.__module__.partition(".")[0]
        return kind.__name__ == _PANIC or package in ("turso", "_turso")

    def hint(self, error: BaseException) -> str:
        """About a file that another process has open."""
        locked = "locked by another process" in str(error)
        return "end the other program: Turso lets one at a time open a file" if locked else ""

    @property
    def _temporary(self) -> Path:
        """The folder of what does not fit into memory."""
        return self.scratch / "turso-tmp"

    def start(self) -> None:
        """With a folder of its own for what does not fit into memory."""
        if self._connection is not None:
            return
        _claim(self._temporary)
        try:
            super().start()
        except BaseException:
            _release(self._temporary)
            raise

    def stop(self) -> Sequence[int]:
        """Close: the pages go with the last connection."""
        try:
            return super().stop()
        finally:
            _release(self._temporary)

    def _switch(self, before: "Variant") -> None:
        """On the connection that is open, with the pages that it has."""
        del before
        if self._connection is None:
            self.start()
            return
        with self.errors():
            self._set_session(self.connection)

    def terms(self) -> Mapping[str, str]:
        """Read back by PRAGMA, and from what is in the file."""
        with self.errors("cannot read the settings"):
            ((release,),) = self.execute("SELECT turso_version()").fetchall()
            read = {name: self.pragma(name) for name in SHOWN}
            synchronous = SYNCHRONOUS.get(read["synchronous"], read["synchronous"])
            wal = read["journal_mode"] == "wal"
            return {
                "version": str(release),
                "timezone": zone_of(self.timezone, self.fetch),
                "durability": _DURABILITIES.get(synchronous, f"synchronous={synchronous}"),
                "isolation": "serializable" if wal else f"journal_mode={read['journal_mode']}",
                "cache": str(cache_bytes(int(read["cache_size"]), int(read["page_size"]))),
                # A statement has the thread that calls, and there is no setting for more.
                "parallelism": "1",
                "page_size": read["page_size"],
                **{f"setting.{name}": word or "not here" for name, word in read.items()},
                "setting.synchronous": synchronous,
                **self._terms_of_loaded(),
            }

    def _terms_of_loaded(self) -> dict[str, str]:
        found = {}
        query = "SELECT origin FROM pragma_index_list(?)"
        origins = [row[0] for table in self.tables() for row in self.execute(query, table)]
        if "c" in origins:  # of CREATE INDEX
            found["index"] = "all"
        elif self.tactic("index") == "none":
            found["index"] = "none"
        if self._has_statistics():
            found["statistics"] = "on"
        elif origins:
            found["statistics"] = "off"
        return found

    def _has_statistics(self) -> bool:
        query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'sqlite_stat1'"
        if not self.execute(query).fetchall():
            return False
        return bool(self.execute("SELECT 1 FROM sqlite_stat1 LIMIT 1").fetchall())

    def insert(self, into: str, table: Table, batch: "pa.RecordBatch") -> None:
        """Many rows at a time, and the last few one by one."""
        width = len(table.attributes)
        rows = list(self.values(batch, table))
        many = max(1, VALUES_MAX // width)
        whole = len(rows) - len(rows) % many
        one = f"({','.join('?' * width)})"
        insert = f"INSERT INTO {into} VALUES "  # noqa: S608 - quoted
        groups = (tuple(chain.from_iterable(rows[at : at + many])) for at in range(0, whole, many))
        if whole:
            self.connection.executemany(insert + ",".join([one] * many), groups)
        if whole < len(rows):
            self.connection.executemany(insert + one, rows[whole:])

    def settle(self, tables: Sequence[str]) -> None:
        """ANALYZE each table, then write the WAL back and empty it."""
        with self.errors("cannot settle"):
            for table in tables if self.tactic("statistics") == "on" else ():
                self.execute(f"ANALYZE {self.quote(table)}").fetchall()
            self.pragma("wal_checkpoint(TRUNCATE)")

    def plan(self, statement: str, query: str) -> None:
        """EXPLAIN, of which the first line is made, too."""
        del query
        with self.errors():
            cursor = self.execute(f"EXPLAIN {statement}")
            cursor.fetchone()
            cursor.close()

    def stored_name(self, name: str) -> str:
        """In small letters, as Turso writes a name of ASCII down, quoted or not."""
        return name.lower() if name.isascii() else name

    def family(self) -> Sequence[Path]:
        """Also the folder of sorts, whose files stay where a process was killed."""
        return [*super().family(), self._temporary]


def _set(connection: Any, **pragmas: object) -> None:
    for name, value in pragmas.items():
        connection.execute(f"PRAGMA {name} = {value}").fetchall()


def _claim(folder: Path) -> None:
    """Have this folder take what does not fit into memory: Turso asks the process for it."""
    folder.mkdir(exist_ok=True)
    if not _claimed:
        _tmpdir_before[:] = [os.environ.get(_TMPDIR)]
    _claimed.append(folder)
    os.environ[_TMPDIR] = str(folder)


def _release(folder: Path) -> None:
    """End that: another open database has its own again, and without one the process has what it
    had. They may close in any order."""
    if folder not in _claimed:
        return
    _claimed.remove(folder)
    last = str(_claimed[-1]) if _claimed else _tmpdir_before[0]
    if last is None:
        os.environ.pop(_TMPDIR, None)
    else:
        os.environ[_TMPDIR] = last
