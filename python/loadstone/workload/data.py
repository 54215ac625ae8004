"""Tables of a workload, of its data files or of a query: their columns, and their rows as engines
load them.

A file is read whole once when a run is planned: its checksum, its number of rows and the types of
its columns stand in the plan, and its primary key is checked. A run that is resumed reads it again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from loadstone.errors import InputError
from loadstone.plan.workload import (
    COLUMNS_MAX,
    NAME_LETTERS_MAX,
    VALUES_MAX,
    Column,
    DataTable,
)
from loadstone.text import csv_file
from loadstone.text.numbers import listing
from loadstone.workload import answers, data_file, sql
from loadstone.workload.column_types import (
    TYPES,
    MisfitError,
    arrow_type,
    converted,
    has_text,
    type_name,
)
from loadstone.workload.guessing import Guess
from loadstone.workload.keys import PrimaryKey
from loadstone.workload.waiting import announced


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
        for batch in rows_of(query, data_file.BATCH_ROWS, where, readers):
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

    return rows_of(query, data_file.BATCH_ROWS, f"the table {name}")


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
    stated = tuple(data_file.identity(file, path) for file, path in zip(files, paths, strict=True))
    taken = dict(types) | _guessed(
        [path for path in paths if data_file.suffix(path) == ".csv"], types
    )
    first, *others = [_columns(path, taken) for path in paths]
    for path, found in zip(paths[1:], others, strict=True):
        _check_same(path, found, paths[0], first)
    _check_known(name, first, types, primary_key, indexes)
    plain = DataTable(name, first, stated, 0, tuple(primary_key), tuple(map(tuple, indexes)))
    keys = PrimaryKey(name, plain.primary_key)
    rows = sum(batch.num_rows for batch in stream(plain, folder, keys))
    keys.check()
    return replace(plain, rows=rows)


def _guessed(paths: Sequence[Path], types: Mapping[str, str]) -> dict[str, str]:
    """The types of the columns of CSV files, of all their rows together."""
    guesses: dict[str, Guess] = {}
    for path in paths:
        with data_file.errors_of(path):
            names, rows = csv_file.checked(path)
            _check_names(names, f"{path}, line 1")
            for batch in data_file.csv_batches(path, names):
                rows -= batch.num_rows
                for column in {*names} - {*types}:
                    guesses.setdefault(column, Guess()).take(batch.column(column))
        if rows:  # of two readers that know nothing of each other
            raise InputError(
                f"{path}: a second reading found {-rows:+,} rows",
                hint="does a program write the file? If not, report it: one of two readers errs",
            )
        for column in {*names} - {*types}:  # of a file without rows, too
            guesses.setdefault(column, Guess())
    return {column: guess.kind for column, guess in guesses.items()}


def _check_same(
    path: Path, found: Sequence[Column], first: Path, columns: Sequence[Column]
) -> None:
    """Raise `InputError` where two files of a table have other columns; their order may differ."""
    types, expected = ({one.name: one.type for one in each} for each in (found, columns))
    for name in (*expected, *types):
        if types.get(name) != expected.get(name):
            here, there = (each.get(name, "not there") for each in (types, expected))
            way = _naming(name, "TYPE") if name in types and name in expected else "leave it out"
            raise InputError(
                f"{path} has other columns than {first}: {name!r} is {here}, in the first {there}",
                hint=f"the files of a table have the same columns: {way}",
            )


def _naming(column: str, kind: str) -> str:
    """The two ways to name a type."""
    return (
        f'name its type: types = {{ "{column}" = "{kind}" }} in workload.toml, or'
        f" --types '{column}={kind}' beside --data (of several: TABLE.{column})"
    )


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
    for kind in types.values():
        arrow_type(kind)  # raises for one that is no type


def check_unchanged(table: DataTable, folder: str) -> None:
    """Raise `InputError` where a file is not the one of the plan, or a query gives other rows."""
    if table.sql and _contents_made(table) != (table.rows, table.checksum):
        raise InputError(
            f"the query of the table {table.name} returns other rows than when this run began",
            hint="continue it with the DuckDB of then, or start a new run without --resume",
        )
    for file in table.files:
        path = Path(folder, file.name)
        if data_file.identity(file.name, path) != file:
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
    if table.sql:
        yield from _typed(_rows_made(table.name, table.sql), table, schema, None)
    for file in table.files:
        path = Path(folder, file.name)
        with data_file.errors_of(path):
            yield from _typed(data_file.batches_of(path), table, schema, path)


def _typed(batches: Any, table: DataTable, schema: Any, path: Path | None) -> Iterator[Any]:
    """Batches in the types of the table's columns."""
    before = 0
    for batch in batches:
        columns = []
        for column in table.columns:
            try:
                columns.append(converted(batch.column(column.name), column.type))
            except MisfitError as misfit:
                row = before + misfit.place
                where = f"the table {table.name}" if path is None else _place_of(path, row)
                way = "leave the column out"
                if column.type != "text":
                    way = f"write the value otherwise, or {_naming(column.name, 'text')}"
                raise InputError(f"{where}, column {column.name}: {misfit}", hint=way) from misfit
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
        before += batch.num_rows


def _place_of(path: Path, row: int) -> str:
    if data_file.suffix(path) == ".csv":
        return f"{path}, line {csv_file.line_of(path, row):,}"
    return f"{path}, row {row + 1:,}"


def _columns(path: Path, types: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns of a file, in its order."""
    with data_file.errors_of(path):
        schema = data_file.schema_of(path)
    return _columns_of(schema, types, str(path))


def _columns_of(schema: Any, types: Mapping[str, str], path: str) -> tuple[Column, ...]:
    _check_names(schema.names, path)
    found = []
    for field in schema:
        kind = types.get(field.name) or type_name(field.type)
        if kind is None or (field.name in types and not has_text(field.type)):
            way = _naming(field.name, "text") if has_text(field.type) else "leave it out"
            raise InputError(
                f"{path}: the column {field.name!r} has the type {field.type}, which not every"
                " engine has",
                hint=f"{way}, or convert it in the file; there are {TYPES}",
            )
        arrow_type(kind)
        found.append(Column(field.name, kind))
    return tuple(found)


def _check_names(names: Sequence[str], where: str) -> None:
    """Raise `InputError` where columns have no names, or two the same."""
    if not 0 < len(names) <= COLUMNS_MAX:
        raise InputError(
            f"{where}: it has {len(names):,} columns, and a table has one to {COLUMNS_MAX:,}",
            hint="leave out those that no statement reads" if names else "give it some",
        )
    by_name: dict[str, list[int]] = {}
    for number, name in enumerate(names, 1):
        by_name.setdefault(name.lower(), []).append(number)
        if not name:
            raise InputError(f"{where}: column {number} has no name", hint="give it one")
        if len(name) > NAME_LETTERS_MAX:
            raise InputError(
                f"{where}: the name of column {number} is longer than {NAME_LETTERS_MAX} letters",
                hint="shorten it",
            )
        if not name.isprintable():
            raise InputError(
                f"{where}: {name[:60]!r} is no name of column {number}",
                hint="leave out line breaks and other letters that are not seen",
            )
    for name, numbers in by_name.items():
        if len(numbers) > 1:
            raise InputError(
                f"{where}: columns {listing([str(each) for each in numbers])} have one name:"
                f" {name[:60]!r}",
                hint="name each otherwise: engines do not tell capitals from small letters",
            )


def _has(columns: Sequence[Column]) -> str:
    return f"it has {', '.join(one.name for one in columns)}"
