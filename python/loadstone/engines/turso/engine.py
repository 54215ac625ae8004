"""Turso through pyturso, one connection: a file in the scratch folder, with a WAL.

It is a rewrite of SQLite and reads SQLite's files; what its SQL lacks is a gap. A user's file is
one, too: while Turso has a file open, nobody else may open it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import turso

from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Capabilities, Structure, Table
from loadstone.engines.quoting import quoted
from loadstone.engines.sqlite_form import ACCESS, plan_text, zone_of
from loadstone.engines.turso import switches, temporary
from loadstone.engines.turso.loading import fill
from loadstone.engines.turso.session import Session, errors
from loadstone.errors import EngineError, UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

_HASH_GAP = "Turso has B-trees only: no hash organisation and no hash index"


class TursoEngine(Engine):
    """A heap is a rowid table, a clustered relation one in key order with a unique index."""

    name: ClassVar[str] = "turso"
    dialect: ClassVar[str] = "sqlite"
    capabilities: ClassVar[Capabilities] = Capabilities(
        stored_share=0.9,
        structures={
            "heap": Structure(supported=True, note="rowid table: a B-tree in order of insertion"),
            "clustered": Structure(
                supported=True,
                note="rowid table loaded in key order, with a unique index; later rows go to the"
                " end. Tables without a rowid cannot be updated",
            ),
            "hash": Structure(supported=False, note=_HASH_GAP),
            "nonclustered": Structure(supported=True, note="B-tree"),
        },
        tactics=switches.TACTICS,
    )

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self._session: Session | None = None

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Turso, and the SQLite whose dialect it follows."""
        return {"turso": version("pyturso"), "sqlite": turso.sqlite_version}

    @property
    def path(self) -> Path:
        """The database file."""
        return self.scratch / "turso.db"

    @property
    def _temporary(self) -> Path:
        """The folder of what does not fit into memory."""
        return self.scratch / "turso-tmp"

    def start(self) -> None:
        """Open the file, and set every tactic."""
        self.check(self.variant)
        if self._session is not None:
            return
        temporary.claim(self._temporary)
        try:
            with errors(f"cannot open {self.path}"):
                self._session = self._opened()
        except BaseException:
            temporary.release(self._temporary)
            raise

    def _opened(self) -> Session:
        values = {name: self.tactic(name) for name in switches.TACTICS}
        session = Session(self.path)
        try:
            switches.prepare(session, values)
            switches.set_session(session, values)
        except BaseException:
            session.close()
            raise
        return session

    def _switch(self, before: "Variant") -> None:
        """On the connection that is open, with the pages that it has."""
        del before
        if self._session is None:
            self.start()
            return
        values = {name: self.tactic(name) for name in switches.TACTICS}
        with errors():
            switches.set_session(self._session, values)

    def stop(self) -> Sequence[int]:
        """Close: the pages go with the last connection."""
        session, self._session = self._session, None
        if session is not None:
            try:
                with errors():
                    session.close()
            finally:
                temporary.release(self._temporary)
        return ()

    def terms(self) -> Mapping[str, str]:
        """Read back by PRAGMA, and from what is in the file."""
        session = self._open()
        with errors("cannot read the settings"):
            ((release,),) = session.fetch("SELECT turso_version()")
            read = switches.read_terms(session, self.tables())
        if "index" not in read and self.tactic("index") == "none":
            read["index"] = "none"
        timezone = zone_of(self.timezone, self.fetch)
        return {"version": str(release), "timezone": timezone, **read}

    def tables(self) -> Sequence[str]:
        """All tables of the file but its own."""
        query = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        names = [str(row[0]) for row in self.fetch(query)]
        return [name for name in names if not name.startswith("sqlite_")]

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """Insert by a prepared statement in one transaction, indexes included."""
        if table.organisation == "hash":
            raise UnsupportedError(_HASH_GAP, hint="leave the hash structure to another engine")
        with errors(f"cannot load {table.name}"):
            fill(self._open(), table, rows, indexed=self.tactic("index") == "all")
        return int(self.fetch(f"SELECT count(*) FROM {quoted(table.name)}")[0][0])  # noqa: S608

    def settle(self, tables: Sequence[str]) -> None:
        """ANALYZE each table, then write the WAL back and empty it."""
        session = self._open()
        with errors("cannot settle"):
            for table in tables if self.tactic("statistics") == "on" else ():
                session.run(f"ANALYZE {quoted(table)}")
            session.fetch("PRAGMA wal_checkpoint(TRUNCATE)")

    def run(self, statement: str) -> int:
        """Execute to the end."""
        with errors():
            return self._open().run(statement)

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Every row as a tuple."""
        with errors():
            return self._open().fetch(statement)

    def read(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """One row after another."""
        with errors():
            yield from self._open().streamed(statement)

    def interrupt(self) -> None:
        """By the connection's own call."""
        session = self._session
        if session is not None:
            session.interrupt()

    def plan(self, statement: str, query: str) -> None:
        """EXPLAIN, of which the first line is made, too."""
        del query
        with errors():
            self._open().first(f"EXPLAIN {statement}")

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """BEGIN … ROLLBACK."""
        session = self._open()
        with errors():
            session.run("BEGIN")
            try:
                yield
            finally:
                session.run("ROLLBACK")

    def drop(self, table: str) -> None:
        """Drop the table; its indexes go with it."""
        with errors():
            self._open().run(f"DROP TABLE IF EXISTS {quoted(table)}")

    def explain(self, statement: str) -> str:
        """EXPLAIN QUERY PLAN, indented by depth."""
        return plan_text(self.fetch(f"EXPLAIN QUERY PLAN {statement}"))

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """A SEARCH by an index of ours; an ephemeral index is the engine's own, made for the
        statement after a scan."""
        del statement
        steps = (line.strip() for line in plan.splitlines())
        return sorted({_access_path(step) for step in steps if ACCESS.match(step)})

    def size_bytes(self) -> int:
        """Pages in use, times their size."""
        session = self._open()
        with errors("cannot read the size"):
            pages = int(session.pragma("page_count")) - int(session.pragma("freelist_count"))
            return pages * int(session.pragma("page_size"))

    def stored_name(self, name: str) -> str:
        """In small letters, as Turso writes a name of ASCII down, quoted or not."""
        return name.lower() if name.isascii() else name

    @contextmanager
    def another(self) -> Iterator[Engine]:
        """A connection of its own to the same file, with a cache of its own."""
        self._open()
        other = type(self)(self.variant, self.scratch, self.owner)
        other.timezone = self.timezone
        with errors(f"cannot open {self.path}"):
            other._session = other._opened()  # noqa: SLF001 - an instance of this class
        try:
            yield other
        finally:
            with errors():
                session, other._session = other._session, None  # noqa: SLF001
                if session is not None:
                    session.close()

    def remove(self) -> None:
        """Close, and delete the files."""
        self.stop()
        for tail in ("", "-wal", "-log", "-shm", "-tshm"):
            self.path.with_name(self.path.name + tail).unlink(missing_ok=True)
        for folder in (*self._temporary.glob("*"), self._temporary):
            _remove_folder(folder)

    def _open(self) -> Session:
        if self._session is None:
            raise EngineError("turso is not started", hint="call start() first")
        return self._session


def _remove_folder(folder: Path) -> None:
    """A folder with files of a sort's, which stay where the process was killed."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        path.unlink(missing_ok=True)
    folder.rmdir()


def _access_path(step: str) -> str:
    """The structure in a step of a plan, which is written as SQLite's. The index of a constraint is
    that of the key in whose order a table was loaded."""
    if " INDEX sqlite_autoindex_" in step or " USING INTEGER PRIMARY KEY" in step:
        return "clustered"
    by_index = " USING INDEX " in step or " USING COVERING INDEX " in step
    return "heap" if " INDEX ephemeral_" in step or not by_index else "nonclustered"
