"""RVM's database, and the one behind an edition and a scale."""

from dataclasses import dataclass

DATABASE = "rvm"
"""The stored relation, and its design: all records."""
EDITIONS = ("1993",)
TELLERS = 10
RANGE = (100, 1 << 30)
"""Accounts: the localized pattern takes shares of a hundredth, ids have 32 bits."""


@dataclass(frozen=True, slots=True)
class Database:
    """One branch, ten tellers, accounts, and a ring of two history records for each account."""

    accounts: int
    seed: int = 1

    @property
    def tuples(self) -> int:
        """All records."""
        return 1 + TELLERS + 3 * self.accounts


def database_of(edition: str, rows: int) -> Database:
    """The database of an edition with so many accounts."""
    del edition
    return Database(rows)
