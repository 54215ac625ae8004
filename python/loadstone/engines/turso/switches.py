"""Turso's tactics on a connection: set by pragmas, read back from them and from what the file
holds."""

from collections.abc import Mapping, Sequence

from loadstone.engines.sqlite_form import SYNCHRONOUS
from loadstone.engines.tactic import beside
from loadstone.engines.turso.session import Session

TACTICS = beside(__file__)
SHOWN = (
    "synchronous", "journal_mode", "cache_size", "page_size", "auto_vacuum", "encoding",
    "locking_mode", "temp_store", "cache_spill", "busy_timeout", "foreign_keys",
)  # fmt: skip
"""The pragmas that are terms; of those that SQLite has and Turso lacks nothing is read back."""
_STATISTICS = "sqlite_stat1"
_KIB = 1024


def prepare(session: Session, values: Mapping[str, str]) -> None:
    """Set what a file must have before its first table."""
    session.pragma("page_size", int(values["page_size"]))


def set_session(session: Session, values: Mapping[str, str]) -> None:
    """Set every tactic that a connection can take at any time."""
    session.pragma("synchronous", "OFF" if values["durability"] == "none" else "FULL")
    # A negative cache_size counts KiB, a positive one pages.
    session.pragma("cache_size", -max(1, int(values["cache"]) // _KIB))


def read_terms(session: Session, tables: Sequence[str]) -> dict[str, str]:
    """Every term and tactic, as the connection and the file have it now."""
    reported = {name: session.pragma(name) for name in SHOWN}
    synchronous = SYNCHRONOUS.get(reported["synchronous"], reported["synchronous"])
    wal = reported["journal_mode"] == "wal"
    pages = int(reported["cache_size"])
    cache = -pages * _KIB if pages < 0 else pages * int(reported["page_size"])
    return {
        "durability": _durability(synchronous),
        "isolation": "serializable" if wal else f"journal_mode={reported['journal_mode']}",
        "cache": str(cache),
        # A statement has the thread that calls, and there is no setting that would give it more.
        "parallelism": "1",
        "page_size": reported["page_size"],
        **{f"setting.{name}": word or "not here" for name, word in reported.items()},
        "setting.synchronous": synchronous,
        **_of_loaded(session, tables),
    }


def _durability(synchronous: str) -> str:
    """`full` if a commit waits for the device, as was seen by its system calls: one `fsync` of the
    log for each at FULL, and at OFF for the first after a checkpoint alone."""
    known = {"FULL": "full", "EXTRA": "full", "OFF": "none"}
    return known.get(synchronous, f"synchronous={synchronous}")


def _of_loaded(session: Session, tables: Sequence[str]) -> dict[str, str]:
    found = {}
    origins = [origin for table in tables for origin in _indexes(session, table)]
    if "c" in origins:
        found["index"] = "all"
    if has_statistics(session):
        found["statistics"] = "on"
    elif origins:
        found["statistics"] = "off"
    return found


def has_statistics(session: Session) -> bool:
    """Whether ANALYZE has counted anything."""
    query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    if not session.fetch(query, _STATISTICS):
        return False
    return bool(session.fetch(f"SELECT 1 FROM {_STATISTICS} LIMIT 1"))  # noqa: S608 - its own


def _indexes(session: Session, table: str) -> list[str]:
    """The origin of each index of a table: c for CREATE INDEX, u for UNIQUE, pk."""
    return [str(row[0]) for row in session.fetch("SELECT origin FROM pragma_index_list(?)", table)]
