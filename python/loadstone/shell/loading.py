"""Relations from CSV and Parquet files: names and types of the columns become the attributes'."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadstone.errors import InputError, LodeError
from loadstone.lode import Database
from loadstone.text import csv_file
from loadstone.text.numbers import plural

if TYPE_CHECKING:
    import pyarrow as pa

_WHOLE = r"^\s*[+-]?[0-9]+\s*$"
_WORD = re.compile(r"[a-z_][a-z0-9_]*")
TEXT_BYTES_MAX = 65_535
"""Of a text attribute."""
_REAL_WHOLE_MIN = 2.0**63
"""A whole number from here on has no place in an integer of 8 bytes."""


def load(database: Database, wish: str) -> tuple[str, int]:
    """Load `relation=FILE`; the relation and its tuples. It must be new. The file's rows are held
    in memory. Raises `InputError` for a file or name that cannot be one, `LodeError`."""
    name, _, file = wish.partition("=")
    relation = name.strip().lower()
    if not file or not _is_name(database, relation):
        raise InputError(
            f"cannot load {wish!r}: write RELATION=FILE, with a name that QUEL takes",
            hint="a name has letters, digits and underscores, and is no word of QUEL itself",
        )
    if any(known["name"] == relation for known in database.relations()):
        raise InputError(
            f"there is a relation {relation} already", hint=f"destroy it first: destroy {relation}"
        )
    table = _fitted(_read(Path(file)), file)
    attributes = [(column.name, _type(column, table.column(at), file))
                  for at, column in enumerate(table.schema)]  # fmt: skip
    count = database.load(relation, attributes, table)
    database.settle(relation)
    return relation, count


def _is_name(database: Database, word: str) -> bool:
    """Whether the language takes it for a relation's name."""
    try:
        return bool(_WORD.fullmatch(word)) and len(database.statements(f"destroy {word}")) == 1
    except LodeError:
        return False


def _read(path: Path) -> "pa.Table":
    import pyarrow as pa
    from pyarrow import parquet

    readers = {".csv": _read_csv, ".parquet": parquet.read_table}
    if path.suffix not in readers:
        raise InputError(
            f"cannot load {path}: its name ends in neither .csv nor .parquet",
            hint="name a CSV file .csv and a Parquet file .parquet",
        )
    if not path.is_file():
        what = "is no file" if path.exists() else "is not there"
        raise InputError(f"cannot load {path}: it {what}", hint="name a CSV or Parquet file")
    try:
        return readers[path.suffix](str(path))
    except (pa.ArrowException, OSError) as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"cannot read {path}: {what}") from error


def _read_csv(path: str) -> "pa.Table":
    """A CSV file's rows, whose reals may be `nan`. Raises `InputError` for a column of integers of
    which one is too long, which Arrow takes for reals."""
    import pyarrow as pa
    from pyarrow import compute, csv, types

    empty = [word for word in csv.ConvertOptions().null_values if "nan" not in word.lower()]
    csv_file.checked(Path(path))  # Arrow's reader loses what follows a stray quote

    def read(**options: Any) -> "pa.Table":
        with Path(path).open("rb") as file:
            return csv.read_csv(
                pa.PythonFile(csv_file.Pieces(file), mode="r"),
                parse_options=csv.ParseOptions(newlines_in_values=True),
                convert_options=csv.ConvertOptions(**options),
            )

    table = read(null_values=empty)
    large = [
        column.name
        for column in table.schema
        if types.is_floating(column.type) and table.column_names.count(column.name) == 1
        if _any(compute.greater_equal(compute.abs(table[column.name]), _REAL_WHOLE_MIN))
    ]
    if large:
        as_text = dict.fromkeys(large, pa.string())
        written = read(include_columns=large, column_types=as_text)
        for name in large:
            if not _any(compute.invert(compute.match_substring_regex(written[name], _WHOLE))):
                raise InputError(
                    f"{path}: {name} has an integer of more than 8 bytes",
                    hint="write one of the column's numbers with a decimal point: they are reals"
                    " then",
                )
    return table


def _any(truths: "pa.ChunkedArray") -> bool:
    """Whether one is true; absent ones are not."""
    from pyarrow import compute

    return bool(compute.any(truths).as_py())


def _fitted(table: "pa.Table", file: str) -> "pa.Table":
    """The same rows in types that lode stores, under names that QUEL can say."""
    import pyarrow as pa

    names = [name.strip().lower() for name in table.column_names]
    for name in names:
        if not _WORD.fullmatch(name) or names.count(name) > 1:
            raise InputError(
                f"{file}: no attribute can be called {name!r}",
                hint="name each column apart, by letters, digits and underscores, in its first row",
            )
    try:
        fields = [pa.field(name, _stored(column.type, name, file))
                  for name, column in zip(names, table.schema, strict=True)]  # fmt: skip
        return table.rename_columns(names).cast(pa.schema(fields))
    except pa.ArrowException as error:
        raise InputError(f"{file}: {error}") from error


def _stored(kind: "pa.DataType", name: str, file: str) -> "pa.DataType":
    """The type in which a column is loaded."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_boolean(kind):
        return pa.int8()
    if types.is_integer(kind):
        signed = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
        bits = kind.bit_width if types.is_signed_integer(kind) else kind.bit_width * 2
        return signed[min(bits, 64)]
    if types.is_floating(kind):
        return pa.float64() if kind.bit_width == 64 else pa.float32()
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if is_text or (types.is_dictionary(kind) and types.is_string(kind.value_type)):
        return pa.string()
    raise InputError(
        f"{file}: lode has no type for {name}, a column of {kind}",
        hint="make it a column of integers, reals or texts",
    )


def _type(field: "pa.Field", column: "pa.ChunkedArray", file: str) -> str:
    """The attribute's type in QUEL."""
    from pyarrow import compute, types

    if column.null_count:
        raise InputError(
            f"{file}: {field.name} is empty in {plural(column.null_count, 'row')}, and a relation"
            " cannot hold a null",
            hint="fill them, as with 0 or blanks",
        )
    if types.is_floating(field.type) and _any(compute.invert(compute.is_finite(column))):
        count = compute.sum(compute.invert(compute.is_finite(column))).as_py()
        raise InputError(
            f"{file}: {field.name} is nan or infinite in {plural(count, 'row')}, and a relation"
            " holds numbers alone",
            hint="leave these rows out, or write numbers",
        )
    if not types.is_string(field.type):
        letter = "i" if types.is_integer(field.type) else "f"
        return f"{letter}{field.type.bit_width // 8}"
    longest = compute.max(compute.binary_length(column)).as_py() or 1
    if longest > TEXT_BYTES_MAX:
        raise InputError(f"{file}: a text of {field.name} has {longest:,} bytes",
                         hint=f"at most {TEXT_BYTES_MAX:,} are stored")  # fmt: skip
    return f"c{longest}"
