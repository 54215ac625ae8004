"""What a client of OO1 declares: the measures that its engine can execute, and its tactics; and the
database that it takes."""

from collections.abc import Mapping
from pathlib import Path

from loadstone._core import client_measures
from loadstone.benchmarks.base import ProgramDatabase
from loadstone.benchmarks.oo1.database import Database
from loadstone.engines.capabilities import Capabilities, Structure
from loadstone.engines.tactic import Tactic, declared
from loadstone.errors import UnsupportedError

NONE = Database(200)
"""Before one is expected: the engine can be opened and asked for its terms, no more."""


def taken(database: ProgramDatabase, client: str) -> Database:
    """A database of OO1. Raises `UnsupportedError` for another benchmark's."""
    if not isinstance(database, Database):
        raise UnsupportedError(f"{client}: it has no program for this benchmark")
    return database


def own_tactics(engine: str) -> dict[str, Tactic]:
    """The tactics of an engine that only its client has."""
    return declared(Path(__file__).with_name("tactics") / f"{engine}.toml")


def structures(gaps: Mapping[str, str]) -> Mapping[str, Structure]:
    """The capabilities of a client: all measures, but those with a reason in `gaps`."""
    return {
        measure: Structure(measure not in gaps, gaps.get(measure, ""))
        for measure in client_measures()
    }


def capabilities(
    gaps: Mapping[str, str],
    tactics: Mapping[str, Tactic],
    *,
    answers: bool = True,
) -> Capabilities:
    """The declaration of a client: measures without those in `gaps`, and tactics."""
    return Capabilities(structures(gaps), tactics, answers=answers)
