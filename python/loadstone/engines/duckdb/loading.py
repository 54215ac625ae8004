"""Making a table of DuckDB's: its definition, its rows straight from Arrow, its indexes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import duckdb

from loadstone.engines.capabilities import Table, quoted

if TYPE_CHECKING:
    import pyarrow as pa

_TYPES = {
    "int2": "SMALLINT", "int4": "INTEGER", "int8": "BIGINT", "float8": "DOUBLE", "bool": "BOOLEAN",
    "date": "DATE", "timestamp": "TIMESTAMP",
}  # fmt: skip
_ROWS = "loadstone_rows"
"""The name under which the Arrow stream is read."""


def fill(
    db: duckdb.DuckDBPyConnection,
    table: Table,
    rows: "pa.RecordBatchReader",
    *,
    indexed: bool,
    ordered: bool,
) -> int:
    """Replace a table, in one transaction, its indexes included; the rows that it has. `ordered`:
    whether the session preserves the order of insertion; one that does not, does so here, and its
    settings must not be locked. Raises DuckDB's errors."""
    name = quoted(table.name)
    order = ""
    if table.organisation == "clustered" and table.key is not None:
        key = [table.key] + ([table.tiebreaker] if table.tiebreaker else [])
        order = " ORDER BY " + ", ".join(map(quoted, key))
    db.register(_ROWS, rows)
    if not ordered:
        db.execute("SET preserve_insertion_order = true")  # a heap is in the order of its rows
    try:
        with _transaction(db):
            db.execute(f"DROP TABLE IF EXISTS {name}")
            db.execute(_definition(table))
            done = db.execute(f"INSERT INTO {name} SELECT * FROM {_ROWS}{order}")  # noqa: S608
            counted = done.fetchone()
            for attributes in table.all_indexes if indexed else ():
                index = quoted(".".join((table.name, *attributes)))
                db.execute(f"CREATE INDEX {index} ON {name} ({', '.join(map(quoted, attributes))})")
    finally:
        db.unregister(_ROWS)
        if not ordered:
            db.execute("SET preserve_insertion_order = false")
    return int(counted[0]) if counted else 0


def _definition(table: Table) -> str:
    columns = [f"{quoted(a.name)} {_type(a.type)}" for a in table.attributes]
    if table.primary_key:
        columns.append(f"PRIMARY KEY ({', '.join(map(quoted, table.primary_key))})")
    return f"CREATE TABLE {quoted(table.name)} ({', '.join(columns)})"


def _type(name: str) -> str:
    """DuckDB's name of an attribute's type: of a decimal the same."""
    return _TYPES.get(name, name if name.startswith("decimal(") else "VARCHAR")


@contextmanager
def _transaction(db: duckdb.DuckDBPyConnection) -> Iterator[None]:
    db.execute("BEGIN")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
