"""RVM's own benchmark, like TPC-A: transactions that add to a branch, a teller and an account, and
append to a history, by a client program.

An operation is a trial of the client, whose loop and oracle are in `crates/clients`. Each
repetition has the same transactions.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from loadstone import _core
from loadstone.benchmarks.base import (
    Answer,
    Answers,
    Benchmark,
    Operation,
    Presentation,
    Published,
    StoredRelation,
)
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

CALLS_TRIAL = 24_000
"""Of the 4,000 transactions six calls each."""


class RvmAnswers:
    """The expected answers, by plain evaluation in memory."""

    def __init__(self, edition: str, rows: int) -> None:
        self._database = database_of(edition, rows)
        self._known: dict[str, Answer] = {}

    def of(self, operation: Operation, variation: int) -> Answer:
        """(count, checksum) of an operation."""
        return self._answer(operation.texts[variation])

    def named(self, operation: Operation, variation: int) -> None:
        """Nothing: a client program checks its own writes."""

    def contents(self, relation: str) -> Answer:
        """(count, checksum) of everything that is stored."""
        del relation
        return self._answer(f"{AUDIT} 0")

    def _answer(self, text: str) -> Answer:
        if text not in self._known:
            held = self._database
            measure, _, iteration = text.partition(" ")
            self._known[text] = _core.rvm_answer(held.accounts, held.seed, measure, int(iteration))
        return self._known[text]


class RvmBenchmark(Benchmark):
    """Small durable transactions, in three patterns, over databases of any size."""

    name = "rvm"
    title = "RVM's benchmark, like TPC-A, as Rhino runs it (Saito, Bershad 1998)"
    seam = "clients"
    one_session = True
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

    def database(self, edition: str, relation: str, rows: int) -> Database:
        """The one that there is."""
        del relation
        return database_of(edition, rows)

    def input(self, edition: str, rows: int, operation: Operation, variation: int) -> str:
        """The tellers and the accounts of the first transactions, as JSON."""
        held = database_of(edition, rows)
        measure, _, iteration = operation.texts[variation].partition(" ")
        drawn = _core.rvm_inputs(held.accounts, held.seed, measure, int(iteration))
        return json.dumps(drawn, separators=(",", ":"))

    def answers(self, edition: str, rows: int, relations: Sequence[str]) -> Answers:
        """By plain evaluation in memory."""
        del relations
        return RvmAnswers(edition, rows)

    def presentation(self) -> Presentation:
        """Its words, and its lessons."""
        return PRESENTATION

    def published(self) -> Published:
        """No times: see the file."""
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
