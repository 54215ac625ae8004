"""lode, our own engine, asked in QUEL: in the worker's process, over one database."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone import _core, lode
from loadstone.engines import tactic
from loadstone.engines.base import Engine
from loadstone.engines.bounds import CACHE_BYTES_DEFAULT
from loadstone.engines.capabilities import Capabilities, Structure, Table
from loadstone.engines.tactic import Level, Tactic
from loadstone.engines.work import Work
from loadstone.errors import EngineError, UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

ELSEWHERE = ("place", "swizzle", "prefetch", "detect")
"""Tactics of lode that no statement can tell apart: of clients, of walks along references, and of
pages that a program maps as memory."""
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


OF_FILES = frozenset({"extent", "layout", "mirror"})
"""The tactics by which files look otherwise. Contents do not depend on any other."""

HEADER_BYTES = 8_192 + 4_096 + 98_304
"""Bytes that each opening of a closed database reads beside its catalog: the headers of the volume
and of the log, and the part of the log in which a crash could have left a record."""

STATE_BYTES = 8_192
"""Of a copy: the state of both, which says whether they are alike."""

STUDIES: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name(tactic.FILE).read_text(encoding="utf-8")
)
"""A study's declarations of each tactic, beside those of lode's own code."""


def described(
    values: Mapping[str, Sequence[str]], others: Mapping[str, Tactic] | None = None
) -> dict[str, Tactic]:
    """Tactics with these values, the default first, in the words of lode's code, or of `others`."""
    rows = {row["name"]: row for row in lode.tactics()}
    return {
        name: (others or {}).get(name) or _tactic(rows[name], named)
        for name, named in values.items()
    }


def level_of(name: str) -> Level:
    """The least that another value of lode's tactic takes."""
    return Level.LOAD if name in OF_FILES else Level.START


def _declared() -> dict[str, Tactic]:
    """The tactics as lode's code has them, the default first."""
    found: dict[str, Sequence[str]] = {}
    for row in lode.tactics():
        if row["name"] in ELSEWHERE:
            continue
        values = [str(name) for name, _ in row["values"]]
        default = str(row["default"])
        if len(values) == 1 and default not in values:
            kind = "<bytes>" if "bytes" in values[0] else "<n>"
            values = _sizes(values[0]) or [default, kind]
        values = ["<bytes>" if value.startswith("bytes ") else value for value in values]
        found[row["name"]] = (default, *(value for value in values if value != default))
    found["cache"] = (str(CACHE_BYTES_DEFAULT), "<bytes>")
    return described(found)


def _tactic(row: Mapping[str, Any], values: Sequence[str]) -> Tactic:
    """Of a row of lode's. A number's meaning is what the row says of its one value."""
    meanings = {str(name): str(about) for name, about in row["values"]}
    number = next((about for name, about in meanings.items() if name not in values), "")
    told = tuple((value, meanings.get(value, number)) for value in values)
    found = tactic.described(row["name"], level_of(row["name"]), told, row)
    return tactic.for_studies(found, STUDIES.get(row["name"], {}))


def _sizes(values: str) -> list[str]:
    """The numbers of a value that lists all there are: `4, 8 or 16 pages`."""
    return re.findall("[0-9]+", values) if " or " in values else []


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
        tactics=_declared(),
        no_sql="lode is asked in QUEL: it has no SQL",
    )

    _database: lode.Database | None = None
    _constant: lode.Statement | None = None
    """The constant's statement, once it was asked for."""
    _is_session = False
    """Whether the database is another engine's, which closes it."""

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Of the package, which lode is a part of."""
        return {"lode": _core.__version__}

    @classmethod
    def asked(cls, variant: "Variant") -> Mapping[str, str]:
        """Between the defaults and what the variant names stand its profile's values."""
        name = cls.tactic_of(variant, "profile")
        (settings,) = [row["settings"] for row in lode.profiles() if row["name"] == name] or [()]
        of_profile = {tactic: value for tactic, value, _ in settings}
        return {**super().asked(variant), **of_profile, **dict(variant.tactics)}

    @property
    def path(self) -> Path:
        """The volume; the log lies beside it."""
        return self.scratch / "relations.lode"

    def start(self) -> None:
        """Open the database, or make it, with every tactic."""
        self.check(self.variant)
        if self._database is None:
            known = lode.tactics_of("")
            asked = self.asked(self.variant)
            tactics = {name: asked[name] for name, _ in known if name not in ELSEWHERE}
            self._place_second_copy()
            self._database = lode.Database(self.path, "any", **tactics)
            if self._database.mirror is not None:
                # Of a database that was made without one, or has lost a copy.
                self._database.remirror()

    def _place_second_copy(self) -> None:
        """On the second disk, where there is one: lode takes a link for the folder of its copy."""
        folder, disk = self.path.with_name(f"{self.path.name}-mirror"), self.second_disk
        if disk is not None and not folder.is_symlink():
            folder.symlink_to(disk, target_is_directory=True)

    def stop(self) -> Sequence[int]:
        """Write everything to its place, and close."""
        database, self._database = self._database, None
        self._constant = None
        if database is not None and not self._is_session:
            database.close()
        return ()

    def terms(self) -> Mapping[str, str]:
        """As the open database has them."""
        told = dict(self._open().tactics)
        settings = {f"setting.{name}": told.pop(name) for name in ELSEWHERE if name in told}
        return {
            "version": _core.__version__,
            "isolation": "serializable",
            **told,
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
        changed = self._open().execute(statement)
        return -1 if changed is None else changed

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Every row as a tuple."""
        return self._open().query(statement).fetch()

    def interrupt(self) -> None:
        """End the statements that are running."""
        self._open().cancel()

    def read(self, statement: str) -> "pa.Table":
        """As an Arrow table."""
        import pyarrow as pa  # slow to import, and a timed statement needs it not

        return pa.RecordBatchReader.from_stream(self._open().query(statement)).read_all()

    def contents(self, table: str) -> "pa.Table":
        """All rows of a relation."""
        return self.read(f"range of t is {table} retrieve (t.all)")

    def ask_nothing(self) -> None:
        """A text without a statement."""
        self._open().execute("")

    def ask_constant(self) -> None:
        """By a text that is read once, and planned each time."""
        if self._constant is None:
            self._constant = self._open().prepare("retrieve (one = 1)")
        self._constant.query().fetch()

    def plan(self, statement: str, query: str) -> None:
        """As `explain`, which writes the plan down, too."""
        del query
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
        """As the query engine, the log and the mirror count it."""
        counted = self._open().counters()["query"]
        mirror = self._open().mirror or {}
        reads = {f"{copy}_copy_reads": mirror[copy]["reads"] if mirror else 0
                 for copy in ("first", "second")}  # fmt: skip
        return Work(**{one.name: {**counted, **reads}[one.name] for one in fields(Work)})

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
        session = copy(self)
        session._database, session._is_session = self._open(), True  # noqa: SLF001 - of this class
        try:
            yield session
        finally:
            session.stop()

    def stored_name(self, name: str) -> str:
        """The name itself where QUEL can write it; else its bytes in hexadecimal digits."""
        plain = _WORD.fullmatch(name) and name not in _RESERVED and not name.startswith(_ESCAPED)
        return name if plain else _ESCAPED + name.encode().hex()

    def remove(self) -> None:
        """Let go of the database, and delete it."""
        database, self._database = self._database, None
        self._constant = None
        if database is not None and not self._is_session:
            database.abandon()
        lode.remove(self.path)

    def _open(self) -> lode.Database:
        if self._database is None:
            raise EngineError("lode is not started", hint="call start() first")
        return self._database


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
