"""The part common to benchmarks whose operations are measures of a client program.

An operation's text names the measure and the iteration, `traversal 3`; the iteration's number
determines the inputs. The loops and the oracles are in `crates/clients`.
"""

import json
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, TypeVar

from loadstone.benchmarks.base import Answer, Answers, Benchmark, Operation, ProgramDatabase

D = TypeVar("D", bound=ProgramDatabase)

Oracle = Callable[[str, int], Answer | None]
"""(measure, iteration) to (count, checksum); None for a rung, which sees nothing."""


def call_of(text: str) -> tuple[str, int]:
    """The measure and the iteration that an operation's text requests: `traversal 3`."""
    measure, _, iteration = text.partition(" ")
    return measure, int(iteration)


class ProgramBenchmark(Benchmark, Generic[D]):
    """A benchmark of a client program, over databases of one kind."""

    seam = "clients"
    one_session = True
    contents: ClassVar[str]
    """The measure that shows everything stored."""

    @abstractmethod
    def database(self, edition: str, relation: str, rows: int) -> D:
        """The database behind a stored relation."""

    @abstractmethod
    def inputs(self, database: D, measure: str, iteration: int) -> object:
        """The inputs of an iteration, as the client draws them."""

    @abstractmethod
    def oracle(self, database: D) -> Oracle:
        """The expected answers in a database, by plain evaluation in memory."""

    def relation_of(self, design: str) -> str:
        """The stored relation of a design."""
        return design

    def input(self, edition: str, rows: int, operation: Operation, variation: int) -> str:
        """The values that the iteration's number determines, as JSON."""
        database = self.database(edition, self.relation_of(operation.design), rows)
        drawn = self.inputs(database, *call_of(operation.texts[variation]))
        return json.dumps(drawn, separators=(",", ":"))

    def answers(self, edition: str, rows: int, relations: Sequence[str]) -> Answers:
        """By plain evaluation in memory."""
        del relations
        return ProgramAnswers(self, edition, rows)


class ProgramAnswers(Generic[D]):
    """The expected answers, each evaluated once, when it is first requested."""

    def __init__(self, benchmark: ProgramBenchmark[D], edition: str, rows: int) -> None:
        self._benchmark = benchmark
        self._edition = edition
        self._rows = rows
        self._oracles: dict[str, Oracle] = {}
        self._known: dict[tuple[str, str], Answer] = {}

    def of(self, operation: Operation, variation: int) -> Answer:
        """(count, checksum) of an iteration; (0, "") of a rung, which sees nothing."""
        relation = self._benchmark.relation_of(operation.design)
        return self._answer(relation, operation.texts[variation])

    def named(self, operation: Operation, variation: int) -> None:
        """Nothing: a client program checks its own writes."""

    def contents(self, relation: str) -> Answer:
        """(count, checksum) of everything stored in a database."""
        return self._answer(relation, f"{self._benchmark.contents} 0")

    def _answer(self, relation: str, text: str) -> Answer:
        if (relation, text) not in self._known:
            if relation not in self._oracles:
                database = self._benchmark.database(self._edition, relation, self._rows)
                self._oracles[relation] = self._benchmark.oracle(database)
            self._known[relation, text] = self._oracles[relation](*call_of(text)) or (0, "")
        return self._known[relation, text]
