"""A session in a user's database that reads tables as they stand, and can write nothing.

The server refuses: each statement has a transaction that only reads, which nothing can make one
that writes. `default_transaction_read_only` alone would not do: a function, behind a view of the
user's, can set it back for the statements that follow. That it holds is read back.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from loadstone.errors import EngineError

GONE_CHECK_S = 2
"""The interval at which the server checks, in a long statement, whether its client lives: after a
killed worker it would go on for nobody."""


def only_read(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Make a session one that only reads, where names mean what they mean to its user. Raises
    `EngineError` where the server does not say that it is."""
    connection.execute("SET default_transaction_read_only TO on")
    connection.read_only = True  # of each transaction that `transaction` begins
    if not reads_alone(connection):
        raise EngineError(
            "postgresql: the server does not make the session one that only reads",
            hint="name a role that may only read, and tables as they stand are safe; or another"
            " server",
        )
    # Only now do names resolve where others may have put something.
    connection.execute("RESET search_path")
    with suppress(psycopg.Error):  # servers before 14, and others that speak as it does
        connection.execute(f"SET client_connection_check_interval TO {GONE_CHECK_S * 1000}")


def transaction(connection: psycopg.Connection[tuple[Any, ...]]) -> AbstractContextManager[object]:
    """The transaction that a statement has: BEGIN READ ONLY before it, COMMIT after it."""
    return connection.transaction()


@contextmanager
def query_alone(connection: psycopg.Connection[tuple[Any, ...]]) -> Iterator[None]:
    """The transaction that a query of the user's has in a session of ours, which writes otherwise:
    BEGIN READ ONLY before it, COMMIT after it. In an open transaction nothing more."""
    if connection.info.transaction_status != TransactionStatus.IDLE:
        yield
        return
    connection.read_only = True  # of each transaction that `transaction` begins
    try:
        with connection.transaction():
            yield
    finally:
        if not connection.closed:
            connection.read_only = None


def reads_alone(connection: psycopg.Connection[tuple[Any, ...]]) -> bool:
    """Whether the transaction that a statement has only reads, as the server says."""
    with transaction(connection):
        row = connection.execute("SHOW transaction_read_only").fetchone()
    return row is not None and row[0] == "on"
