"""A client's declarations: the measures of all benchmarks that its engine can execute, and its
tactics."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from loadstone.benchmarks.base import ProgramDatabase
from loadstone.clients.oo1 import program as oo1
from loadstone.clients.oo7 import program as oo7
from loadstone.clients.rvm import program as rvm
from loadstone.engines.capabilities import Capabilities, Lack, Structure
from loadstone.engines.tactic import Tactic, declared
from loadstone.errors import UnsupportedError

PROGRAMS = (oo1, oo7, rvm)
"""The benchmarks' programs; no two have a measure of one name."""


def taken(database: ProgramDatabase, client: str) -> ProgramDatabase:
    """A database for which the client has a program; or `UnsupportedError`."""
    if not any(
        isinstance(database, program.Database) and client in program.ENGINES for program in PROGRAMS
    ):
        raise UnsupportedError(f"{client}: it has no program for this benchmark")
    return database


def measures_of(database: ProgramDatabase) -> Sequence[str]:
    """The measures of the benchmark that a database is of."""
    for program in PROGRAMS:
        if isinstance(database, program.Database):
            return tuple(program.MEASURES)
    return ()


def own_tactics(engine: str) -> dict[str, Tactic]:
    """The tactics of an engine that only its client has."""
    return declared(Path(__file__).with_name("tactics") / f"{engine}.toml")


def structures(engine: str, gaps: Mapping[str, str]) -> Mapping[str, Structure]:
    """All measures, but those with a reason in `gaps`, and those of a program that the engine does
    not have."""
    reasons = {
        measure: gaps.get(measure, "" if engine in program.ENGINES else program.NO_PROGRAM)
        for program in PROGRAMS
        for measure in program.MEASURES
    }
    return {measure: Structure(not reason, reason) for measure, reason in reasons.items()}


def capabilities(
    engine: str,
    gaps: Mapping[str, str],
    tactics: Mapping[str, Tactic],
    *,
    answers: bool = True,
) -> Capabilities:
    """The declaration of an engine's client: measures without those in `gaps`, and tactics."""
    return Capabilities(
        structures(engine, gaps), tactics, answers=answers, lacks=tuple(_lacks(engine))
    )


def _lacks(engine: str) -> Iterator[Lack]:
    """As each benchmark's program declares them."""
    for program in PROGRAMS:
        for name, tactic, value, reason in program.LACKS:
            if name == engine:
                yield Lack(frozenset(program.MEASURES), tactic, value, reason)
