"""SQLite through APSW, one connection: a file in the scratch folder, or the user's own by URL.

Our file has a WAL journal. A user's file keeps the journal it has, and everything else.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import apsw

from loadstone._core import StatementUsers
from loadstone.engines.capabilities import Capabilities, Structure, Table, UrlUse
from loadstone.engines.data_files import path_in
from loadstone.engines.ownership import Hold, Leftover
from loadstone.engines.setting import settings_of
from loadstone.engines.sqlite import driver, leftovers, pragmas, switches, user_file
from loadstone.engines.sqlite.settings import PRAGMAS, TACTICS, in_terms, statistics
from loadstone.engines.sqlite.user_file import OwnTables
from loadstone.engines.sqlite_family import BUSY_MS_MAX, SqliteFamily, zone_of
from loadstone.engines.system import READ_ONLY, TABLES
from loadstone.errors import EngineError, InputError, LoadstoneError, UnsupportedError
from loadstone.plan.variant import SETTING

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

_HASH_GAP = "SQLite has B-trees only: no hash organisation and no hash index"


class SqliteEngine(SqliteFamily):
    """A heap is a rowid table, a clustered relation a WITHOUT ROWID table."""

    name: ClassVar[str] = "sqlite"
    driver_errors: ClassVar[tuple[type[BaseException], ...]] = (apsw.Error,)
    stage: ClassVar[str] = "temp.loadstone_unordered"
    by_key: ClassVar[Sequence[str]] = (*SqliteFamily.by_key, " USING PRIMARY KEY")
    endings: ClassVar[Sequence[str]] = ("-wal", "-journal", "-shm")
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
        url=UrlUse.FILE,
        distribution="apsw",
        settings=pragmas.SETTINGS,
    )

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self._entered = False
        self._space: OwnTables | None = None
        if variant.url is not None:
            self._space = OwnTables.of(owner, variant.name)

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """Also that a user's file keeps its own tactics and pragmas. The values that another
        release takes for a pragma are known where it is: in its worker."""
        super().check(variant)
        for name, value in settings_of(variant).items():
            pragmas.check(name, ours=variant.url is None)
            if not variant.release:
                pragmas.check_value(name, value)
        if variant.url is None:
            return
        for name in switches.OF_FILES:
            if name in dict(variant.tactics):
                raise InputError(
                    f"sqlite: the {name} of a file of yours stays as it is",
                    hint=f"leave out {name}=…, or leave out the URL to use a file of the run's own",
                )

    @classmethod
    def values_of(cls, variant: "Variant") -> Mapping[str, str]:
        """Without the tactics that a user's file keeps."""
        kept = () if variant.url is None else switches.OF_FILES
        values = super().values_of(variant)
        return {name: value for name, value in values.items() if name not in kept}

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """SQLite as linked into APSW, and APSW."""
        return {"sqlite": driver.sqlite_version(), "apsw": driver.apsw_version()}

    def connect(self) -> apsw.Connection:
        """To our file; to a user's within our space of it, or to read alone."""
        if self._space is None:
            connection = driver.Connection(str(self.path))
        else:
            connection = user_file.connect(self.path, to_read=self.as_it_stands)
        try:
            if self._space is None:
                connection.set_busy_timeout(BUSY_MS_MAX)
                switches.prepare(connection, self._values)
                pragmas.apply(connection, settings_of(self.variant), new_file=True)
            elif not self.as_it_stands:
                with self.errors(f"cannot make tables in {self.path}"):
                    self._space.enter(connection)
                    self._entered = True
                    connection.authorizer = self._space.guard
            self._set(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def hint(self, error: BaseException) -> str:
        """By the kind of SQLite's error."""
        return user_file.hint(error)

    def terms(self) -> Mapping[str, str]:
        """Read back by PRAGMA; what was decided at compile time from the compile options."""
        db = self.connection
        with self.errors():
            values = {name: str(db.pragma(name)) for name in PRAGMAS}
            options = apsw.compile_options
            filled = db.execute("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'")
            analysed = int(str(next(filled)[0]))
            return {
                "version": driver.sqlite_version(),
                "timezone": zone_of(self.timezone, self.fetch),
                **({TABLES: READ_ONLY} if self.as_it_stands else {}),
                **in_terms(values),
                **self._tactics_read(db),
                **{
                    SETTING + name: value
                    for name, value in pragmas.read_back(db, settings_of(self.variant)).items()
                },
                "setting.statistics": statistics(analysed, stat4="ENABLE_STAT4" in options),
                "setting.threadsafe": next(o for o in options if o.startswith("THREADSAFE")),
            }

    def _tactics_read(self, db: apsw.Connection) -> dict[str, str]:
        found = switches.read_back(db, self.tables())
        if "index" not in found and self.tactic("index") == "none":
            found["index"] = "none"
        return found

    def tables(self) -> Sequence[str]:
        """All tables of a file of ours; of the user's, all of our space."""
        if self._space is None:
            return super().tables()
        with self.errors():
            return self._space.tables(self.connection)

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """Only a table of ours, in a user's file."""
        self._ours(table.name)
        return super().load(table, rows)

    def has_rowid(self, table: Table) -> bool:
        """By its tactic."""
        del table
        return self.tactic("without_rowid") == "off"

    def drop(self, table: str) -> None:
        """Only a table of ours, in a user's file."""
        self._ours(table)
        super().drop(table)

    def settle(self, tables: Sequence[str]) -> None:
        """ANALYZE each table, then write the WAL back and empty it; in a user's file as far as no
        other user of it has to wait."""
        if self.as_it_stands:
            return
        db = self.connection
        passive = self._space is not None
        mode = apsw.SQLITE_CHECKPOINT_PASSIVE if passive else apsw.SQLITE_CHECKPOINT_TRUNCATE
        with self.errors():
            for table in tables:
                self._ours(table)
                switches.analyze(db, table, self.tactic("statistics"))
            db.wal_checkpoint(mode=mode)

    def run(self, statement: str) -> int:
        """Step to the end. SQLite counts no rows of a CREATE TABLE AS."""
        db = self.connection
        before = db.total_changes()
        try:
            for _ in db.execute(statement):
                pass
        except apsw.Error:
            with self.errors():
                raise
        # A change may also begin with WITH, or with a comment.
        counted = statement.lstrip()[:6].upper() != "CREATE"
        return db.total_changes() - before if counted else -1

    def ask_nothing(self) -> None:
        """A text without a statement."""
        with self.errors():
            self.connection.execute("")

    def ask_constant(self) -> None:
        """From APSW's cache of prepared statements."""
        with self.errors():
            self.connection.execute("SELECT 1").fetchall()

    def plan(self, statement: str, query: str) -> None:
        """Compile it past APSW's cache, as EXPLAIN, of which the first line is made, too. Only what
        makes a table is compiled each time: it changes the schema."""
        del query
        if not statement.lstrip()[:6].upper().startswith("CREATE"):
            raise UnsupportedError("the statement stays prepared in APSW's cache")
        with self.errors():
            cursor = self.connection.cursor()
            cursor.execute(f"EXPLAIN {statement}", can_cache=False)
            cursor.close()

    def count(self, query: str, *, planned: bool) -> int:
        """From APSW's cache of prepared statements, or past it."""
        with self.errors():
            rows = self.connection.cursor().execute(query, can_cache=not planned).fetchall()
        return int(str(rows[0][0]))

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """BEGIN … ROLLBACK. SQLite forgets its schema where it takes back a change of it, and the
        next statement would read it again, inside its clock."""
        try:
            with super().taken_back():
                yield
        finally:
            with self.errors():
                query = "SELECT 1 FROM sqlite_schema LIMIT 0"
                self.connection.execute(query, can_cache=False)

    def size_bytes(self) -> int:
        """Pages in use, times their size; of a user's file, those of our space."""
        if self._space is None or self.as_it_stands:
            return super().size_bytes()
        with self.errors():
            return self._space.size_bytes(self.connection)

    def not_data(self) -> Mapping[Path, str]:
        """The WAL's index; but not of a user's file while it is closed here: then the index exists
        in memory as long as another program has the file open."""
        if self._space is not None and self._connection is None:
            return super().not_data()
        made_anew = "the WAL's index: every opening makes it anew, and maps it"
        return {**super().not_data(), self.family()[-1]: made_anew}

    def stored_name(self, name: str) -> str:
        """In a user's file, with the prefix that marks it as ours."""
        if self._space is None or self.as_it_stands:
            return name
        return self._space.prefix + name

    @contextmanager
    def users(self) -> Iterator[StatementUsers]:
        """Connections of the same library's other copy in this process, with this one closed: two
        copies know nothing of each other's locks on a file."""
        if self.variant.url is not None:
            raise UnsupportedError("users in Rust would pass the guard of a file of yours")
        if settings_of(self.variant):
            raise UnsupportedError("settings by name are set for sessions of Python alone")
        begin = switches.statements_for(self.connection)
        self.stop()
        try:
            yield StatementUsers.sqlite(str(self.path), begin, driver.sqlite_version())
        finally:
            self.start()

    def remove(self) -> None:
        """Close, and delete the files, or drop our space from the user's."""
        super().remove()
        if self._space is None or self.as_it_stands:
            return
        try:
            connection = user_file.connect(self.path)
        except LoadstoneError:
            if self._entered or self.has_predecessor:
                raise
            # Never entered: it holds nothing of this run's, and `start` reported the error.
            return
        try:
            with self.errors(f"cannot drop {self._space.name} from {self.path}"):
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
        return leftovers.hold(path_in(variant.url), space)

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
        with self.errors():
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
