"""The durability that SQLite's settings promise: one rule for engine and client."""

SYNCHRONOUS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}
"""SQLite's words for the number that `PRAGMA synchronous` reads back."""


def durability(synchronous: str, journal: str) -> str:
    """`full` if a commit survives a loss of power:
    https://sqlite.org/pragma.html#pragma_synchronous.

    `synchronous` is the number read back. With a rollback journal only EXTRA syncs the folder in
    which the journal is deleted; a WAL needs no more than FULL.
    """
    word = SYNCHRONOUS.get(synchronous, synchronous)
    if word == "EXTRA" or (word == "FULL" and journal == "wal"):
        return "full"
    return "none" if word == "OFF" else f"synchronous={word}"
