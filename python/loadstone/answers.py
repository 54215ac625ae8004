"""What each operation must answer, asked of the oracle once and kept for the run."""

from loadstone._core import Oracle
from loadstone.benchmarks.base import Operation

Answer = tuple[int, str]
"""(rows, checksum)"""


class ExpectedAnswers:
    """The oracle's answers at one scale; relations are generated when first needed."""

    def __init__(self, benchmark: str, edition: str, rows: int, relations: list[str]) -> None:
        self._oracle = Oracle()
        for relation in relations:
            self._oracle.add(benchmark, edition, relation, rows)
        self._known: dict[str, Answer] = {}

    def of(self, operation: Operation, variation: int) -> Answer:
        """(rows, checksum) that a variation must give."""
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
