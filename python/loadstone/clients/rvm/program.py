"""The program of RVM's benchmark: the engines that have one, its trials, the databases it takes."""

from collections.abc import Mapping, Sequence
from typing import Any

from loadstone import _core
from loadstone.benchmarks.rvm.database import Database
from loadstone.errors import UnsupportedError

NAME = "rvm"
MEASURES = tuple(_core.rvm_measures())
ENGINES = frozenset(_core.rvm_engines())
NONE = Database(100)
"""Before one is expected."""
NO_PROGRAM = "it has no program for RVM's benchmark"
GAPS: Mapping[str, Mapping[str, str]] = {}
"""Every engine with a program has all trials."""
CALL_S: Mapping[str, float] = {}
"""Its samples have a set length."""
LACKS = tuple((engine, ((tactic, value),), why) for engine, tactic, value, why in _core.rvm_lacks())
"""(engine, values of tactics, reason): what this program lacks, each a gap."""


def opened(
    database: Database,
    engine: str,
    address: str,
    tactics: Sequence[tuple[str, str]],
    library: str | None = None,
) -> _core.Client:
    """The program in Rust with an engine at the other side of its seam."""
    return _core.rvm_client(engine, address, tactics, database.accounts, database.seed, library)


def driver(engine: str) -> Any:
    """None in Python."""
    raise UnsupportedError(f"{engine}: {NO_PROGRAM}")


def measured(engine: Any, database: Database, measure: str, iteration: int) -> Any:
    """None in Python: no driver comes here."""
    del database, measure, iteration
    raise UnsupportedError(f"{engine}: {NO_PROGRAM}")


def documented(engine: str) -> Mapping[str, str]:
    """It requests no facts."""
    del engine
    return {}
