"""The contract of a benchmark: a paper's database, operations and published numbers, as data.

A benchmark is pure: it sees no engine and no clock. Operations carry their text in QUEL; the
oracle evaluates that text and each engine gets it translated.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A relation in a physical design. Its table is called `<relation>_<design>_<scale>`."""

    relation: str
    design: str
    organisation: str = "heap"
    key: str | None = None
    tiebreaker: str | None = None
    indexes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One measured thing, at one scale.

    `texts` are the variations (the first is the published one), complete QUEL programs ending in
    the one statement that is timed. `undo[i]`, empty for a retrieve, takes back `texts[i]` outside
    the clock. `storage` names the structure the operation is about; an engine without it has a
    declared gap here. `destination` is `relation` (retrieve into), `host`, or `update`.
    """

    name: str
    title: str
    group: str
    query: str
    design: str
    storage: str
    destination: str
    texts: tuple[str, ...]
    undo: tuple[str, ...] = ()
    panels: frozenset[str] = frozenset()
    """Panels that include it: `quick`, `cold` (worth a cold sample in the default panel)."""


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table of the paper. `rows` are (label, operation or None, {system: value or text})."""

    number: str
    title: str
    unit: str
    systems: tuple[str, ...]
    rows: tuple[tuple[str, str | None, Mapping[str, float | str]], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """A paper's own numbers, kept as data."""

    citation: str
    tables: tuple[PublishedTable, ...]
    systems: Mapping[str, str] = field(default_factory=dict)
    """System -> what it was (machine, memory, disk), as the paper says."""


class Benchmark(ABC):
    """A paper's benchmark. Registered by entry point `loadstone.benchmarks`."""

    name: ClassVar[str]
    title: ClassVar[str]
    editions: ClassVar[tuple[str, ...]]
    default_edition: ClassVar[str]
    default_scales: ClassVar[tuple[int, ...]]

    @abstractmethod
    def check_scale(self, edition: str, rows: int) -> None:
        """Raise `InputError` where the edition is not defined at this many rows."""

    @abstractmethod
    def stored_relations(self, edition: str) -> Sequence[StoredRelation]:
        """Every relation in every physical design that some operation needs."""

    @abstractmethod
    def operations(self, edition: str, rows: int) -> Sequence[Operation]:
        """All operations at a scale, in the paper's order. Names are unique."""

    @abstractmethod
    def published(self) -> Published:
        """The paper's own numbers."""

    def describe(self) -> dict[str, Any]:
        """What `loadstone benchmarks` prints."""
        return {"name": self.name, "title": self.title, "editions": list(self.editions)}
