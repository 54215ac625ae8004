"""Sessions of a MariaDB server through PyMySQL: of ours, or of the user's."""

import contextlib
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql
from pymysql.constants import CLIENT, CR
from pymysql.cursors import SSCursor

from loadstone.engines.mariadb import calls
from loadstone.engines.mariadb.address import CONNECT_S_MAX, Address
from loadstone.engines.mariadb.server import COLLATION, COLLATION_OF_MYSQL
from loadstone.errors import EngineError, InputError
from loadstone.text import zone

SQL_MODE = "ANSI_QUOTES,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
"""Between double quotes is a name, as in standard SQL and on other engines; a value that does not
fit is an error."""
IDLE_S_MAX = 31_536_000
"""A session that shows that a run lives must not be ended because it is silent."""
_OF_USERS = (
    f"SET SESSION sql_mode = '{SQL_MODE}'",
    "SET SESSION default_storage_engine = InnoDB",
    f"SET SESSION wait_timeout = {IDLE_S_MAX}",
    "SET SESSION net_write_timeout = 3600",
    # What a server's files or an account's may have otherwise, and answers depend on.
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET SESSION lc_time_names = 'en_US', div_precision_increment = 4, default_week_format = 0,"
    f" group_concat_max_len = 1048576, sql_select_limit = {2**64 - 1}, sql_auto_is_null = 0",
)
"""Statements that make a session on a user's server like those on ours."""
_LIMIT_OF_STATEMENTS = {True: "max_statement_time", False: "max_execution_time"}
"""Of MariaDB, and of MySQL."""
_COMMENTS = r"(?:\s+|--\s[^\n]*\n|#[^\n]*\n|/\*(?!!|M!).*?\*/)*"
_QUERY = re.compile(
    _COMMENTS + r"(?:\(|(?:SELECT|WITH|VALUES|TABLE|SHOW|DESCRIBE|EXPLAIN)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""A procedure, which CALL begins, can end the transaction that only reads and begin another."""

ADMITTED_MAX = 10_000
"""Statements that are kept as seen: a workload has a thousand variations, its users more."""

Row = tuple[Any, ...]


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


def _prepared(address: Address) -> pymysql.Connection:
    """A connection that is not open yet. Raises `InputError` for a file of TLS."""
    try:
        return pymysql.Connection(
            **address.parameters,
            charset="utf8mb4",
            autocommit=True,
            defer_connect=True,
            # An update reports the tuples that it names, as on other engines, and not only those
            # that got another value.
            client_flag=CLIENT.FOUND_ROWS,
        )
    except OSError as error:
        raise InputError(
            f"mariadb: cannot read a file of TLS that the URL names: {error.strerror or error}",
            hint="check ssl_ca, ssl_cert and ssl_key in the URL",
        ) from None


def _connect(connection: pymysql.Connection) -> None:
    """Open it. Raises PyMySQL's errors."""
    try:
        connection.connect()
    except RuntimeError as error:
        # MySQL's passwords are sent in plain text by TLS alone, else by a cipher of a package.
        raise EngineError(
            f"mariadb: a password of this server needs TLS or another package: {error}",
            hint="leave out ssl_disabled, or install the package",
        ) from None


class Session:
    """One connection, on which each statement is its own transaction."""

    def __init__(self, address: Address, *, keeps: bool = False) -> None:
        """`keeps`: each text is prepared once and then executed by a name. Raises PyMySQL's
        errors."""
        self._address = address
        self._keeps = keeps
        self._prepared: dict[str, str] = {}
        self._has_constant = False
        self.only_reads = False
        """Whether no statement may write: each is a query, in a transaction that only reads."""
        self.queries_only_read = False
        """Whether that holds of queries alone, outside of a transaction of ours."""
        self.takes_back = False
        """Whether a transaction of ours is open."""
        self._admitted: set[str | tuple[str, ...]] = set()
        """Statements, and their shapes, that were seen: in the clock no text is taken apart."""
        self._connection = _prepared(address)
        if address.socket is not None:
            self._connection.connect(_connected(address.socket))
        else:
            _connect(self._connection)
        self.ask(f"SET NAMES utf8mb4 COLLATE {self.collation}")
        for statement in () if address.socket is not None else _OF_USERS:
            self.ask(statement)
        if address.socket is None:
            self.ask(f"SET SESSION {_LIMIT_OF_STATEMENTS[self.is_mariadb]} = 0")

    @property
    def is_mariadb(self) -> bool:
        """Whether the server says that it is MariaDB, and not another that speaks as it does."""
        return "mariadb" in str(self._connection.server_version).casefold()

    @property
    def collation(self) -> str:
        """The collation of texts that are no table's, and of our tables."""
        return COLLATION if self.is_mariadb else COLLATION_OF_MYSQL

    def encryption(self) -> str:
        """The protocol by which it is encrypted, or `none`."""
        rows = self.ask("SHOW SESSION STATUS LIKE 'Ssl_version'")
        return str(rows[0][1]) if rows and rows[0][1] else "none"

    def refuse_writes(self) -> None:
        """Make it one that only reads. Raises `EngineError` where the server does not say so."""
        self.ask("SET SESSION TRANSACTION READ ONLY")
        variables: dict[str, str] = dict(self.ask("SHOW SESSION VARIABLES LIKE '%read_only'"))
        if "ON" not in (variables.get("tx_read_only"), variables.get("transaction_read_only")):
            raise EngineError(
                "mariadb: the server does not make the session one that only reads",
                hint="name an account that may only read, and tables as they stand are safe",
            )
        self.only_reads = True

    def set_zone(self, timezone: str) -> None:
        """Set the session's time zone. Every server knows UTC as an offset. A server of ours knows
        no names of zones: it was started in the workload's, and has it as `SYSTEM`."""
        of_server = "SYSTEM" if self._address.socket is not None else timezone
        written = "+00:00" if timezone == zone.UTC else of_server
        self.ask("SET SESSION time_zone = %s", written)

    def zone(self, timezone: str) -> str:
        """Its zone by its clocks: that one, if they are that one's."""
        query = "SELECT TIMESTAMPDIFF(SECOND, TIMESTAMP'1970-01-01 00:00:00', FROM_UNIXTIME({0}))"
        ahead = (int(self.ask(query.format(at))[0][0]) - at for at in zone.MOMENTS_S)
        return zone.shown(timezone, [*ahead])

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
        with self._guarded(statement), self._connection.cursor() as cursor:
            return int(cursor.execute(self._form(statement)))

    def fetch(self, statement: str) -> list[Row]:
        """As `run`, with every row."""
        with self._guarded(statement, query=True), self._connection.cursor() as cursor:
            cursor.execute(self._form(statement))
            return list(cursor.fetchall())

    def explain(self, query: str) -> list[Row]:
        """The plan, for which a server may execute parts of the query."""
        # From release 9 on MySQL draws a tree, unless rows are asked for.
        rows = "" if self.is_mariadb else "FORMAT = TRADITIONAL "
        # In a transaction that only reads MySQL explains no change.
        with self._guarded(query, query=bool(_QUERY.match(query))):
            return self.ask(f"EXPLAIN {rows}{query}")

    def admit(self, statement: str) -> None:
        """See that a statement of the user's, on a server of theirs, calls no stored function that
        may write. Raises `EngineError`."""
        if not (self.only_reads or self.queries_only_read) or statement in self._admitted:
            return
        shape = calls.shape(statement)
        if shape not in self._admitted:
            calls.check(self.ask, statement)
            self._admitted.add(shape)
        if len(self._admitted) < ADMITTED_MAX:
            self._admitted.add(statement)

    @contextmanager
    def _guarded(self, statement: str, *, query: bool = False) -> Iterator[None]:
        """In a user's database, the transaction of what must not write: the server refuses."""
        self.admit(statement)
        alone = query and self.queries_only_read and not self.takes_back
        if not (self.only_reads or alone):
            yield
            return
        if self.only_reads and not _QUERY.match(statement):
            raise EngineError(
                f"mariadb: no query, and the tables are only read: {statement[:40]!r}",
                hint="write a query: SELECT …",
            )
        self.ask("START TRANSACTION READ ONLY")
        try:
            yield
        finally:
            with contextlib.suppress(pymysql.MySQLError):  # the session is lost: it has said so
                self.ask("COMMIT")

    def ask(self, statement: str, *values: str) -> list[Row]:
        """A statement of our own, as a text in any case; `values` are in place of each %s."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall())

    def run_text(self, statement: str | bytes) -> int:
        """As `ask`; returns the tuples that were changed."""
        with self._connection.cursor() as cursor:
            return int(cursor.execute(statement))

    def streamed(self, statement: str) -> Iterator[Row]:
        """Every row, as it comes."""
        with self._guarded(statement, query=True), self._connection.cursor(SSCursor) as cursor:
            cursor.execute(statement)
            yield from cursor

    def size_bytes(self) -> int:
        """Tables and indexes of the session's database, as the server has counted them."""
        query = (
            "SELECT COALESCE(SUM(data_length + index_length), 0) FROM information_schema.tables"
            " WHERE table_schema = DATABASE()"
        )
        return int(self.ask(query)[0][0])

    def text_literal(self, text: str) -> str:
        """A text as it is written in a statement."""
        return str(self._connection.escape(text))

    def interrupt(self) -> None:
        """End the statement that another thread is in, by a session of its own: that statement and
        no later one, by the number that the server gave it."""
        other = Session(self._address)
        try:
            for number in other.running_in(self._connection.thread_id()):
                with contextlib.suppress(pymysql.MySQLError):  # it has just ended
                    other.ask(f"KILL QUERY {number}")
        finally:
            other.close()

    def running_in(self, session: int) -> list[str]:
        """The statement that another session is in, as KILL QUERY names it. MySQL numbers none: it
        can be asked for whatever the session is in by then."""
        number = "CONCAT('ID ', query_id)" if self.is_mariadb else "id"
        query = (
            f"SELECT {number} FROM information_schema.processlist"  # noqa: S608 - our own words
            f" WHERE command = 'Query' AND id = {session}"
        )
        return [str(row[0]) for row in self.ask(query)]

    def end_other(self, session: int) -> None:
        """End another session of the same account."""
        with contextlib.suppress(pymysql.MySQLError):  # it has just ended
            self.ask(f"KILL CONNECTION {session}")

    def _form(self, statement: str) -> str:
        if not self._keeps:
            return statement
        name = self._prepared.get(statement)
        if name is None:
            name = f"loadstone_{len(self._prepared) + 1}"
            self.ask(f"PREPARE {name} FROM {self.text_literal(statement)}")
            self._prepared[statement] = name
        return f"EXECUTE {name}"
