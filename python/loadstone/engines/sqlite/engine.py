"""SQLite through APSW, one connection: a file in the scratch folder, or the user's own by URL.

Our file has a WAL journal. A user's file keeps the journal it has, and everything else.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import apsw

from loadstone._core import StatementUsers
from loadstone.engines import data_files
from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Capabilities, Structure, Table
from loadstone.engines.ownership import Hold, Leftover
from loadstone.engines.setting import Settings, settings_of
from loadstone.engines.sqlite import driver, leftovers, pragmas, switches, user_file
from loadstone.engines.sqlite.loading import fill
from loadstone.engines.sqlite.settings import PRAGMAS, TACTICS, in_terms, statistics
from loadstone.engines.sqlite.user_file import OwnTables, errors
from loadstone.engines.sqlite_form import ACCESS, BUSY_MS_MAX, plan_text, zone_of
from loadstone.engines.system import READ_ONLY, TABLES
from loadstone.engines.user_path import path_in
from loadstone.errors import EngineError, InputError, LoadstoneError, UnsupportedError
from loadstone.plan.variant import SETTING

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

_HASH_GAP = "SQLite has B-trees only: no hash organisation and no hash index"


class SqliteEngine(Engine):
    """A heap is a rowid table, a clustered relation a WITHOUT ROWID table."""

    name: ClassVar[str] = "sqlite"
    dialect: ClassVar[str] = "sqlite"
    distribution: ClassVar[str] = "apsw"
    takes_url: ClassVar[bool] = True
    settings: ClassVar[Settings] = pragmas.SETTINGS
    capabilities: ClassVar[Capabilities] = Capabilities(
        stored_share=0.9,
        structures={
            "heap": Structure(supported=True, note="rowid table: a B-tree in order of insertion"),
            "clustered": Structure(
                supported=True, note="WITHOUT ROWID table: the primary key's B-tree holds the rows"
            ),
            "hash": Structure(supported=False, note=_HASH_GAP),
            "nonclustered": Structure(supported=True),
        },
        tactics=TACTICS,
    )

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self._connection: apsw.Connection | None = None
        self._entered = False
        self._space: OwnTables | None = None
        if variant.url is not None:
            self._space = OwnTables.of(owner, variant.name)

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """As for all; and a URL must name a file, whose own tactics stay."""
        super().check(variant)
        if variant.url is None:
            return
        path_in(variant.url)
        for name in switches.OF_FILES:
            if name in dict(variant.tactics):
                raise InputError(
                    f"sqlite: the {name} of a file of yours stays as it is",
                    hint=f"leave out {name}=…, or leave out the URL to use a file of the run's own",
                )

    @classmethod
    def check_setting(cls, variant: "Variant", name: str, value: str) -> None:
        """A pragma that is a setting; in a user's file, one that only the connection keeps. The
        values that another release takes are known where it is: in its worker."""
        pragmas.check(name, value, ours=variant.url is None)
        if not variant.release:
            pragmas.check_value(name, value)

    @classmethod
    def asked(cls, variant: "Variant") -> Mapping[str, str]:
        """Nothing of what a user's file keeps."""
        asked = super().asked(variant)
        kept = () if variant.url is None else switches.OF_FILES
        return {name: value for name, value in asked.items() if name not in kept}

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """SQLite as linked into APSW, and APSW."""
        return {"sqlite": driver.sqlite_version(), "apsw": driver.apsw_version()}

    @property
    def path(self) -> Path:
        """The database file."""
        url = self.variant.url
        return self.scratch / "sqlite.db" if url is None else path_in(url)

    def start(self) -> None:
        """Open the file, enter our space of it if it is the user's, and set every tactic."""
        self.check(self.variant)
        if self._connection is not None:
            return
        if self._space is None:
            with errors():
                connection = self._connection = driver.Connection(str(self.path))
                connection.set_busy_timeout(BUSY_MS_MAX)
                switches.prepare(connection, self._values)
                pragmas.apply(connection, settings_of(self.variant), new_file=True)
        elif self.as_it_stands:
            connection = self._connection = user_file.connect_to_read(self.path)
        else:
            connection = self._connection = user_file.connect(self.path)
            with errors(f"cannot make tables in {self.path}"):
                self._space.enter(connection)
                self._entered = True
                connection.authorizer = self._space.guard
        self._set(connection)

    def stop(self) -> Sequence[int]:
        """Close: the last connection writes the WAL back and gives up its cache."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with errors():
                connection.close()
        return ()

    def terms(self) -> Mapping[str, str]:
        """Read back by PRAGMA; what was decided at compile time from the compile options."""
        db = self._open()
        with errors():
            reported = {name: str(db.pragma(name)) for name in PRAGMAS}
            options = apsw.compile_options
            filled = db.execute("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'")
            analysed = int(str(next(filled)[0]))
            return {
                "version": driver.sqlite_version(),
                "timezone": zone_of(self.timezone, self.fetch),
                **({TABLES: READ_ONLY} if self.as_it_stands else {}),
                **in_terms(reported),
                **self._reported(db),
                **{
                    SETTING + name: reported
                    for name, reported in self._pragmas_reported(db).items()
                },
                "setting.statistics": statistics(analysed, stat4="ENABLE_STAT4" in options),
                "setting.threadsafe": next(o for o in options if o.startswith("THREADSAFE")),
            }

    def _pragmas_reported(self, db: apsw.Connection) -> dict[str, str]:
        return pragmas.read_back(db, settings_of(self.variant))

    def _reported(self, db: apsw.Connection) -> dict[str, str]:
        reported = switches.read_back(db, self.tables())
        if "index" not in reported and self.tactic("index") == "none":
            reported["index"] = "none"
        return reported

    def tables(self) -> Sequence[str]:
        """All tables of the file but SQLite's own; of the user's, all of our space."""
        if self._space is not None:
            with errors():
                return self._space.tables(self._open())
        query = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        names = [str(row[0]) for row in self.fetch(query)]
        return [name for name in names if not name.startswith("sqlite_")]

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """Insert by one prepared statement in one transaction, indexes included."""
        if table.organisation == "hash":
            raise UnsupportedError(_HASH_GAP, hint="leave the hash structure to another engine")
        db = self._open()
        name = self._ours(table.name)
        rowid, indexed = self.tactic("without_rowid") == "off", self.tactic("index") == "all"
        with errors():
            fill(db, table, rows, rowid=rowid, indexed=indexed)
        return int(self.fetch(f"SELECT count(*) FROM {name}")[0][0])  # noqa: S608

    def settle(self, tables: Sequence[str]) -> None:
        """ANALYZE each table, then write the WAL back and empty it; in a user's file as far as no
        other user of it has to wait."""
        if self.as_it_stands:
            return
        db = self._open()
        passive = self._space is not None
        mode = apsw.SQLITE_CHECKPOINT_PASSIVE if passive else apsw.SQLITE_CHECKPOINT_TRUNCATE
        with errors():
            for table in tables:
                self._ours(table)
                switches.analyze(db, table, self.tactic("statistics"))
            db.wal_checkpoint(mode=mode)

    def run(self, statement: str) -> int:
        """Step to the end. SQLite counts no rows of a CREATE TABLE AS."""
        db = self._open()
        before = db.total_changes()
        with errors():
            for _ in db.execute(statement):
                pass
        # A change may also begin with WITH, or with a comment.
        counted = statement.lstrip()[:6].upper() != "CREATE"
        return db.total_changes() - before if counted else -1

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Every row as a tuple."""
        with errors():
            return self._open().execute(statement).fetchall()

    def interrupt(self) -> None:
        """By `sqlite3_interrupt`."""
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def read(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """One row after another: a list of them all takes a third longer."""
        with errors():
            yield from self._open().execute(statement)

    def ask_nothing(self) -> None:
        """A text without a statement."""
        with errors():
            self._open().execute("")

    def ask_constant(self) -> None:
        """From APSW's cache of prepared statements."""
        with errors():
            self._open().execute("SELECT 1").fetchall()

    def plan(self, statement: str, query: str) -> None:
        """Compile it past APSW's cache, as EXPLAIN, of which the first line is made, too. Only what
        makes a table is compiled each time: it changes the schema."""
        del query
        if not statement.lstrip()[:6].upper().startswith("CREATE"):
            raise UnsupportedError("the statement stays prepared in APSW's cache")
        with errors():
            cursor = self._open().cursor()
            cursor.execute(f"EXPLAIN {statement}", can_cache=False)
            cursor.close()

    def count(self, query: str, *, planned: bool) -> int:
        """From APSW's cache of prepared statements, or past it."""
        with errors():
            rows = self._open().cursor().execute(query, can_cache=not planned).fetchall()
        return int(str(rows[0][0]))

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """BEGIN … ROLLBACK. SQLite forgets its schema where it takes back a change of it, and the
        next statement would read it again, inside its clock."""
        db = self._open()
        with errors():
            db.execute("BEGIN")
            try:
                yield
            finally:
                db.execute("ROLLBACK")
                db.execute("SELECT 1 FROM sqlite_schema LIMIT 0", can_cache=False)

    def drop(self, table: str) -> None:
        """Drop the table; its indexes go with it."""
        with errors():
            self._open().execute(f"DROP TABLE IF EXISTS {self._ours(table)}")

    def explain(self, statement: str) -> str:
        """EXPLAIN QUERY PLAN, indented by depth."""
        return plan_text(self.fetch(f"EXPLAIN QUERY PLAN {statement}"))

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """A SEARCH by the primary key or by an index of ours; an automatic index is the engine's
        own, made for the statement after a scan."""
        del statement
        steps = (line.strip() for line in plan.splitlines())
        return sorted({_access_path(step) for step in steps if ACCESS.match(step)})

    def size_bytes(self) -> int:
        """Pages in use, times their size; of a user's file, those of our space."""
        db = self._open()
        with errors():
            if self._space is not None and not self.as_it_stands:
                return self._space.size_bytes(db)
            pages = _number(db, "page_count") - _number(db, "freelist_count")
            return pages * _number(db, "page_size")

    def not_data(self) -> Mapping[Path, str]:
        """The WAL's index; but not of a user's file while it is closed here: then the index exists
        in memory as long as another program has the file open."""
        if self._space is not None and self._connection is None:
            return super().not_data()
        made_anew = "the WAL's index: every opening makes it anew, and maps it"
        return {**super().not_data(), self._family()[-1]: made_anew}

    def files(self) -> Sequence[Path]:
        """Those in the scratch folder; of a user's database the file, its WAL and its journal."""
        if self._space is None:
            return super().files()
        return data_files.below(self._family(), self.not_data())

    def stored_name(self, name: str) -> str:
        """In a user's file, with the prefix that marks it as ours."""
        if self._space is None or self.as_it_stands:
            return name
        return self._space.prefix + name

    @contextmanager
    def another(self) -> Iterator[Engine]:
        """A connection of its own to the same file, with a cache of its own."""
        session = type(self)(self.variant, self.scratch, self.owner)
        session.as_it_stands, session.timezone = self.as_it_stands, self.timezone
        try:
            session.start()
            yield session
        finally:
            session.stop()

    @contextmanager
    def users(self) -> Iterator[StatementUsers]:
        """Connections of the same library's other copy in this process, with this one closed: two
        copies know nothing of each other's locks on a file."""
        if self.variant.url is not None:
            raise UnsupportedError("users in Rust would pass the guard of a file of yours")
        if settings_of(self.variant):
            raise UnsupportedError("settings by name are set for sessions of Python alone")
        begin = switches.reported(self._open())
        self.stop()
        try:
            yield StatementUsers.sqlite(str(self.path), begin, driver.sqlite_version())
        finally:
            self.start()

    def remove(self) -> None:
        """Close, and delete the files, or drop our space from the user's."""
        self.stop()
        if self.as_it_stands:
            return
        if self._space is None:
            for path in self._family():
                path.unlink(missing_ok=True)
            return
        try:
            connection = user_file.connect(self.path)
        except LoadstoneError:
            if self._entered or self.heir:
                raise
            # Never entered: it holds nothing of this run's, and `start` reported the error.
            return
        try:
            with errors(f"cannot drop {self._space.name} from {self.path}"):
                self._space.drop_own(connection)
        finally:
            connection.close()
        self._entered = False

    @classmethod
    def sweep(cls, variant: "Variant") -> Sequence[Leftover]:
        """Spaces of a user's file that bear our mark."""
        if variant.url is None:
            return ()
        return leftovers.found_in(path_in(variant.url))

    @classmethod
    def clear(cls, variant: "Variant", leftover: Leftover) -> None:
        """Drop a space if it still bears its run's mark, and no living run holds it."""
        if variant.url is not None:
            leftovers.clear(path_in(variant.url), leftover)

    @classmethod
    def hold(cls, variant: "Variant", owner: str) -> Hold:
        """A lock on the user's file, which the worker inherits."""
        if variant.url is None:
            return Hold()
        space = OwnTables.of(owner, variant.name)
        return leftovers.held(path_in(variant.url), space)

    def _switch(self, before: "Variant") -> None:
        """On the connection that is open, with the pages that it has; on a new one where a pragma
        must have its own value again."""
        if settings_of(before) != settings_of(self.variant):
            self.stop()
        if self._connection is None:
            self.start()
        else:
            self._set(self._connection)

    def _set(self, connection: apsw.Connection) -> None:
        with errors():
            switches.set_session(connection, self._values, ours=self._space is None)
            pragmas.apply(connection, settings_of(self.variant), new_file=False)
            pragmas.read_back(connection, settings_of(self.variant))

    @property
    def _values(self) -> Mapping[str, str]:
        return {name: self.tactic(name) for name in self.capabilities.tactics}

    def _ours(self, table: str) -> str:
        """A table's name quoted, once it is seen to be ours."""
        if self._space is not None and not self._space.holds(table):
            raise EngineError(
                f"sqlite: the table {table!r} is not ours to touch",
                hint="give the name that stored_name() makes of it",
            )
        return self.quote(table)

    def _family(self) -> list[Path]:
        tails = ("", "-wal", "-journal", "-shm")
        return [self.path.with_name(self.path.name + tail) for tail in tails]

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            raise EngineError("sqlite is not started", hint="call start() first")
        return self._connection


def _access_path(step: str) -> str:
    """The structure in a step of a plan: https://sqlite.org/eqp.html, section 1.1. The index of a
    constraint is that of the key in whose order a table was loaded."""
    if " USING PRIMARY KEY" in step or " INDEX sqlite_autoindex_" in step:
        return "clustered"
    by_index = " USING INDEX " in step or " USING COVERING INDEX " in step
    return "nonclustered" if by_index else "heap"


def _number(db: apsw.Connection, pragma: str) -> int:
    return int(str(db.pragma(pragma)))
