"""The program of RVM's benchmark: the engines that have one, its trials, the databases it takes."""

from collections.abc import Sequence

from loadstone import _core
from loadstone.benchmarks.rvm.database import Database

MEASURES = tuple(_core.rvm_measures())
ENGINES = frozenset(_core.rvm_engines())
NO_PROGRAM = "it has no program for RVM's benchmark"
LACKS = tuple(_core.rvm_lacks())
"""(engine, tactic, value, reason): values of tactics that this program lacks."""


def opened(
    database: Database,
    engine: str,
    address: str,
    tactics: Sequence[tuple[str, str]],
    library: str | None = None,
) -> _core.Client:
    """The program in Rust with an engine at the other side of its seam."""
    return _core.rvm_client(engine, address, tactics, database.accounts, database.seed, library)
