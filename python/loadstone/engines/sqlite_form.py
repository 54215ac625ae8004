"""The form that SQLite gives to values and plans, for every engine that has its file format."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from loadstone.engines.capabilities import Table
from loadstone.errors import UnsupportedError
from loadstone.text import zone

SYNCHRONOUS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}
"""SQLite's words for the number that `PRAGMA synchronous` reads back."""
ACCESS = re.compile(r"(SEARCH|SCAN) (?!(\d+ )?CONSTANT ROWS?$)")
"""A step of a plan that reads a relation: a constant is scanned, too, and is none."""
BUSY_MS_MAX = 5000
"""A statement waits that long for another's lock, then fails."""

_AFFINITIES = {"int": "INTEGER", "bool": "INTEGER", "float8": "REAL", "decimal": "NUMERIC"}
"""By the beginning of a type's name; any other type is TEXT. SQLite has no decimals: they are its
integers and floats."""
_INTEGER_MAX = 2**63
_FLOAT_DIGITS = 15
"""Each decimal of so many digits is a float of its own, and the same again as a decimal."""
_KEPT: Mapping[str, Callable[[Any], Any]] = {
    "bool": int, "date": str, "timestamp": str, "decimal": float,
}  # fmt: skip
"""The form in which SQLite keeps values of types that it lacks: dates as ISO 8601 has them, in the
words of its own functions."""


def affinity(type_name: str) -> str:
    """The type of a column in a definition."""
    return next(
        (word for start, word in _AFFINITIES.items() if type_name.startswith(start)), "TEXT"
    )


def kept(values: list[Any], type_name: str) -> list[Any]:
    """Values as SQLite keeps them. Raises `UnsupportedError` for one that it cannot keep."""
    if type_name == "float8" and any(value != value for value in values):
        raise UnsupportedError("SQLite has no NaN, and would keep NULL")
    family, _, digits = type_name.partition("(")
    form = _KEPT.get(family)
    if family == "decimal" and int(digits.partition(",")[0]) > _FLOAT_DIGITS:
        form = _long_decimal
    return values if form is None else [None if v is None else form(v) for v in values]


def _long_decimal(value: Decimal) -> int | float:
    """Raises `UnsupportedError` where no number of SQLite's is this one: two keys could become
    one."""
    if value == value.to_integral_value() and abs(value) < _INTEGER_MAX:
        return int(value)
    kept = float(value)
    if Decimal(repr(kept)) != value:
        raise UnsupportedError(
            f"SQLite has no decimals, and neither an integer nor a float that is {value}"
        )
    return kept


def kept_rows(columns: Iterable[Any], table: Table) -> Iterator[tuple[Any, ...]]:
    """The rows of Arrow's columns as SQLite keeps them. Raises `UnsupportedError` as `kept`, with
    the column."""
    each = []
    for column, attribute in zip(columns, table.attributes, strict=True):
        try:
            each.append(kept(column.to_pylist(), attribute.type))
        except UnsupportedError as error:
            raise UnsupportedError(
                f"{table.name}.{attribute.name}: {error.message}",
                hint="take the column as text, or leave this engine out",
            ) from None
    return zip(*each, strict=True)


def plan_text(steps: Iterable[tuple[Any, ...]]) -> str:
    """The answer of `EXPLAIN QUERY PLAN` (node, parent, unused, words), a step a line, indented by
    depth."""
    depths = {0: 0}
    lines = []
    for node, parent, _, detail in steps:
        depths[node] = depths.get(parent, 0) + 1
        lines.append("  " * (depths[node] - 1) + str(detail))
    return "\n".join(lines) or "(nothing to search or scan)"


def zone_of(timezone: str, fetch: Callable[[str], Sequence[tuple[Any, ...]]]) -> str:
    """The time zone by what `localtime` does, which is this process's: that one, if it is."""
    query = "SELECT CAST(strftime('%s', {0}, 'unixepoch', 'localtime') AS INTEGER) - {0}"
    ahead = (int(fetch(query.format(at))[0][0]) for at in zone.MOMENTS_S)
    return zone.shown(timezone, [*ahead])
