"""A table of a record, made from the class of its rows: the columns are the class's fields.

A record is untrusted input: a value that the class does not allow is neither written nor believed.

To add a column: a field at the end of its class, and its line in `docs/reference/record.md`; until
release 1.0 `python tests/data/rewrite.py` gives it to the stored records of the tests.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import NoneType
from typing import Any, get_args

from loadstone.errors import InputError, RecordError
from loadstone.plan.study import Combination
from loadstone.text.kinds import Cut, Id, Json, Letters, Ordinal, Printable
from loadstone.text.shape import converted, fields_of, members, shown, strict_json

CUT = " … (cut)"
"""Ends a text that was longer than its column allows."""
RENAMED = {"group": "query_group"}
"""Fields whose columns have other names, because theirs are words of SQL."""
_TYPES = {int: "INTEGER", bool: "INTEGER", float: "REAL", bytes: "BLOB"}


@dataclass(frozen=True)
class Column:
    """A column: its name in the file, that of its field in the class of a row (empty for a key),
    and the annotation of its values."""

    name: str
    field: str
    kind: Any
    more: str = ""
    """The rest of its definition."""

    @property
    def sql(self) -> str:
        """Its definition."""
        null = "" if NoneType in get_args(self.kind) or "PRIMARY KEY" in self.more else " NOT NULL"
        return f"{self.name} {self.sql_type}{null}" + (f" {self.more}" if self.more else "")

    @property
    def sql_type(self) -> str:
        """Its type in the file."""
        return "ANY" if len(self.types) > 1 else _TYPES.get(self.types[0], "TEXT")

    @cached_property
    def types(self) -> list[Any]:
        """The types of its values, None left out."""
        return [kind for kind, _ in members(self.kind)]

    @cached_property
    def letters(self) -> Letters | None:
        """The limit of its texts."""
        annotated = (
            one for one in (self.kind, *get_args(self.kind)) if hasattr(one, "__metadata__")
        )
        bounds = (bound for one in annotated for bound in one.__metadata__)
        return next((bound for bound in bounds if isinstance(bound, Letters)), None)


@dataclass(frozen=True)
class Table:
    """A table: the class of its rows, and its columns in order. `strict`: in SQLite's sense."""

    name: str
    kind: Any
    columns: tuple[Column, ...]
    strict: bool = False

    @property
    def sql(self) -> str:
        """Its definition, as SQLite keeps it."""
        columns = ", ".join(column.sql for column in self.columns)
        return f"CREATE TABLE {self.name} ({columns})" + (" STRICT" if self.strict else "")

    def checked_keys(self, row: Mapping[str, Any]) -> dict[str, int]:
        """The columns of a row, by their names, that say what it belongs to. Raises
        `RecordError`."""
        try:
            return {
                key.name: converted(row[key.name], key.kind, f"{self.name}.{key.name}")
                for key in self.keys
            }
        except InputError as error:
            raise RecordError(error.message, hint=error.hint) from error

    def value(self, row: Mapping[str, Any]) -> Any:
        """The value of a row, given by the names of its columns. Raises `RecordError` where a
        column holds what is not declared."""
        own = {column.field: row[column.name] for column in self._own}
        try:
            for column in self._encoded:
                if (kept := row[column.name]) is not None:
                    own[column.field] = _decoded(kept, column, f"{self.name}.{column.name}")
            return converted(own, self.kind, self.name)
        except InputError as error:
            message = error.message
            for field, name in RENAMED.items():
                message = message.replace(f"{self.name}.{field} ", f"{self.name}.{name} ")
            raise RecordError(message, hint=error.hint) from error

    def written(self, keys: Mapping[str, int], value: Any) -> dict[str, Any]:
        """A value and the keys of its row as the file keeps them; SQLite makes a key that is left
        out. Raises `RecordError` for what could not be read again."""
        row = {key.name: keys[key.name] for key in self.keys if key.name in keys}
        row |= {column.name: _kept(getattr(value, column.field), column) for column in self._own}
        self.value(row)
        return row

    @cached_property
    def keys(self) -> list[Column]:
        """The columns that say what a row belongs to."""
        return [column for column in self.columns if not column.field]

    @cached_property
    def _own(self) -> list[Column]:
        return [column for column in self.columns if column.field]

    @cached_property
    def _encoded(self) -> list[Column]:
        """Columns whose values the file keeps in another form, or whose texts are limited."""
        return [column for column in self._own if column.letters or bool in column.types]


def table(
    name: str,
    kind: Any,
    *keys: Column,
    behind: Sequence[Column] = (),
    without: Sequence[str] = (),
    order: Sequence[str] = (),
    strict: bool = False,
) -> Table:
    """The table of a class, whose fields are its columns: all but `without`, in this `order`."""
    fields = fields_of(kind)
    own = [
        Column(RENAMED.get(field, field), field, fields[field])
        for field in order or fields
        if field not in without
    ]
    return Table(name, kind, (*keys, *own, *behind), strict)


SESSION = Column("session_id", "", Id, "REFERENCES session")
CELL = Column("cell_id", "", Id, "REFERENCES cell")
CHAPTER = Column("chapter", "", Ordinal)
"""The number of the benchmark in a run of several, from 0. Rows that name a session or a cell do
without: the row of the session has it."""


def primary(key: Column) -> Column:
    """The same as the key of its own table."""
    return replace(key, more="PRIMARY KEY")


def _decoded(value: Any, column: Column, where: str) -> Any:
    """A value of the file as the class has it; what is not allowed is left to its check."""
    if column.letters is None:
        return bool(value) if type(value) is int and value in (0, 1) else value
    if not isinstance(value, str):
        return value
    _check_text(value, column.letters, where)
    if not isinstance(column.letters, Json) or str in column.types:
        return value
    try:
        found = strict_json(value)
    except InputError as error:
        raise InputError(f"{where}: {error.message}") from error
    if column.types == [tuple[Combination, ...]]:
        flipped = converted(found, tuple[tuple[str, tuple[str, ...]], ...], where)
        return [{"variant": variant, "flipped": names} for variant, names in flipped]
    return found


def _check_text(value: str, letters: Letters, where: str) -> None:
    if len(value) > letters.most:
        raise RecordError(f"{where} is longer than {letters.most:,}: {shown(value)}")
    if isinstance(letters, Printable) and not value.isprintable():
        raise RecordError(f"{where} must be of printable letters, not {shown(value)}")
    if isinstance(letters, Cut) and "\0" in value:
        raise RecordError(f"{where} must be without NUL, not {shown(value)}")


def _kept(value: Any, column: Column) -> Any:
    """A value as the file keeps it: a truth as 0 or 1, a text with characters only, lists as
    JSON."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, tuple | Mapping):
        listed = [
            [one.variant, one.flipped] if isinstance(one, Combination) else one for one in value
        ]
        return json.dumps(value if isinstance(value, Mapping) else listed)
    if not isinstance(column.letters, Cut) or not isinstance(value, str):
        return value
    value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    value = value.encode(errors="replace").decode()  # what is no character cannot be written
    most = column.letters.most
    return value if len(value) <= most else value[: most - len(CUT)] + CUT
