"""lode, our own engine: one database, which executes QUEL in the place that a tactic chooses."""

import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone import _core, lode
from loadstone._core import StatementUsers
from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Capabilities, Estimate, Structure, Table, Work
from loadstone.engines.lode.declared import ELSEWHERE, check_together, declared
from loadstone.engines.lode.served import ServedDatabase
from loadstone.engines.lode.server import end_orphan
from loadstone.errors import EngineError, InputError, UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

_TYPES = {"int2": "i2", "int4": "i4", "int8": "i8"}
_CHARACTERS = re.compile(r"char\(([0-9]+)\)")
_WORD = re.compile(r"[a-z_][a-z0-9_]*")
_ESCAPED = "x_"
"""The beginning of a stored name whose rest is a name in hexadecimal digits."""
_RESERVED = frozenset(
    (
        "all", "and", "append", "by", "clustered", "create", "delete", "destroy", "go", "index",
        "into", "is", "mod", "modify", "nonclustered", "not", "of", "on", "or", "range",
        "replace", "retrieve", "to", "unique", "where",
    )
)  # fmt: skip
"""Words of QUEL, which name no relation."""

FILE = "relations.lode"
"""The volume's name."""
PACE_INTERPRETED, PACE_UNBUFFERED = 6.0, 40.0
"""Over lode with its defaults: one tuple at a time; and one page at a time, from the disk."""
CONSTANT = "retrieve (one = 1)"

HEADER_BYTES = 8_192 + 4_096 + 98_304
"""Bytes that each opening of a closed database reads beside its catalog: the headers of the volume
and of the log, and the part of the log in which a crash could have left a record."""

STATE_BYTES = 8_192
"""The bytes of a copy's state, which says whether both copies are alike."""


def _pace(values: Mapping[str, str]) -> float:
    """By the tactics that matter most for it."""
    if values["disk"] == "direct" and values["readahead"] == "off":
        return PACE_UNBUFFERED
    return PACE_INTERPRETED if values["execution"] == "interpreted" else 1.0


class LodeEngine(Engine):
    """Tuples in heaps, B-trees and hash indexes; every strategy of the query engine a tactic."""

    name: ClassVar[str] = "lode"
    dialect: ClassVar[str] = "quel"
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures={
            "heap": Structure(supported=True, note="records in the order of insertion"),
            "clustered": Structure(
                supported=True, note="records in the order of the key, with a B-tree over them"
            ),
            "hash": Structure(
                supported=True, note="heap with a hash index: records are not hashed"
            ),
            "nonclustered": Structure(supported=True, note="B-tree of (key, record id)"),
        },
        tactics=declared(),
        stored_share=0.9,
        estimate=Estimate(pace=_pace),
        no_sql="lode executes QUEL: it has no SQL",
        column_types=frozenset(("int2", "int4", "int8", "text")),
    )

    _database: lode.Database | ServedDatabase | None = None
    _connection: lode.Connection | None = None
    """To another thread; of one more session of a server its own."""
    _constant: lode.Statement | None = None
    """The prepared statement of the constant, once it was used."""
    _is_session = False
    """Whether the database is another engine's, which closes it."""

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """The version of the package that lode belongs to."""
        return {"lode": _core.__version__}

    @classmethod
    def values_of(cls, variant: "Variant") -> Mapping[str, str]:
        """A profile replaces defaults, and the variant's own values replace the profile's."""
        name = cls.tactic_of(variant, "profile")
        (settings,) = [row["settings"] for row in lode.profiles() if row["name"] == name] or [()]
        of_profile = {tactic: value for tactic, value, _ in settings}
        return {**super().values_of(variant), **of_profile, **dict(variant.tactics)}

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """Also that the values go together, and that no server has a mirror, whose reads it would
        not report."""
        super().check(variant)
        values = cls.values_of(variant)
        check_together({name: values[name] for name in values if name not in ELSEWHERE})
        if values["place"] == "server" and values["mirror"] != "off":
            raise InputError(
                "lode: with place=server the reads of a mirror's copies are not counted",
                hint="leave out place=server, or mirror",
            )

    @property
    def path(self) -> Path:
        """The volume; the log lies beside it."""
        return self.scratch / FILE

    def start(self) -> None:
        """Open the database, or make it, with every tactic."""
        self.check(self.variant)
        if self._database is None:
            known = lode.tactics_of("")
            values = self.values_of(self.variant)
            tactics = {name: values[name] for name, _ in known if name not in ELSEWHERE}
            if values["place"] == "server":
                self._database = ServedDatabase(self.path, tactics)
                return
            self._place_second_copy()
            self._database = database = lode.Database(self.path, "any", **tactics)
            if database.mirror is not None:
                # The database may have been made without one, or have lost a copy.
                database.remirror()
            if values["place"] == "thread":
                self._connection = database.beside()

    def _place_second_copy(self) -> None:
        """On the second disk, where there is one: lode takes a link for the folder of its copy."""
        folder, disk = self.path.with_name(f"{self.path.name}-mirror"), self.second_disk
        if disk is not None and not folder.is_symlink():
            folder.symlink_to(disk, target_is_directory=True)

    def stop(self) -> Sequence[int]:
        """Write everything to its place, and close."""
        database = self._let_go()
        if database is None or self._is_session:
            return ()
        return database.close() or ()

    def terms(self) -> Mapping[str, str]:
        """Read from the open database."""
        tactics = dict(self._open().tactics)
        settings = {f"setting.{name}": tactics.pop(name) for name in ELSEWHERE if name in tactics}
        return {
            "version": _core.__version__,
            "isolation": "serializable",
            "checkpoints": "while one is written, no writer may begin",
            "place": self._place(),
            **tactics,
            **settings,
        }

    def tables(self) -> Sequence[str]:
        """All relations."""
        return [relation["name"] for relation in self._open().relations()]

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """By lode's loader: sorted on the key where clustered, then the indexes."""
        key = [name for name in (table.key, table.tiebreaker) if name]
        return self._open().load(
            table.name,
            [(attribute.name, _type(attribute.type)) for attribute in table.attributes],
            rows,
            table.organisation,
            [] if table.organisation == "heap" else key,
            list(table.indexes),
        )

    def settle(self, tables: Sequence[str]) -> None:
        """Gather statistics, then checkpoint."""
        database = self._open()
        database.settle(*tables)
        database.checkpoint()

    def run(self, statement: str) -> int:
        """Execute a text in one transaction."""
        changed = self._executor().execute(statement)
        return -1 if changed is None else changed

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Every row as a tuple."""
        return self._executor().query(statement).fetch()

    def interrupt(self) -> None:
        """End the statements that are running."""
        self._open().cancel()

    def read(self, statement: str) -> "pa.Table":
        """As an Arrow table."""
        import pyarrow as pa  # slow to import, and a timed statement needs it not

        return pa.RecordBatchReader.from_stream(self._executor().query(statement)).read_all()

    def contents(self, table: str) -> "pa.Table":
        """All rows of a relation."""
        return self.read(f"range of t is {table} retrieve (t.all)")

    def ask_nothing(self) -> None:
        """A text without a statement."""
        self._executor().execute("")

    def ask_constant(self) -> None:
        """By a text that is read once, and planned each time; elsewhere by the text."""
        database = self._open()
        if self._connection is not None or isinstance(database, ServedDatabase):
            self._executor().query(CONSTANT).fetch()
            return
        if self._constant is None:
            self._constant = database.prepare(CONSTANT)
        self._constant.query().fetch()

    def plan(self, statement: str, query: str) -> None:
        """As `explain`, which writes the plan down, too."""
        del query
        if self.tactic("place") != "embedded":
            raise UnsupportedError("lode plans without executing only where it is called")
        self._open().explain(statement)

    def drop(self, table: str) -> None:
        """Destroy the relation; its indexes go with it."""
        self._open().destroy(table)

    def explain(self, statement: str) -> str:
        """The pipelines, with the rows that are expected to reach each sink."""
        return self._open().explain(statement)

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """The access of each source in the plan."""
        del plan
        return sorted(set(self._open().access_paths(statement)))

    def work(self) -> Work:
        """Counted by the query engine, the log and the mirror."""
        counted = self._open().counters()["query"]
        mirror = self._open().mirror or {}
        reads = {f"{copy}_copy_reads": mirror[copy]["reads"] if mirror else 0
                 for copy in ("first", "second")}  # fmt: skip
        return Work(**{one.name: {**counted, **reads}[one.name] for one in fields(Work)})

    def phases(self) -> Mapping[str, int]:
        """Counted by the query engine, without the call and the conversion of rows to Python."""
        return self._open().counters()["phases_ns"]

    def size_bytes(self) -> int:
        """Pages in use, of relations, indexes and the catalog."""
        return self._open().used_bytes()

    def header_bytes(self) -> int:
        """The headers, and where the log's end is looked for; of a mirrored database those of each
        copy and once more of the one that is opened, and both logs, which `start` compares and
        which hold nothing once closed."""
        if self._open().mirror is None:
            return HEADER_BYTES
        logs = [path for path in self.files() if path.name.endswith("-log")]
        return sum(path.stat().st_size for path in logs) + 3 * HEADER_BYTES + 2 * STATE_BYTES

    @contextmanager
    def another(self) -> Iterator[Engine]:
        """The same open database, which all threads may ask."""
        session, database = copy(self), self._open()
        session._database, session._is_session = database, True  # noqa: SLF001 - of this class
        session._connection = self._another_way(database)  # noqa: SLF001
        try:
            yield session
        finally:
            session.stop()

    def _another_way(self, database: lode.Database | ServedDatabase) -> lode.Connection | None:
        if isinstance(database, ServedDatabase):
            return database.another()
        return None if self._connection is None else database.beside()

    @contextmanager
    def users(self) -> Iterator[StatementUsers]:
        """At the same place, on the database that is open."""
        database = self._open()
        if isinstance(database, ServedDatabase):
            yield StatementUsers.lode_server(database.address)
        else:
            yield StatementUsers.lode(database, self._connection is not None)

    def processes(self) -> Sequence[int]:
        """The server, where there is one."""
        pid = self._database.pid if isinstance(self._database, ServedDatabase) else None
        return () if pid is None else (pid,)

    def stored_name(self, name: str) -> str:
        """The name itself where QUEL can write it; else its bytes in hexadecimal digits."""
        plain = _WORD.fullmatch(name) and name not in _RESERVED and not name.startswith(_ESCAPED)
        return name if plain else _ESCAPED + name.encode().hex()

    def remove(self) -> None:
        """Let go of the database, and delete it."""
        database = self._let_go()
        if database is not None and not self._is_session:
            database.abandon()
        lode.remove(self.path)

    @classmethod
    def abandon(cls, scratch: Path) -> Sequence[int]:
        """End the server that a killed worker left."""
        return end_orphan(scratch / FILE)

    def _open(self) -> lode.Database | ServedDatabase:
        if self._database is None:
            raise EngineError("lode is not started", hint="call start() first")
        return self._database

    def _executor(self) -> lode.Database | lode.Connection:
        """The database that executes statements: this process's own, or a server's."""
        database = self._open()
        if self._connection is not None:
            return self._connection
        return database.connection if isinstance(database, ServedDatabase) else database

    def _place(self) -> str:
        """The place where statements are executed, by the process and the thread that do."""
        executor = self._executor()
        if isinstance(executor, lode.Database):
            return "embedded"
        pid, _, tid = executor.place().split("/")
        if int(pid) != os.getpid():
            return "server"
        return "embedded" if int(tid) == threading.get_native_id() else "thread"

    def _let_go(self) -> lode.Database | ServedDatabase | None:
        database, self._database = self._database, None
        connection, self._connection = self._connection, None
        self._constant = None
        if connection is not None:
            connection.close()
        return database


def _type(name: str) -> str:
    """A type of the papers in lode's words."""
    characters = _CHARACTERS.fullmatch(name)
    if characters:
        return f"c{characters[1]}"
    if name not in _TYPES:
        raise UnsupportedError(
            f"lode has no attributes of type {name}", hint=f"it has {', '.join(_TYPES)}, char(n)"
        )
    return _TYPES[name]
