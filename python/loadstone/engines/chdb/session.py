"""A connection of chDB's: settings, Arrow in and out, and its errors as ours."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import chdb
import pyarrow as pa

from loadstone.errors import EngineError

SPACE = "loadstone"
"""The database that all our tables are in."""
ALIKE: Mapping[str, str] = {
    # What a statement makes is stored as what was loaded is.
    "default_table_engine": "MergeTree",
    "create_table_empty_primary_key_by_default": "1",
    # As the SQL standard has it: of no rows there is no least; what an outer join lacks is NULL.
    "aggregate_functions_null_for_empty": "1",
    "join_use_nulls": "1",
    "union_default_mode": "DISTINCT",
    "cast_keep_nullable": "1",
    "insert_null_as_default": "0",
    # An answer of before would be no answer of the statement.
    "use_query_cache": "0",
    "use_query_condition_cache": "0",
    "output_format_arrow_string_as_string": "1",
}
"""Settings of every session."""
_connect: Any = chdb.connect
_ARROW = "ArrowStream"
_CODE = re.compile(r"^Code: \d+\. DB::Exception: ")
_numbers = count(1)


@contextmanager
def errors(doing: str = "") -> Iterator[None]:
    """Turn chDB's errors into ours."""
    try:
        yield
    except RuntimeError as error:
        text = _CODE.sub("", "; ".join(str(error).strip().splitlines()))
        raise EngineError(f"chdb: {doing}: {text}" if doing else f"chdb: {text}") from None


class Session:
    """One connection to a folder; all of a process share its server."""

    def __init__(self, path: Path, settings: Mapping[str, str]) -> None:
        """Open a folder, or make it. Raises chDB's errors."""
        self._path = path
        self._connection: Any = _connect(str(path))
        self.mark = f"loadstone {next(_numbers)}"
        """The text by which its statements are known among those of others."""
        self.ask(f"CREATE DATABASE IF NOT EXISTS {SPACE}")
        self.ask(f"USE {SPACE}")
        self.set({**ALIKE, **settings, "log_comment": self.mark})

    def close(self) -> None:
        """End it; with the last one the server ends, and what it had in memory."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def set(self, settings: Mapping[str, str]) -> None:
        """Set them for this session."""
        self.ask("SET " + ", ".join(f"{name} = '{value}'" for name, value in settings.items()))

    def ask(self, statement: str) -> None:
        """Execute to the end; its rows go nowhere."""
        self._query(statement, "Null")

    def _query(self, statement: str, form: str) -> Any:
        try:
            return self._connection.query(statement, form)
        except RuntimeError:
            # What follows a statement that was ended would have no answer, and no error either.
            while not self._connection.query("SELECT 1", _ARROW).bytes():
                pass
            raise

    def arrow(self, query: str) -> pa.Table:
        """The rows of a query."""
        answer = self._query(query, _ARROW).bytes()
        return _without_zones(pa.ipc.open_stream(answer).read_all())

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query as Python's values."""
        return list(zip(*(column.to_pylist() for column in self.arrow(query).columns), strict=True))

    def insert(
        self,
        table: str,
        columns: str,
        source: pa.RecordBatchReader,  # noqa: ARG002 - the server reads it by its name
    ) -> None:
        """All rows of an Arrow stream, `source`, which stands in the statement."""
        self._connection.query(
            f"INSERT INTO {table} SELECT {columns} FROM Python(source)",  # noqa: S608 - quoted
            "Null",
        )

    def interrupt(self) -> None:
        """End the statement that another thread is in, by a session of its own."""
        other = _connect(str(self._path))
        try:
            mark = f"Settings['log_comment'] = '{self.mark}'"
            other.query(f"KILL QUERY WHERE {mark} ASYNC", "Null")
        finally:
            other.close()


def _without_zones(table: pa.Table) -> pa.Table:
    """Moments have a zone there, the session's, and none on other engines."""
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz:
            plain = table.column(place).cast(pa.timestamp(field.type.unit))
            table = table.set_column(place, field.name, plain)
    return table
