"""The contract of a benchmark: a paper's database, operations and published numbers, as data.

A benchmark is pure: it sees no engine and no clock. An operation carries its text: QUEL, which an
oracle evaluates and which is translated for each engine; or, where the client program is measured,
too, the name of the client's measure.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from loadstone.benchmarks.expected import Answer, Answers, QuelAnswers
from loadstone.benchmarks.operation import Operation, StoredRelation, table_of
from loadstone.errors import InputError, UnsupportedError
from loadstone.plan.presentation import Presentation
from loadstone.plan.published import Published, PublishedTable
from loadstone.plan.workload import Workload

__all__ = [
    "Answer",
    "Answers",
    "Benchmark",
    "Operation",
    "Presentation",
    "ProgramDatabase",
    "Published",
    "PublishedTable",
    "StoredRelation",
    "table_of",
]


class ProgramDatabase(Protocol):
    """The database that a client program makes and asks: a frozen value, equal to one of equal
    contents. Its other fields are between a benchmark and its clients."""

    @property
    def tuples(self) -> int:
        """Records in the database once it is loaded."""


class Benchmark(ABC):
    """A paper's benchmark. Registered by entry point `loadstone.benchmarks`."""

    name: ClassVar[str]
    title: ClassVar[str]
    editions: ClassVar[tuple[str, ...]]
    default_edition: ClassVar[str]
    skewed_editions: ClassVar[Mapping[str, str]] = {}
    """Its editions of skewed data, by the name of the distribution."""
    default_scales: ClassVar[tuple[int, ...]]
    year: ClassVar[int] = 9999
    """Of the paper: a run of all benchmarks begins with the oldest."""
    default_variants: ClassVar[tuple[str, ...]] = ("sqlite", "duckdb", "postgresql")
    study_on: ClassVar[str] = ""
    """The variant whose switches a study varies where the user names none; empty: the user must."""
    study_vary: ClassVar[tuple[str, ...]] = ()
    """The switches of a study of `study_on` where the user names none, as `Choices.vary`; empty:
    what its engine declares."""
    study_scales: ClassVar[tuple[int, ...]] = ()
    """The scales of a study in the default edition; empty: the first default one."""
    seam: ClassVar[str] = "engines"
    """The way in which it reaches a system under test: `engines` execute statements, `clients` run
    its program."""
    cold_samples: ClassVar[int] = 3
    """Samples of a cold cell, where the user does not choose."""
    mixed: ClassVar[tuple[str, str] | None] = None
    """The operations of concurrent readers and writers, which are also the measures of a client's
    users; None where no mix is defined."""
    contents: ClassVar[str] = ""
    """The client's measure that reads a whole database: its answer is `Answers.contents`."""
    one_session: ClassVar[bool] = False
    """Whether the paper has all planned samples of a cell taken in one session of the engine."""

    workload: Workload | None = None
    """A user's own, which its plan keeps; None for a paper's."""

    @abstractmethod
    def check_scale(self, edition: str, rows: int) -> None:
        """Raise `InputError` where the edition is not defined at this many rows."""

    def check_unchanged(self) -> None:
        """Raise `InputError` where it is made of files, and they are not those of its plan. That of
        a paper is made of none."""
        return

    def check_edition(self, edition: str) -> None:
        """Raise `InputError` where there is no such edition."""
        if edition not in self.editions:
            known = " and ".join(self.editions)
            raise InputError(
                f"benchmark {self.name} has no edition {edition!r}", hint=f"it has {known}"
            )

    @abstractmethod
    def stored_relations(self, edition: str) -> Sequence[StoredRelation]:
        """Every relation in every physical design that some operation needs."""

    def stages(self, edition: str) -> Sequence[frozenset[str]]:
        """The designs that are loaded at the same time, in the order of measuring; every design is
        in one stage.

        More than one where a system holds one database at a time: each replaces the one before.
        Sizes and load times are of the first.
        """
        return (frozenset(item.design for item in self.stored_relations(edition)),)

    tuple_s: ClassVar[float] = 0.5e-6
    """About how long an operation takes for each tuple of the scale, in the mean of all engines and
    operations: for the same estimate."""

    def calls(self, operation: Operation) -> int:
        """About how many calls of its engine one execution of an operation is, where a client
        program makes them: for the estimate of a run's time."""
        del operation
        return 1

    def commits(self, operation: Operation) -> int:
        """The number of commits that one execution makes one after another, where it is more than
        one transaction: for the same estimate."""
        del operation
        return 0

    @abstractmethod
    def operations(self, edition: str, rows: int) -> Sequence[Operation]:
        """All operations at a scale, in the paper's order. Names are unique."""

    def input(self, edition: str, rows: int, operation: Operation, variation: int) -> str:
        """A variation's input, constants included: its text, unless that only names the input."""
        del edition, rows
        return operation.texts[variation]

    def database(self, edition: str, relation: str, rows: int) -> ProgramDatabase:
        """The database behind a stored relation, for the client program that makes it. Raises
        `UnsupportedError` where engines execute statements."""
        raise UnsupportedError(f"{self.name}: no client makes {relation} of {edition} at {rows:,}")

    def presentation(self) -> Presentation:
        """Its words, how its counts are to be read, its cost ladder: what reports know of it."""
        return Presentation(self.name.capitalize())

    @abstractmethod
    def published(self) -> Published:
        """The paper's own numbers."""

    def answers(self, edition: str, rows: int, relations: Sequence[str]) -> Answers:
        """The expected answers at a scale, over the relations that were loaded."""
        return QuelAnswers(self.name, edition, rows, relations)

    def describe(self) -> dict[str, Any]:
        """The text that `loadstone benchmarks` prints."""
        return {"name": self.name, "title": self.title, "editions": list(self.editions)}
