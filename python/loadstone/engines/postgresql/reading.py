"""A session in a user's database that reads tables as they stand, and can write nothing.

The server refuses: `default_transaction_read_only` makes each transaction of the session one that
only reads. What would set it back is refused when a statement is planned (`workload/sql.py`), and
that it holds is read back.
"""

import contextlib
from typing import Any

import psycopg

from loadstone.errors import EngineError

GONE_CHECK_S = 2
"""How often the server looks, in a long statement, whether its client lives: after a killed worker
it would go on for nobody."""


def only_read(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Make a session one that only reads, where names mean what they mean to its user. Raises
    `EngineError` where the server does not say that it is."""
    connection.execute("SET default_transaction_read_only TO on")
    if not reads_alone(connection):
        raise EngineError(
            "postgresql: the server does not make the session one that only reads",
            hint="name a role that may only read, and tables as they stand are safe; or another"
            " server",
        )
    # Only now do names resolve where others may have put something.
    connection.execute("RESET search_path")
    with contextlib.suppress(psycopg.Error):  # servers before 14, and others that speak as it does
        connection.execute(f"SET client_connection_check_interval TO {GONE_CHECK_S * 1000}")


def reads_alone(connection: psycopg.Connection[tuple[Any, ...]]) -> bool:
    """Whether a transaction of the session only reads, as the server says."""
    row = connection.execute("SHOW transaction_read_only").fetchone()
    return row is not None and row[0] == "on"
