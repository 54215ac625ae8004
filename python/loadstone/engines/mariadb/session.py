"""Sessions of a MariaDB server of ours through PyMySQL, and its errors as ours."""

import contextlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql
from pymysql.constants import CLIENT, CR, ER
from pymysql.cursors import SSCursor

from loadstone.engines.mariadb.server import ACCOUNT, COLLATION, DATABASE
from loadstone.errors import EngineError, UnsupportedError

CONNECT_S_MAX = 10
_CLOSED = "the session is closed"
_LACKING = (ER.NOT_SUPPORTED_YET, ER.UNSUPPORTED_PS)
_REFUSED = (ER.CON_COUNT_ERROR,)

Row = tuple[Any, ...]


@contextmanager
def errors(doing: str = "") -> Iterator[None]:
    """Turn PyMySQL's errors into ours."""
    try:
        yield
    except pymysql.MySQLError as error:
        raise _ours(error, doing) from None


def _ours(error: pymysql.MySQLError, doing: str) -> EngineError | UnsupportedError:
    code, text = (*error.args, "", "")[:2]
    text = "; ".join(str(text or _CLOSED).strip().splitlines())
    message = f"mariadb: {doing}: {text}" if doing else f"mariadb: {text}"
    if code in _LACKING:
        return UnsupportedError(message)
    hint = "end other sessions of this server" if code in _REFUSED else ""
    return EngineError(message, hint=hint)


def _connected(place: Path) -> socket.socket:
    """A socket of our own: PyMySQL leaves one open that could not be connected. Raises its error
    where no server listens."""
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        found.settimeout(CONNECT_S_MAX)
        found.connect(str(place))
        found.settimeout(None)
    except OSError as error:
        found.close()
        raise pymysql.OperationalError(
            CR.CR_CONNECTION_ERROR, f"no server at {place}: {error}"
        ) from error
    return found


class Session:
    """One connection, on which each statement is its own transaction."""

    def __init__(self, place: Path, *, keeps: bool) -> None:
        """`place` is the server's socket; `keeps`: each text is prepared once and then executed by
        a name. Raises PyMySQL's errors."""
        self._place = place
        self._keeps = keeps
        self._prepared: dict[str, str] = {}
        self._has_constant = False
        self._connection = pymysql.Connection(
            user=ACCOUNT,
            database=DATABASE,
            charset="utf8mb4",
            collation=COLLATION,
            autocommit=True,
            defer_connect=True,
            # An update reports the tuples that it names, as on other engines, and not only those
            # that got another value.
            client_flag=CLIENT.FOUND_ROWS,
        )
        self._connection.connect(_connected(place))

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(pymysql.MySQLError):
            self._connection.close()

    def answers(self) -> bool:
        """Whether it still works: a server may have died without a message."""
        try:
            self.ping()
        except pymysql.MySQLError:
            return False
        return True

    def ping(self) -> None:
        """An empty request, there and back."""
        self._connection.ping(reconnect=False)

    def ask_constant(self) -> None:
        """Execute a statement that stays prepared, of which only the name is parsed."""
        if not self._has_constant:
            self.ask("PREPARE loadstone_constant FROM 'SELECT 1'")
            self._has_constant = True
        self.ask("EXECUTE loadstone_constant")

    def run(self, statement: str) -> int:
        """Execute in the form that the tactic `statement` says. Returns the tuples that were
        changed, or found."""
        with self._connection.cursor() as cursor:
            return int(cursor.execute(self._form(statement)))

    def fetch(self, statement: str) -> list[Row]:
        """As `run`, with every row."""
        with self._connection.cursor() as cursor:
            cursor.execute(self._form(statement))
            return list(cursor.fetchall())

    def ask(self, statement: str) -> list[Row]:
        """A statement of our own, as a text in any case."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def run_text(self, statement: str) -> int:
        """As `ask`; returns the tuples that were changed."""
        with self._connection.cursor() as cursor:
            return int(cursor.execute(statement))

    def streamed(self, statement: str) -> Iterator[Row]:
        """Every row, as it comes."""
        with self._connection.cursor(SSCursor) as cursor:
            cursor.execute(statement)
            yield from cursor

    def text_literal(self, text: str) -> str:
        """A text as it is written in a statement."""
        return str(self._connection.escape(text))

    def interrupt(self) -> None:
        """End the statement that another thread is in, by a session of its own: that statement and
        no later one, by the number that the server gave it."""
        other = Session(self._place, keeps=False)
        try:
            own = self._connection.thread_id()
            query = (
                "SELECT query_id, id FROM information_schema.processlist WHERE command = 'Query'"
            )
            running = [number for number, session in other.ask(query) if session == own]
            for number in running:
                with contextlib.suppress(pymysql.MySQLError):  # it has just ended
                    other.ask(f"KILL QUERY ID {number}")
        finally:
            other.close()

    def _form(self, statement: str) -> str:
        if not self._keeps:
            return statement
        name = self._prepared.get(statement)
        if name is None:
            name = f"loadstone_{len(self._prepared) + 1}"
            self.ask(f"PREPARE {name} FROM {self.text_literal(statement)}")
            self._prepared[statement] = name
        return f"EXECUTE {name}"
