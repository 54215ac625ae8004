"""A client's declarations: the measures of all benchmarks that its engine can execute, and its
tactics."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loadstone import _core
from loadstone.benchmarks.base import ProgramDatabase
from loadstone.clients.oo1 import program as oo1
from loadstone.clients.oo7 import program as oo7
from loadstone.clients.rvm import program as rvm
from loadstone.engines.capabilities import Capabilities, Estimate, Lack, Structure, UrlUse
from loadstone.engines.tactic import Tactic
from loadstone.errors import UnsupportedError

PROGRAMS = (oo1, oo7, rvm)
"""The benchmarks' programs; no two have a measure of one name."""


NONE: ProgramDatabase = oo1.NONE
"""Before one is expected: the engine can be opened and can report its terms, no more."""


def program_of(database: ProgramDatabase, engine: str) -> Any:
    """The module of the program that makes and asks a database; `UnsupportedError` where the engine
    has none."""
    for program in PROGRAMS:
        if isinstance(database, program.Database) and engine in program.ENGINES:
            return program
    raise UnsupportedError(f"{engine}: it has no program for this benchmark")


def taken(database: ProgramDatabase, engine: str) -> ProgramDatabase:
    """A database for which the client has a program; or `UnsupportedError`."""
    program_of(database, engine)
    return database


def opened(
    database: ProgramDatabase,
    engine: str,
    address: str,
    tactics: Sequence[tuple[str, str]],
    library: str | None = None,
) -> _core.Client:
    """The program in Rust of a database that was taken, with an engine at the other side of its
    seam. Where none is expected, of the first program that can open what is there."""
    if database is NONE:
        return _opened_by_any(engine, address, tactics, library)
    client: _core.Client = program_of(database, engine).opened(
        database, engine, address, tactics, library
    )
    return client


def _opened_by_any(
    engine: str, address: str, tactics: Sequence[tuple[str, str]], library: str | None
) -> _core.Client:
    first: _core.ClientError | None = None
    for program in PROGRAMS:
        if engine in program.ENGINES:
            try:
                client: _core.Client = program.opened(
                    program.NONE, engine, address, tactics, library
                )
                return client
            except _core.ClientError as error:
                # A gap, or the tables of another benchmark's program.
                first = first or error
    raise first or UnsupportedError(f"{engine}: it has no program")


def documented(engine: str) -> dict[str, str]:
    """The facts of an engine that the benchmarks request."""
    return {key: fact for program in PROGRAMS for key, fact in program.documented(engine).items()}


def calls_s(engine: str = "") -> dict[str, float]:
    """Benchmark -> a rough estimate of one call of an engine in Rust; of no engine: of most."""
    return {
        program.NAME: program.CALL_S.get(engine, program.CALL_S[""])
        for program in PROGRAMS
        if program.CALL_S
    }


def structures(engine: str) -> Mapping[str, Structure]:
    """All measures, but its gaps, and those of a program that the engine does not have."""
    reasons = {
        measure: program.GAPS.get(engine, {}).get(measure, "")
        if engine in program.ENGINES
        else program.NO_PROGRAM
        for program in PROGRAMS
        for measure in program.MEASURES
    }
    return {measure: Structure(not reason, reason) for measure, reason in reasons.items()}


def capabilities(
    engine: str,
    tactics: Mapping[str, Tactic],
    *,
    answers: bool = True,
    one_user: str = "",
    syncs: int = 1,
    url: UrlUse = UrlUse.NONE,
) -> Capabilities:
    """The declaration of an engine's client: measures and tactics."""
    return Capabilities(
        structures(engine),
        tactics,
        answers=answers,
        one_user=one_user,
        estimate=Estimate(calls_s=calls_s(engine), syncs=syncs),
        url=url,
        lacks=tuple(_lacks(engine)),
    )


def _lacks(engine: str) -> Iterator[Lack]:
    """As each benchmark's program declares them."""
    for program in PROGRAMS:
        for name, values, reason in program.LACKS:
            if name == engine:
                yield Lack(frozenset(program.MEASURES), values, reason)
