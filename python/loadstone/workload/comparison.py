"""Whether two answers agree, row by row.

Two answers agree if both have as many rows and the rows of one are, each once and in any order,
those of the other. Integers agree if they are equal; in a column in which an engine gives numbers
with a fraction, numbers agree if they differ by no more than half a unit of the last of so many
significant digits, since not every engine has decimals. A float too large to show each integer may
have lost a fraction, unless another value of its column is as large and an integer.
If the statement requests an order by columns that it gives, these columns must have the same
values from row to row: rows that tie may stand in any order.

Both sides are sorted and compared from row to row. Numbers that may agree come to one place on both
sides, wherever they lie: those of both sides together are sorted, and parted where two neighbours
differ by more than is allowed. A rounded number would not do, which has two neighbours at an edge.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from loadstone.plan.workload import FIRST_ROWS
from loadstone.workload.answers import (
    FRACTION,
    LARGE_FLOAT,
    LARGE_WHOLE,
    Blob,
    Moment,
    Row,
    Undated,
    exactness,
    is_like_date,
    plain,
)
from loadstone.workload.opening import Opening

MIDNIGHT = " 00:00:00"
ROW_LETTERS_MAX = 200
"""Of a row in a message."""
Clusters = Mapping[int, Mapping[float, int]]
"""Of each column with fractions, the place of each number."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How two answers differ: the rows, and their numbers, that one has and the other lacks; or, of
    equal rows, the first two at the same place of another order. Rows are as people read them."""

    only_ours: tuple[str, int] = ("", 0)
    only_theirs: tuple[str, int] = ("", 0)
    order: tuple[str, str] | None = None

    def words(self, ours: str, theirs: str) -> str:
        """The difference in words; `ours` and `theirs` name the two sides."""
        if self.order is not None:
            first, other = self.order
            return f"the rows are the same, in another order: {first} against {other}"
        sides = ((ours, *self.only_ours), (theirs, *self.only_theirs))
        return "; ".join(
            f"{row}{f' and {n - 1:,} more' if n > 1 else ''} {'are' if n > 1 else 'is'} in the"
            f" answer of {name} alone"
            for name, row, n in sides
            if n
        )


def difference(
    ours: Sequence[Row], theirs: Sequence[Row], digits: int, order: Sequence[int] = ()
) -> Difference | None:
    """How two answers differ; None if they agree."""
    a, b = [list(map(plain, row)) for row in ours], [list(map(plain, row)) for row in theirs]
    widths = {len(row) for side in (a, b) for row in side}
    if len(widths) > 1:
        return Difference(_first(a), _first(b))
    tolerance = 0.5 * 10.0 ** (1 - digits)
    inexact = frozenset(
        place for place in range(*widths or {0}) if _inexact({*_column(a, b, place, exactness)})
    )
    clusters = {place: _clusters(a, b, place, tolerance) for place in inexact}
    first, other = (
        sorted(((_key(row, clusters), row) for row in side), key=lambda one: one[0])
        for side in (a, b)
    )
    ours_alone, theirs_alone = _alone(first, other, inexact, tolerance)
    if ours_alone or theirs_alone:
        return Difference(_first(ours_alone), _first(theirs_alone))
    places = frozenset(n for n, place in enumerate(order) if place in inexact)
    for one, another in zip(a, b, strict=True) if order else ():
        key, other_key = ([row[place] for place in order] for row in (one, another))
        if not _alike(key, other_key, places, tolerance):
            return Difference(order=(_row(key), _row(other_key)))
    return None


def determined(rows: Sequence[Row], opening: Opening, digits: int) -> Sequence[Row]:
    """The part of an answer that its query determines."""
    tolerance = 0.5 * 10.0 ** (1 - digits)

    def close(a: Any, b: Any) -> bool:
        whole = isinstance(a, int) and isinstance(b, int)
        return a == b if whole else _close(a, b, tolerance)

    return opening.determined(rows, close)


def first_rows(rows: Sequence[Row]) -> tuple[str, ...]:
    """The first rows of an answer for people, in the order in which they came."""
    return tuple(_row([*map(plain, row)]) for row in rows[:FIRST_ROWS])


def _inexact(kinds: Set[str]) -> bool:
    return FRACTION in kinds or (LARGE_FLOAT in kinds and LARGE_WHOLE not in kinds)


def _column(
    a: Sequence[Row], b: Sequence[Row], place: int, of: Callable[[Any], Any]
) -> Iterator[Any]:
    return (of(row[place]) for side in (a, b) for row in side)


def _clusters(
    a: Sequence[Row], b: Sequence[Row], place: int, tolerance: float
) -> Mapping[float, int]:
    ranks = set(_column(a, b, place, _rank))
    values = sorted({_float(value) for kind, value in ranks if kind == 1})
    found, number = dict.fromkeys(values[:1], 0), 0
    for before, value in pairwise(values):
        number += not _close(before, value, tolerance)
        found[value] = number
    return found


def _alone(
    a: Sequence[tuple[Any, Row]],
    b: Sequence[tuple[Any, Row]],
    inexact: frozenset[int],
    tolerance: float,
) -> tuple[list[Row], list[Row]]:
    """The rows of each side that the other lacks; both are sorted by the keys beside the rows."""
    alone: tuple[list[Row], list[Row]] = [], []
    i = j = 0
    while i < len(a) and j < len(b):
        if _alike(a[i][1], b[j][1], inexact, tolerance):
            i, j = i + 1, j + 1
        elif a[i][0] <= b[j][0]:
            alone[0].append(a[i][1])
            i += 1
        else:
            alone[1].append(b[j][1])
            j += 1
    alone[0].extend(row for _, row in a[i:])
    alone[1].extend(row for _, row in b[j:])
    return alone


def _alike(a: Row, b: Row, inexact: frozenset[int], tolerance: float) -> bool:
    return all(
        _close(x, y, tolerance) if place in inexact else _equal(x, y)
        for place, (x, y) in enumerate(zip(a, b, strict=True))
    )


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        if isinstance(a, Blob) or isinstance(b, Blob):
            return type(a) is type(b) and a == b
        if isinstance(a, Moment) or isinstance(b, Moment):
            return _is_moment(a) and _is_moment(b) and _day(a) == _day(b)
        return a.rstrip(" ") == b.rstrip(" ")
    return bool(a == b or (a != a and b != b))


def _is_moment(value: Any) -> bool:
    return isinstance(value, Moment | Undated)


def _day(value: str) -> str:
    """A timestamp at midnight as its date, which is the same value in another type."""
    return value.removesuffix(MIDNIGHT)


def types(rows: Sequence[Row]) -> tuple[frozenset[str], ...]:
    """Which of text, date and timestamp each column of an answer has; a text of an engine without
    dates that is written like one is both."""
    found: list[set[str]] = []
    for row in rows:
        found += [set() for _ in range(len(row) - len(found))]
        for place, value in enumerate(map(plain, row)):
            if isinstance(value, str) and not isinstance(value, Moment | Blob):
                found[place].add("text")
            if _is_moment(value) and is_like_date(value):
                found[place].add("date" if len(value) == len("2024-01-31") else "timestamp")
    return tuple(map(frozenset, found))


def _close(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, str) or isinstance(b, str) or a is None or b is None:
        return _equal(a, b)
    x, y = _float(a), _float(b)
    if not (math.isfinite(x) and math.isfinite(y)):
        return _equal(a, b)
    return x == y or abs(x - y) <= tolerance * max(abs(x), abs(y))


def _float(value: float | Decimal) -> float:
    """The nearest float; beyond all of them an infinite one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _key(row: Row, clusters: Clusters) -> tuple[Any, ...]:
    """Sorts what is equal to the same place on both sides: exact columns first."""
    exact = tuple(_rank(v) for place, v in enumerate(row) if place not in clusters)
    floats = [(place, _rank(row[place])) for place in clusters]
    near = tuple(
        (kind, clusters[place][_float(v)] if kind == 1 else v) for place, (kind, v) in floats
    )
    return exact, near, tuple(rank for _, rank in floats)


def _rank(value: Any) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    if isinstance(value, str):
        return (4, value) if isinstance(value, Blob) else (2, _day(value).rstrip(" "))
    return (3, 0) if value != value else (1, value)


def _first(rows: Sequence[Row]) -> tuple[str, int]:
    return (_row(rows[0]) if rows else "", len(rows))


def _row(row: Row) -> str:
    """A row for people: a text stands in quotes, a date does not."""
    words = ", ".join(map(_value, row))
    return f"({words if len(words) <= ROW_LETTERS_MAX else words[:ROW_LETTERS_MAX] + '…'})"


def _value(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, Blob):
        return f"X'{value}'"
    return repr(value) if type(value) is str else str(value)
