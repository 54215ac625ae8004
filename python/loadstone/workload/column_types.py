"""The types of a user's columns, and the conversion of values to them: exact, or refused."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from loadstone.errors import InputError

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
TYPES = f"{', '.join(_ARROW)} and decimal(DIGITS,PLACES) of up to {PRECISION_MAX} digits"

_WHOLE = r"^[+-]?\d+$"
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_FLOAT = rf"(?i)(^[+-]?(nan|inf|infinity)$)|{_NUMBER}"
_TRUE, _TRUTH = "(?i)^(true|t|1)$", "(?i)^(true|t|1|false|f|0)$"
_DATE = r"^\d{4}-\d\d-\d\d$"
_TIME = r"^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?( ?([zZ]|[+-]\d\d(:?\d\d)?))?)?$"
_OFFSET = r":\d\d(\.\d+)?([Z]|[+-]\d\d(:?\d\d)?)$"
_FINER = r"\.\d{6}\d*[1-9]"
_SHAPES = {
    "int2": _WHOLE, "int4": _WHOLE, "int8": _WHOLE, "decimal": _NUMBER, "float8": _FLOAT,
    "bool": _TRUTH, "date": _DATE, "timestamp": _TIME,
}  # fmt: skip
"""The texts that are values of a type."""
_PLAIN = ("int2", "int4", "int8", "timestamp")
_YEARS = {
    "date": (-719_162, 2_932_896),
    "timestamp": (-719_162 * 86_400_000_000, 2_932_897 * 86_400_000_000 - 1),
}
"""The first and the last day, or microsecond, of the years 1 to 9999, counted from 1970."""


class MisfitError(ValueError):
    """A value that its type does not hold: its place in the column, and why."""

    def __init__(self, place: int, why: str) -> None:
        super().__init__(why)
        self.place = place


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


def has_text(kind: Any) -> bool:
    """Whether values of an Arrow type can be taken as texts."""
    without = (pa.types.is_nested, pa.types.is_interval, pa.types.is_duration)
    return not any(test(kind) for test in without)


def converted(column: Any, kind: str) -> Any:
    """A column's values in a type of ours, each one the same. Raises `MisfitError`."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), arrow_type(kind))
    if type_name(column.type) == "text":
        found = _of_texts(_checked(column.cast(pa.string())), kind)
    else:
        found = _of_values(column, kind)
    if kind in _YEARS:
        _check_years(found, kind)
    if kind == "text":
        _check_nul(found)
    return found


def _of_values(column: Any, kind: str) -> Any:
    if pa.types.is_timestamp(column.type) and column.type.tz:
        column = column.cast(pa.timestamp(column.type.unit))  # the same instant, in UTC
    target = arrow_type(kind)
    try:
        found = column.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        place = _first(column, lambda part: part.cast(target))
        raise MisfitError(place, _why(column, place, kind)) from error
    if kind in ("text", type_name(column.type)):  # which hold each value of the column's type
        return found
    # A cast to a narrower type may drop digits, or the time of a day, without an error.
    back = found.cast(column.type)
    changed = pc.index(pc.equal(back, column), value=False).as_py()
    if changed >= 0:
        raise MisfitError(changed, _why(column, changed, kind))
    return found


def _why(column: Any, place: int, kind: str) -> str:
    if pa.types.is_timestamp(column.type) and kind == "timestamp":
        return f"{column[place].cast(pa.string())} is finer than a microsecond"
    if isinstance(column[place].as_py(), bytes):
        return f"the bytes {column[place].as_py()[:20]!r} are no text in UTF-8"
    return f"{str(column[place])[:60]!r} is no {kind}"


def _first(column: Any, convert: Callable[[Any], Any]) -> int:
    """The place of the first value at which a conversion fails that fails for the whole column."""
    low, high = 0, len(column)  # it fails within the first `high` values, not within `low`
    while high - low > 1:
        middle = (low + high) // 2
        try:
            convert(column.slice(0, middle))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            high = middle
        else:
            low = middle
    return low


def _checked(texts: Any) -> Any:
    """The same: a file may call bytes a text that are none."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        place = _first(texts, lambda part: part.validate(full=True))
        raise MisfitError(place, "its bytes are no text in UTF-8") from error
    return texts


def _of_texts(texts: Any, kind: str) -> Any:
    if kind == "text":
        return texts
    family = kind.partition("(")[0]
    other = pc.index(pc.match_substring_regex(texts, _SHAPES[family]), value=False).as_py()
    if other >= 0:
        raise MisfitError(other, f"{texts[other].as_py()[:60]!r} is no {kind}")
    convert = _CONVERSIONS.get(family, lambda part: part.cast(arrow_type(kind)))
    if family in _PLAIN:  # of most files all values are written as Arrow has them, which is fast
        with suppress(pa.ArrowInvalid):
            return texts.cast(arrow_type(kind))
    try:
        return convert(texts)
    except pa.ArrowInvalid as error:
        place = _first(texts, convert)
        raise MisfitError(place, f"{texts[place].as_py()[:60]!r} is no {kind}") from error


def _integers(width: Any) -> Callable[[Any], Any]:
    return lambda texts: pc.replace_substring_regex(texts, r"^\+", "").cast(width)


def _floats(texts: Any) -> Any:
    found = texts.cast(pa.float64())
    beyond = pc.and_(pc.is_inf(found), pc.match_substring_regex(texts, r"\d"))
    if (place := pc.index(beyond, value=True).as_py()) >= 0:
        raise MisfitError(place, f"{texts[place].as_py()[:60]!r} is beyond the range of float8")
    return found


def _truths(texts: Any) -> Any:
    return pc.match_substring_regex(texts, _TRUE)


def _times(texts: Any) -> Any:
    """Times with an offset as those of UTC, those without as they stand."""
    if (place := pc.index(pc.match_substring_regex(texts, _FINER), value=True).as_py()) >= 0:
        raise MisfitError(place, f"{texts[place].as_py()[:60]!r} is finer than a microsecond")
    plain = pc.replace_substring_regex(texts, r"(\.\d{6})0+", r"\1")
    plain = pc.replace_substring_regex(pc.utf8_upper(plain), r"(:[\d.]+) ([+Z-])", r"\1\2")
    zoned = has_offset(plain)
    if not pc.any(zoned).as_py():
        return plain.cast(pa.timestamp("us"))
    nothing = pa.scalar(None, pa.string())
    utc = pc.if_else(zoned, plain, nothing).cast(pa.timestamp("us", "UTC"))
    local = pc.if_else(zoned, nothing, plain).cast(pa.timestamp("us"))
    return pc.coalesce(utc.cast(pa.timestamp("us")), local)


def has_offset(texts: Any) -> Any:
    """Which of these times have an offset from UTC."""
    return pc.match_substring_regex(texts, _OFFSET, ignore_case=True)


def _check_nul(texts: Any) -> None:
    if (place := pc.index(pc.match_substring(texts, "\0"), value=True).as_py()) >= 0:
        raise MisfitError(place, "a NUL byte, which not every engine's text can hold")


def _check_years(column: Any, kind: str) -> None:
    low, high = _YEARS[kind]
    counted = column.cast(pa.int32() if kind == "date" else pa.int64())
    within = pc.and_(pc.greater_equal(counted, low), pc.less_equal(counted, high))
    if (place := pc.index(within, value=False).as_py()) >= 0:
        raise MisfitError(place, "the time is outside the years 1 to 9999, which all engines have")


_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    "int2": _integers(pa.int16()), "int4": _integers(pa.int32()), "int8": _integers(pa.int64()),
    "float8": _floats, "bool": _truths, "timestamp": _times,
}  # fmt: skip
"""From texts, where Arrow's own cast takes fewer or other texts."""
