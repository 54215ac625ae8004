"""SQLite and the engines that have its file format and dialect: what they share as engines, and the
form that they give to values and plans."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.dbapi import DbapiEngine
from loadstone.errors import UnsupportedError
from loadstone.text import zone

if TYPE_CHECKING:
    import pyarrow as pa

SYNCHRONOUS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}
"""The words for the number that `PRAGMA synchronous` reads back."""
BUSY_MS_MAX = 5000
"""A statement waits that long for another's lock, then fails."""

_ACCESS = re.compile(r"(SEARCH|SCAN) (?!(\d+ )?CONSTANT ROWS?$)")
"""A step of a plan that reads a relation; a constant is scanned, too, and is none."""
_KIB = 1024
_AFFINITIES = {"int": "INTEGER", "bool": "INTEGER", "float8": "REAL", "decimal": "NUMERIC"}
"""By the beginning of a type's name; any other type is TEXT. Decimals become integers and floats,
since SQLite has none."""
_INTEGER_MAX = 2**63
_FLOAT_DIGITS = 15
"""Decimals of so many digits survive the way to a float and back."""
_KEPT: Mapping[str, Callable[[Any], Any]] = {
    "bool": int, "date": str, "timestamp": str, "decimal": float,
}  # fmt: skip
"""The form in which SQLite keeps values of types that it lacks: dates as ISO 8601 has them, in the
words of its own functions."""


class SqliteFamily(DbapiEngine):
    """A heap is a rowid table. A clustered relation is one, too, loaded in key order with a unique
    index, or a table WITHOUT ROWID where `has_rowid` says so."""

    dialect: ClassVar[str] = "sqlite"
    begin: ClassVar[str] = "BEGIN IMMEDIATE"
    """Takes the write lock first: a transaction that reads first may be refused it."""
    tables_query: ClassVar[str] = (
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'"
        " ORDER BY name"
    )
    stage: ClassVar[str]
    """The table that holds unordered rows while a clustered relation is loaded."""
    by_key: ClassVar[Sequence[str]] = (" INDEX sqlite_autoindex_",)
    """What a plan's step says of an access by the key of a clustered relation; the index of a
    constraint is that of the key in whose order the table was loaded."""

    def execute(self, statement: str, *values: object) -> Any:
        """The cursor of a statement, by the connection's own call."""
        return self.connection.execute(statement, values)

    def pragma(self, name: str) -> str:
        """A pragma's value; empty where the engine does not know it."""
        rows = self.execute(f"PRAGMA {name}").fetchall()
        return str(rows[0][0]) if rows else ""

    def has_rowid(self, table: Table) -> bool:
        """Whether a clustered relation is ordered by its rowids alone."""
        del table
        return True

    def column_type(self, attribute: Attribute) -> str:
        """Its affinity."""
        return affinity(attribute.type)

    def definition(self, table: Table) -> str:
        """A clustered relation has its key as a constraint."""
        if not table.order:
            return super().definition(table)
        # Not PRIMARY KEY beside a rowid: one on a single integer would be the rowid itself.
        kind, end = ("UNIQUE", "") if self.has_rowid(table) else ("PRIMARY KEY", " WITHOUT ROWID")
        parts = [*self.columns(table), f"{kind} ({self.names(table.order)})"]
        return f"CREATE TABLE {self.quote(table.name)} ({', '.join(parts)}){end}"

    def fill(self, table: Table, rows: "pa.RecordBatchReader") -> None:
        """By a prepared statement; what is to be in order, by way of the stage."""
        name = self.quote(table.name)
        staged = bool(table.order) and self.has_rowid(table)
        if staged:
            self.execute(f"CREATE TABLE {self.stage} ({', '.join(self.columns(table))})")
        for batch in rows:
            self.insert(self.stage if staged else name, table, batch)
        if staged:
            order = self.names(table.order)
            self.execute(f"INSERT INTO {name} SELECT * FROM {self.stage} ORDER BY {order}")  # noqa: S608
            self.execute(f"DROP TABLE {self.stage}")

    def values(self, batch: "pa.RecordBatch", table: Table) -> Iterator[tuple[Any, ...]]:
        """In the form that SQLite gives them."""
        return kept_rows(batch.columns, table)

    def explain(self, statement: str) -> str:
        """EXPLAIN QUERY PLAN, indented by depth."""
        return plan_text(self.fetch(f"EXPLAIN QUERY PLAN {statement}"))

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """A SEARCH by the key or by an index of ours: https://sqlite.org/eqp.html, section 1.1."""
        del statement
        steps = (line.strip() for line in plan.splitlines())
        return sorted({self._access_path(step) for step in steps if _ACCESS.match(step)})

    def _access_path(self, step: str) -> str:
        if any(words in step for words in self.by_key):
            return "clustered"
        by_index = " USING INDEX " in step or " USING COVERING INDEX " in step
        # An ephemeral index is the engine's own, made for the statement after a scan.
        return "nonclustered" if by_index and " INDEX ephemeral_" not in step else "heap"

    def interrupt(self) -> None:
        """By the connection's own call, which may come from another thread."""
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def size_bytes(self) -> int:
        """Pages in use, times their size."""
        with self.errors():
            pages = int(self.pragma("page_count")) - int(self.pragma("freelist_count"))
            return pages * int(self.pragma("page_size"))


def cache_bytes(cache_size: int, page_bytes: int) -> int:
    """The cache of a connection: a negative `cache_size` counts KiB, a positive one pages."""
    return -cache_size * _KIB if cache_size < 0 else cache_size * page_bytes


def affinity(type_name: str) -> str:
    """The type of a column in a definition."""
    return next(
        (word for start, word in _AFFINITIES.items() if type_name.startswith(start)), "TEXT"
    )


def kept(values: list[Any], type_name: str) -> list[Any]:
    """Values as SQLite keeps them. Raises `UnsupportedError` for one that it cannot keep."""
    if type_name == "float8" and any(value != value for value in values):
        raise UnsupportedError("SQLite has no NaN, and would keep NULL")
    family, _, digits = type_name.partition("(")
    form = _KEPT.get(family)
    if family == "decimal" and int(digits.partition(",")[0]) > _FLOAT_DIGITS:
        form = _long_decimal
    return values if form is None else [None if v is None else form(v) for v in values]


def _long_decimal(value: Decimal) -> int | float:
    """Raises `UnsupportedError` where SQLite has no such number: two keys could become one."""
    if value == value.to_integral_value() and abs(value) < _INTEGER_MAX:
        return int(value)
    kept = float(value)
    if Decimal(repr(kept)) != value:
        raise UnsupportedError(
            f"SQLite has no decimals, and neither an integer nor a float that is {value}"
        )
    return kept


def kept_rows(columns: Iterable[Any], table: Table) -> Iterator[tuple[Any, ...]]:
    """The rows of Arrow's columns as SQLite keeps them. Raises `UnsupportedError` as `kept`, with
    the column."""
    each = []
    for column, attribute in zip(columns, table.attributes, strict=True):
        try:
            each.append(kept(column.to_pylist(), attribute.type))
        except UnsupportedError as error:
            raise UnsupportedError(
                f"{table.name}.{attribute.name}: {error.message}",
                hint="take the column as text, or leave this engine out",
            ) from None
    return zip(*each, strict=True)


def plan_text(steps: Iterable[tuple[Any, ...]]) -> str:
    """The answer of `EXPLAIN QUERY PLAN` (node, parent, unused, words), a step a line, indented by
    depth."""
    depths = {0: 0}
    lines = []
    for node, parent, _, detail in steps:
        depths[node] = depths.get(parent, 0) + 1
        lines.append("  " * (depths[node] - 1) + str(detail))
    return "\n".join(lines) or "(nothing to search or scan)"


def zone_of(timezone: str, fetch: Callable[[str], Sequence[tuple[Any, ...]]]) -> str:
    """The time zone that `localtime` has in this process; the expected one, if they agree."""
    query = "SELECT CAST(strftime('%s', {0}, 'unixepoch', 'localtime') AS INTEGER) - {0}"
    ahead = (int(fetch(query.format(at))[0][0]) for at in zone.MOMENTS_S)
    return zone.shown(timezone, [*ahead])
