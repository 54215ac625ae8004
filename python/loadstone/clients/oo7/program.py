"""OO7's program: the engines that have one, its operations, the databases that it takes."""

from collections.abc import Callable, Mapping, Sequence

from loadstone import _core
from loadstone.benchmarks.oo7.database import Database
from loadstone.clients.base import Measured
from loadstone.clients.oo7.driver import Driver
from loadstone.clients.oo7.loops import run
from loadstone.errors import UnsupportedError

NAME = "oo7"
MEASURES = tuple(_core.oo7_measures())
ENGINES = frozenset(_core.oo7_engines()) | {"python-dict", "zodb", "ladybug"}
NONE = Database(1_000)
"""Before one is expected."""
NO_PROGRAM = "it has no program for OO7"
GAPS: Mapping[str, Mapping[str, str]] = {}
"""Every engine with a program has all operations."""
CALL_S: Mapping[str, float] = {"": 0.2e-6, "duckdb": 250e-6, "postgresql": 30e-6}
"""A rough estimate of one call in Rust; under no name for all others."""
LACKS = (
    *((engine, ((tactic, value),), why) for engine, tactic, value, why in _core.oo7_lacks()),
    ("ladybug", (("statement", "levels"),), "OO7's program has no path in one call"),
    ("lode", (("prefetch", "on"),), "OO7's program goes along references by itself"),
)
"""(engine, values of tactics, reason): what this program lacks, each a gap."""


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


def driver(engine: str) -> Callable[..., Driver]:
    """Makes the driver of an engine that is called in Python; each imports its engine."""
    match engine:
        case "python-dict":
            from loadstone.clients.oo7.dictionary import DictionaryDriver

            return DictionaryDriver
        case "zodb":
            from loadstone.clients.oo7.zodb import ZodbDriver

            return ZodbDriver
        case "ladybug":
            from loadstone.clients.oo7.ladybug import LadybugDriver

            return LadybugDriver
    raise UnsupportedError(f"{engine}: {NO_PROGRAM}")


def measured(engine: Driver, database: Database, measure: str, iteration: int) -> Measured:
    """Run a measure in Python once."""
    return run(engine, database, measure, iteration)


def documented(engine: str) -> Mapping[str, str]:
    """It requests no facts."""
    del engine
    return {}
