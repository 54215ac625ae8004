"""The expected answer of each operation, asked of an oracle once and kept for the run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from loadstone._core import Oracle

if TYPE_CHECKING:
    from loadstone.benchmarks.base import Operation

Answer = tuple[int, str]
"""(rows, checksum); an empty checksum where there is nothing to check."""


class Answers(Protocol):
    """The expected answers at one scale."""

    def of(self, operation: "Operation", variation: int) -> Answer:
        """The expected answer of a variation."""

    def contents(self, relation: str) -> Answer:
        """The answer that shows that a stored relation is as generated."""


class QuelAnswers:
    """Expected answers of operations in QUEL: the oracle evaluates the text over relations that it
    generates."""

    def __init__(self, benchmark: str, edition: str, rows: int, relations: Sequence[str]) -> None:
        self._oracle = Oracle()
        for relation in relations:
            self._oracle.add(benchmark, edition, relation, rows)
        self._known: dict[str, Answer] = {}

    def of(self, operation: "Operation", variation: int) -> Answer:
        """(rows, checksum) expected of a variation."""
        text = operation.texts[variation]
        if text not in self._known:
            self._known[text] = self._oracle.answer(text)
        return self._known[text]

    def contents(self, relation: str) -> Answer:
        """(rows, checksum) of a relation as generated."""
        key = f"contents of {relation}"
        if key not in self._known:
            self._known[key] = self._oracle.contents(relation)
        return self._known[key]
