"""Moving rows into PostgreSQL by COPY, from Arrow, and out of it in the server's binary form."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import psycopg
import pyarrow as pa
from pyarrow import csv

from loadstone.engines.capabilities import quoted
from loadstone.errors import InputError

if TYPE_CHECKING:
    from loadstone.engines.capabilities import Table

Connection = psycopg.Connection[tuple[Any, ...]]
Quote = Callable[[str], str]

BATCH_ROWS = 2048
CHUNK_ROWS = 1000
"""Read at once; of 100 or 10,000 a relation takes as long, within noise."""

NAME_BYTES_MAX = 63
"""Of a longer name the server takes the beginning."""

_TYPES = {
    "int2": "smallint", "int4": "integer", "int8": "bigint", "float8": "double precision",
    "bool": "boolean", "date": "date", "timestamp": "timestamp",
}  # fmt: skip
_CHARACTERS = re.compile(r"char\(\d+\)|text")
_DECIMAL = re.compile(r"decimal\(\d+,\d+\)")


def fill(connection: Connection, table: "Table", rows: "pa.RecordBatchReader", quote: Quote) -> int:
    """Create a table and fill it, in one transaction: it is then synced, not logged.
    `quote` writes a table's name, with its schema."""
    more = "" if compares_by_bytes(connection) else BY_BYTES
    columns = ", ".join(f"{quoted(a.name)} {column_type(a.type, more)}" for a in table.attributes)
    name = quote(table.name)
    options = csv.WriteOptions(include_header=False)
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {name}".encode())
        cursor.execute(f"CREATE TABLE {name} ({columns})".encode())
        with cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)".encode()) as copy:
            for batch in rows:
                for first in range(0, batch.num_rows, BATCH_ROWS):
                    sink = pa.BufferOutputStream()
                    csv.write_csv(batch.slice(first, BATCH_ROWS), sink, options)
                    copy.write(memoryview(sink.getvalue()))
        return cursor.rowcount


def organise(connection: Connection, table: "Table", quote: Quote) -> None:
    """Build the indexes, and put a clustered relation in order."""
    name = quote(table.name)
    if table.key is not None and table.organisation in ("clustered", "hash"):
        method = "hash" if table.organisation == "hash" else "btree"
        index = quoted(f"{table.name}.{table.key}")
        create = f"CREATE INDEX {index} ON {name} USING {method} ({quoted(table.key)})"
        connection.execute(create.encode())
        if table.organisation == "clustered":
            connection.execute(f"CLUSTER {name} USING {index}".encode())
    if table.primary_key:
        over = ", ".join(map(quoted, table.primary_key))
        own = key_name(table.name, table.primary_key)
        constraint = f"CONSTRAINT {quoted(own)} " if own else ""
        connection.execute(f"ALTER TABLE {name} ADD {constraint}PRIMARY KEY ({over})".encode())
    for attributes in table.all_indexes:
        index = quoted(".".join((table.name, *attributes)))
        over = ", ".join(map(quoted, attributes))
        connection.execute(f"CREATE INDEX {index} ON {name} ({over})".encode())


def key_name(table: str, attributes: Sequence[str]) -> str:
    """The name of a table's primary key, by which it is reported from one that others made
    (`schema.py`): no index of ours has two dots. Empty where it would be cut: the server's own name
    for it is then another than that of each other table."""
    name = f"{table}..{'.'.join(attributes)}"
    return name if len(name.encode()) <= NAME_BYTES_MAX else ""


BY_BYTES = ' COLLATE "C"'


def compares_by_bytes(connection: Connection) -> bool:
    """Whether the database compares texts by bytes, as elsewhere, without a word at each column: a
    recursive query is refused where the columns that it begins with have another collation than
    those that it goes on with."""
    query = (
        "SELECT datcollate, pg_catalog.to_jsonb(d) ->> 'datlocprovider' FROM pg_catalog.pg_database"
        " AS d WHERE datname = pg_catalog.current_database()"
    )
    row = connection.execute(query.encode()).fetchone()
    return row is not None and row[0] in ("C", "POSIX") and row[1] in (None, "c")


def column_type(type_name: str, more: str = BY_BYTES) -> str:
    """The server's name for an attribute's type, with `more` behind that of a text."""
    if type_name in _TYPES:
        return _TYPES[type_name]
    if _CHARACTERS.fullmatch(type_name):
        return type_name + more
    if _DECIMAL.fullmatch(type_name):
        return type_name
    known = (*_TYPES, "text", "char(N)", "decimal(N,M)")
    raise InputError(f"no such type: {type_name!r}", hint=f"there are {', '.join(known)}")


def streamed(connection: Connection, statement: str) -> Iterator[tuple[Any, ...]]:
    """Every row of a query, in the server's binary form: half the work of its text, and no more
    memory than a chunk takes, however large a relation is."""
    # A libpq before 17 hands over single rows.
    size = CHUNK_ROWS if psycopg.capabilities.has_stream_chunked() else 1
    with connection.cursor() as cursor:
        yield from cursor.stream(statement.encode(), binary=True, size=size)
