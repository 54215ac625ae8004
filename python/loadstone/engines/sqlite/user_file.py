"""A user's SQLite file: connecting, recognising our tables in it, and reporting errors.

SQLite has no schemas. Our part of the file is a space: a table `loadstone_RUN_VARIANT`, the mark,
and every table whose name continues that with an underscore. Nothing else is ever written to.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from loadstone.engines.capabilities import quoted
from loadstone.engines.ownership import Leftover, Space
from loadstone.engines.sqlite import driver
from loadstone.engines.sqlite.pragmas import OF_CONNECTION
from loadstone.engines.sqlite_family import BUSY_MS_MAX
from loadstone.errors import EngineError

STATISTICS = ("sqlite_stat1", "sqlite_stat4")
"""The tables that ANALYZE makes. SQLite itself removes the rows of a table that is dropped."""

_CLOSE_IT = "close the program that has it open, or end its transaction"
_CUT_OFF = frozenset({apsw.SQLITE_READONLY_ROLLBACK, apsw.SQLITE_READONLY_RECOVERY})
_MEND = (
    "a program that was writing it was cut off: let one that may write take that back, sqlite3 FILE"
    " 'SELECT count(*) FROM sqlite_schema', or name a copy of the file and its -journal or -wal"
)
_HINTS: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.BusyError, _CLOSE_IT),
    (apsw.LockedError, _CLOSE_IT),
    (apsw.AuthError, "in this file, only tables of Loadstone's own are written to"),
    (apsw.NotADBError, "name a SQLite database; one that is encrypted cannot be read"),
    (apsw.CorruptError, "look at it with: sqlite3 FILE 'PRAGMA integrity_check'"),
    (apsw.ReadOnlyError, "make the file and its folder writable, or name a copy"),
    (apsw.CantOpenError, "make the file and its folder readable and writable, or name a copy"),
    (apsw.FullError, "make room on the disk"),
)
_READING = frozenset(
    {apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE}
    | {apsw.SQLITE_TRANSACTION, apsw.SQLITE_SAVEPOINT}
)
_ASKING = frozenset({"index_list", "table_list"})
"""Pragmas that change nothing, whatever they are given."""
_TABLE_SECOND = frozenset(
    {apsw.SQLITE_CREATE_INDEX, apsw.SQLITE_DROP_INDEX, apsw.SQLITE_ALTER_TABLE}
)
_INTERNAL = frozenset({"sqlite_master", *STATISTICS})


@contextmanager
def errors(doing: str) -> Iterator[None]:
    """Turn APSW's errors into ours."""
    try:
        yield
    except apsw.Error as error:
        raise EngineError(f"sqlite: {doing}: {error}", hint=hint(error)) from error


def hint(error: BaseException) -> str:
    """What to do about an error of APSW's; empty where nothing is known."""
    if getattr(error, "extendedresult", 0) in _CUT_OFF:
        return _MEND
    return next((hint for kind, hint in _HINTS if isinstance(error, kind)), "")


@contextmanager
def transaction(db: apsw.Connection) -> Iterator[None]:
    """All or nothing. It takes the write lock first, because a transaction that reads first may be
    refused it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def connect(path: Path, *, to_read: bool = False) -> apsw.Connection:
    """Open an existing file of the user's; change nothing. `to_read`: so that SQLite refuses every
    write. Raises `EngineError`."""
    (_look_at if to_read else look)(path)
    flags = apsw.SQLITE_OPEN_READONLY if to_read else apsw.SQLITE_OPEN_READWRITE
    with errors(f"cannot open {path}"):
        db = driver.Connection(str(path), flags=flags)
        try:
            db.set_busy_timeout(BUSY_MS_MAX)
            db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            if to_read:
                db.pragma("query_only", True)
                if not db.readonly("main") or str(db.pragma("query_only")) != "1":
                    raise _refusal(path, "SQLite does not open it read-only", "name a copy")
                db.authorizer = _reading_alone
            elif db.readonly("main"):
                raise _refusal(path, "it is read-only", "make it writable, or name a copy")
        except BaseException:
            db.close()
            raise
    return db


def _reading_alone(
    action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
) -> int:
    """SQLite asks this about every statement it compiles: nothing is written, no file attached."""
    del database, trigger
    if action == apsw.SQLITE_PRAGMA:
        # Those of the connection set caches and the like; that it only reads stays so.
        of_ours = first in OF_CONNECTION and first != "query_only"
        return apsw.SQLITE_OK if second is None or of_ours or first in _ASKING else apsw.SQLITE_DENY
    return apsw.SQLITE_OK if action in _READING else apsw.SQLITE_DENY


def look(path: Path) -> None:
    """Refuse a file that SQLite would create, hang on, or write to against its owner's wish. Raises
    `EngineError`."""
    found = _look_at(path)
    # Root could write here all the same, and must not.
    closed = not found.st_mode & 0o222
    if closed or not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        raise _refusal(
            path, "it is read-only", "make the file and its folder writable, or name a copy"
        )


def _look_at(path: Path) -> os.stat_result:
    try:
        found = path.stat()
    except OSError as error:
        hint = "name a database that exists, or make one: sqlite3 FILE VACUUM"
        raise _refusal(path, error.strerror or type(error).__name__, hint) from error
    if not stat.S_ISREG(found.st_mode):
        raise _refusal(path, "it is not a file", "name the database file itself")
    if found.st_size == 0:
        raise _refusal(path, "it is empty", "make it a database first: sqlite3 FILE VACUUM")
    return found


def _refusal(path: Path, reason: str, hint: str) -> EngineError:
    return EngineError(f"sqlite: cannot open {path}: {reason}", hint=hint)


@dataclass(frozen=True, slots=True)
class OwnTables(Space):
    """Our part of a user's file, recognised by the mark: a table of exactly our definition, whose
    one row names its run."""

    @property
    def prefix(self) -> str:
        """The prefix of our tables' names."""
        return self.name + "_"

    def holds(self, table: str) -> bool:
        """Whether a table is ours by its name."""
        return table.startswith(self.prefix)

    def enter(self, db: apsw.Connection) -> None:
        """Create the mark if there is none; refuse names that are taken without it."""
        if self.mark_read(db) is not None:
            return
        with transaction(db):
            if self._taken(db):
                raise EngineError(
                    f"sqlite: the file has tables named {self.name}… that are not marked as ours",
                    hint="rename them, or start another run: every run has names of its own",
                )
            others = spaces(db)
            # Those of another space of ours were not there before us, either.
            theirs = others[0].statistics_before(db) if others else _existing(db, STATISTICS)
            db.execute(self._definition)
            insert = f"INSERT INTO {quoted(self.name)} VALUES (?, datetime('now'), ?)"  # noqa: S608
            db.execute(insert, (self.mark, " ".join(theirs)))

    def drop_own(self, db: apsw.Connection) -> None:
        """Drop our tables if they bear our mark, in one transaction; touch nothing otherwise.

        Raises `EngineError`, and drops nothing, if a foreign object would be dropped or would no
        longer work.
        """
        if self.mark_read(db) is None:
            return
        with transaction(db):
            users = self._used_by(db)
            if users:
                raise EngineError(
                    f"sqlite: {self.name} is kept whole: other objects use it: {'; '.join(users)}",
                    hint="drop them, then: loadstone clean --on URL",
                )
            theirs = self.statistics_before(db)
            for table in [*self.tables(db), self.name]:
                db.execute(f"DROP TABLE {quoted(table)}")
            if spaces(db):
                return
            for table in _existing(db, STATISTICS):
                empty = not db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchall()  # noqa: S608
                if empty and table not in theirs:
                    db.execute(f"DROP TABLE {table}")

    def tables(self, db: apsw.Connection) -> list[str]:
        """Our tables, without the mark."""
        query = (
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, ?) = ?"
            " ORDER BY name"
        )
        return [str(row[0]) for row in db.execute(query, (len(self.prefix), self.prefix))]

    def size_bytes(self, db: apsw.Connection) -> int:
        """Pages of our tables and their indexes."""
        query = (
            "SELECT coalesce(sum(d.pgsize), 0) FROM sqlite_schema s JOIN dbstat d"
            " ON d.name = s.name AND d.aggregate = TRUE WHERE substr(s.tbl_name, 1, ?) = ?"
        )
        return int(str(db.execute(query, (len(self.prefix), self.prefix)).fetchall()[0][0]))

    def guard(
        self, action: int, first: str | None, second: str | None, database: str | None,
        trigger: str | None,
    ) -> int:  # fmt: skip
        """SQLite asks this about every statement it compiles: only our tables are written to."""
        del trigger
        if action == apsw.SQLITE_PRAGMA:
            allowed = second is None or first in OF_CONNECTION or first in _ASKING
            return apsw.SQLITE_OK if allowed else apsw.SQLITE_DENY
        table = str(second if action in _TABLE_SECOND else first)
        if action in _READING or database == "temp" or table in _INTERNAL or self.holds(table):
            return apsw.SQLITE_OK
        return apsw.SQLITE_DENY

    def leftover(self, db: apsw.Connection) -> Leftover:
        """As `clean` shows it."""
        found = self.mark_read(db)
        since = f", since {found[1]} UTC" if found else ""
        removal = "; ".join(f"DROP TABLE {quoted(t)}" for t in [*self.tables(db), self.name])
        return Leftover("tables", self.name, self.owner, f"{self.mark}{since}", removal)

    def mark_read(self, db: apsw.Connection) -> tuple[str, str, str] | None:
        """The mark, when it was made (UTC), and which tables of statistics existed; None if the
        table is missing, foreign, or says something else."""
        query = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?"
        if db.execute(query, (self.name,)).fetchall() != [(self._definition,)]:
            return None
        rows = db.execute(f"SELECT * FROM {quoted(self.name)} LIMIT 2").fetchall()  # noqa: S608
        if len(rows) != 1 or rows[0][0] != self.mark:
            return None
        return str(rows[0][0]), str(rows[0][1]), str(rows[0][2])

    def statistics_before(self, db: apsw.Connection) -> Sequence[str]:
        """The tables of statistics that were there before any of ours."""
        found = self.mark_read(db)
        return found[2].split() if found else ()

    def _used_by(self, db: apsw.Connection) -> list[str]:
        """The user's objects on our tables, or that use them: SQLite records no dependence, and
        drops a table's triggers and indexes with it. No other text has our names in it."""
        query = (
            "SELECT type || ' ' || name FROM sqlite_schema WHERE instr(lower(sql), lower(?2)) AND"
            " NOT (type IN ('table', 'index') AND substr(name, 1, ?1) = ?2) ORDER BY 1"
        )
        return [str(row[0]) for row in db.execute(query, (len(self.prefix), self.prefix))]

    @property
    def _definition(self) -> str:
        return f"CREATE TABLE {quoted(self.name)} (mark TEXT, made_at TEXT, statistics TEXT)"

    def _taken(self, db: apsw.Connection) -> bool:
        # SQLite takes "A" and "a" for the same name.
        query = (
            "SELECT 1 FROM sqlite_schema WHERE lower(name) = ?1"
            " OR substr(lower(name), 1, ?2) = ?3 LIMIT 1"
        )
        return bool(db.execute(query, (self.name, len(self.prefix), self.prefix)).fetchall())


def spaces(db: apsw.Connection) -> list[OwnTables]:
    """Everything in a file that bears our mark, of any run."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    found = [OwnTables.named(str(row[0])) for row in db.execute(query).fetchall()]
    return [space for space in found if space and space.mark_read(db) is not None]


def _existing(db: apsw.Connection, names: Sequence[str]) -> list[str]:
    query = "SELECT name FROM sqlite_schema WHERE type = 'table'"
    present = {row[0] for row in db.execute(query)}
    return [name for name in names if name in present]
