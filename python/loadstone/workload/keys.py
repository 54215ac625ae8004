"""The primary key of a table of one's own, checked while the rows are read: engines would refuse
them one after another, each in its words.

Keys are kept in memory, up to `BYTES_MAX`; of a larger table with one column of integers that
ascends nothing has to be kept, and of any other the engines say it when they load it.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from loadstone.errors import InputError
from loadstone.text.numbers import plural

BYTES_MAX = 1 << 30
"""Grouping them takes about four times as much again."""


class PrimaryKey:
    """The key's columns of the rows that pass."""

    def __init__(self, table: str, names: Sequence[str]) -> None:
        self._table = table
        self._names = list(names)
        self._kept: list[Any] = []
        self._bytes = 0
        self._highest: Any = None
        self._ascends = len(names) == 1
        self._holed = ""

    def take(self, batch: Any) -> None:
        """The next rows."""
        if not self._names or not batch.num_rows:
            return
        keys = pa.Table.from_batches([batch]).select(self._names)
        self._holed = self._holed or next((n for n in self._names if keys[n].null_count), "")
        self._ascends = self._ascends and self._goes_on(batch.column(self._names[0]))
        self._bytes += keys.nbytes
        if self._bytes <= BYTES_MAX:
            self._kept.append(keys)
        else:
            self._kept.clear()

    def check(self) -> None:
        """Raise `InputError` if two of the rows have the same key, or one has a NULL in it."""
        if self._holed:
            raise InputError(
                f"the table {self._table} has a NULL in its primary key {self._shown}"
                + ("" if len(self._names) == 1 else f": {self._holed}"),
                hint="leave primary_key out, or name columns without NULL",
            )
        if self._ascends or not self._kept:
            return
        counted = pa.concat_tables(self._kept).group_by(self._names).aggregate([([], "count_all")])
        several = counted.filter(pc.greater(counted["count_all"], 1))
        if not several.num_rows:
            return
        first = several.sort_by([(name, "ascending") for name in self._names]).slice(0, 1)
        *values, rows = (first[name][0].as_py() for name in (*self._names, "count_all"))
        more = several.num_rows - 1
        raise InputError(
            f"the table {self._table} has its primary key {self._shown} more than once:"
            f" {', '.join(str(value)[:60] for value in values)} in {plural(rows, 'row')}"
            + (f", and {plural(more, 'other key')}" if more else ""),
            hint="leave primary_key out, or name columns that are another in each row",
        )

    @property
    def _shown(self) -> str:
        return f"({', '.join(self._names)})"

    def _goes_on(self, column: Any) -> bool:
        """Whether these are integers, each larger than the one before."""
        if not pa.types.is_integer(column.type) or column.null_count:
            return False
        before, self._highest = self._highest, column[-1].as_py()
        rises = pc.all(pc.less(column.slice(0, len(column) - 1), column.slice(1))).as_py()
        return rises is not False and (before is None or before < column[0].as_py())
