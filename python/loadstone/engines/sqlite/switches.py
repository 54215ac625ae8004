"""SQLite's tactics on a connection: set by pragmas, read back from them and from what the file
holds."""

from collections.abc import Callable, Mapping, Sequence

import apsw

from loadstone.engines.capabilities import quoted

OF_FILES = ("journal", "page_size")
"""Tactics of a whole file; a user's file keeps its own."""

OF_CONNECTIONS = (
    "journal_mode", "synchronous", "cache_size", "mmap_size", "threads", "automatic_index",
    "temp_store",
)  # fmt: skip
"""Pragmas of a connection; the first only of files with another journal than the default."""

_OFF_ON = {"0": "off", "1": "on"}
_TEMP_STORE = {"1": "file", "2": "memory"}


def prepare(db: apsw.Connection, values: Mapping[str, str]) -> None:
    """Set what a file of ours must have before its first table."""
    db.pragma("page_size", int(values["page_size"]))


def set_session(db: apsw.Connection, values: Mapping[str, str], *, ours: bool) -> None:
    """Set every tactic that a connection can take at any time; `ours`: also those of the file."""
    if ours:
        db.pragma("journal_mode", values["journal"])
    # With a rollback journal, only EXTRA makes a commit outlive a loss of power.
    full = "FULL" if ours and values["journal"] == "wal" else "EXTRA"
    db.pragma("synchronous", "OFF" if values["durability"] == "none" else full)
    # A negative cache_size counts KiB, a positive one pages.
    db.pragma("cache_size", -max(1, int(values["cache"]) // 1024))
    db.pragma("mmap_size", int(values["mmap"]))
    db.pragma("threads", int(values["parallelism"]) - 1)
    db.pragma("automatic_index", values["automatic_index"] == "on")
    as_built = values["temp_store"] == _TEMP_STORE[_built_with("TEMP_STORE")]
    db.pragma("temp_store", "default" if as_built else values["temp_store"])


def statements_for(db: apsw.Connection) -> list[str]:
    """Pragmas that make another connection to the file like this one."""
    return [f"PRAGMA {name} = {db.pragma(name)}" for name in OF_CONNECTIONS]


def read_back(db: apsw.Connection, tables: Sequence[str]) -> dict[str, str]:
    """Every tactic but the common terms; those of loaded tables only where there are some."""
    found = {
        "journal": str(db.pragma("journal_mode")),
        "page_size": str(db.pragma("page_size")),
        "mmap": str(db.pragma("mmap_size")),
        "automatic_index": _OFF_ON[str(db.pragma("automatic_index"))],
        "temp_store": _temp_store(db),
    }
    of_loaded: Mapping[str, Callable[[apsw.Connection, Sequence[str]], str]] = {
        "statistics": _statistics,
        "index": _index,
        "without_rowid": _without_rowid,
    }
    return found | {name: value for name, read in of_loaded.items() if (value := read(db, tables))}


def analyze(db: apsw.Connection, table: str, statistics: str) -> None:
    """Gather the statistics of a table, whose name comes unquoted."""
    if statistics == "off":
        return
    db.execute(f"ANALYZE {quoted(table)}")
    if statistics == "stat1" and _exists(db, "sqlite_stat4"):
        db.execute("DELETE FROM sqlite_stat4 WHERE tbl = ?", (table,))
        # The planner has read the samples that are gone.
        db.execute("ANALYZE sqlite_schema")


def _temp_store(db: apsw.Connection) -> str:
    value = str(db.pragma("temp_store"))
    return _TEMP_STORE[_built_with("TEMP_STORE") if value == "0" else value]


def _built_with(option: str) -> str:
    """The number that SQLite was built with."""
    found = (each.partition("=") for each in apsw.compile_options)
    return next(number for name, _, number in found if name == option)


def _statistics(db: apsw.Connection, tables: Sequence[str]) -> str:
    """The statistics of our tables. Only an index has samples: without one, counts alone say
    nothing."""
    indexed = [table for table in tables if _indexes(db, table) or _has_no_rowid(db, table)]
    if _counted(db, "sqlite_stat4", tables):
        return "on"
    if _counted(db, "sqlite_stat1", tables):
        return "stat1" if indexed else ""
    return "off" if any(_has_rows(db, table) for table in tables) else ""


def _index(db: apsw.Connection, tables: Sequence[str]) -> str:
    made = any(origin == "c" for table in tables for origin in _indexes(db, table))
    return "all" if made else ""


def _without_rowid(db: apsw.Connection, tables: Sequence[str]) -> str:
    if any(_has_no_rowid(db, table) for table in tables):
        return "on"
    return "off" if any("u" in _indexes(db, table) for table in tables) else ""


def _indexes(db: apsw.Connection, table: str) -> list[str]:
    """The origin of each index of a table: c for CREATE INDEX, u for UNIQUE, pk."""
    return [str(row[0]) for row in db.execute("SELECT origin FROM pragma_index_list(?)", (table,))]


def _has_no_rowid(db: apsw.Connection, table: str) -> bool:
    query = "SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'"
    return db.execute(query, (table,)).fetchall() == [(1,)]


def _has_rows(db: apsw.Connection, table: str) -> bool:
    return bool(db.execute(f"SELECT 1 FROM {quoted(table)} LIMIT 1").fetchall())  # noqa: S608


def _counted(db: apsw.Connection, of: str, tables: Sequence[str]) -> bool:
    """Whether a table of statistics has rows of ours."""
    if not _exists(db, of):
        return False
    query = f"SELECT 1 FROM {of} WHERE tbl = ? LIMIT 1"  # noqa: S608 - one of SQLite's own two
    return any(db.execute(query, (table,)).fetchall() for table in tables)


def _exists(db: apsw.Connection, table: str) -> bool:
    query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    return bool(db.execute(query, (table,)).fetchall())
