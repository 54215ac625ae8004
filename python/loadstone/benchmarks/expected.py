"""The expected answer of each operation, asked of an oracle once and kept for the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from loadstone._core import Oracle, answer_of_rows, attributes

if TYPE_CHECKING:
    from loadstone.benchmarks.operation import Operation

Answer = tuple[int, str]
"""(rows, checksum); an empty checksum where there is nothing to check."""

_MODULUS = 2**64
"""Checksums are sums of those of the rows."""


@dataclass(frozen=True, slots=True)
class NamedAnswer:
    """The answer expected of the tuples that an update concerns, and of the number of all:
    `queries` are to be answered after it, and `checksum` is the sum of theirs."""

    queries: tuple[str, ...]
    checksum: str


class Answers(Protocol):
    """The expected answers at one scale."""

    def of(self, operation: "Operation", variation: int) -> Answer:
        """The expected answer of a variation."""

    def named(self, operation: "Operation", variation: int) -> NamedAnswer | None:
        """The tuples that an update concerns, as it leaves them; None where its text does not say
        which those are."""

    def contents(self, relation: str) -> Answer:
        """The answer that shows that a stored relation is as generated."""


class QuelAnswers:
    """Expected answers of operations in QUEL: the oracle evaluates the text over relations that it
    generates."""

    def __init__(self, benchmark: str, edition: str, rows: int, relations: Sequence[str]) -> None:
        self._oracle = Oracle()
        self._edition = (benchmark, edition)
        for relation in relations:
            self._oracle.add(benchmark, edition, relation, rows)
        self._known: dict[str, Answer] = {}
        self._named: dict[tuple[str, str], NamedAnswer | None] = {}

    def of(self, operation: "Operation", variation: int) -> Answer:
        """(rows, checksum) expected of a variation."""
        text = operation.texts[variation]
        if text not in self._known:
            self._known[text] = self._oracle.answer(text)
        return self._known[text]

    def named(self, operation: "Operation", variation: int) -> NamedAnswer | None:
        """By the difference that the update makes to the whole relation: all of it is among these
        tuples."""
        key = (operation.texts[variation], operation.undo[variation])
        if key not in self._named:
            self._named[key] = self._named_by(operation, variation)
        return self._named[key]

    def _named_by(self, operation: "Operation", variation: int) -> NamedAnswer | None:
        # Only updates need the language, and the trees of their texts.
        from loadstone.quel.named_tuples import named_tuples

        tuples = named_tuples(operation.texts[variation], operation.undo[variation])
        if tuples is None:
            return None
        changed, after = self.of(operation, variation)
        rows, before = self.contents(tuples.relation)
        _, among = self._oracle.answer(tuples.query)
        _, counted = answer_of_rows([(rows + tuples.growth * changed,)])
        expected = int(after, 16) - int(before, 16) + int(among, 16) + int(counted, 16)
        attribute, _ = attributes(*self._edition, tuples.relation)[0]
        queries = (tuples.query, tuples.cardinality(attribute))
        return NamedAnswer(queries, f"{expected % _MODULUS:016x}")

    def contents(self, relation: str) -> Answer:
        """(rows, checksum) of a relation as generated."""
        key = f"contents of {relation}"
        if key not in self._known:
            self._known[key] = self._oracle.contents(relation)
        return self._known[key]
