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
from decimal import Decimal
from itertools import pairwise
from typing import Any

from loadstone.workload.answers import FRACTION, LARGE_FLOAT, LARGE_WHOLE, Row, exactness, plain

ROW_LETTERS_MAX = 200
"""Of a row in a message."""
Clusters = Mapping[int, Mapping[float, int]]
"""Of each column with fractions, the place of each number."""


def difference(
    ours: Sequence[Row], theirs: Sequence[Row], digits: int, order: Sequence[int] = ()
) -> tuple[str, str] | None:
    """The first row of each in which two answers differ, as text; None if they agree. A row that
    the other lacks stands against an empty text."""
    a, b = [list(map(plain, row)) for row in ours], [list(map(plain, row)) for row in theirs]
    widths = {len(row) for side in (a, b) for row in side}
    if len(widths) > 1:
        return _shown(a), _shown(b)
    tolerance = 0.5 * 10.0 ** (1 - digits)
    inexact = frozenset(
        place for place in range(*widths or {0}) if _inexact({*_column(a, b, place, exactness)})
    )
    clusters = {place: _clusters(a, b, place, tolerance) for place in inexact}
    sides = (
        sorted(a, key=lambda row: _key(row, clusters)),
        sorted(b, key=lambda row: _key(row, clusters)),
    )
    found = _first(*sides, inexact, tolerance)
    if found is None and order:
        keys = [[[row[place] for place in order] for row in side] for side in (a, b)]
        places = frozenset(n for n, place in enumerate(order) if place in inexact)
        found = _first(keys[0], keys[1], places, tolerance)
        found = found and (f"in this order: {found[0]}", f"in this order: {found[1]}")
    return found


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
    return bool(a == b or (a != a and b != b))


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
