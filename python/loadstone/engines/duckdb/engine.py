"""DuckDB in process: one database file in the scratch folder, one connection."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, ClassVar

import duckdb

from loadstone._core import StatementUsers
from loadstone.engines.capabilities import Attribute, Capabilities, Structure, Table, UrlUse
from loadstone.engines.dbapi import DbapiEngine
from loadstone.engines.duckdb import optimizers, own_settings, plans, zoned
from loadstone.engines.duckdb.settings import HEADER_BYTES, TACTICS, read_back, synced
from loadstone.engines.duckdb.stored_blocks import reads_blocks
from loadstone.engines.setting import settings_of
from loadstone.engines.system import READ_ONLY, TABLES
from loadstone.engines.tactic import Level
from loadstone.errors import EngineError, UnsupportedError
from loadstone.plan.release import INSTALLED, Release
from loadstone.plan.variant import SETTING

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

_ACCESS_PATHS = {"Type: Index Scan": "nonclustered", "Type: Sequential Scan": "heap"}
_ALONE = "a database as it stands is read alone: give other files by --data, or [data.NAME]"
_TYPES = {
    "int2": "SMALLINT", "int4": "INTEGER", "int8": "BIGINT", "float8": "DOUBLE", "bool": "BOOLEAN",
    "date": "DATE", "timestamp": "TIMESTAMP",
}  # fmt: skip
_ROWS = "loadstone_rows"
"""The name under which an Arrow stream is read."""
_HASH_GAP = "DuckDB has no hash organisation; its only indexes are adaptive radix trees"


class DuckdbEngine(DbapiEngine):
    """Columns in compressed row groups, with min-max zone maps; secondary indexes are ARTs."""

    name: ClassVar[str] = "duckdb"
    dialect: ClassVar[str] = "duckdb"
    capabilities: ClassVar[Capabilities] = Capabilities(
        stored_share=0.2,
        structures={
            "heap": Structure(supported=True, note="columns in row groups, in order of insertion"),
            "clustered": Structure(
                supported=True,
                note="rows stored in key order, found by min-max zone maps; no clustered index",
                in_plans=False,
            ),
            "hash": Structure(supported=False, note=_HASH_GAP),
            "nonclustered": Structure(supported=True, note="ART index"),
        },
        tactics=TACTICS,
        url=UrlUse.READ,
        distribution="duckdb",
        settings=own_settings.SETTINGS,
    )

    driver_errors: ClassVar[tuple[type[BaseException], ...]] = (duckdb.Error,)
    tables_query: ClassVar[str] = (
        "SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY 1"
    )
    endings: ClassVar[Sequence[str]] = (".wal",)
    _prepared = False
    """Whether the connection has the constant's statement."""
    _loading = False
    """Whether it is open for loading alone, which may change settings."""

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """Also that DuckDB has the settings and takes their values in another database. Another
        release's settings are known where it is: in its worker."""
        super().check(variant)
        if variant.release in (INSTALLED, Release(number=duckdb.__version__)):
            for name, value in settings_of(variant).items():
                own_settings.check(name, value)

    @classmethod
    def lacking(cls) -> Collection[str]:
        """Optimizers that it does not list, and durability where each commit is synced."""
        unsynced = () if "fsync_mode" in own_settings.scopes() else ("durability",)
        with duckdb.connect() as db:
            rows = db.execute("SELECT name FROM duckdb_optimizers()").fetchall()
        return (*unsynced, *optimizers.tactics().keys() - {optimizers.PREFIX + n for (n,) in rows})

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """The wheel is both engine and driver."""
        return {"duckdb": duckdb.__version__}

    def connect(self) -> duckdb.DuckDBPyConnection:
        """With every tactic set."""
        if self.variant.url is not None:
            self._look()
        connection = duckdb.connect(
            str(self.path), config=self._config(), read_only=self.as_it_stands
        )
        try:
            if self.as_it_stands:
                self._see_read_only(connection)
            # A setting of a module that is there only once the database is open; in earlier
            # releases it is one session's, unless it is set for all.
            connection.execute(f"SET GLOBAL TimeZone = '{self.timezone}'")
            own_settings.set_local(connection, settings_of(self.variant))
            if self._locks:
                # A function could write other files (a log, a profile), and the settings by which
                # it does are a statement's to change.
                connection.execute("SET lock_configuration = true")
        except BaseException:
            connection.close()
            raise
        return connection

    def execute(self, statement: str, *values: object) -> Any:
        """By the connection itself: a cursor would be another one."""
        return self.connection.execute(statement, values)

    def hint(self, error: BaseException) -> str:
        """About a file that a database as it stands may not reach."""
        return _ALONE if "disabled by configuration" in str(error) else ""

    @property
    def _locks(self) -> bool:
        """Whether no statement may change a setting."""
        return (self.as_it_stands or self.users_text) and not self._loading

    def _config(self) -> dict[str, str | bool | int | float | list[str]]:
        """The settings with which the file is opened."""
        config: dict[str, str | bool | int | float | list[str]] = {
            **self._of_session(),
            "force_compression": self.tactic("compression"),
            "temp_directory": str(self._spill),
            **synced(self.tactic("durability"), own_settings.scopes()),
            # The lab reaches no network: an extension must not install itself in the middle.
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            **own_settings.of_start(settings_of(self.variant)),
        }
        if "allow_persistent_secrets" in own_settings.scopes():
            # Secrets that a user keeps for another program reach other places.
            config["allow_persistent_secrets"] = False
        if self.as_it_stands:
            # A file on disk keeps the form that it has.
            del config["force_compression"]
            # No other file is reached, nor the network.
            config["enable_external_access"] = False
        return config

    def _look(self) -> None:
        """Refuse a user's file that would be made, or written to. Raises `EngineError`."""
        if not self.as_it_stands:
            raise EngineError(f"duckdb: {self.path} is not ours to make tables in")
        if not self.path.is_file():
            raise EngineError(
                f"duckdb: cannot open {self.path}: there is no such file",
                hint="name a database that exists",
            )

    def _see_read_only(self, connection: duckdb.DuckDBPyConnection) -> None:
        query = "SELECT readonly FROM duckdb_databases() WHERE NOT internal"
        if connection.execute(query).fetchall() != [(True,)]:
            raise EngineError(f"duckdb: {self.path} does not open read-only", hint="name a copy")

    def stop(self) -> Sequence[int]:
        """Close: DuckDB writes a checkpoint and frees its buffers."""
        self._prepared = False
        return super().stop()

    def _of_session(self) -> dict[str, str]:
        """The settings that an open database takes at any time."""
        ordered = self.tactic("preserve_insertion_order") == "on"
        return {
            "threads": str(int(self.tactic("parallelism"))),
            "memory_limit": f"{int(self.tactic('cache'))}B",
            "disabled_optimizers": optimizers.disabled(self.values_of(self.variant)),
            "preserve_insertion_order": str(ordered).lower(),
        }

    def _switch(self, before: "Variant") -> None:
        """In the open database where all that differs are settings of a session."""
        was, now = self.values_of(before), self.values_of(self.variant)
        differing = [name for name in {**was, **now} if now.get(name) != was.get(name)]
        levels = {self.level_of(name) for name in differing}
        if self._connection is None or self._locks or levels - {Level.SESSION}:
            self.stop()
            self.start()
            return
        with self.errors():
            for name, value in self._of_session().items():
                self._connection.execute(f"SET {name} = '{value}'")

    def terms(self) -> Mapping[str, str]:
        """Read back from `duckdb_settings()`; isolation is fixed: snapshots, first writer wins."""
        own = own_settings.read_back(self.connection, settings_of(self.variant))
        return {
            **read_back(self.fetch, wanted_index=self.tactic("index")),
            **({TABLES: READ_ONLY} if self.as_it_stands else {}),
            **{SETTING + name: value for name, value in own.items()},
        }

    def column_type(self, attribute: Attribute) -> str:
        """DuckDB's name of a type: of a decimal the same."""
        name = attribute.type
        return _TYPES.get(name, name if name.startswith("decimal(") else "VARCHAR")

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """Straight from the Arrow stream; in the order of its rows, as a heap is, also where the
        session does not preserve the order of insertion."""
        if self.fetch("SELECT current_setting('preserve_insertion_order')") == [(True,)]:
            return self._load(table, rows)
        with self._unlocked(), self.errors():
            self.execute("SET preserve_insertion_order = true")
            try:
                return self._load(table, rows)
            finally:
                self.execute("SET preserve_insertion_order = false")

    def _load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        db = self.connection
        db.register(_ROWS, rows)
        try:
            return super().load(table, rows)
        finally:
            db.unregister(_ROWS)

    def fill(self, table: Table, rows: "pa.RecordBatchReader") -> None:
        """By INSERT … SELECT, sorted on the key where clustered."""
        del rows
        order = f" ORDER BY {self.names(table.order)}" if table.order else ""
        insert = f"INSERT INTO {self.quote(table.name)} SELECT * FROM {_ROWS}{order}"  # noqa: S608
        self.execute(insert)

    @contextmanager
    def _unlocked(self) -> Iterator[None]:
        """Open without the lock that `start` sets, and afterwards with it."""
        if not self._locks:
            yield
            return
        self.stop()
        self._loading = True
        self.start()
        try:
            yield
        finally:
            self.stop()
            self._loading = False
            self.start()

    def settle(self, tables: Sequence[str]) -> None:
        """ANALYZE each table, then checkpoint."""
        if self.as_it_stands:
            return
        db = self.connection
        with self.errors():
            for table in tables:
                db.execute(f"ANALYZE {self.quote(table)}")
            db.execute("CHECKPOINT")

    def run(self, statement: str) -> int:
        """Execute and read the one-row count that a changing statement answers with."""
        try:
            done = self.connection.execute(statement)
            columns, rows = done.description or (), done.fetchall()
        except duckdb.Error:
            with self.errors():
                raise
        counted = [column[0] for column in columns] == ["Count"] and len(rows) == 1
        return int(rows[0][0]) if counted else -1

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Every row as a tuple; of a user's statement also those with time zones."""
        try:
            done = self.connection.execute(statement)
            if self.users_text and zoned.is_zoned(done):
                return zoned.rows_of(done)
            rows: list[tuple[Any, ...]] = done.fetchall()
        except duckdb.Error:
            with self.errors():
                raise
        return rows

    def interrupt(self) -> None:
        """By `duckdb_interrupt`."""
        self.connection.interrupt()

    def read(self, statement: str) -> "pa.Table":
        """As an Arrow table."""
        with self.errors():
            return self.connection.sql(statement).to_arrow_table()

    def ask_nothing(self) -> None:
        """A text without a statement."""
        with self.errors():
            self.connection.execute("")

    def ask_constant(self) -> None:
        """By a prepared statement; of the text that executes it only the name is parsed."""
        db = self.connection
        with self.errors():
            if not self._prepared:
                db.execute("PREPARE loadstone_constant AS SELECT 1")
                self._prepared = True
            db.execute("EXECUTE loadstone_constant").fetchall()

    def plan(self, statement: str, query: str) -> None:
        """PREPARE, which takes the place of the one before; of the query, since what makes a table
        cannot be prepared."""
        del statement
        with self.errors():
            self.connection.execute(f"PREPARE loadstone_planned AS {query}")

    def explain(self, statement: str) -> str:
        """EXPLAIN (FORMAT JSON): the physical plan; releases before 1.1 only draw it."""
        try:
            rows = self.fetch(f"EXPLAIN (FORMAT JSON) {statement}")
        except EngineError:
            drawn = self.fetch(f"EXPLAIN {statement}")
            return "\n\n".join(plans.redrawn(str(row[-1])) for row in drawn)
        return "\n\n".join(plans.written(str(row[-1])) for row in rows)

    def own_times(self, statement: str) -> Mapping[str, int]:
        """EXPLAIN (ANALYZE, FORMAT JSON): `planner` and `physical_planner` with what the optimizer
        takes in the first, and the elapsed time of the operators, added up over the threads, which
        DuckDB calls `cpu_time`. No rows are transferred and nothing commits, so these are not all
        of a statement's time. An INSERT of values has no profile, and other releases another."""
        rows = self.fetch(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
        profile = json.loads(str(rows[0][-1]))
        if not {"planner", "physical_planner", "query"} <= profile.keys():
            return {}
        planning_s = profile["planner"]["total_time"] + profile["physical_planner"]["total_time"]
        seconds = {"planning": planning_s, "operators": profile["query"]["cpu_time"]}
        return {name: round(each_s * 1e9) for name, each_s in seconds.items()}

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """EXPLAIN calls every access a sequential scan, because DuckDB chooses an index at run
        time: so the statement is executed once and rolled back. A scan of columns whose values lie
        in the catalog reaches no table."""
        del plan
        db = self.connection
        with self.errors():
            if not reads_blocks(db, statement):
                return []
            db.execute("BEGIN")
            try:
                rows = db.execute(f"EXPLAIN ANALYZE {statement}").fetchall()
            finally:
                db.execute("ROLLBACK")
        text = "\n".join(str(row[-1]) for row in rows)
        return sorted({path for words, path in _ACCESS_PATHS.items() if words in text})

    def size_bytes(self) -> int:
        """Blocks in use, and the WAL."""
        query = "SELECT used_blocks * block_size FROM pragma_database_size()"
        wal = self._wal
        return int(self.fetch(query)[0][0]) + (wal.stat().st_size if wal.exists() else 0)

    def header_bytes(self) -> int:
        """The headers of its storage format, with blocks of the default size."""
        return HEADER_BYTES

    def connect_again(self) -> duckdb.DuckDBPyConnection:
        """A cursor: a connection of its own to the same database, in the same memory."""
        if self._locks and own_settings.has_local(settings_of(self.variant)):
            raise UnsupportedError("another session cannot have its settings: they are locked")
        cursor: duckdb.DuckDBPyConnection = self.connection.cursor()
        own_settings.set_local(cursor, settings_of(self.variant))
        return cursor

    @contextmanager
    def users(self) -> Iterator[StatementUsers]:
        """Connections of the same library by its C API, with the file closed here: one database
        has it at a time."""
        try:
            import _duckdb
        except ImportError:
            raise UnsupportedError("this release has its library under another name") from None
        if self.variant.url is not None:
            raise UnsupportedError("a file of yours is read by this program alone")
        if settings_of(self.variant):
            raise UnsupportedError("settings by name are set for sessions of Python alone")
        settings = [(name, _written(value)) for name, value in self._config().items()]
        if self._locks:
            settings.append(("lock_configuration", "true"))
        self.stop()
        try:
            yield StatementUsers.duckdb(str(_duckdb.__file__), str(self.path), settings)
        finally:
            self.start()

    def remove(self) -> None:
        """Also what did not fit into memory."""
        super().remove()
        if self._spill.exists():
            rmtree(self._spill)

    @property
    def _wal(self) -> Path:
        return self.path.with_name(self.path.name + ".wal")

    @property
    def _spill(self) -> Path:
        return self.scratch / "duckdb.spill"


def _written(value: object) -> str:
    """A value as DuckDB reads one."""
    return str(value).lower() if isinstance(value, bool) else str(value)
