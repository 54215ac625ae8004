"""Values of answers in one form for all engines, and their checksums.

    integer, boolean       a number: true is 1, since not every engine has booleans
    decimal, float         a number, equal to an integer where it is one
    date, timestamp        text as ISO 8601 has it, a blank between date and time; no `.000000`;
                           one that is infinite `infinity` or `-infinity`
    bytes                  their hexadecimal digits, which agree with no text
    text like a date       of an engine that has no dates (SQLite): a date or a text, as it may be
                           either; of any other engine a text, which agrees with no date
    text                   as it is, but for blanks at its end, as in `char(n)`
    NULL                   itself: a NULL agrees with a NULL

A checksum stands for an answer in each sample: equal answers of one engine have equal checksums.
Numbers with a fraction count in it by the cell of a grid in which they lie, whose lines are at no
number that people write, and beside a whole number as that; so equal checksums of two engines mean
that they agree, and unequal ones that their rows have to be compared (`comparison.py`).
"""

import datetime as dt
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any
from uuid import UUID

from loadstone._core import answer_of_rows, answer_of_stream
from loadstone.benchmarks.expected import Answer
from loadstone.errors import EngineError

Row = Sequence[Any]


class Moment(str):
    """A date or a timestamp as text."""

    __slots__ = ()


class Undated(str):
    """A text like a date or a timestamp, of an engine that has no type for them."""

    __slots__ = ()


class Blob(str):
    """Bytes, as hexadecimal digits."""

    __slots__ = ()


_GOLDEN = (math.sqrt(5) - 1) / 2
"""No short decimal number is near to it: no float that should be 2.5 lies beside a line at it."""
_PLAIN = (int, str, bool, type(None))
FRACTION, LARGE_FLOAT, LARGE_WHOLE = "fraction", "large float", "large whole"
_EXACT_MAX = 2.0**53
"""From here on a float is no longer each integer."""
_WHOLE_MAX = 2**63
"""From here on an integer is a text in a checksum: the core takes a larger one for a float."""
_NOISE = 1e-13
"""Sums that differ in their order of adding only, or by less than this, count as one number."""
_SMALLEST = 1e-290
"""Smaller ones have no grid of so many digits, whose lines would be no floats."""
_BYTES, _NO_DATE = "\0b", "\0t"
"""Before bytes, and before a text like a date that is none: no text is likely to begin so."""
_ORDERED = "in order"
"""Marks the rows by which the order counts in a checksum."""


def checksum_of(
    rows: Sequence[Row], digits: int, order: Sequence[int] = (), *, dates: bool = True
) -> Answer:
    """(rows, checksum) of an answer. `dates`: whether the engine has types for dates; else a text
    like a date is one."""
    count, checksum = answer_of_rows(_tokens(rows, digits, dates=dates))
    if not order:
        return count, checksum
    keys = [[row[place] for place in order] for row in rows]
    tokens = _tokens(keys, digits, dates=dates)
    numbered = ((_ORDERED, n, *row) for n, row in enumerate(tokens))
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
        yield [value if type(value) in _PLAIN else _exact(plain(value)) for value in row]


def _exact(value: Any) -> Any:
    """A value of a table: texts alone for what Arrow has as text."""
    return str(value) if isinstance(value, Moment) else value


def plain(value: Any) -> Any:
    """A value in the form of all engines: None, int, float, Decimal or str. Raises `EngineError`
    for one that has none."""
    kind = type(value)
    if kind in (int, str, float, type(None), Decimal, Moment, Undated, Blob):
        return value
    for known, form in _FORMS.items():
        if isinstance(value, known):
            return form(value)
    raise EngineError(
        f"its answer has a value of the type {kind.__name__}, which is compared with no other",
        hint="give it as a number, a text, a date or a timestamp: CAST(… AS TEXT)",
    )


_INFINITE = (
    (dt.date.max, Moment("infinity")), (dt.datetime.max, Moment("infinity")),
    (dt.date.min, Moment("-infinity")), (dt.datetime.min, Moment("-infinity")),
)  # fmt: skip
"""DuckDB's client gives these very objects of Python's for infinite dates and timestamps, and a new
object for a finite one of the same value."""


def _at(value: dt.date) -> Moment:
    for known, words in _INFINITE:
        if value is known:
            return words
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return Moment(value)


_FORMS: Mapping[type, Callable[[Any], Any]] = {
    bool: int,
    dt.date: _at,  # a datetime is one, too
    dt.time: str,
    UUID: str,
    IPv4Address: str,  # interfaces are addresses, too
    IPv6Address: str,
    IPv4Network: str,
    IPv6Network: str,
    bytes: lambda value: Blob(value.hex()),
}


_LIKE_DATE = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?", re.ASCII)


def is_like_date(text: str) -> bool:
    """Whether a text is written as a date or a timestamp is."""
    return text[4:5] == "-" and _LIKE_DATE.fullmatch(text) is not None


def _tokens(rows: Iterable[Row], digits: int, *, dates: bool) -> Iterator[list[Any]]:
    """Rows as they count in a checksum."""
    for row in rows:
        yield [
            _token(plain(value), digits)
            if type(value) not in _PLAIN
            or (type(value) is int and not -_WHOLE_MAX <= value < _WHOLE_MAX)
            else _NO_DATE + value
            if dates and type(value) is str and is_like_date(value)
            else value
            for value in row
        ]


def _token(value: Any, digits: int) -> Any:
    if isinstance(value, int):
        return value if -_WHOLE_MAX <= value < _WHOLE_MAX else f"~{value:x}"
    if not isinstance(value, float | Decimal):
        return _BYTES + value if isinstance(value, Blob) else None if value is None else str(value)
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return _token(int(value), digits)
    number = float(value)
    if isinstance(value, Decimal) and math.isinf(number) and value.is_finite():
        return f"~{value:.{digits}e}"
    if not math.isfinite(number) or 0 < abs(number) < _SMALLEST:
        return f"~{number!r}"
    if abs(number) >= _EXACT_MAX:
        return _cell(number, digits)
    whole, near = round(number), min(_NOISE, 10.0**-digits / 4) * _GOLDEN * abs(number)
    return whole if abs(number - whole) <= near else _cell(number, digits)


def _cell(number: float, digits: int) -> str:
    """The cell of the grid that a number lies in: its lines, and the magnitudes at which it gets
    coarser, are at no number that people write."""
    magnitude = math.floor(math.log10(abs(number) / (1 + _GOLDEN)))
    units = abs(number) / 10.0 ** (magnitude - digits + 1)
    sign = "-" if number < 0 else ""
    return f"~{sign}{math.floor(units + _GOLDEN)}e{magnitude}"


_TAGS: Mapping[type, str] = {Decimal: "n", Moment: "d", Undated: "u", Blob: "b"}
_TAGGED = {tag: kind for kind, tag in _TAGS.items()}


def written(rows: Iterable[Row], bytes_max: int, *, dates: bool = True) -> str | None:
    """Rows as text, for another process; None where it would be longer. A value of a type that JSON
    lacks is a list of its tag and its text. `dates` as in `checksum_of`."""
    lines, size = [], 0
    for row in rows:
        values = [*map(plain, row)]
        if not dates:
            values = [Undated(v) if type(v) is str and is_like_date(v) else v for v in values]
        lines.append(json.dumps([[_TAGS[type(v)], str(v)] if type(v) in _TAGS else v
                                 for v in values]))  # fmt: skip
        size += len(lines[-1]) + 1
        if size > bytes_max:
            return None
    return f"[{','.join(lines)}]"


def read(text: str) -> list[list[Any]]:
    """The answers that `written` wrote."""
    return [[_TAGGED[v[0]](v[1]) if isinstance(v, list) else v for v in row]
            for row in json.loads(text)]  # fmt: skip


def exactness(value: Any) -> str:
    """FRACTION of a number that has one, LARGE_FLOAT of one that may have lost it, LARGE_WHOLE of
    an integer that a float may not show; empty for all other values."""
    if not isinstance(value, int | float | Decimal) or not _is_finite(value):
        return ""
    whole = int(value)
    if not -_EXACT_MAX < whole < _EXACT_MAX and (isinstance(value, float) or value == whole):
        return LARGE_FLOAT if isinstance(value, float) else LARGE_WHOLE
    return "" if value == whole else FRACTION


def _is_finite(value: float | Decimal) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    return isinstance(value, int) or math.isfinite(value)
