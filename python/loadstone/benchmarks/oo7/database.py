"""OO7's database, and the one behind an edition and a scale."""

from dataclasses import dataclass

DATABASE = "oo7"
"""The stored relation, and its design: all objects, as the variant lays them out."""
EDITIONS = ("1993-3", "1993-6", "1993-9")
"""By the number of connections that leave each atomic part."""
MODULE_PARTS_MAX = 100_000
"""Atomic parts of a module, from which a larger database has more modules."""
COMPOSITES = 500
ASSEMBLIES = 364 + 729
"""Of a module: complex and base ones."""


@dataclass(frozen=True, slots=True)
class Database:
    """OO7's database: its atomic parts, and the connections that leave each."""

    parts: int
    fan_out: int = 3
    seed: int = 1

    @property
    def modules(self) -> int:
        """One, or more where a database is larger than the paper's medium size."""
        return -(-self.parts // MODULE_PARTS_MAX)

    @property
    def tuples(self) -> int:
        """All objects: each module with its manual and assemblies, each composite part with its
        document, atomic parts, and connections."""
        others = 2 + ASSEMBLIES + 2 * COMPOSITES
        return self.modules * others + self.parts * (1 + self.fan_out)


def database_of(edition: str, rows: int) -> Database:
    """The database of an edition with so many atomic parts."""
    return Database(parts=rows, fan_out=int(edition.rpartition("-")[2]))
