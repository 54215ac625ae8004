"""Tables of chDB's: a MergeTree each, whose rows come from Arrow as a stream."""

import re
from collections.abc import Iterator

import pyarrow as pa

from loadstone.engines.capabilities import Table
from loadstone.engines.chdb.session import Session
from loadstone.errors import EngineError, InputError

_TYPES = {
    "int2": "Int16", "int4": "Int32", "int8": "Int64", "float8": "Float64", "bool": "Bool",
    "date": "Date32", "timestamp": "DateTime64(6, 'UTC')", "text": "String",
}  # fmt: skip
_CHARACTERS = re.compile(r"char\(\d+\)")
_EXACT = re.compile(r"decimal(\(\d+,\d+\))")


def quoted(name: str) -> str:
    """A name as ClickHouse delimits it."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def fill(session: Session, table: Table, rows: "pa.RecordBatchReader") -> None:
    """Replace a table. Raises chDB's errors, and what the rows raise."""
    name = quoted(table.name)
    session.ask(f"DROP TABLE IF EXISTS {name} SYNC")
    order = ", ".join(map(quoted, key_of(table)))
    columns = ", ".join(_columns(table))
    session.ask(f"CREATE TABLE {name} ({columns}) ENGINE = MergeTree ORDER BY ({order})")
    # Background work would fall into some samples and not into others.
    session.ask(f"SYSTEM STOP MERGES {name}")
    listed = ", ".join(quoted(attribute.name) for attribute in table.attributes)
    for batch in rows:
        if batch.num_rows:
            session.insert(name, listed, pa.RecordBatchReader.from_batches(batch.schema, [batch]))


def refuse_twice(session: Session, table: Table) -> None:
    """Raise `EngineError` where two rows have one primary key: MergeTree itself takes them."""
    key = ", ".join(map(quoted, table.primary_key))
    name = quoted(table.name)
    query = f"SELECT 1 FROM {name} GROUP BY {key} HAVING count() > 1 LIMIT 1"  # noqa: S608
    if session.fetch(query):
        raise EngineError(f"chdb: duplicate rows of the primary key of {table.name}: {key}")


def key_of(table: Table) -> tuple[str, ...]:
    """The attributes in whose order the rows lie; none for a heap."""
    if table.organisation != "clustered" or table.key is None:
        return table.primary_key
    return (table.key, table.tiebreaker) if table.tiebreaker else (table.key,)


def _columns(table: Table) -> Iterator[str]:
    # The papers' relations lack no value; in a user's table any may be missing but the key's.
    papers = any(_CHARACTERS.fullmatch(attribute.type) for attribute in table.attributes)
    for attribute in table.attributes:
        kind = column_type(attribute.type)
        whole = papers or attribute.name in key_of(table)
        yield f"{quoted(attribute.name)} {kind if whole else f'Nullable({kind})'}"


def column_type(type_name: str) -> str:
    """The name that ClickHouse has for an attribute's type."""
    if type_name in _TYPES:
        return _TYPES[type_name]
    if _CHARACTERS.fullmatch(type_name):
        return "String"
    if found := _EXACT.fullmatch(type_name):
        return f"Decimal{found[1]}"
    known = (*_TYPES, "char(N)", "decimal(N,M)")
    raise InputError(f"no such type: {type_name!r}", hint=f"there are {', '.join(known)}")
