"""chDB: ClickHouse as a library in the worker's process, a folder in the scratch folder.

Its statements for changing tuples are mutations of whole parts, so changes are a gap.
"""

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Capabilities, Estimate, Structure, Table
from loadstone.engines.chdb import loading, plans
from loadstone.engines.chdb.session import SPACE, Session, errors
from loadstone.engines.tactic import beside
from loadstone.errors import EngineError, UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

TACTICS = beside(__file__)
_HASH_GAP = "MergeTree orders rows by a key: no hash organisation and no hash index"
_INDEX_GAP = "MergeTree has no secondary index that finds a tuple, only marks of blocks to skip"
_UPDATE_GAP = (
    "ClickHouse changes tuples by mutations, which rewrite parts, report no count and cannot be"
    " taken back"
)
_CHANGES = ("DELETE", "UPDATE", "ALTER", "TRUNCA")
_JOIN = {
    "auto": "direct,parallel_hash,hash,ie_join",
    "hash": "hash",
    "merge": "full_sorting_merge",
}
"""`join_algorithm`; the first is ClickHouse's own default."""
_PART = re.compile(r"\.(bin|c?idx|c?mrk\d?)$")
"""The files of rows, of the places where they begin, and of the keys of some."""
_CACHES = (
    "mark_cache_size", "primary_index_cache_size", "index_mark_cache_size",
    "uncompressed_cache_size", "page_cache_max_size",
)  # fmt: skip
_SHOWN = (
    "join_algorithm", "max_threads", "max_bytes_before_external_sort", "max_memory_usage",
    "max_block_size", "compile_expressions", "local_filesystem_read_method",
    "min_bytes_to_use_direct_io", "query_plan_optimize_join_order_algorithm",
)  # fmt: skip


class ChdbEngine(Engine):
    """A heap is a MergeTree without a key, a clustered relation one in the key's order."""

    name: ClassVar[str] = "chdb"
    dialect: ClassVar[str] = "clickhouse"
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures={
            "heap": Structure(
                supported=True, note="MergeTree without a key: columns in order of insertion"
            ),
            "clustered": Structure(
                supported=True, note="MergeTree in key order, found by a sparse index of its blocks"
            ),
            "hash": Structure(supported=False, note=_HASH_GAP),
            "nonclustered": Structure(supported=False, note=_INDEX_GAP),
        },
        tactics=TACTICS,
        no_updates=_UPDATE_GAP,
        estimate=Estimate(start_s=0.2),
    )

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self._session: Session | None = None

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """The package, and that of its core."""
        return {"chdb": version("chdb"), "chdb-core": version("chdb-core")}

    @property
    def path(self) -> Path:
        """The folder of the database."""
        return self.scratch / "chdb"

    def _settings(self) -> dict[str, str]:
        return {
            "max_threads": self.tactic("parallelism"),
            "join_algorithm": _JOIN[self.tactic("join")],
            "session_timezone": self.timezone,
        }

    def start(self) -> None:
        """Open the folder, and set every tactic."""
        self.check(self.variant)
        if self._session is not None:
            return
        with errors(f"cannot open {self.path}"):
            session = self._session = Session(self.path, self._settings())
            # Background work would fall into some samples and not into others.
            session.ask("SYSTEM STOP MERGES")

    def _switch(self, before: "Variant") -> None:
        """In the session that is open."""
        del before
        if self._session is None:
            self.start()
            return
        with errors():
            self._session.set(self._settings())

    def stop(self) -> Sequence[int]:
        """Close: the server in this process ends, and with it what it had in memory."""
        session, self._session = self._session, None
        if session is not None:
            with errors():
                session.close()
        return ()

    def terms(self) -> Mapping[str, str]:
        """Read back from `system.settings` and its like."""
        session = self._open()
        with errors("cannot read the settings"):
            ((release,),) = session.fetch("SELECT version()")
            settings = dict(session.fetch("SELECT name, value FROM system.settings"))
            of_server = dict(session.fetch("SELECT name, value FROM system.server_settings"))
            stored = dict(session.fetch("SELECT name, value FROM system.merge_tree_settings"))
        words = {value: word for word, value in _JOIN.items()}
        join = settings["join_algorithm"]
        return {
            "version": f"ClickHouse {release}",
            "durability": "full" if stored["fsync_after_insert"] == "1" else "none",
            "isolation": "snapshot of each statement",
            "timezone": settings["session_timezone"],
            "cache": str(sum(int(of_server.get(name, 0)) for name in _CACHES)),
            "parallelism": settings["max_threads"],
            "join": words.get(join, f"join_algorithm={join}"),
            **{f"setting.{name}": of_server.get(name, "not here") for name in _CACHES},
            **{f"setting.{name}": settings.get(name, "not here") for name in _SHOWN},
            "setting.fsync_after_insert": stored["fsync_after_insert"],
        }

    def tables(self) -> Sequence[str]:
        """All tables of our database."""
        query = f"SELECT name FROM system.tables WHERE database = '{SPACE}' ORDER BY name"  # noqa: S608
        return [str(row[0]) for row in self.fetch(query)]

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """INSERT … SELECT from Arrow, a part for each batch; `settle` makes one of them."""
        if table.organisation == "hash":
            raise UnsupportedError(_HASH_GAP, hint="leave the hash structure to another engine")
        if table.organisation == "heap" and table.indexes:
            raise UnsupportedError(_INDEX_GAP, hint="leave secondary indexes to another engine")
        session = self._open()
        try:
            with errors(f"cannot load {table.name}"):
                loading.fill(session, table, rows)
                if table.primary_key:
                    loading.refuse_twice(session, table)
        except BaseException:
            # Its first rows alone would pass for the table.
            self.drop(table.name)
            raise
        return int(self.fetch(f"SELECT count(*) FROM {self.quote(table.name)}")[0][0])  # noqa: S608

    def settle(self, tables: Sequence[str]) -> None:
        """Merge the parts of each table into one."""
        session = self._open()
        with errors("cannot settle"):
            for table in map(self.quote, tables):
                session.ask(f"SYSTEM START MERGES {table}")
                session.ask(f"OPTIMIZE TABLE {table} FINAL")
                session.ask(f"SYSTEM STOP MERGES {table}")

    def run(self, statement: str) -> int:
        """Execute to the end; a relation that it makes has a count that is not reported."""
        if statement.lstrip()[:6].upper() in _CHANGES:
            self.explain(statement)  # an error of the statement goes before the gap
            raise UnsupportedError(_UPDATE_GAP)
        with errors():
            self._open().ask(statement)
        return -1

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Every row as a tuple."""
        with errors():
            return self._open().fetch(statement)

    def read(self, statement: str) -> "pa.Table":
        """As an Arrow table."""
        with errors():
            return self._open().arrow(statement)

    def interrupt(self) -> None:
        """KILL QUERY, in a session of its own."""
        session = self._session
        if session is not None:
            with errors("cannot end a statement"):
                session.interrupt()

    def plan(self, statement: str, query: str) -> None:
        """EXPLAIN, which writes the plan down, too."""
        del statement
        with errors():
            self._open().ask(f"EXPLAIN {query}")

    def drop(self, table: str) -> None:
        """Drop the table and its files."""
        with errors():
            self._open().ask(f"DROP TABLE IF EXISTS {self.quote(table)} SYNC")

    def explain(self, statement: str) -> str:
        """EXPLAIN with what the key leaves to be read; of what changes tuples, its query's."""
        query = f"EXPLAIN indexes = 1 {plans.query_of(statement)}"
        return "\n".join(str(row[0]) for row in self.fetch(query)).strip()

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """A table whose parts are read by a condition on its key, or whole."""
        del statement
        return plans.access_paths(plan)

    def size_bytes(self) -> int:
        """Parts that are in use."""
        query = f"SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '{SPACE}'"  # noqa: S608
        return int(self.fetch(query)[0][0] or 0)

    def relation_files(self) -> Sequence[Path]:
        """Of each part the columns, their marks, and the index of the key; beside them lie
        checksums and definitions, which an opening reads."""
        return [path for path in self.files() if _PART.search(path.name)]

    def quote(self, name: str) -> str:
        """Between the marks that ClickHouse has for names."""
        return loading.quoted(name)

    @contextmanager
    def another(self) -> Iterator[Engine]:
        """A session of its own to the same server."""
        self._open()
        other = type(self)(self.variant, self.scratch, self.owner)
        other.timezone = self.timezone
        with errors(f"cannot open {self.path}"):
            other._session = Session(self.path, self._settings())  # noqa: SLF001 - as this class
        try:
            yield other
        finally:
            other.stop()

    def remove(self) -> None:
        """Close, and delete the folder."""
        self.stop()
        if self.path.exists():
            shutil.rmtree(self.path)

    def _open(self) -> Session:
        if self._session is None:
            raise EngineError("chdb is not started", hint="call start() first")
        return self._session
