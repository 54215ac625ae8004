"""Values of answers in one form for all engines, and whether two answers agree.

    integer, boolean       a number: true is 1, since not every engine has booleans
    decimal, float         a number, equal to an integer where it is one
    date, timestamp        text as ISO 8601 has it, a blank between date and time; no `.000000`
    text                   as it is, but for blanks at its end, as in `char(n)`
    NULL                   itself: a NULL agrees with a NULL

Two answers agree if both have as many rows and the rows of one are, each once and in any order,
those of the other. Integers agree if they are equal; in a column in which an engine gives numbers
with a fraction, numbers agree if they differ by no more than half a unit of the last of so many
significant digits, since not every engine has decimals.
If the statement requests an order by columns that it gives, these columns must have the same
values from row to row: rows that tie may stand in any order.

A checksum stands for an answer in each sample: equal answers of one engine have equal checksums.
Numbers with a fraction count in it by the cell of a grid in which they lie, whose lines are at no
number that people write; so equal checksums of two engines mean that they agree, and unequal ones
that their rows have to be compared.
"""

import datetime as dt
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from loadstone._core import answer_of_rows, answer_of_stream
from loadstone.benchmarks.expected import Answer
from loadstone.errors import EngineError

Row = Sequence[Any]

ROW_LETTERS_MAX = 200
"""Of a row in a message."""
_GOLDEN = (math.sqrt(5) - 1) / 2
"""No short decimal number is near to it: no float that should be 2.5 lies beside a line at it."""
_PLAIN = (int, str, bool, type(None))
_EXACT_MAX = 2.0**53
"""From here on a float is no longer each integer."""
_SMALLEST = 1e-290
"""Smaller ones have no grid of so many digits, whose lines would be no floats."""
_ORDERED = "in order"
"""Marks the rows by which the order counts in a checksum."""


def checksum_of(rows: Sequence[Row], digits: int, order: Sequence[int] = ()) -> Answer:
    """(rows, checksum) of an answer."""
    count, checksum = answer_of_rows(_tokens(rows, digits))
    if not order:
        return count, checksum
    keys = [[row[place] for place in order] for row in rows]
    numbered = ((_ORDERED, n, *row) for n, row in enumerate(_tokens(keys, digits)))
    _, ordered = answer_of_rows(numbered)
    return count, f"{(int(checksum, 16) + int(ordered, 16)) % 2**64:016x}"


def contents_of(rows: Any) -> Answer:
    """(rows, checksum) of a table: rows of an engine, or batches of Arrow. No float was computed:
    the engine has those of the file."""
    if hasattr(rows, "__arrow_c_stream__"):
        return answer_of_stream(_without_dates(rows))
    return answer_of_rows(_values(rows))


def _without_dates(rows: Any) -> Any:
    """Batches with dates and timestamps as text."""
    import pyarrow as pa

    reader = pa.RecordBatchReader.from_stream(rows)
    fields = [
        pa.field(field.name, pa.string() if pa.types.is_temporal(field.type) else field.type)
        for field in reader.schema
    ]
    schema = pa.schema(fields)
    return pa.RecordBatchReader.from_batches(
        schema,
        (
            pa.RecordBatch.from_arrays(
                [_as_text(column) for column in batch.columns], schema=schema
            )
            for batch in reader
        ),
    )


def _as_text(column: Any) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_temporal(column.type):
        return column
    return compute.replace_substring_regex(column.cast(pa.string()), r"\.0+$", "")


def _values(rows: Iterable[Row]) -> Iterator[list[Any]]:
    for row in rows:
        yield [value if type(value) in _PLAIN else plain(value) for value in row]


def plain(value: Any) -> Any:
    """A value in the form of all engines: None, int, float, Decimal or str. Raises `EngineError`
    for one that has none."""
    kind = type(value)
    if kind in (int, str, float, type(None), Decimal):
        return value
    for known, form in _FORMS.items():
        if isinstance(value, known):
            return form(value)
    raise EngineError(
        f"its answer has a value of the type {kind.__name__}, which is compared with no other",
        hint="give it as a number, a text, a date or a timestamp: CAST(… AS TEXT)",
    )


def _at(value: dt.datetime) -> str:
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return str(value)


_FORMS: Mapping[type, Callable[[Any], Any]] = {
    bool: int,
    dt.datetime: _at,  # before date, which it is, too
    dt.date: str,
    dt.time: str,
    UUID: str,
    bytes: bytes.hex,
}


def _tokens(rows: Iterable[Row], digits: int) -> Iterator[list[Any]]:
    """Rows as they count in a checksum."""
    for row in rows:
        yield [value if type(value) in _PLAIN else _token(plain(value), digits) for value in row]


def _token(value: Any, digits: int) -> Any:
    if not isinstance(value, float | Decimal):
        return value
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return int(value)
    number = float(value)
    if not math.isfinite(number) or 0 < abs(number) < _SMALLEST:
        return f"~{number!r}"
    if number.is_integer() and abs(number) < _EXACT_MAX:
        return int(number)
    return _cell(number, digits)


def _cell(number: float, digits: int) -> str:
    """The cell of the grid that a number lies in: its lines, and the magnitudes at which it gets
    coarser, are at no number that people write."""
    magnitude = math.floor(math.log10(abs(number) / (1 + _GOLDEN)))
    units = abs(number) / 10.0 ** (magnitude - digits + 1)
    sign = "-" if number < 0 else ""
    return f"~{sign}{math.floor(units + _GOLDEN)}e{magnitude}"


def written(rows: Iterable[Row]) -> str:
    """Rows as text, for another process. A decimal number is a list of one text."""
    stated = ([[str(v)] if isinstance(v, Decimal) else v for v in map(plain, row)] for row in rows)
    return json.dumps(list(stated))


def read(text: str) -> list[list[Any]]:
    """The answers that `written` wrote."""
    return [[Decimal(v[0]) if isinstance(v, list) else v for v in row] for row in json.loads(text)]


def difference(
    ours: Sequence[Row], theirs: Sequence[Row], digits: int, order: Sequence[int] = ()
) -> tuple[str, str] | None:
    """The first row of each in which two answers differ, as text; None if they agree. A row that
    the other lacks stands against an empty text."""
    a, b = [list(map(plain, row)) for row in ours], [list(map(plain, row)) for row in theirs]
    widths = {len(row) for row in (*a, *b)}
    if len(widths) > 1:
        return _shown(a), _shown(b)
    inexact = frozenset(
        place for row in (*a, *b) for place, v in enumerate(row) if _has_fraction(v)
    )
    tolerance = 0.5 * 10.0 ** (1 - digits)
    sides = (
        sorted(a, key=lambda row: _key(row, inexact)),
        sorted(b, key=lambda row: _key(row, inexact)),
    )
    found = _first(*sides, inexact, tolerance)
    if found is None and order:
        keys = [[[row[place] for place in order] for row in side] for side in (a, b)]
        places = frozenset(n for n, place in enumerate(order) if place in inexact)
        found = _first(keys[0], keys[1], places, tolerance)
        found = found and (f"in this order: {found[0]}", f"in this order: {found[1]}")
    return found


def _has_fraction(value: Any) -> bool:
    return isinstance(value, float | Decimal) and not isinstance(_token(value, 15), int)


def _first(
    a: Sequence[list[Any]], b: Sequence[list[Any]], inexact: frozenset[int], tolerance: float
) -> tuple[str, str] | None:
    for ours, theirs in zip(a, b, strict=False):
        if not _alike(ours, theirs, inexact, tolerance):
            # Sorted, the smaller row is the one that the other answer lacks.
            return _row(ours), _row(theirs)
    if len(a) != len(b):
        place = min(len(a), len(b))
        return (_row(a[place]) if len(a) > place else ""), (
            _row(b[place]) if len(b) > place else ""
        )
    return None


def _alike(a: Row, b: Row, inexact: frozenset[int], tolerance: float) -> bool:
    return all(
        _close(x, y, tolerance) if place in inexact else _equal(x, y)
        for place, (x, y) in enumerate(zip(a, b, strict=True))
    )


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        return a.rstrip(" ") == b.rstrip(" ")
    return bool(a == b)


def _close(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, str) or isinstance(b, str) or a is None or b is None:
        return _equal(a, b)
    x, y = float(a), float(b)
    if not (math.isfinite(x) and math.isfinite(y)):
        return x == y or (math.isnan(x) and math.isnan(y))
    return x == y or abs(x - y) <= tolerance * max(abs(x), abs(y))


def _key(row: Row, inexact: frozenset[int]) -> tuple[Any, ...]:
    """Sorts what is equal to the same place on both sides: exact columns first, floats coarsely."""
    exact = tuple(_rank(v) for place, v in enumerate(row) if place not in inexact)
    floats = tuple(_rank(v) for place, v in enumerate(row) if place in inexact)
    coarse = tuple((kind, float(f"{v:.5g}") if kind == 1 else v) for kind, v in floats)
    return exact, coarse, floats


def _rank(value: Any) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    if isinstance(value, str):
        return 2, value.rstrip(" ")
    return (3, 0) if value != value else (1, value)


def _shown(rows: Sequence[Row]) -> str:
    return _row(rows[0]) if rows else ""


def _row(row: Row) -> str:
    """A row for people."""
    words = ", ".join(
        "NULL" if v is None else repr(v) if isinstance(v, str) else str(v) for v in row
    )
    return f"({words if len(words) <= ROW_LETTERS_MAX else words[:ROW_LETTERS_MAX] + '…'})"
