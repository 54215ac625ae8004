"""Rows as text: an aligned table, CSV, JSON. Each format is given rows in portions, so that no
answer is too long for memory."""

import csv
import io
import struct
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from loadstone.control_characters import legible_json, legible_line
from loadstone.errors import InputError

Row = tuple[Any, ...]
GAP = "  "


class Format(ABC):
    """One answer as text. `types` are QUEL's: i4, f8, c20."""

    for_people = False
    """Whether the number of rows is said, too."""

    def __init__(self, names: Sequence[str], types: Sequence[str]) -> None:
        self.names, self.types = names, types

    def head(self) -> str:
        """Before the rows; called once some are there, or there are none."""
        return ""

    @abstractmethod
    def some(self, rows: Sequence[Row]) -> str:
        """The next rows, at least one."""

    def end(self) -> str:
        """Behind the rows."""
        return ""


class Table(Format):
    """Columns one below the other, numbers to the right. The first portion sets their widths; a
    wider value that comes later moves its own line alone."""

    for_people = True

    def __init__(self, names: Sequence[str], types: Sequence[str]) -> None:
        super().__init__(names, types)
        self._widths: list[int] = []

    def some(self, rows: Sequence[Row]) -> str:
        """Aligned lines; the heading with the first of them."""
        cells = [[shown(value, kind) for value, kind in zip(row, self.types, strict=True)]
                 for row in rows]  # fmt: skip
        heading = self._heading(cells) if not self._widths else ""
        return heading + "".join(self._line(row) for row in cells)

    def end(self) -> str:
        """The heading of an answer without rows."""
        return "" if self._widths else self._heading([])

    def _heading(self, cells: Sequence[Sequence[str]]) -> str:
        names = [legible_line(name) for name in self.names]
        columns = zip(names, *cells, strict=True)
        self._widths = [max(map(width, column), default=0) for column in columns]
        return self._line(names) + GAP.join("-" * wide for wide in self._widths) + "\n"

    def _line(self, cells: Sequence[str]) -> str:
        placed = []
        for cell, wide, kind in zip(cells, self._widths, self.types, strict=True):
            blanks = " " * (wide - width(cell))
            placed.append(cell + blanks if kind.startswith("c") else blanks + cell)
        return GAP.join(placed).rstrip() + "\n"


class Csv(Format):
    """As RFC 4180 has it, with a line of names and line feeds; a null is an empty field."""

    def some(self, rows: Sequence[Row]) -> str:
        """A line for each row."""
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        for row in rows:
            writer.writerow([_exact(value, kind) for value, kind in
                             zip(row, self.types, strict=True)])  # fmt: skip
        return written.getvalue()

    def head(self) -> str:
        """The names."""
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerow(self.names)
        return written.getvalue()


class Json(Format):
    """An array of objects, one on a line. Raises `InputError` where two columns share a name,
    because an object has each name once."""

    def __init__(self, names: Sequence[str], types: Sequence[str]) -> None:
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise InputError(
                f"two columns are called {', '.join(twice)}: an object of JSON has each name once",
                hint="name them apart, as in retrieve (x = t.a, y = u.a), or request --format csv",
            )
        super().__init__(names, types)
        self._is_first = True

    def head(self) -> str:
        """The array's bracket."""
        return "["

    def some(self, rows: Sequence[Row]) -> str:
        """An object for each row."""
        objects = ",\n".join(
            legible_json({name: _number(value, kind) for name, value, kind in
                          zip(self.names, row, self.types, strict=True)})
            for row in rows
        )  # fmt: skip
        before, self._is_first = "\n" if self._is_first else ",\n", False
        return before + objects

    def end(self) -> str:
        """The other bracket."""
        return "\n]\n"


FORMATS: dict[str, type[Format]] = {"table": Table, "csv": Csv, "json": Json}


def shown(value: Any, kind: str) -> str:
    """A value for people; a null is `null`."""
    if value is None:
        return "null"
    return legible_line(value) if isinstance(value, str) else str(_exact(value, kind))


def width(text: str) -> int:
    """The columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    wide = {"W": 2, "F": 2}
    return sum(
        0 if unicodedata.combining(letter) else wide.get(unicodedata.east_asian_width(letter), 1)
        for letter in text
    )


def _exact(value: Any, kind: str) -> Any:
    """A real with as many digits as its type holds."""
    return repr(_number(value, kind)) if isinstance(value, float) else value


def _number(value: Any, kind: str) -> Any:
    """A real of 4 bytes as the shortest number that is the same in 4: 0.1, not 0.10000000149."""
    if kind != "f4" or not isinstance(value, float):
        return value
    for digits in range(6, 10):
        short = float(f"{value:.{digits}g}")
        if struct.pack("<f", short) == struct.pack("<f", value):
            return short
    return value
