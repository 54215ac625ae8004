"""OO7: traversals, queries and structural changes of a design database, by a client program.

An operation is a measure of the client, whose loop and oracle are in `crates/clients`. Each
repetition has the same input, as in the paper, so that a warm one touches the objects of the one
before it.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from loadstone import _core
from loadstone.benchmarks.base import Operation, Presentation, Published, StoredRelation
from loadstone.benchmarks.client_program import Oracle, ProgramBenchmark
from loadstone.benchmarks.oo7.database import DATABASE, EDITIONS, Database, database_of
from loadstone.benchmarks.oo7.presentation import PRESENTATION
from loadstone.benchmarks.published import published_in
from loadstone.errors import InputError

_FOLDER = Path(__file__).parent
ITERATION = 1
"""The number that determines the inputs of every repetition."""
TRAVERSALS, UPDATES, QUERIES, STRUCTURE = "Traversals", "Updates", "Queries", "Structure"
USERS = "Several users"

MEASURES = (
    ("T1", "walk the tree and each component's graph", TRAVERSALS, "quick cold study"),
    ("T1WW", "T1 with real work at each atomic part", TRAVERSALS, "full"),
    ("T4", "count the letters I in each component's document", TRAVERSALS, ""),
    ("T6", "walk the tree to each component's root part", TRAVERSALS, "quick"),
    ("T7", "from an atomic part up to the root", TRAVERSALS, "quick"),
    ("T8", "count the letters I in the manual", TRAVERSALS, "full"),
    ("T9", "compare the manual's first and last character", TRAVERSALS, "full"),
    ("T10", "T1 over all modules", TRAVERSALS, "full"),
    ("T2a", "T1, x and y of each root part swapped; commit", UPDATES, "quick cold study"),
    ("T2b", "T1, x and y of each atomic part swapped; commit", UPDATES, "full"),
    ("T2c", "T1, each swapped four times; commit", UPDATES, "quick cold study"),
    ("T3a", "T1, the date of each root part toggled; commit", UPDATES, "quick"),
    ("T3b", "T1, the date of each atomic part toggled; commit", UPDATES, "full"),
    ("T3c", "T1, each toggled four times; commit", UPDATES, "full"),
    ("T5do", "each component's document made longer; commit", UPDATES, ""),
    ("T5undo", "the same back; commit", UPDATES, "full"),
    ("CU", "T1 and T2a in one transaction", UPDATES, "full"),
    ("Q1", "ten atomic parts by id", QUERIES, "quick"),
    ("Q2", "the newest 1 % of the atomic parts", QUERIES, ""),
    ("Q3", "the newest 10 % of the atomic parts", QUERIES, "full"),
    ("Q4", "from ten titles to the base assemblies", QUERIES, ""),
    ("Q5", "base assemblies older than a component", QUERIES, "quick"),
    ("Q6", "assemblies older than a component below them", QUERIES, "full"),
    ("Q7", "all atomic parts", QUERIES, "quick"),
    ("Q8", "atomic parts with their documents", QUERIES, ""),
    ("S1", "insert ten composite parts; commit", STRUCTURE, "quick"),
    ("S2", "delete ten composite parts; commit", STRUCTURE, "full"),
    ("M1", "T1 of one base assembly's private components", USERS, ""),
    ("M2", "the same, then T2b of them; commit", USERS, ""),
    ("M3", "T1 of its shared components", USERS, "full"),
    ("M4", "the same, then T2b of them; commit", USERS, "full"),
    ("M5", "T1 of both, then T2b of the private ones; commit", USERS, "full"),
    ("M6", "the same as M5; commit", USERS, "full"),
)  # fmt: skip
"""Name, title, group, presets."""

CALLS_WALK, CALLS_QUERY = 91_000, 1_000
CALLS_OF = {
    "T6": 5_468, "T7": 46, "T2c": 265_721, "T8": 10, "T9": 10, "Q1": 10,
    "M1": 150, "M2": 350, "M3": 150, "M4": 350, "M5": 470, "M6": 470,
}  # fmt: skip
"""Calls of one execution in the small database: of a walk through each part, of a query, and where
they are far from both. Of a visit there are two, for the part and for its connections, also where a
client has both by one."""


class Oo7Benchmark(ProgramBenchmark[Database]):
    """Objects of ten classes, reached from each other; updates at many granularities."""

    name = "oo7"
    title = "OO7, the object database benchmark (Carey, DeWitt, Naughton 1993)"
    mixed = ("M1", "M2")
    contents = "Q7"
    cold_samples = 1  # the first repetition, as the paper has it
    editions = EDITIONS
    default_edition = "1993-3"
    year = 1993
    default_scales = (10_000,)
    default_variants = ("memory", "sqlite", "lmdb", "lode")

    def check_scale(self, edition: str, rows: int) -> None:
        """Multiples of 500, and above 100,000 of 500 for each 100,000 begun."""
        self.check_edition(edition)
        try:
            self.inputs(database_of(edition, rows), "Q1", ITERATION)
        except (ValueError, OverflowError) as error:
            raise InputError(
                str(error), hint="small is 10,000 atomic parts, medium 100,000, large 1,000,000"
            ) from error

    def stored_relations(self, edition: str) -> Sequence[StoredRelation]:
        """All objects are one database."""
        del edition
        return (StoredRelation(DATABASE, DATABASE, organisation=""),)

    def operations(self, edition: str, rows: int) -> Sequence[Operation]:
        """Traversals, updates, queries, changes of structure."""
        self.check_scale(edition, rows)
        return _operations()

    def calls(self, operation: Operation) -> int:
        """As counted, roughly."""
        walks = operation.group in (TRAVERSALS, UPDATES)
        return CALLS_OF.get(operation.name, CALLS_WALK if walks else CALLS_QUERY)

    def database(self, edition: str, relation: str, rows: int) -> Database:
        """The one that there is."""
        del relation
        return database_of(edition, rows)

    def inputs(self, database: Database, measure: str, iteration: int) -> object:
        """Numbers of parts, titles and assemblies."""
        return _core.oo7_inputs(database.parts, database.fan_out, database.seed, measure, iteration)

    def oracle(self, database: Database) -> Oracle:
        """The count of each operation, and a checksum of what it sees and leaves."""
        return _core.Oo7Oracle(database.parts, database.fan_out, database.seed).answer

    def presentation(self) -> Presentation:
        """Its words, and its lessons."""
        return PRESENTATION

    def published(self) -> Published:
        """Rhino's figures in words: the file says why."""
        return published_in(_FOLDER / "published.toml", self.default_scales[0])


@lru_cache(maxsize=1)
def _operations() -> tuple[Operation, ...]:
    return tuple(
        Operation(
            name=measure,
            title=f"{measure}: {title}",
            group=group,
            query=f"section {5 if group == QUERIES else 6 if group == STRUCTURE else 4}",
            design=DATABASE,
            storage=measure,
            destination="client",
            texts=(f"{measure} {ITERATION}",),
            presets=frozenset(presets.split()),
            concurrent_users=group == USERS,
        )
        for measure, title, group, presets in MEASURES
    )
