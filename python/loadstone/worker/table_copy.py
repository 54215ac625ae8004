"""The changes of a user's statement in its table, and the table as it was.

    the statement -> rows that came and that went, against the table's copy -> put back -> proof

The copy holds the rows of the table's files, and no statement can name it. So the change is read
from the engine: rows that the table has and the copy lacks, and the other way round. They are the
answer of the statement, beside the number of rows that the engine says it changed. The label
"agreed" of such an answer would be false if two engines left other rows and said the same number,
or if a row came twice where it stood once: both show here.
"""

from collections.abc import Sequence
from typing import Any

from loadstone.engines.base import Engine
from loadstone.errors import EngineError
from loadstone.plan.workload import COPY_SUFFIX
from loadstone.protocol.parts import ChangedTable
from loadstone.workload.sql import quoted

CAME, WENT = "came", "went"
Row = tuple[Any, ...]


class TableCopy:
    """The copy of the table that a statement changes."""

    def __init__(self, engine: Engine, changed: ChangedTable) -> None:
        self._engine = engine
        self._changed = changed
        self._table = engine.quote(engine.stored_name(changed.name))
        self._copy = engine.quote(engine.stored_name(changed.name + COPY_SUFFIX))

    def changes(self) -> list[Row]:
        """The rows that the table has and the copy lacks, then those that it lacks, each behind a
        word that says which. Without a primary key each stands before the number of times that it
        occurs. Of volatile columns nothing is reported."""
        return self._differences(self._changed.volatile)

    def _differences(self, without: Sequence[str]) -> list[Row]:
        came = self._engine.fetch(self._beyond(self._table, self._copy, without))
        went = self._engine.fetch(self._beyond(self._copy, self._table, without))
        return [*((CAME, *row) for row in came), *((WENT, *row) for row in went)]

    def put_back(self) -> None:
        """Give the table the rows of its copy. Raises `EngineError` where it has others then: the
        caller loads it anew."""
        table, copy, run = self._table, self._copy, self._engine.run
        if self._changed.key:
            key = ", ".join(map(self._quoted, self._changed.key))
            tuples = f"({key})" if len(self._changed.key) > 1 else key
            came = f"SELECT {key} FROM ({self._beyond(table, copy)}) AS x"  # noqa: S608 - quoted
            run(f"DELETE FROM {table} WHERE {tuples} IN ({came})")  # noqa: S608
            run(f"INSERT INTO {table} SELECT * FROM ({self._beyond(copy, table)}) AS x")  # noqa: S608
        else:
            run(f"DELETE FROM {table}")  # noqa: S608
            run(f"INSERT INTO {table} SELECT * FROM {copy}")  # noqa: S608
        if left := self._differences(()):
            raise EngineError(
                f"{self._engine.name}: {self._changed.name} does not get back the rows that it had:"
                f" {len(left):,} differ"
            )

    def _beyond(self, one: str, other: str, without: Sequence[str] = ()) -> str:
        """A query for the rows of one table that another lacks."""
        kept = [column for column in self._changed.columns if column not in without]
        names = ", ".join(map(self._quoted, kept))
        columns, group = "*" if not without else names, ""
        if not self._changed.key:
            columns, group = f"{names}, count(*)", f" GROUP BY {names}"
        has, lacks = (f"SELECT {columns} FROM {each}{group}" for each in (one, other))  # noqa: S608
        return f"{has} EXCEPT {lacks}"

    def _quoted(self, name: str) -> str:
        return quoted(name, self._engine.dialect)
