"""OO1's program: the engines that have one, its measures and their gaps, the databases that it
takes."""

from collections.abc import Callable, Mapping, Sequence

from loadstone import _core
from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.base import Measured
from loadstone.clients.oo1.driver import Driver
from loadstone.clients.oo1.loops import run
from loadstone.clients.oo1.table_one import reportables
from loadstone.errors import UnsupportedError

NAME = "oo1"
MEASURES = tuple(_core.oo1_measures())
ENGINES = frozenset(
    {
        "null", "memory", "sqlite", "duckdb", "postgresql", "lmdb", "lode",
        "python-null", "python-dict", "zodb", "ladybug",
    }
)  # fmt: skip
NO_PROGRAM = "it has no program for OO1"
BY_KEYS = "its parts lead to each other by keys, and only references are prefetched"
UNMAPPED = "OO1's program maps no pages, so there is nothing to detect"
LACKS = (
    ("lode", (("access", "btree"), ("prefetch", "on")), BY_KEYS),
    ("lode", (("access", "hash"), ("prefetch", "on")), BY_KEYS),
    ("lode", (("detect", "sigsegv"),), UNMAPPED),
    ("lode", (("detect", "kernel"),), UNMAPPED),
)
"""(engine, values of tactics, reason): what this program lacks, each a gap."""
NO_LANGUAGE = "it has no query language"
ONE_KEY = {
    "lookup-batch": "it takes one key at a time",
    "traversal-batch": NO_LANGUAGE,
    "reverse-batch": NO_LANGUAGE,
}
NO_STATEMENTS = "it has no statements"
KEY_VALUE = {**ONE_KEY, "empty": NO_STATEMENTS, "constant": NO_STATEMENTS}
GAPS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("null", "memory", "python-null", "python-dict", "zodb"), KEY_VALUE),
    **dict.fromkeys(("lmdb", "lode"), ONE_KEY),
    "ladybug": {"empty": "its least statement returns a constant"},
}
"""Engine -> measure -> why it has none."""
CALL_S: Mapping[str, float] = {"": 2e-6, "duckdb": 300e-6, "postgresql": 30e-6}
"""A rough estimate of one call in Rust; under no name for all others."""
NONE = Database(200)
"""Before one is expected: the engine can be opened and can report its terms, no more."""


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


def driver(engine: str) -> Callable[..., Driver]:
    """Makes the driver of an engine that is called in Python; each imports its engine."""
    match engine:
        case "python-null":
            from loadstone.clients.oo1.null import NullDriver

            return NullDriver
        case "python-dict":
            from loadstone.clients.oo1.dictionary import DictionaryDriver

            return DictionaryDriver
        case "zodb":
            from loadstone.clients.oo1.zodb import ZodbDriver

            return ZodbDriver
        case "ladybug":
            from loadstone.clients.oo1.ladybug import LadybugDriver

            return LadybugDriver
    raise UnsupportedError(f"{engine}: {NO_PROGRAM}")


def measured(engine: Driver, database: Database, measure: str, iteration: int) -> Measured:
    """Run a measure in Python once."""
    return run(engine, database, measure, iteration)


def documented(engine: str) -> Mapping[str, str]:
    """The items of Table I."""
    return reportables(engine)
