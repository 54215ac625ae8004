"""The base of an embedded engine behind a DB-API 2.0 driver (PEP 249): one database, which
`connect` opens in the scratch folder, and one connection to it.

A new engine is one class over it. It declares its name, dialect and capabilities, the errors of its
driver, the types of its columns and the query that lists its tables; it says how to connect with
every tactic set, how to settle, and how to read its terms, size and access paths back. Whatever it
does better than by plain SQL it overrides. `tests/conformance/third_party.py` is the model.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.data_files import path_in
from loadstone.errors import EngineError, UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant


class DbapiEngine(Engine):
    """Each statement is its own transaction, so `connect` turns the driver's implicit ones off."""

    driver_errors: ClassVar[tuple[type[BaseException], ...]]
    """What the driver raises."""
    tables_query: ClassVar[str]
    """The names of all tables but the engine's own, sorted."""
    begin: ClassVar[str] = "BEGIN"
    endings: ClassVar[Sequence[str]] = ()
    """What the names of files and folders beside the database file add to its name."""

    _connection: Any = None

    @abstractmethod
    def connect(self) -> Any:
        """A new connection with every tactic set. Raises the driver's errors."""

    @abstractmethod
    def column_type(self, attribute: Attribute) -> str:
        """The type of a column in CREATE TABLE."""

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """Also that a URL names a file."""
        super().check(variant)
        if variant.url is not None:
            path_in(variant.url)

    @property
    def path(self) -> Path:
        """The database file, ours or the user's."""
        url = self.variant.url
        return self.scratch / f"{self.name}.db" if url is None else path_in(url)

    @property
    def connection(self) -> Any:
        """The open connection. Raises `EngineError` before `start` and after `stop`."""
        if self._connection is None:
            raise EngineError(f"{self.name} is not started", hint="call start() first")
        return self._connection

    def execute(self, statement: str, *values: object) -> Any:
        """The cursor of a statement. Raises the driver's errors, as the cursor does."""
        cursor = self.connection.cursor()
        cursor.execute(statement, values)
        return cursor

    @contextmanager
    def errors(self, doing: str = "") -> Iterator[None]:
        """Turn the driver's errors into ours."""
        try:
            yield
        except self.driver_errors as error:
            if not self.is_driver_error(error):
                raise
            text = str(error).strip() or type(error).__name__
            message = f"{self.name}: {doing}: {text}" if doing else f"{self.name}: {text}"
            raise EngineError(message, hint=self.hint(error)) from error

    def is_driver_error(self, error: BaseException) -> bool:
        """Whether the driver raised it: the types in `driver_errors` may be too wide."""
        del error
        return True

    def hint(self, error: BaseException) -> str:
        """What to do about a driver's error; empty where nothing is known."""
        del error
        return ""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. Raises the driver's errors."""
        self.execute(self.begin)
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            # The engine may have rolled it back itself; the first error is the one that counts.
            with suppress(Exception):
                self.execute("ROLLBACK")
            raise

    def start(self) -> None:
        """Open the database."""
        self.check(self.variant)
        if self._connection is None:
            with self.errors(f"cannot open {self.path}"):
                self._connection = self.connect()

    def stop(self) -> Sequence[int]:
        """Close the connection, and with it the database."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with self.errors():
                connection.close()
        return ()

    def tables(self) -> Sequence[str]:
        """All tables but the engine's own."""
        return [str(row[0]) for row in self.fetch(self.tables_query)]

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """In one transaction, indexes included."""
        structure = self.capabilities.structures[table.organisation]
        if not structure.supported:
            raise UnsupportedError(
                structure.note, hint=f"leave the {table.organisation} structure to another engine"
            )
        name = self.quote(table.name)
        with self.errors(f"cannot load {table.name}"), self.transaction():
            self.execute(f"DROP TABLE IF EXISTS {name}")
            self.execute(self.definition(table))
            self.fill(table, rows)
            for attributes in self.indexes(table):
                index = self.quote(".".join((table.name, *attributes)))
                self.execute(f"CREATE INDEX {index} ON {name} ({self.names(attributes)})")
        return int(self.fetch(f"SELECT count(*) FROM {name}")[0][0])  # noqa: S608 - quoted

    def definition(self, table: Table) -> str:
        """The CREATE TABLE of a table."""
        parts = list(self.columns(table))
        if table.primary_key:
            parts.append(f"PRIMARY KEY ({self.names(table.primary_key)})")
        return f"CREATE TABLE {self.quote(table.name)} ({', '.join(parts)})"

    def columns(self, table: Table) -> Sequence[str]:
        """The definitions of a table's columns."""
        return [f"{self.quote(one.name)} {self.column_type(one)}" for one in table.attributes]

    def names(self, names: Iterable[str]) -> str:
        """Names in a list of a statement."""
        return ", ".join(map(self.quote, names))

    def indexes(self, table: Table) -> Sequence[tuple[str, ...]]:
        """The attributes of each index that is made."""
        wanted = "index" not in self.tactics() or self.tactic("index") == "all"
        return table.all_indexes if wanted else ()

    def fill(self, table: Table, rows: "pa.RecordBatchReader") -> None:
        """Insert the rows of a new table; a clustered one is sorted first, in memory."""
        if table.order:
            rows = rows.read_all().sort_by([(name, "ascending") for name in table.order])
            rows = rows.to_reader(max_chunksize=10_000)
        for batch in rows:
            self.insert(self.quote(table.name), table, batch)

    def insert(self, into: str, table: Table, batch: "pa.RecordBatch") -> None:
        """Insert the rows of a batch."""
        places = ",".join("?" * len(table.attributes))
        statement = f"INSERT INTO {into} VALUES ({places})"  # noqa: S608 - quoted
        self.connection.cursor().executemany(statement, self.values(batch, table))

    def values(self, batch: "pa.RecordBatch", table: Table) -> Iterator[tuple[Any, ...]]:
        """The rows of a batch as the driver takes them."""
        del table
        return zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def run(self, statement: str) -> int:
        """Execute to the end, by the driver's `rowcount`."""
        try:
            cursor = self.execute(statement)
            if cursor.description is not None:
                for _ in cursor:
                    pass
            return int(cursor.rowcount)
        except self.driver_errors:
            with self.errors():
                raise

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Every row as a tuple. Timed: entering `errors` would take half a microsecond."""
        try:
            rows: list[tuple[Any, ...]] = self.execute(statement).fetchall()
        except self.driver_errors:
            with self.errors():
                raise
        return rows

    def read(self, statement: str) -> "Iterable[tuple[Any, ...]] | pa.Table":
        """One row after another."""
        return self._streamed(statement)

    def _streamed(self, statement: str) -> Iterator[tuple[Any, ...]]:
        with self.errors():
            yield from self.execute(statement)

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """BEGIN … ROLLBACK."""
        with self.errors():
            self.execute("BEGIN")
            try:
                yield
            finally:
                self.execute("ROLLBACK")

    def drop(self, table: str) -> None:
        """Drop the table; its indexes go with it."""
        with self.errors():
            self.execute(f"DROP TABLE IF EXISTS {self.quote(table)}")

    def explain(self, statement: str) -> str:
        """EXPLAIN, a row a line."""
        return "\n".join(str(row[-1]) for row in self.fetch(f"EXPLAIN {statement}"))

    @contextmanager
    def another(self) -> Iterator[Engine]:
        """One more connection to the same database."""
        session = copy(self)
        with self.errors(f"cannot open {self.path}"):
            session._connection = self.connect_again()  # noqa: SLF001 - of this class
        try:
            yield session
        finally:
            DbapiEngine.stop(session)

    def connect_again(self) -> Any:
        """One more connection to the open database."""
        return self.connect()

    def folders(self) -> Sequence[Path]:
        """Of a user's database its file, and what lies beside it."""
        return super().folders() if self.variant.url is None else self.family()

    def remove(self) -> None:
        """Close, and delete the database, but no user's."""
        self.stop()
        for path in self.family() if self.variant.url is None else ():
            if path.is_dir():
                rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def family(self) -> Sequence[Path]:
        """The database file, and what lies beside it."""
        return [self.path.with_name(self.path.name + tail) for tail in ("", *self.endings)]
