"""OO1's databases: with locality of reference and without, and the one behind a stored relation."""

from dataclasses import dataclass

DATABASE = "oo1"
"""The stored relation, and its design: parts and connections, as the variant lays them out."""
NO_LOCALITY = "no-locality"
"""The design, and the suffix of operations, of the database without locality."""
EDITION_NO_LOCALITY = f"1992-{NO_LOCALITY}"
"""All measures on the database without locality."""


@dataclass(frozen=True, slots=True)
class Database:
    """OO1's database: its number of parts, by the literal rule, with locality or without."""

    parts: int
    locality: bool = True
    seed: int = 1

    @property
    def tuples(self) -> int:
        """Parts, and three connections of each."""
        return 4 * self.parts


def relation_of(design: str) -> str:
    """The stored relation of a design: no two have one name."""
    return DATABASE if design == DATABASE else f"{DATABASE}-{design}"


def database_of(edition: str, relation: str, rows: int) -> Database:
    """The database behind a stored relation."""
    locality = edition != EDITION_NO_LOCALITY and relation != relation_of(NO_LOCALITY)
    return Database(parts=rows, locality=locality)
