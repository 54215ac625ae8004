"""Moving rows into MariaDB from Arrow: by LOAD DATA into a server of ours, by INSERT of many rows
into a user's.

LOAD DATA LOCAL is not used there: it lets a server ask for any file of this machine, and many
servers do not take it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from loadstone.engines.mariadb.session import Session
from loadstone.errors import InputError

if TYPE_CHECKING:
    from loadstone.engines.capabilities import Table

BATCH_ROWS = 65536
"""In one file: a temporary one, and memory, stay flat in the size of a relation."""
INSERT_BYTES_MAX = 1 << 20
"""Of one statement: half of what the oldest servers take is far more than its parsing costs."""
KEY_LETTERS_MAX = 768
"""Of the attributes of one index together: InnoDB's 3072 bytes, 4 for a letter."""
_FIXED_LETTERS_MAX = 255
_TYPES = {
    "int2": "smallint", "int4": "int", "int8": "bigint", "float8": "double", "bool": "boolean",
    "date": "date", "timestamp": "datetime(6)", "text": "longtext",
}  # fmt: skip
_CHARACTERS = re.compile(r"char\((\d+)\)")
_EXACT = re.compile(r"decimal\(\d+,\d+\)")
_ESCAPED = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\0", "\\0"))
_NULL = "\\N"
_FORM = (
    "CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n'"
)


def quoted(name: str) -> str:
    """A name as MariaDB delimits it."""
    return "`" + name.replace("`", "``") + "`"


def fill(
    session: Session, table: "Table", rows: "pa.RecordBatchReader", folder: Path | None
) -> int:
    """Create a table and fill it in one transaction. `folder` is where the server may read files;
    None where it is not ours. Returns the rows. Raises PyMySQL's errors, and what the rows raise;
    the table is then there."""
    name = quoted(table.name)
    session.ask(f"DROP TABLE IF EXISTS {name}")
    session.ask(f"CREATE TABLE {name} ({', '.join(_columns(table))})")
    session.ask("BEGIN")
    if folder is None:
        count = sum(session.run_text(insert) for insert in _inserts(session, name, rows))
    else:
        count = _from_files(session, name, rows, folder)
    session.ask("COMMIT")
    return count


def _from_files(session: Session, name: str, rows: "pa.RecordBatchReader", folder: Path) -> int:
    path = folder / "rows.tsv"
    load = f"LOAD DATA INFILE {session.text_literal(str(path))} INTO TABLE {name} {_FORM}"
    count = 0
    try:
        for lines in _files(rows):
            path.write_bytes(lines)
            count += session.run_text(load)
    finally:
        path.unlink(missing_ok=True)
    return count


def _inserts(session: Session, name: str, rows: "pa.RecordBatchReader") -> Iterator[bytes]:
    """Statements with as many rows each as their size allows."""
    ((most,),) = session.ask("SELECT @@max_allowed_packet")
    bytes_max = min(INSERT_BYTES_MAX, int(most) // 2)
    head = f"INSERT INTO {name} VALUES ".encode()  # noqa: S608 - quoted
    for batch in rows:
        for first in range(0, batch.num_rows, BATCH_ROWS):
            letters, bounds = _values(batch.slice(first, BATCH_ROWS))
            begin = 0
            while begin < len(bounds) - 1:
                end = bisect_right(bounds, bounds[begin] + bytes_max) - 1
                end = max(end, begin + 1)
                # Without the last comma.
                yield head + letters[bounds[begin] : bounds[end] - 1]
                begin = end


def organise(session: Session, table: "Table") -> None:
    """Build the non-clustered indexes."""
    for attributes in table.all_indexes:
        index, over = quoted(".".join((table.name, *attributes))), _joined(attributes)
        session.ask(f"CREATE INDEX {index} ON {quoted(table.name)} ({over})")


def _columns(table: "Table") -> Iterator[str]:
    key = _key(table)
    in_keys = (key, *table.all_indexes)
    for attribute in table.attributes:
        together = max((len(names) for names in in_keys if attribute.name in names), default=0)
        kind = column_type(attribute.type, KEY_LETTERS_MAX // together if together else None)
        # Of a clustered relation's key no value is missing.
        yield f"{quoted(attribute.name)} {kind}{' NOT NULL' if attribute.name in key else ''}"
    if key:
        yield f"PRIMARY KEY ({_joined(key)})"


def _key(table: "Table") -> tuple[str, ...]:
    """The attributes in whose order the tuples lie; none for a heap."""
    if table.organisation != "clustered" or table.key is None:
        return table.primary_key
    return (table.key, table.tiebreaker) if table.tiebreaker else (table.key,)


def _joined(names: tuple[str, ...]) -> str:
    return ", ".join(map(quoted, names))


def column_type(type_name: str, letters_max: int | None = None) -> str:
    """The server's name for an attribute's type; of a text in a key, one of at most so many
    letters, because an index needs a bound."""
    if type_name == "text" and letters_max is not None:
        return f"varchar({letters_max})"
    if type_name in _TYPES:
        return _TYPES[type_name]
    if found := _CHARACTERS.fullmatch(type_name):
        return type_name if int(found[1]) <= _FIXED_LETTERS_MAX else f"varchar({found[1]})"
    if _EXACT.fullmatch(type_name):
        return type_name
    known = (*_TYPES, "char(N)", "decimal(N,M)")
    raise InputError(f"no such type: {type_name!r}", hint=f"there are {', '.join(known)}")


def _files(rows: "pa.RecordBatchReader") -> Iterator[memoryview]:
    for batch in rows:
        for first in range(0, batch.num_rows, BATCH_ROWS):
            yield _lines(batch.slice(first, BATCH_ROWS))


def _lines(batch: "pa.RecordBatch") -> memoryview:
    """The rows as LOAD DATA reads them: the letters of one array of texts, one after another."""
    letters, bounds = _joined_rows("", [_text(column) for column in batch.columns], "\t", "\n")
    return letters[bounds[0] : bounds[-1]]


def _values(batch: "pa.RecordBatch") -> tuple[memoryview, Sequence[int]]:
    """The rows as INSERT takes them, each with a comma behind it, and where each begins."""
    return _joined_rows("(", [_literal(column) for column in batch.columns], ",", "),")


def _joined_rows(
    begin: str, columns: Sequence["pa.Array"], between: str, end: str
) -> tuple[memoryview, Sequence[int]]:
    first, separator, last, nothing = (
        pa.scalar(text, pa.large_string()) for text in (begin, between, end, "")
    )
    lines = pc.binary_join_element_wise(*columns, separator)
    lines = pc.binary_join_element_wise(first, lines, last, nothing)
    _, offsets, letters = lines.buffers()
    at = lines.offset
    bounds = memoryview(offsets).cast("q")[at : at + len(lines) + 1]
    return memoryview(letters), bounds


def _text(column: "pa.Array") -> "pa.Array":
    """A column as texts, what is missing marked."""
    text = _plain(column)
    if _is_text(column.type):
        text = _escaped(text)
    return text.fill_null(_NULL) if text.null_count else text


def _literal(column: "pa.Array") -> "pa.Array":
    """A column as literals."""
    text, kind = _plain(column), column.type
    if _is_text(kind):
        text = pc.replace_substring(_escaped(text), "'", "''")
    if _is_text(kind) or pa.types.is_temporal(kind):
        mark, nothing = (pa.scalar(each, pa.large_string()) for each in ("'", ""))
        text = pc.binary_join_element_wise(mark, text, mark, nothing)
    return text.fill_null("NULL") if text.null_count else text


def _plain(column: "pa.Array") -> "pa.Array":
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return column.cast(pa.large_string())


def _is_text(kind: "pa.DataType") -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _escaped(text: "pa.Array") -> "pa.Array":
    for letter, written in _ESCAPED:
        text = pc.replace_substring(text, letter, written)
    return text
