"""The contract of a benchmark: a paper's database, operations and published numbers, as data.

A benchmark is pure: it sees no engine and no clock. An operation carries its text: QUEL, which an
oracle evaluates and which is translated for each engine; or, where the client program is measured,
too, the name of the client's measure.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from loadstone.benchmarks.expected import Answer, Answers, QuelAnswers
from loadstone.benchmarks.operation import Operation, StoredRelation, table_of
from loadstone.errors import InputError, UnsupportedError
from loadstone.plan.presentation import Presentation
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


@dataclass(frozen=True, slots=True)
class DerivedColumn:
    """A column that the paper derived from two of its systems' times, `before` and `after` a
    change.

    `kind` names the formula: `gain` (before - after) / after and `loss` (after - before) / after,
    in percent; `ratio` before / after; `saved` before - after, in the table's unit; `sampled` is
    `factor` times the time that `before` spends in `functions` (patterns of names), in that unit;
    `throughput`, of a table by users, is the answers a second with one user's as 1.
    `printed`: row's label -> value as printed.
    """

    name: str
    kind: str
    before: str
    after: str
    printed: Mapping[str, float]
    factor: float = 1.0
    functions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table of the paper. `rows` are (label, operation or None, {system: value or text}).

    `scale` is the size of the relations it was measured with, `edition` the edition; empty where
    the benchmark's published numbers have but one.
    """

    number: str
    title: str
    unit: str
    systems: tuple[str, ...]
    rows: tuple[tuple[str, str | None, Mapping[str, float | str]], ...]
    note: str = ""
    scale: int = field(kw_only=True)
    edition: str = ""
    absent: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Row's label -> edition -> why an operation of that edition is not the paper's: then nothing
    stands beside the row."""
    only: Mapping[str, str] = field(default_factory=dict)
    """Term -> value that a variant must read back to be comparable with the table's one design."""
    fixed: bool = False
    """Whether its relations have one size, whatever the scale: it stands beside any."""
    requests: int = 0
    """Of a table of concurrent users: how many each of them sends, one after the other. Its rows'
    operations are as `script@8 users`, its times those until the last user has its answers."""
    place: str = ""
    """The place where the paper's database was, `remote` or `local`; empty where it makes no
    difference."""
    quantity: str = "elapsed"
    """The quantity of its times: `elapsed`, or `cpu`, the processor time of all that work for a
    query."""
    derived: tuple[DerivedColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """A paper's own numbers, kept as data."""

    citation: str
    tables: tuple[PublishedTable, ...]
    systems: Mapping[str, str] = field(default_factory=dict)
    """System -> what it was (machine, memory, disk), as the paper says."""

    @property
    def sampled_operations(self) -> frozenset[str]:
        """Those of rows with a sampled time, beside which today's sampler has enough to say."""
        return frozenset(
            operation.partition("@")[0]
            for table in self.tables
            for column in table.derived
            if column.kind == "sampled"
            for label, operation, _ in table.rows
            if operation is not None and label in column.printed
        )


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
