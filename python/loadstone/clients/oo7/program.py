"""OO7's program: the engines that have one, its operations, the databases that it takes."""

from collections.abc import Sequence

from loadstone import _core
from loadstone.benchmarks.oo7.database import Database

MEASURES = tuple(_core.oo7_measures())
ENGINES = frozenset(_core.oo7_engines()) | {"python-dict", "zodb", "ladybug"}
NO_PROGRAM = "it has no program for OO7"
LACKS = (
    *_core.oo7_lacks(),
    ("ladybug", "statement", "levels", "OO7's program asks for no path in one call"),
)
"""(engine, tactic, value, reason): values of tactics that this program lacks."""


def opened(
    database: Database,
    engine: str,
    address: str,
    tactics: Sequence[tuple[str, str]],
    library: str | None = None,
) -> _core.Client:
    """The program in Rust with an engine at the other side of its seam."""
    return _core.oo7_client(
        engine, address, tactics, database.parts, database.fan_out, database.seed, library
    )
