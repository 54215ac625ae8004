"""RVM's own benchmark, like TPC-A: transactions that add to a branch, a teller and an account, and
append to a history, by a client program.

An operation is a trial of the client, whose loop and oracle are in `crates/clients`. Each
repetition has the same transactions.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path

from loadstone import _core
from loadstone.benchmarks.base import Operation, Presentation, Published, StoredRelation
from loadstone.benchmarks.client_program import Oracle, ProgramBenchmark
from loadstone.benchmarks.published import published_in
from loadstone.benchmarks.rvm.database import DATABASE, EDITIONS, RANGE, Database, database_of
from loadstone.benchmarks.rvm.presentation import PRESENTATION
from loadstone.errors import InputError

_FOLDER = Path(__file__).parent
ITERATION = 1
"""The number that determines the transactions of every repetition."""
TRIALS, READING = "Trials", "Reading"
AUDIT = "tpca-audit"

MEASURES = (
    ("tpca-sequential", "4,000 transactions, the accounts one after another", TRIALS, ""),
    ("tpca-random", "4,000 transactions, an account at random each", TRIALS, "cold study"),
    ("tpca-localized", "4,000 transactions, most in a twentieth of the accounts", TRIALS, ""),
    (AUDIT, "Read every record", READING, ""),
)
"""Name, title, group, presets."""

COMMITS_TRIAL = 4_000
CALLS_TRIAL = 6 * COMMITS_TRIAL
"""Of each transaction six calls."""


class RvmBenchmark(ProgramBenchmark[Database]):
    """Small durable transactions, in three patterns, over databases of any size."""

    name = "rvm"
    title = "RVM's benchmark, like TPC-A, as Rhino runs it (Saito, Bershad 1998)"
    contents = AUDIT
    cold_samples = 1
    editions = EDITIONS
    default_edition = "1993"
    year = 1998
    default_scales = (32_768,)
    default_variants = ("sqlite", "lmdb", "lode", "lode?log=set-range", "lode?log=page-grain")

    def check_scale(self, edition: str, rows: int) -> None:
        """From a hundred accounts on; the paper's steps are 32,768."""
        self.check_edition(edition)
        least, most = RANGE
        if not least <= rows <= most:
            raise InputError(
                f"rvm is defined for {least:,} to {most:,} accounts, not {rows:,}",
                hint="the paper varies the size in steps of 32,768 accounts, 8 MB",
            )

    def stored_relations(self, edition: str) -> Sequence[StoredRelation]:
        """All records are one database."""
        del edition
        return (StoredRelation(DATABASE, DATABASE, organisation=""),)

    def operations(self, edition: str, rows: int) -> Sequence[Operation]:
        """The three patterns, and the audit."""
        self.check_scale(edition, rows)
        return _operations()

    def calls(self, operation: Operation) -> int:
        """As counted."""
        return CALLS_TRIAL if operation.group == TRIALS else 1

    def commits(self, operation: Operation) -> int:
        """Each transaction's."""
        return COMMITS_TRIAL if operation.group == TRIALS else 0

    def database(self, edition: str, relation: str, rows: int) -> Database:
        """The one that there is."""
        del relation
        return database_of(edition, rows)

    def inputs(self, database: Database, measure: str, iteration: int) -> object:
        """The tellers and the accounts of the first transactions."""
        return _core.rvm_inputs(database.accounts, database.seed, measure, iteration)

    def oracle(self, database: Database) -> Oracle:
        """The transactions, and a checksum of all that they leave."""
        return partial(_core.rvm_answer, database.accounts, database.seed)

    def presentation(self) -> Presentation:
        """Its words, and its lessons."""
        return PRESENTATION

    def published(self) -> Published:
        """Rhino's figure in words: the file says why."""
        return published_in(_FOLDER / "published.toml", self.default_scales[0])


@lru_cache(maxsize=1)
def _operations() -> tuple[Operation, ...]:
    return tuple(
        Operation(
            name=measure,
            title=title,
            group=group,
            query="section RVM Benchmark",
            design=DATABASE,
            storage=measure,
            destination="client",
            texts=(f"{measure} {ITERATION}",),
            presets=frozenset(presets.split()),
        )
        for measure, title, group, presets in MEASURES
    )
