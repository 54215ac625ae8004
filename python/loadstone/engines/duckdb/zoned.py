"""Rows with a timestamp and its zone, which DuckDB gives to Python only with a module of time zones
that nothing else here needs. They come by Arrow instead, in UTC."""

import warnings
from typing import TYPE_CHECKING, Any

import duckdb

from loadstone.errors import EngineError

if TYPE_CHECKING:
    import pyarrow as pa

_ZONED = "TIMESTAMP WITH TIME ZONE"


def is_zoned(done: duckdb.DuckDBPyConnection) -> bool:
    """Whether the answer of an executed statement has such a column."""
    return any(column[1] == _ZONED for column in done.description or ())


def rows_of(done: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """Every row of an executed statement as a tuple; timestamps in UTC, without their zone."""
    with warnings.catch_warnings(action="ignore"):  # of a copy, which has to be
        # Earlier releases have it under its other name alone.
        name = "to_arrow_table" if hasattr(done, "to_arrow_table") else "fetch_arrow_table"
        table: pa.Table = getattr(done, name)()
    try:
        return list(zip(*map(_values, table.columns), strict=True))
    except (OverflowError, ValueError) as error:
        raise EngineError(
            f"duckdb: its answer has a timestamp that Python has not: {error}",
            hint="give it as a text: CAST(… AS TEXT)",
        ) from None


def _values(column: "pa.ChunkedArray") -> list[Any]:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us"), safe=False)
    return column.to_pylist()  # type: ignore[no-any-return]
