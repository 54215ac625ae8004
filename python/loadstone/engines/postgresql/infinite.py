"""Answers with infinite dates and timestamps, for which Python has no value: psycopg refuses them.

They become the objects by which DuckDB's client stands for them (`workload/answers.py`). An answer
is read in this way only once psycopg has refused it: its own loaders in C are faster, and that
reading is a part of a statement's time.
"""

import datetime as dt
from typing import Any

import psycopg
from psycopg.adapt import Buffer, Transformer
from psycopg.types.datetime import DateLoader, TimestampLoader, TimestamptzLoader

Cursor = psycopg.Cursor[tuple[Any, ...]]


_DAYS = {b"infinity": dt.date.max, b"-infinity": dt.date.min}
_ENDS = {b"infinity": dt.datetime.max, b"-infinity": dt.datetime.min}


class _Date(DateLoader):
    def load(self, data: Buffer) -> dt.date:
        return _DAYS.get(bytes(data)) or super().load(data)


class _Timestamp(TimestampLoader):
    def load(self, data: Buffer) -> dt.datetime:
        return _ENDS.get(bytes(data)) or super().load(data)


class _Timestamptz(TimestamptzLoader):
    def load(self, data: Buffer) -> dt.datetime:
        return _ENDS.get(bytes(data)) or super().load(data)


def rows_of(cursor: Cursor) -> list[tuple[Any, ...]]:
    """All rows of an answer. Raises psycopg's errors."""
    try:
        return cursor.fetchall()
    except psycopg.DataError as error:
        if "infinity" not in str(error) or cursor.pgresult is None:
            raise
    for name, loader in (("date", _Date), ("timestamp", _Timestamp), ("timestamptz", _Timestamptz)):
        cursor.adapters.register_loader(name, loader)
    loading = Transformer(cursor)
    loading.set_pgresult(cursor.pgresult)
    return loading.load_rows(0, cursor.pgresult.ntuples, tuple)
