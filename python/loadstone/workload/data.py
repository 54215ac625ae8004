"""Data files of a workload: Parquet, CSV, Arrow. What they hold, and their rows as engines load
them.

A file is read whole once when a run is planned: its checksum, its number of rows and the types of
its columns stand in the plan, and its primary key is checked. A run that is resumed reads it again.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from loadstone.errors import InputError
from loadstone.plan.workload import VALUES_MAX, Column, DataFile, DataTable
from loadstone.workload import answers, sql
from loadstone.workload.keys import PrimaryKey
from loadstone.workload.waiting import announced

SUFFIXES = (".parquet", ".csv", ".arrow", ".feather", ".ipc")
BATCH_ROWS = 1 << 16
PRECISION_MAX = 38
"""Digits of a decimal, in all engines that have decimals."""
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_ARROW: Mapping[str, Any] = {
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float8": pa.float64(),
    "text": pa.string(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
TYPES = f"{', '.join(_ARROW)} and decimal(DIGITS,PLACES)"


def arrow_type(name: str) -> Any:
    """The type in which rows come. Raises `InputError` for a type that there is not."""
    if name in _ARROW:
        return _ARROW[name]
    found = _DECIMAL.fullmatch(name)
    if found and 1 <= int(found[1]) <= PRECISION_MAX and int(found[2]) <= int(found[1]):
        return pa.decimal128(int(found[1]), int(found[2]))
    raise InputError(f"there is no type {name!r}", hint=f"there are {TYPES}")


def type_name(kind: Any) -> str | None:
    """Our name of the type that holds all values of an Arrow type; None if none does."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind):
        bits = kind.bit_width + pa.types.is_unsigned_integer(kind)
        return next((n for n, w in (("int2", 16), ("int4", 32), ("int8", 64)) if bits <= w),
                    "decimal(20,0)")  # fmt: skip
    if pa.types.is_decimal(kind):
        fits = 0 <= kind.scale <= kind.precision <= PRECISION_MAX
        return f"decimal({kind.precision},{kind.scale})" if fits else None
    tests = {
        "float8": (pa.types.is_floating,),
        "text": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view,
                 pa.types.is_null),
        "bool": (pa.types.is_boolean,),
        "date": (pa.types.is_date,),
        "timestamp": (pa.types.is_timestamp,),
    }  # fmt: skip
    return next((n for n, those in tests.items() if any(test(kind) for test in those)), None)


def made(
    name: str,
    query: str,
    types: Mapping[str, str],
    primary_key: Sequence[str] = (),
    indexes: Sequence[Sequence[str]] = (),
) -> DataTable:
    """A table that a query makes: it is executed twice, and must give the same rows. Raises
    `InputError`."""
    with announced(f"executing the query that makes the rows of the table {name}"):
        columns = _columns_of(_rows_made(name, query).schema, types, f"the table {name}")
        _check_known(name, columns, types, primary_key, indexes)
        own_indexes = tuple(map(tuple, indexes))
        plain = DataTable(name, columns, (), 0, tuple(primary_key), own_indexes, query)
        keys = PrimaryKey(name, plain.primary_key)
        rows, checksum = _contents_made(plain, keys)
        keys.check()
        again = _contents_made(plain)
    if again != (rows, checksum):
        raise InputError(
            f"the query of the table {name} returns other rows each time",
            hint="make them of what is the same each time: hash(i) in place of random()",
        )
    return replace(plain, rows=rows, checksum=checksum)


def _contents_made(table: DataTable, keys: PrimaryKey | None = None) -> tuple[int, str]:
    try:
        return answers.contents_of(stream(table, "", keys))
    except OSError as error:  # by way of the core, which has but its words
        stated = str(error).partition(" Detail:")[0].rpartition("Error: ")[2]
        raise InputError(f"the table {table.name} cannot be made: {stated}") from error


def values_of(
    query: str, where: str, *, tables: Sequence[DataTable], folder: str
) -> tuple[int | float | str | bool, ...]:
    """The first column of a query over a workload's tables, without NULLs. Raises `InputError`."""
    from loadstone.engines.duckdb.generating import rows_of

    used = sql.tables_of(sql.checked_query(query, [table.name for table in tables], where))
    readers = {table.name: stream(table, folder) for table in tables if table.name in used}
    found: list[Any] = []
    with announced(f"executing the query of {where}"):
        for batch in rows_of(query, BATCH_ROWS, where, readers):
            found += batch.column(0).drop_null().to_pylist()
            if len(found) > VALUES_MAX:
                raise InputError(
                    f"{where}: its query returns more than {VALUES_MAX:,} values",
                    hint="add a LIMIT",
                )
    return tuple(_as_literal(answers.plain(value)) for value in found)


def _as_literal(value: Any) -> int | float | str | bool:
    if not isinstance(value, Decimal):
        return value  # type: ignore[no-any-return]
    return int(value) if value == value.to_integral_value() else float(value)


def _rows_made(name: str, query: str) -> Any:
    from loadstone.engines.duckdb.generating import rows_of

    return rows_of(query, BATCH_ROWS, f"the table {name}")


def described(
    name: str,
    folder: str,
    files: Sequence[str],
    types: Mapping[str, str],
    primary_key: Sequence[str] = (),
    indexes: Sequence[Sequence[str]] = (),
) -> DataTable:
    """A table of these files, read once from end to end. Raises `InputError`."""
    with announced(f"reading the files of the table {name}: {', '.join(files)}"):
        return _read(name, folder, files, types, primary_key, indexes)


def _read(
    name: str,
    folder: str,
    files: Sequence[str],
    types: Mapping[str, str],
    primary_key: Sequence[str],
    indexes: Sequence[Sequence[str]],
) -> DataTable:
    paths = [Path(folder, file) for file in files]
    stated = tuple(_file(file, path) for file, path in zip(files, paths, strict=True))
    columns: tuple[Column, ...] = ()
    for path in paths:
        found = _columns(path, types)
        if columns and found != columns:
            raise InputError(
                f"{path} has other columns than {paths[0]}",
                hint="the files of a table have the same columns; name types under `types`",
            )
        columns = found
    _check_known(name, columns, types, primary_key, indexes)
    plain = DataTable(name, columns, stated, 0, tuple(primary_key), tuple(map(tuple, indexes)))
    keys = PrimaryKey(name, plain.primary_key)
    rows = sum(batch.num_rows for batch in stream(plain, folder, keys))
    keys.check()
    return DataTable(name, columns, stated, rows, plain.primary_key, plain.indexes)


def _check_known(
    name: str,
    columns: Sequence[Column],
    types: Mapping[str, str],
    primary_key: Sequence[str],
    indexes: Sequence[Sequence[str]],
) -> None:
    known = {one.name for one in columns}
    for column in (*types, *primary_key, *(each for one in indexes for each in one)):
        if column not in known:
            raise InputError(f"the table {name} has no column {column!r}", hint=_has(columns))


def check_unchanged(table: DataTable, folder: str) -> None:
    """Raise `InputError` where a file is not the one of the plan, or a query gives other rows."""
    if table.sql and _contents_made(table) != (table.rows, table.checksum):
        raise InputError(
            f"the query of the table {table.name} returns other rows than when this run began",
            hint="continue it with the DuckDB of then, or start a new run without --resume",
        )
    for file in table.files:
        path = Path(folder, file.name)
        if _file(file.name, path) != file:
            raise InputError(
                f"{path} is not the file that this run began with",
                hint="put the file of then back, or start a new run without --resume",
            )


def stream(table: DataTable, folder: str, keys: PrimaryKey | None = None) -> Any:
    """All rows of a table as a reader of Arrow batches, in the types of its columns; `keys` sees
    them as they are read."""
    schema = pa.schema([(one.name, arrow_type(one.type)) for one in table.columns])
    batches = _batches(table, folder, schema)
    if keys is not None:
        batches = _seen(batches, keys)
    return pa.RecordBatchReader.from_batches(schema, batches)


def _seen(batches: Iterator[Any], keys: PrimaryKey) -> Iterator[Any]:
    for batch in batches:
        keys.take(batch)
        yield batch


def _batches(table: DataTable, folder: str, schema: Any) -> Iterator[Any]:
    types = {one.name: one.type for one in table.columns}
    if table.sql:
        where = f"the table {table.name}"
        for batch in _rows_made(table.name, table.sql):
            columns = [_cast(batch.column(n), field, where) for n, field in enumerate(schema)]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
    for file in table.files:
        path = Path(folder, file.name)
        with _errors(path):
            for batch in _reader(path, types):
                columns = [
                    _cast(batch.column(place), field, path) for place, field in enumerate(schema)
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast(column: Any, field: Any, path: Path | str) -> Any:
    if column.type == field.type:
        return column
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{path}: the column {field.name} has a value that is no {field.type}: {error}",
            hint="name a wider type for it under `types`",
        ) from error


def _columns(path: Path, types: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns of a file, in its order."""
    with _errors(path):
        schema = _schema(path, types)
    return _columns_of(schema, types, str(path))


def _columns_of(schema: Any, types: Mapping[str, str], path: str) -> tuple[Column, ...]:
    found = []
    for field in schema:
        kind = types.get(field.name) or type_name(field.type)
        if kind is None:
            raise InputError(
                f"{path}: the column {field.name!r} has the type {field.type}, which not every"
                " engine has",
                hint=f"leave it out of the file, or convert it; there are {TYPES}",
            )
        arrow_type(kind)
        found.append(Column(field.name, kind))
    names = [one.name.lower() for one in found]
    if not names or "" in names or len({*names}) < len(names):
        raise InputError(f"{path}: its columns must have names, each another one")
    for one in found:
        if not one.name.isprintable():
            raise InputError(f"{path}: {one.name!r} is no name of a column")
    return tuple(found)


def _schema(path: Path, types: Mapping[str, str]) -> Any:
    if path.suffix == ".csv":
        return _csv(path, types).schema
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_schema(path)
    with pa.memory_map(str(path)) as source:
        return _ipc(source).schema


def _reader(path: Path, types: Mapping[str, str]) -> Iterator[Any]:
    if path.suffix == ".csv":
        yield from _csv(path, types)
    elif path.suffix == ".parquet":
        with pyarrow.parquet.ParquetFile(path) as file:
            yield from file.iter_batches(BATCH_ROWS)
    else:
        with pa.memory_map(str(path)) as source:
            opened = _ipc(source)
            if isinstance(opened, pa.RecordBatchStreamReader):
                yield from opened
            else:
                yield from map(opened.get_batch, range(opened.num_record_batches))


def _csv(path: Path, types: Mapping[str, str]) -> Any:
    """An empty field is NULL, a quoted empty one a text without letters."""
    stated = {name: arrow_type(kind) for name, kind in types.items()}
    convert = pyarrow.csv.ConvertOptions(
        column_types=stated, strings_can_be_null=True, quoted_strings_can_be_null=False,
        null_values=[""],
    )  # fmt: skip
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    return pyarrow.csv.open_csv(path, convert_options=convert, parse_options=parse)


def _ipc(source: Any) -> Any:
    try:
        return pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source)


def _file(name: str, path: Path) -> DataFile:
    try:
        if not path.is_file() and path.exists():  # a device or a pipe may have no end
            raise InputError(f"{path} is no file of data that can be read: it is not a file")
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return DataFile(name, path.stat().st_size, digest)
    except OSError as error:
        raise _unreadable(path, error) from error


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """A file's contents are the user's: an error names it."""
    if path.suffix not in SUFFIXES:
        raise InputError(
            f"{path} is no file of data that can be read",
            hint=f"give it one of these formats and endings: {', '.join(SUFFIXES)}",
        )
    try:
        yield
    except OSError as error:
        raise _unreadable(path, error) from error
    except (pa.ArrowException, UnicodeDecodeError) as error:
        stated = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path} cannot be read: {stated}",
            hint="of a CSV, name the types of its columns under `types`",
        ) from error


def _unreadable(path: Path, error: OSError) -> InputError:
    words = error.strerror or str(error).partition(". Detail")[0]
    return InputError(
        f"the data file {path} cannot be read: {words}",
        hint="names of files begin in the folder of workload.toml, those of --data in this one",
    )


def _has(columns: Sequence[Column]) -> str:
    return f"it has {', '.join(one.name for one in columns)}"
