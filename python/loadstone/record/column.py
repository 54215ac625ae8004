"""The values that a column of the record may hold: declared once, for the file's schema, the writer
and the reader. A record is untrusted input, so an undeclared value is refused.

To add a column: a `Column` at the end of its table in `schema.py`, a field at the end of its class
in `model.py`, and its line in `docs/record.md`; until release 1.0 `python tests/data/rewrite.py`
gives it to the stored records of the tests.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from loadstone.errors import RecordError

SHOWN_LETTERS_MAX = 60
"""Of a value in a message."""
CUT = " … (cut)"
"""Ends a text that was longer than its column allows."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A set of values. `sql`: their type in the file; `allowed`: the set in words; `holds`: whether
    a value is in it. `cut_to`: letters that a longer text is cut to when it is written."""

    sql: str
    allowed: str
    holds: Callable[[Any], bool]
    cut_to: int | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """`null`: whether it may be absent."""

    name: str
    kind: Kind
    null: bool = False
    more: str = ""
    """The rest of its definition."""

    @property
    def sql(self) -> str:
        """Its definition."""
        null = "" if self.null or "PRIMARY KEY" in self.more else " NOT NULL"
        more = f" {self.more}" if self.more else ""
        return f"{self.name} {self.kind.sql}{null}{more}"

    def holds(self, value: Any) -> bool:
        """Whether it may hold a value."""
        return self.null if value is None else self.kind.holds(value)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns in order. `strict`: in SQLite's sense."""

    name: str
    columns: tuple[Column, ...]
    strict: bool = False

    @property
    def sql(self) -> str:
        """Its definition, as SQLite keeps it."""
        columns = ", ".join(column.sql for column in self.columns)
        return f"CREATE TABLE {self.name} ({columns})" + (" STRICT" if self.strict else "")

    def checked(self, row: dict[str, Any]) -> dict[str, Any]:
        """The same row, by the names of its columns. Raises `RecordError` if one holds an
        undeclared value."""
        for column in self.columns:
            if column.name in row and not column.holds(value := row[column.name]):
                raise RecordError(
                    f"{self.name}.{column.name} is {shown(value)}; allowed is"
                    f" {column.kind.allowed}" + (" or NULL" if column.null else "")
                )
        return row

    def written(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row for writing: `checked`, its long texts cut to the allowed length. It has every
        column; a primary key may be left to SQLite."""
        reported = [c for c in self.columns if c.name in row or "PRIMARY KEY" not in c.more]
        if surplus := row.keys() - {column.name for column in reported}:
            raise KeyError(f"{self.name} has no column {min(surplus)}")
        return self.checked({column.name: _plain(column, row[column.name]) for column in reported})


def shown(value: Any) -> str:
    """A value in a message: on one line, cut where it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN_LETTERS_MAX else f"{text[:SHOWN_LETTERS_MAX]}…"


def _plain(column: Column, value: Any) -> Any:
    """A value as the file keeps it: a truth as 0 or 1, a text with characters only."""
    if isinstance(value, bool):
        return int(value)
    most = column.kind.cut_to
    if most is None or not isinstance(value, str):
        return value
    value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    value = value.encode(errors="replace").decode()  # what is no character cannot be written
    return value if len(value) <= most else value[: most - len(CUT)] + CUT


def whole(low: int, high: int) -> Kind:
    """A whole number."""
    return Kind(
        "INTEGER",
        f"a whole number from {low:,} to {high:,}",
        lambda value: type(value) is int and low <= value <= high,
    )


def real(low: float, high: float) -> Kind:
    """A finite number."""
    return Kind(
        "REAL",
        f"a number from {low:g} to {high:g}",
        # SQLite keeps a whole number of a REAL column as one, and gives it back as a float.
        lambda value: type(value) in (int, float) and low <= value <= high,
    )


def text(letters_max: int) -> Kind:
    """A text from outside; a longer one is cut."""
    return Kind(
        "TEXT",
        f"a text of at most {letters_max:,} letters",
        lambda value: isinstance(value, str) and len(value) <= letters_max and "\0" not in value,
        letters_max,
    )


def json_text(letters_max: int) -> Kind:
    """A JSON text, which its reader parses and checks; it is never cut."""
    return Kind(
        "TEXT",
        f"JSON of at most {letters_max:,} letters",
        lambda value: isinstance(value, str) and len(value) <= letters_max,
    )


def name(letters_max: int) -> Kind:
    """A name: one line of characters that can be printed; it is never cut."""
    return Kind(
        "TEXT",
        f"a name of at most {letters_max:,} printable letters",
        lambda value: isinstance(value, str) and len(value) <= letters_max and value.isprintable(),
    )


def matching(pattern: str, words: str) -> Kind:
    """A text of a form; `words` says which."""
    form = re.compile(pattern)
    return Kind(
        "TEXT", words, lambda value: isinstance(value, str) and form.fullmatch(value) is not None
    )


def one_of(values: Iterable[str]) -> Kind:
    """One of some words."""
    known = tuple(values)
    return Kind("TEXT", f"one of {', '.join(known)}", lambda value: value in known)


def blob(bytes_max: int) -> Kind:
    """Bytes."""
    return Kind(
        "BLOB",
        f"at most {bytes_max:,} bytes",
        lambda value: isinstance(value, bytes) and len(value) <= bytes_max,
    )


def figure() -> Kind:
    """A finite number, whole or not, of a column that has no type of its own."""
    return Kind(
        "ANY",
        "a finite number",
        lambda value: type(value) in (int, float) and math.isfinite(value) and abs(value) < 2**63,
    )


def fact(letters_max: int) -> Kind:
    """A number, or a text of one line or more."""
    words = text(letters_max)

    def holds(value: Any) -> bool:
        if isinstance(value, float):
            return math.isfinite(value)
        return words.holds(value) or (
            isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
        )

    return Kind("ANY", f"a finite number, or {words.allowed}", holds, letters_max)
