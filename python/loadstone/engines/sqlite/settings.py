"""SQLite's settings in the terms that all engines share: one rule for engine and client."""

from collections.abc import Mapping

from loadstone.engines.sqlite_family import SYNCHRONOUS, cache_bytes
from loadstone.engines.tactic import beside

TACTICS = beside(__file__)
"""The tactics of statements; a client's program has others."""
PRAGMAS = (
    "synchronous", "journal_mode", "cache_size", "page_size", "read_uncommitted", "threads",
    "wal_autocheckpoint", "mmap_size", "temp_store", "locking_mode", "auto_vacuum",
    "automatic_index", "encoding",
)  # fmt: skip
"""The pragmas that are terms, of statements and of calling programs alike; those in Rust have the
same list."""


def in_terms(values: Mapping[str, str]) -> dict[str, str]:
    """The pragmas as terms, in the words of all engines and each by its name."""
    settings = {f"setting.{name}": values[name] for name in PRAGMAS if name in values}
    word = SYNCHRONOUS.get(values["synchronous"], values["synchronous"])
    return {**in_common_words(values), **settings, "setting.synchronous": word}


def statistics(tables: int, *, stat4: bool) -> str:
    """The tables that ANALYZE filled for the planner, and whether samples of their values can be
    among them."""
    return f"{tables} tables, {'STAT4 built in' if stat4 else 'no STAT4'}"


def in_common_words(values: Mapping[str, str]) -> dict[str, str]:
    """Durability, isolation, cache and parallelism, from the pragmas as read back."""
    uncommitted = values["read_uncommitted"] != "0"
    return {
        "durability": durability(values["synchronous"], values["journal_mode"]),
        "isolation": "read uncommitted" if uncommitted else "serializable",
        "cache": str(cache_bytes(int(values["cache_size"]), int(values["page_size"]))),
        # A statement's own thread, and the helpers that its sorts may start.
        "parallelism": str(1 + int(values["threads"])),
    }


def durability(synchronous: str, journal: str) -> str:
    """`full` if a commit survives a loss of power:
    https://sqlite.org/pragma.html#pragma_synchronous.

    `synchronous` is the number read back. With a rollback journal only EXTRA syncs the folder in
    which the journal is deleted; a WAL needs no more than FULL.
    """
    word = SYNCHRONOUS.get(synchronous, synchronous)
    if journal in ("memory", "off"):
        return "none"  # a crash in the middle of the next commit destroys this one, too
    if word == "EXTRA" or (word == "FULL" and journal == "wal"):
        return "full"
    return "none" if word == "OFF" else f"synchronous={word}"
