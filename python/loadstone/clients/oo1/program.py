"""OO1's program: the engines that have one, its measures, the databases that it takes."""

from collections.abc import Sequence

from loadstone import _core
from loadstone.benchmarks.oo1.database import Database

MEASURES = tuple(_core.oo1_measures())
ENGINES = frozenset(
    {
        "null", "memory", "sqlite", "duckdb", "postgresql", "lmdb", "lode",
        "python-null", "python-dict", "zodb", "ladybug",
    }
)  # fmt: skip
NO_PROGRAM = "it has no program for OO1"
LACKS: tuple[tuple[str, str, str, str], ...] = ()
"""It has all values of all tactics."""
NONE = Database(200)
"""Before one is expected: the engine can be opened and asked for its terms, no more."""


def opened(
    database: Database,
    engine: str,
    address: str,
    tactics: Sequence[tuple[str, str]],
    library: str | None = None,
) -> _core.Client:
    """The program in Rust with an engine at the other side of its seam."""
    return _core.oo1_client(
        engine, address, tactics, database.parts, database.seed, database.locality, library
    )
