"""Rows that a query generates when a user's workload is planned: tables, whatever the engine, and
values of parameters."""

from collections.abc import Mapping
from typing import Any

import duckdb

from loadstone.errors import InputError
from loadstone.text.zone import UTC


def rows_of(
    query: str, batch_rows: int, where: str, tables: Mapping[str, Any] | None = None
) -> Any:
    """The rows of a query as a reader of Arrow batches, by a DuckDB in memory that reaches no file
    and no network, but these `tables`: readers of Arrow batches. Raises `InputError` with DuckDB's
    words; `where` names what the rows are for."""
    try:
        database = duckdb.connect(
            ":memory:",
            config={
                "enable_external_access": False,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                # So that a sum of floats is the same in each process.
                "threads": 1,
            },
        )
        # Rows are the same wherever they are made.
        database.execute(f"SET TimeZone = '{UTC}'")
        database.execute("SET lock_configuration = true")
        for name, rows in (tables or {}).items():
            database.register("loadstone_rows", rows)
            database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM loadstone_rows')  # noqa: S608
            database.unregister("loadstone_rows")
        relation = database.sql(query)
        # As releases before 1.5 call it.
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        return reader(batch_rows)
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{where} cannot be made: {reason}", hint="its text is in DuckDB's dialect"
        ) from error
