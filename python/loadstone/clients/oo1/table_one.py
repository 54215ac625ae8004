"""OO1's Table I: the items that a complete result reports and no system reports itself.

Versions, caches, durability, isolation, access methods, sizes and the machine are read back and
kept elsewhere in the record; these are facts from each engine's own documentation.
"""

from collections.abc import Mapping

ITEMS = (
    "transactions", "concurrency", "recovery", "architecture", "security", "protocol",
)  # fmt: skip
"""Atomicity and read consistency; locks and their duration; log and recovery; processes;
authentication; protocol."""

_IN_PROCESS = "in the program's own process"
_NO_USERS = "none of its own: who may open the file"
_CALLS = "function calls"

REPORTABLES: Mapping[str, Mapping[str, str]] = {
    "memory": {
        "transactions": "none",
        "concurrency": "one user",
        "recovery": "none: lost with the process",
        "architecture": _IN_PROCESS,
        "security": "none",
        "protocol": "pointers",
    },
    "sqlite": {
        "transactions": "atomic; readers see the database as it was when they began",
        "concurrency": "one writer for the whole file beside any number of readers",
        "recovery": "write-ahead log of pages, replayed when the file is opened",
        "architecture": _IN_PROCESS,
        "security": _NO_USERS,
        "protocol": _CALLS,
    },
    "lmdb": {
        "transactions": "atomic; readers see the database as it was when they began",
        "concurrency": "one writer beside any number of readers, who lock nothing",
        "recovery": "none needed: pages are copied on write, two roots alternate; no log",
        "architecture": f"{_IN_PROCESS}, the file mapped",
        "security": _NO_USERS,
        "protocol": _CALLS,
    },
    "lode": {
        "transactions": "atomic; serializable",
        "concurrency": "two-phase locks on the database, relations or pages; deadlocks are found",
        "recovery": "write-ahead log of changed words or of pages, replayed when it is opened",
        "architecture": f"{_IN_PROCESS}, with a page cache of its own",
        "security": _NO_USERS,
        "protocol": _CALLS,
    },
    "duckdb": {
        "transactions": "atomic; snapshots",
        "concurrency": "many threads of one process; a writer that meets another's change fails",
        "recovery": "write-ahead log, replayed when the file is opened",
        "architecture": _IN_PROCESS,
        "security": _NO_USERS,
        "protocol": _CALLS,
    },
    "postgresql": {
        "transactions": "atomic; each statement sees what was committed when it began",
        "concurrency": "row versions; writers lock rows until they commit, readers lock none",
        "recovery": "write-ahead log with full pages after a checkpoint, replayed at start",
        "architecture": "a server process for each connection, and helpers",
        "security": "roles and passwords (SCRAM); the private server's socket is closed to others",
        "protocol": "PostgreSQL's, version 3, over a Unix socket or TCP",
    },
    "python-dict": {
        "transactions": "none",
        "concurrency": "one user",
        "recovery": "none: lost with the process",
        "architecture": _IN_PROCESS,
        "security": "none",
        "protocol": "references",
    },
    "zodb": {
        "transactions": "atomic; a connection sees the database as it was when it began",
        "concurrency": "optimistic: the second of two who changed an object fails",
        "recovery": "the file is a log of object states; a torn end is cut off when it is opened",
        "architecture": _IN_PROCESS,
        "security": _NO_USERS,
        "protocol": "attribute access; objects are fetched when first touched",
    },
    "ladybug": {
        "transactions": "atomic; serializable by its documentation",
        "concurrency": "one writer beside readers",
        "recovery": "write-ahead log, replayed when the file is opened",
        "architecture": f"{_IN_PROCESS}, threads of its own",
        "security": _NO_USERS,
        "protocol": f"Cypher texts, prepared, by {_CALLS}",
    },
}


def reportables(engine: str) -> dict[str, str]:
    """An engine's items as settings of its variant; empty for the harness overhead and for engines
    of third parties, which report what they like in their own terms."""
    return {f"setting.{item}": fact for item, fact in REPORTABLES.get(engine, {}).items()}
