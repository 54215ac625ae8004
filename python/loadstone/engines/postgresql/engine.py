"""PostgreSQL: a private server from a wheel, or the user's own by URL; through psycopg.

Everything lies in one schema that we create and mark, on either kind of server.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone._core import StatementUsers
from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Capabilities, Structure, Table, UrlUse
from loadstone.engines.postgresql import own_settings
from loadstone.engines.postgresql.binaries import programs_of
from loadstone.engines.postgresql.instance import Connection
from loadstone.engines.postgresql.load import fill, organise, streamed
from loadstone.engines.postgresql.reading import transaction
from loadstone.engines.postgresql.system import PostgresqlSystem
from loadstone.engines.postgresql.terms import TACTICS, encryption
from loadstone.engines.setting import settings_of
from loadstone.engines.system import READ_ONLY, TABLES
from loadstone.errors import UnsupportedError
from loadstone.plan.variant import SETTING

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

_INDEX = re.compile(r'(?: using|Bitmap Index Scan on) "?([^\s"]+)')


class PostgresqlEngine(PostgresqlSystem, Engine):
    """Heaps with B-tree or hash indexes; a clustered relation is a heap put in order once."""

    name: ClassVar[str] = "postgresql"
    dialect: ClassVar[str] = "postgres"
    capabilities: ClassVar[Capabilities] = Capabilities(
        stored_share=1.2,
        structures={
            "heap": Structure(supported=True),
            "clustered": Structure(
                supported=True,
                note="heap put in key order by CLUSTER, with a B-tree; later rows go anywhere",
            ),
            "hash": Structure(supported=True, note="heap with a hash index: rows are not hashed"),
            "nonclustered": Structure(supported=True, note="B-tree"),
        },
        tactics=TACTICS,
        url=UrlUse.SERVER,
        settings=own_settings.SETTINGS,
    )
    of_instance: ClassVar[Collection[str]] = TACTICS

    _constant_of: Connection | None = None
    """The session in which the constant's statement is prepared."""

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """Also whether the program of a private server takes its settings. What a server of the
        user's takes, or another release, is known when it starts."""
        super().check(variant)
        programs = programs_of(variant)
        if programs is not None:
            for name, value in settings_of(variant).items():
                own_settings.check_value(programs, name, value)

    def start(self) -> None:
        """Start the private server, or connect; enter the schema; set every tactic."""
        self.check(self.variant)
        self.start_instance()

    def _switch(self, before: "Variant") -> None:
        """In the session where the server was started with nothing that differs."""
        del before
        self.instance.switch(
            self.tactics_of_instance(),
            frozenset(dict(self.variant.tactics)),
            settings_of(self.variant),
        )

    def stop(self) -> Sequence[int]:
        """Disconnect; shut the private server down."""
        return self.instance.stop()

    @property
    def schema(self) -> str:
        """Ours, on a user's server: an event trigger there may change the session's path at any
        definition, and our names would then mean the user's tables."""
        ours = self.variant.url is not None and not self.as_it_stands
        return self.instance.schema.name if ours else ""

    def quote(self, name: str) -> str:
        """A table or an index of ours, with our schema."""
        return self.instance.schema.member(name)

    def terms(self) -> Mapping[str, str]:
        """Read back from `pg_settings`, the catalogs and the session; settings that the server
        lacks are reported as missing."""
        reported = {**self.instance.terms(), **self.instance.tactics()}
        reported["encryption"] = encryption(self.instance.connection)
        reported |= {SETTING + name: value for name, value in self.instance.own_settings().items()}
        if self.as_it_stands and self.instance.only_reads():
            reported[TABLES] = READ_ONLY
        if "index" not in reported and self.tactic("index") == "none":
            reported["index"] = "none"
        return reported

    def tables(self) -> Sequence[str]:
        """All tables of our schema."""
        return self.instance.tables()

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """CREATE TABLE and COPY in one transaction, then indexes and CLUSTER."""
        if self.tactic("index") == "none":
            table = replace(table, indexes=(), compound=())
        with self.instance.errors(f"cannot load {table.name}", loads=True):
            count = fill(self.instance.connection, table, rows, self.quote)
            try:
                organise(self.instance.connection, table, self.quote)
            except BaseException:
                # Its rows alone would pass for the table, without its key and indexes.
                self.instance.drop(table.name)
                raise
        return count

    def settle(self, tables: Sequence[str]) -> None:
        """VACUUM ANALYZE each table; then CHECKPOINT, on a server of our own only."""
        self.instance.settle(tables)

    def remove_dead(self, table: str, changed: int) -> None:
        """VACUUM where autovacuum would, which is off on a server of our own."""
        self.instance.remove_dead(table, changed)

    def run(self, statement: str) -> int:
        """Execute; autocommit makes it its own transaction."""
        with self.instance.errors():
            self.instance.admit(statement, changes=True)
            return self.instance.ask(statement).rowcount

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Every row as a tuple; a char(n) comes with its trailing blanks. A query of the user's, on
        a server of theirs, has a transaction that only reads."""
        with self.instance.errors():
            self.instance.admit(statement)
            return self.instance.ask_for_rows(statement)

    def admit(self, statement: str, *, changes: bool) -> None:
        """By the server's catalog, on a server of the user's."""
        with self.instance.errors():
            self.instance.admit(statement, changes=changes)

    def interrupt(self) -> None:
        """By a cancel request; one that finds no statement does nothing."""
        self.instance.interrupt()

    def read(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """In the server's binary form, some thousand rows at a time."""
        connection = self.instance.connection
        with self.instance.errors():
            self.instance.admit(statement)
            if not self.instance.as_it_stands:
                yield from streamed(connection, statement)
                return
            with transaction(connection):
                yield from streamed(connection, statement)

    def ask_nothing(self) -> None:
        """A text without a statement, which the server answers."""
        with self.instance.errors():
            self.instance.execute("")

    def ask_constant(self) -> None:
        """EXECUTE, of which only the name is parsed."""
        with self.instance.errors():
            if self._constant_of is not self.instance.connection:
                self.instance.execute("PREPARE loadstone_constant AS SELECT 1")
                self._constant_of = self.instance.connection
            self.instance.execute("EXECUTE loadstone_constant").fetchall()

    def plan(self, statement: str, query: str) -> None:
        """EXPLAIN, which writes the plan down, too; not of what stays prepared."""
        del query
        if self.tactic("statement") == "prepared":
            raise UnsupportedError("a prepared statement is not planned anew")
        with self.instance.errors():
            self.instance.admit(statement, changes=True)
            self.instance.execute(f"EXPLAIN (COSTS OFF) {statement}").fetchall()

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """BEGIN … ROLLBACK."""
        with self.instance.errors():
            self.instance.execute("BEGIN")
            try:
                yield
            finally:
                self.instance.execute("ROLLBACK")

    def drop(self, table: str) -> None:
        """Drop the table; its indexes go with it."""
        with self.instance.errors():
            self.instance.drop(table)

    def explain(self, statement: str) -> str:
        """EXPLAIN as text."""
        with self.instance.errors():
            self.instance.admit(statement, changes=True)
            rows = self.instance.ask_for_rows(f"EXPLAIN {statement}")
        return "\n".join(str(row[0]) for row in rows)

    def own_times(self, statement: str) -> Mapping[str, int]:
        """EXPLAIN (ANALYZE, TIMING OFF): its two times. Rows go nowhere, and nothing commits."""
        with self.instance.errors():
            self.instance.admit(statement, changes=True)
            explained = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}"
            reported = self.instance.execute(explained).fetchall()[0][0]
        reported = json.loads(reported) if isinstance(reported, str) else reported
        names = {"planning": "Planning Time", "execution": "Execution Time"}
        return {name: round(reported[0][of] * 1e6) for name, of in names.items()}

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
        with self.instance.errors("cannot read the indexes"):
            rows = self.instance.connection.execute(query, (self.instance.schema.name,)).fetchall()
        kinds = {
            str(name): "hash" if method == "hash" else "clustered" if clustered else "nonclustered"
            for name, method, clustered in rows
        }
        named = {kinds.get(name, "nonclustered") for name in _INDEX.findall(plan)}
        return sorted(named | ({"heap"} if "Seq Scan on " in plan else set()))

    @contextmanager
    def users(self) -> Iterator[StatementUsers]:
        """Connections of a program in Rust, with the settings of this session, each as the server
        shows it. On our own server: elsewhere it would need what libpq has, as TLS."""
        if self.variant.url is not None:
            raise UnsupportedError("users in Rust connect to a server of ours alone")
        address, begin = self.instance.begin_of_another()
        yield StatementUsers.postgresql(address, begin, self.tactic("statement") == "prepared")

    @contextmanager
    def another(self) -> Iterator[Engine]:
        """A connection of its own to the same server, hence a server process of its own."""
        session = copy(self)
        with self.instance.another() as instance:
            session.instance = instance
            yield session
