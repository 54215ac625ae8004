"""OO1: look-up, traversal and insert by a client program.

An operation is a measure; its variations are its iterations. The iteration's number determines the
inputs: each sample of a cell has its own, the same for all variants. The client's loop and the
oracle are in `crates/clients`; the paper's own numbers in `published.toml`.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from loadstone import _core
from loadstone.benchmarks.base import Operation, Presentation, Published, StoredRelation
from loadstone.benchmarks.client_program import Oracle, ProgramBenchmark, call_of
from loadstone.benchmarks.oo1.database import (
    DATABASE,
    EDITION_NO_LOCALITY,
    NO_LOCALITY,
    Database,
    database_of,
    relation_of,
)
from loadstone.benchmarks.oo1.presentation import LADDER, PRESENTATION
from loadstone.benchmarks.published import published_in
from loadstone.errors import InputError

_FOLDER = Path(__file__).parent
ITERATIONS = 4_000
"""Of each measure, each with random numbers of its own; after the last the first comes again."""
WARMING = 3
"""Further iterations, which no sample has: the paper's systems had settled after two or three."""
PARTS_MIN, PARTS_MAX = 200, 100_000_000

MEASURES = (
    ("lookup", "Look-up: 1,000 random parts", "The measures", "section 4, look-up"),
    ("traversal", "Traversal: 3,280 visits, depth 7", "The measures", "section 4, traversal"),
    ("reverse", "Reverse traversal, as of 3,280", "The measures", "section 4, reverse traversal"),
    ("insert", "Insert 100 parts, 300 links; commit", "The measures", "section 4, insert"),
    ("range", "Range look-up: built in ten days", "Recommended", "section 5, dropped"),
    ("scan", "Sequential scan: x, y of all parts", "Recommended", "section 5, dropped"),
    ("reference", "Reference look-up: 1,000 links", "Dropped", "section 5, dropped"),
    ("group", "Group look-up: links of 1,000 parts", "Dropped", "section 5, dropped"),
    ("update", "Update 100 parts; commit", "Recommended", "section 5, considered"),
    ("ordered", "Traversal in order of length", "Future work", "section 9"),
    ("lookup-batch", "Look-up in one call", "Future work", "sections 4 and 7"),
    ("traversal-batch", "Traversal in one call", "Future work", "sections 4 and 7"),
    ("reverse-batch", "Reverse traversal in one call", "Future work", "sections 4 and 7"),
    ("nothing", "1,000 calls that do nothing", "The cost ladder", "section 8"),
    ("empty", "1,000 empty statements", "The cost ladder", "section 8"),
    ("constant", "1,000 constants fetched", "The cost ladder", "section 8"),
)  # fmt: skip
COLD = frozenset({"lookup", "traversal", "reverse", "insert"})
QUICK = frozenset({"lookup", "traversal", "insert"})
FULL = frozenset({"reference", "group", "ordered"})
TABLE_VI = (
    ("lookup", "Look-up, without locality"),
    ("traversal", "Traversal, without locality"),
    ("insert", "Insert, without locality"),
)
"""Measures that a run of the database with locality asks the other one, too."""
CONCURRENT_USERS = frozenset({"lookup", "insert"})
"""One part a request: a user's look-up, or its insert with a commit of its own."""
RUNGS = LADDER.flat
ON_LADDER = frozenset(step.operation for step in LADDER.steps)
"""Measured in the same rounds: the difference to a lower rung is the cost of a rung's own
mechanism."""


CALLS, CALLS_OF = 1_000, {"traversal": 4_373, "reverse": 4_373, "ordered": 4_373}
"""Of one execution, as the clients count them."""


class Oo1Benchmark(ProgramBenchmark[Database]):
    """Thousands of small operations a second, mixed with program code."""

    name = "oo1"
    title = "OO1, the engineering database benchmark (Cattell, Skeen 1992)"
    mixed = ("lookup", "insert")
    contents = "scan"
    cold_samples = 1  # the first of a measure's iterations, as the paper has it
    editions = ("1992", EDITION_NO_LOCALITY)
    default_edition = "1992"
    year = 1992
    default_scales = (20_000,)
    default_variants = (
        "memory", "sqlite", "duckdb", "postgresql", "lmdb", "lode", "lode?access=links",
    )  # fmt: skip

    def check_scale(self, edition: str, rows: int) -> None:
        """Any number of parts from 200, where the window of the rule is one part wide."""
        self.check_edition(edition)
        if not PARTS_MIN <= rows <= PARTS_MAX:
            raise InputError(
                f"OO1 cannot have {rows:,} parts",
                hint="small is 20,000 parts, large 200,000, huge 2,000,000; the least is 200",
            )

    def stored_relations(self, edition: str) -> Sequence[StoredRelation]:
        """Parts and connections are one database."""
        designs = (DATABASE,) if edition == EDITION_NO_LOCALITY else (DATABASE, NO_LOCALITY)
        return tuple(StoredRelation(relation_of(one), one, organisation="") for one in designs)

    def stages(self, edition: str) -> Sequence[frozenset[str]]:
        """A client holds one database at a time."""
        return tuple(frozenset({item.design}) for item in self.stored_relations(edition))

    def operations(self, edition: str, rows: int) -> Sequence[Operation]:
        """The measures and the rungs of the ladder, in the paper's order; then, where locality is
        the rule, the measures without it."""
        self.check_scale(edition, rows)
        there = {item.design for item in self.stored_relations(edition)}
        return tuple(operation for operation in _operations() if operation.design in there)

    def calls(self, operation: Operation) -> int:
        """As the paper defines its measures: by the thousand."""
        measure, _ = call_of(operation.texts[0])
        return 0 if measure == "nothing" else CALLS_OF.get(measure, CALLS)

    def database(self, edition: str, relation: str, rows: int) -> Database:
        """With locality of reference or without."""
        return database_of(edition, relation, rows)

    def relation_of(self, design: str) -> str:
        """Each design has a relation of its own."""
        return relation_of(design)

    def inputs(self, database: Database, measure: str, iteration: int) -> object:
        """Numbers of parts, connections and dates."""
        return _core.oo1_inputs(
            database.parts, database.seed, database.locality, measure, iteration
        )

    def oracle(self, database: Database) -> Oracle:
        """The visits of each measure, and their checksum."""
        oracle = _core.Oo1Oracle(database.parts, seed=database.seed, locality=database.locality)
        return oracle.answer

    def presentation(self) -> Presentation:
        """Its words, its visits and its ladder."""
        return PRESENTATION

    def published(self) -> Published:
        """Tables II to VII and appendix A."""
        return published_in(_FOLDER / "published.toml", self.default_scales[0])


@lru_cache(maxsize=1)
def _operations() -> tuple[Operation, ...]:
    plain = tuple(
        Operation(
            name=measure,
            title=title,
            group=group,
            query=query,
            design=DATABASE,
            storage=measure,
            destination="client",
            concurrent_users=measure in CONCURRENT_USERS,
            interleaved_group="ladder" if measure in ON_LADDER else "",
            texts=_texts(measure),
            warming=_texts(measure, ITERATIONS, WARMING),
            presets=frozenset(
                preset
                for preset, members in (
                    ("quick", QUICK | RUNGS),
                    ("cold", COLD),
                    ("full", FULL),
                    ("study", QUICK),
                )
                if measure in members
            ),
        )
        for measure, title, group, query in MEASURES
    )
    return plain + tuple(
        Operation(
            name=f"{measure}-{NO_LOCALITY}",
            title=title,
            group="Without locality",
            query="section 9, Table VI",
            design=NO_LOCALITY,
            storage=measure,
            destination="client",
            texts=_texts(measure),
            warming=_texts(measure, ITERATIONS, WARMING),
            presets=frozenset({"full"}),
        )
        for measure, title in TABLE_VI
    )


def _texts(measure: str, first: int = 0, count: int = ITERATIONS) -> tuple[str, ...]:
    return tuple(f"{measure} {number + 1}" for number in range(first, first + count))
