"""A PostgreSQL server with a schema of ours: a private one from a wheel, or the user's own by URL.

The engine sends its statements through the one session here; a client has sessions of its own, and
uses this one to set up and to look after the server.
"""

import secrets
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from copy import copy
from pathlib import Path
from typing import Any, Self

import psycopg
from psycopg import sql
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus

from loadstone.engines.postgresql import calls, own_settings
from loadstone.engines.postgresql.dead_tuples import DeadTuples
from loadstone.engines.postgresql.infinite import rows_of
from loadstone.engines.postgresql.reading import only_read, query_alone, reads_alone, transaction
from loadstone.engines.postgresql.schema import Schema
from loadstone.engines.postgresql.server import PrivateServer
from loadstone.engines.postgresql.session import (
    Address,
    connection_string,
    database_folder,
    private_address,
    session_statements,
    user_address,
)
from loadstone.engines.postgresql.switches import OF_OUR_SERVER, settings_of_session
from loadstone.engines.postgresql.terms import (
    read_tactics,
    read_terms,
    role_settings,
    same_for_all,
    server_settings,
    session_settings,
)
from loadstone.errors import EngineError, LoadstoneError, UnsupportedError
from loadstone.text.zone import UTC

CANCEL_S_MAX = 5.0
"""A server that has not taken a cancel request by then is asked again."""
ADMITTED_MAX = 20_000
"""Statements that are known again without a look at their shape."""
Connection = psycopg.Connection[tuple[Any, ...]]

_NEVER = 2**31
"""Executions after which a statement is prepared unasked, and prepared ones that are kept."""
_PROBE = "SELECT 'kept?'"
_START_POLL_S = 0.01
_START_TRIES_MAX = 3000


class Instance:
    """One server, one schema in it, and one session, which is open while it is started."""

    def __init__(
        self, url: str | None, schema: Schema, scratch: Path, build: Path | None = None
    ) -> None:
        """`url` is the user's server; None for a private one, whose data lies in `scratch`, of the
        programs in `build`, or of the wheel's."""
        self.schema = schema
        self.server = PrivateServer(scratch, build) if url is None else None
        self._build = build
        self._url = url
        self._scratch = scratch
        self._connection: Connection | None = None
        self._address: Address | None = None
        self._entered = False
        self._folder = ""
        """The name of our database's folder on the private server, once it is known."""
        self._tactics: Mapping[str, str] = {}
        self._settings: Mapping[str, str] = {}
        self._of_start: dict[str, str] = {}
        """Those of the settings that the private server is started with."""
        self._asked: frozenset[str] = frozenset()
        self._gaps: dict[str, str] = {}
        self._dead = DeadTuples()
        self.as_it_stands = False
        """Whether it reads the tables of the user's own, and has no schema there."""
        self.timezone = UTC
        self.users_text = False
        """Whether queries are the user's, on a server of theirs."""
        self._admitted: set[str] = set()
        """Statements of which it was seen what they call, and the shapes of such."""

    def start(
        self,
        tactics: Mapping[str, str],
        asked: frozenset[str],
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Start the private server, or connect; enter the schema; set the tactics of the server and
        of the session, of which the variant names those in `asked`, and settings by their names."""
        self._tactics, self._asked = tactics, asked
        if self._answers():
            return
        self.disconnect()
        settings = settings or {}
        if settings != self._settings:
            self._settings, self._of_start = settings, {}
        if self.server is not None:
            self._connection = self._start_private(tactics["place"])
            self._read_folder(self._connection)
        else:
            refuse_settings_of_start(asked)
            self._connection = self._where().connect()
            self._read_state(self._connection)
        self._enter(self._connection)

    def switch(
        self, tactics: Mapping[str, str], asked: frozenset[str], settings: Mapping[str, str]
    ) -> None:
        """Take other tactics in the session that is open; the private server is started anew where
        it was started with others."""
        if self.server is None:
            refuse_settings_of_start(asked)
        elif self._tactics and _of_start(tactics) != _of_start(self._tactics):
            self.stop()
        if settings != self._settings:
            # In a new session, on a server that was started without those of before.
            self.stop() if self._of_start else self.disconnect()
        if not self._answers():
            self.start(tactics, asked, settings)
            return
        before = settings_of_session(self._tactics)
        self._tactics, self._asked = tactics, asked
        with self.errors("cannot set the session"):
            for _, name in before.keys() - settings_of_session(tactics).keys():
                self.connection.execute(sql.SQL("RESET {}").format(sql.Identifier(name)))
            self._set_session(self.connection)

    def stop(self) -> Sequence[int]:
        """Disconnect; shut the private server down."""
        self.disconnect()
        return self._replace_server().stop() if self.server is not None else ()

    def disconnect(self) -> None:
        """Close the session."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def remove(self, *, has_predecessor: bool) -> None:
        """Delete the private server, or drop our schema from the user's."""
        if self.server is not None:
            self.disconnect()
            self._replace_server().remove()
            return
        if self.as_it_stands:
            self.disconnect()
            return
        if not self._answers():
            self.disconnect()
            try:
                self._connection = self._where().connect()
            except LoadstoneError:
                if self._entered or has_predecessor:
                    raise
                # Never reached: it holds nothing of this run's, and `start` reported the error.
                return
        with self.errors(f"cannot drop {self.schema.name}"):
            self.schema.drop_own(self.connection)
        self._entered = False
        self.disconnect()

    @property
    def connection(self) -> Connection:
        """The session. Raises `EngineError` before `start`."""
        if self._connection is None:
            raise EngineError("postgresql is not started", hint="call start() first")
        return self._connection

    def errors(self, doing: str = "", *, loads: bool = False) -> AbstractContextManager[None]:
        """Turn psycopg's errors into ours, without a secret; `loads` as of `Address.errors`."""
        return self._where().errors(doing, loads=loads)

    def execute(self, statement: str) -> psycopg.Cursor[tuple[Any, ...]]:
        """Execute a statement. Raises psycopg's errors."""
        return self._executed(statement, None)

    def ask(self, statement: str) -> psycopg.Cursor[tuple[Any, ...]]:
        """Execute a statement in the form that the tactic `statement` says."""
        return self._executed(statement, self._keeps)

    def admit(self, statement: str, *, changes: bool = False) -> None:
        """See that a statement of the user's, on a server of theirs, calls nothing that may write;
        `changes`: it may change the run's own tables. Raises `EngineError` and psycopg's errors."""
        changes = changes and not self.as_it_stands
        if not (self.as_it_stands or self.users_text) or statement in self._admitted:
            return
        if self.connection.info.transaction_status == TransactionStatus.INERROR:
            return  # the server takes nothing but its end
        shape = f"{changes} {calls.shape(statement)}"
        if shape not in self._admitted:
            calls.check(self.connection, statement, changes=changes)
            self._admitted.add(shape)
        if not changes and len(self._admitted) < ADMITTED_MAX:
            self._admitted.add(statement)

    def ask_for_rows(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a query; one of the user's own, on a server of theirs, cannot write there."""
        if not self.users_text or self.as_it_stands:
            return rows_of(self.ask(statement))
        with query_alone(self.connection):
            return rows_of(self.ask(statement))

    def _executed(self, statement: str, prepare: bool | None) -> psycopg.Cursor[tuple[Any, ...]]:
        """Over tables as they stand, in a transaction that only reads; else by itself."""
        if not self.as_it_stands:
            return self.connection.execute(statement.encode(), prepare=prepare)
        with transaction(self.connection):
            return self.connection.execute(statement.encode(), prepare=prepare)

    def interrupt(self) -> None:
        """Ask the server, by a connection of its own, to end the session's statement."""
        with self.errors("cannot end a statement"):
            self.connection.cancel_safe(timeout=CANCEL_S_MAX)

    def drop(self, table: str) -> None:
        """Drop a table of ours. Not by the driver, which would forget what is prepared."""
        done = self.connection.pgconn.exec_(
            f"DROP TABLE IF EXISTS {self.schema.member(table)}".encode()
        )
        if done.status != ExecStatus.COMMAND_OK:
            raise error_from_result(done)

    @contextmanager
    def another(self) -> Iterator[Self]:
        """The same server and schema with one more session, for as long as its context lasts."""
        other = copy(self)
        with closing(self._where().connect()) as connection:
            other._connection = connection  # noqa: SLF001 - an instance of this class
            other._enter(connection)  # noqa: SLF001
            yield other

    def terms(self) -> Mapping[str, str]:
        """Read back from `pg_settings`; settings that the server lacks are reported as missing."""
        with self.errors("cannot read the settings"):
            reported = read_terms(self.connection, self._gaps)
        return reported if self._build is None else {**reported, "postgresql": str(self._build)}

    def tactics(self) -> Mapping[str, str]:
        """The tactics that only statements have, read back."""
        with self.errors("cannot read the settings"):
            return read_tactics(self.connection, self.schema.name) | self._form()

    def own_settings(self) -> Mapping[str, str]:
        """The settings that the variant names, read back."""
        with self.errors("cannot read the settings"):
            return own_settings.read_back(self.connection, self._settings)

    def _form(self) -> dict[str, str]:
        """The form of a statement, from what the server keeps of one."""
        self.ask(_PROBE)
        query = "SELECT 1 FROM pg_catalog.pg_prepared_statements WHERE statement = %s"
        try:
            found = self.connection.execute(query, (_PROBE,), prepare=False).fetchone()
        except (psycopg.errors.ProgrammingError, psycopg.errors.NotSupportedError):
            return {}
        return {"statement": "prepared" if found else "text"}

    def only_reads(self) -> bool:
        """Whether the server refuses writes in the session, as it says now."""
        with self.errors("cannot read the settings"):
            return reads_alone(self.connection)

    def tables(self) -> Sequence[str]:
        """All tables of our schema."""
        with self.errors():
            return self.schema.tables(self.connection)

    def settle(self, tables: Sequence[str]) -> None:
        """VACUUM each table, and ANALYZE it where statistics are requested; then CHECKPOINT, on a
        server of our own only."""
        analyze = self._tactics.get("statistics") != "off"
        with self.errors("cannot settle"):
            for table in tables:
                # One statement at a time: VACUUM refuses to share a transaction.
                try:
                    form = "VACUUM (ANALYZE)" if analyze else "VACUUM"
                    self.execute(f"{form} {self.schema.member(table)}")
                except (psycopg.errors.SyntaxError, psycopg.errors.FeatureNotSupported):
                    # Servers that only speak the protocol have nothing to vacuum.
                    if analyze:
                        self.execute(f"ANALYZE {self.schema.member(table)}")
            if self.server is not None:
                self.execute("CHECKPOINT")

    def remove_dead(self, table: str, changed: int) -> None:
        """VACUUM a table once too many of its tuples are dead, on a server of our own only."""
        if self.server is not None:
            with self.errors("cannot remove dead tuples"):
                self._dead.remove(self.connection, self.schema, table, changed)

    def size_bytes(self) -> int:
        """Tables, indexes and TOAST of our schema; of tables as they stand, the whole database."""
        if self.as_it_stands:
            return self._database_bytes()
        with self.errors("cannot read the size"):
            return self.schema.size_bytes(self.connection)

    def _database_bytes(self) -> int:
        query = "SELECT pg_catalog.pg_database_size(pg_catalog.current_database())"
        try:
            row = self.connection.execute(query).fetchone()
        except psycopg.Error:
            return 0  # a server that only speaks the protocol
        return int(row[0]) if row else 0

    def not_data(self) -> Mapping[Path, str]:
        """The private server's files that no session of ours reads. Two thirds of all
        files are its template databases'."""
        return {} if self.server is None else self.server.not_data(self._folder)

    def processes(self) -> Sequence[int]:
        """The private server's postmaster, parent of all its processes."""
        pid = self.server.pid if self.server is not None else None
        return () if pid is None else (pid,)

    def listen(self) -> None:
        """Let the private server listen on the loopback interface from its next start on."""
        if not self._private().listens:
            self._private().listen()

    def live_apart(self) -> None:
        """Run the private server in a network namespace of its own from its next start on."""
        self._private().live_apart(self.schema.owner)

    @property
    def interface(self) -> str:
        """The address at which the private server listens by TCP; empty if it does not."""
        return self._private().listens

    def socket_pair(self) -> tuple[socket.socket, socket.socket]:
        """Two connected sockets that use the same way as the private server's clients: (theirs, the
        server's). Raises `OSError`."""
        return self._private().socket_pair()

    def set_password(self, password: str) -> None:
        """Set the role's password, by which it may come from the loopback interface."""
        with self.errors("cannot set a password"):
            self.connection.execute(_password(password))

    def set_role(self) -> None:
        """Make the session's tactics the defaults of the role, so that a client's sessions have
        them. Not on a user's server, whose roles must not be altered."""
        with self.errors("cannot alter the role"):
            for name, value in role_settings(self._tactics).items():
                self.execute(f"ALTER ROLE CURRENT_USER SET {name} TO {value}")

    def parameters(self) -> dict[str, Any]:
        """The connection parameters for another driver, from URL, environment and libpq's files;
        contains the secret."""
        found = self.connection.info
        return {
            **found.get_parameters(),
            "host": found.host,
            "port": str(found.port),
            "user": found.user,
            "dbname": found.dbname,
            "password": found.password,
            "schema": self.schema.name,
        }

    def begin_of_another(self) -> tuple[str, list[str]]:
        """The server's address in libpq's form, with its secret, and the statements by which
        another driver's session has the settings of this one."""
        with self.errors("cannot read the settings"):
            statements = session_statements(self.connection)
        return connection_string(self.parameters() | dict(self._where().parameters)), statements

    def _enter(self, connection: Connection) -> None:
        with self.errors("cannot set up the session"):
            if self.as_it_stands:
                only_read(connection)
            else:
                self.schema.enter(connection)
                self._entered = True
            self._set_session(connection)

    def _set_session(self, connection: Connection) -> None:
        same_for_all(connection, self.timezone)
        self._gaps = session_settings(self._tactics, self._asked, connection)
        # Prepared by name only where that is requested, and then never forgotten.
        connection.prepare_threshold = _NEVER if self._keeps else None
        connection.prepared_max = _NEVER
        of_session = {k: v for k, v in self._settings.items() if k not in self._of_start}
        own_settings.set_session(connection, of_session)

    @property
    def _keeps(self) -> bool:
        return self._tactics.get("statement") == "prepared"

    def _answers(self) -> bool:
        """Whether the session still works: a server may have died without a message."""
        try:
            return self._connection is not None and bool(self._connection.execute("SELECT 1"))
        except psycopg.Error:
            return False

    def _start_private(self, place: str) -> Connection:
        """Launch the server if it is down, and connect as soon as it answers, by the way asked
        for; once more if there are settings that it takes at a start only."""
        server = self._private()
        if place == "tcp" and not server.alive:
            self.listen()
        connection = self._launched(server)
        try:
            started_without = self._read_state(connection)
        except BaseException:
            connection.close()
            raise
        if started_without:
            connection.close()
            self._replace_server().stop()
            return self._start_private(place)
        if place != "tcp":
            return connection
        with closing(connection), self.errors("cannot set a password"):
            password = secrets.token_urlsafe(18)
            connection.execute(_password(password))
        self._address = private_address(
            {**server.address(), "host": self.interface, "password": password}
        )
        return self._where().connect()

    def _read_state(self, connection: Connection) -> bool:
        """Find out which settings only a start sets. True if the server was started without."""
        with self.errors("cannot read the settings"):
            ours = self.server is not None
            found = own_settings.of_start(connection, self._settings, ours=ours)
        found, self._of_start = self._of_start, found
        return found != self._of_start

    def _read_folder(self, connection: Connection) -> None:
        if not self._folder:
            with self.errors("cannot read the catalog"):
                self._folder = database_folder(connection)

    def _launched(self, server: PrivateServer) -> Connection:
        error = EngineError("never tried")
        for _ in range(_START_TRIES_MAX):
            if not server.alive:
                server.launch(server_settings(self._tactics) | self._of_start)
                self._address = private_address(server.address())
            try:
                return self._where().connect()
            except EngineError as refused:
                error = refused
            ended = server.ended_within(_START_POLL_S)
            # After a crash the old server's children may hold its memory for a moment more.
            if ended and "shared memory block" not in server.last_words():
                break
        raise EngineError(
            f"the private server did not start: {server.last_words() or error.message}",
            hint=f"its log is {server.log}",
        )

    def _replace_server(self) -> PrivateServer:
        """The server so far; the next one listens at a port that is free when it starts."""
        server, self.server = self._private(), PrivateServer(self._scratch, self._build)
        return server

    def _private(self) -> PrivateServer:
        if self.server is None:
            raise EngineError("postgresql: the server of a user is not ours to place")
        return self.server

    def _where(self) -> Address:
        if self._address is None:
            url = self._url
            self._address = user_address(url) if url else private_address(self._private().address())
        return self._address


def refuse_settings_of_start(asked: frozenset[str]) -> None:
    """Raise `UnsupportedError` for a tactic that a server of the user's cannot take."""
    for name in OF_OUR_SERVER:
        if name in asked:
            raise UnsupportedError(
                f"postgresql: the {name} of a server that is not ours stays as it is",
                hint=f"leave out {name}=…, or leave out the URL to use a private server",
            )


def _password(password: str) -> sql.Composed:
    return sql.SQL("ALTER ROLE CURRENT_USER PASSWORD {}").format(sql.Literal(password))


def _of_start(tactics: Mapping[str, str]) -> dict[str, str]:
    """The settings that a private server cannot take while it runs."""
    return {"place": tactics["place"], **server_settings(tactics)}
