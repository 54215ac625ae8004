"""A connection of Turso's, and its errors as ours."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import turso

from loadstone.engines.sqlite_form import BUSY_MS_MAX
from loadstone.errors import EngineError

_PANIC = "PanicException"
"""A bug of the engine's that its driver passes on; it is no `Exception` there."""
_LOCKED = "locked by another process"


@contextmanager
def errors(doing: str = "") -> Iterator[None]:
    """Turn Turso's errors into ours."""
    try:
        yield
    except BaseException as error:
        kind = type(error)
        if kind.__name__ != _PANIC and kind.__module__.partition(".")[0] not in ("turso", "_turso"):
            raise
        text = "; ".join(str(error).strip().splitlines()) or kind.__name__
        hint = "end the other program: Turso lets one at a time open a file"
        raise EngineError(
            f"turso: {doing}: {text}" if doing else f"turso: {text}",
            hint=hint if _LOCKED in text else "",
        ) from None


class Session:
    """One connection, on which each statement is its own transaction."""

    def __init__(self, path: Path) -> None:
        """Open a file, or make it. Raises Turso's errors."""
        self._connection: Any = turso.connect(str(path), isolation_level=None)
        self.pragma("busy_timeout", BUSY_MS_MAX)

    def close(self) -> None:
        """Close it. The files are open until nothing refers to the connection any more."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def run(self, statement: str) -> int:
        """Execute to the end. Returns the tuples that were changed; of a relation that was made,
        those that it has; -1 where it is not known."""
        cursor = self._connection.execute(statement)
        if cursor.description is not None:
            for _ in cursor:
                pass
        return int(cursor.rowcount)

    def fetch(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Every row."""
        rows: list[tuple[Any, ...]] = self._connection.execute(statement, values).fetchall()
        return rows

    def streamed(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Every row, as it comes."""
        yield from self._connection.execute(statement)

    def first(self, statement: str) -> None:
        """Execute to the first row."""
        cursor = self._connection.execute(statement)
        cursor.fetchone()
        cursor.close()

    def run_each(self, statement: str, values: Iterable[tuple[object, ...]]) -> None:
        """Execute a prepared statement with each of these."""
        self._connection.executemany(statement, values)

    def pragma(self, name: str, value: object | None = None) -> str:
        """A pragma's reading, after it was set where there is a value; empty without one."""
        if value is not None:
            self.fetch(f"PRAGMA {name} = {value}")
        rows = self.fetch(f"PRAGMA {name}")
        return str(rows[0][0]) if rows else ""

    def interrupt(self) -> None:
        """End the statement that another thread is in."""
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self.run("ROLLBACK")
            raise
