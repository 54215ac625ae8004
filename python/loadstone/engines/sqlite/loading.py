"""Making a table of SQLite's: its definition, its rows by one prepared statement, its indexes."""

from typing import TYPE_CHECKING

import apsw

from loadstone.engines.capabilities import Table
from loadstone.engines.quoting import quoted
from loadstone.engines.sqlite.user_file import transaction
from loadstone.engines.sqlite_form import affinity, kept_rows

if TYPE_CHECKING:
    import pyarrow as pa

_STAGE = "temp.loadstone_unordered"


def fill(
    db: apsw.Connection, table: Table, rows: "pa.RecordBatchReader", *, rowid: bool, indexed: bool
) -> None:
    """Replace a table, in one transaction, its indexes included. `rowid`: also one that is
    clustered has a rowid, and is clustered by the order of its rows alone. Raises apsw's errors."""
    ordered = rowid and table.organisation == "clustered"
    name = quoted(table.name)
    places = ",".join("?" * len(table.attributes))
    into = _STAGE if ordered else name
    with transaction(db):
        db.execute(f"DROP TABLE IF EXISTS {name}")
        db.execute(_definition(table, ordered=ordered))
        if ordered:
            db.execute(f"CREATE TABLE {into} AS SELECT * FROM {name}")  # noqa: S608
        insert = f"INSERT INTO {into} VALUES ({places})"  # noqa: S608
        for batch in rows:
            db.executemany(insert, kept_rows(batch.columns, table))
        if ordered:
            key = ", ".join(map(quoted, _key(table)))
            db.execute(f"INSERT INTO {name} SELECT * FROM {into} ORDER BY {key}")  # noqa: S608
            db.execute(f"DROP TABLE {into}")
        for attributes in table.all_indexes if indexed else ():
            index = quoted(".".join((table.name, *attributes)))
            db.execute(f"CREATE INDEX {index} ON {name} ({', '.join(map(quoted, attributes))})")


def _definition(table: Table, *, ordered: bool) -> str:
    columns = [f"{quoted(a.name)} {affinity(a.type)}" for a in table.attributes]
    tail = ""
    if table.primary_key:
        columns.append(f"PRIMARY KEY ({', '.join(map(quoted, table.primary_key))})")
    if table.organisation == "clustered" and table.key is not None:
        key = ", ".join(map(quoted, _key(table)))
        # Not PRIMARY KEY for both: one on a single integer would be the rowid itself.
        columns.append(f"UNIQUE ({key})" if ordered else f"PRIMARY KEY ({key})")
        tail = "" if ordered else " WITHOUT ROWID"
    return f"CREATE TABLE {quoted(table.name)} ({', '.join(columns)}){tail}"


def _key(table: Table) -> list[str]:
    return [name for name in (table.key, table.tiebreaker) if name]
