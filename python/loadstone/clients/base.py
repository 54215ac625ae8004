"""The contract of a client: a program that calls one engine.

A worker process owns one client object and calls

    start -> load -> [measure]* -> remove

with `stop`/`start` around every cold sample. The measures are OO1's (`docs/oo1.md`; the names are
those of `_core.client_measures`); their loop is written once in Rust, and once in Python for
engines that have only a Python interface. Every result names its client.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from loadstone._core import Tally, client_measures
from loadstone.benchmarks.oo1.database import Database as Database
from loadstone.engines.base import Capabilities, Structure, System
from loadstone.errors import UnsupportedError
from loadstone.machine.counters import Work

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant


NONE = Database(200)
"""Before one is expected: the engine can be opened and asked for its terms, no more."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of a measure.

    `commit_ns` is the commit's part of the time; `calls` went from the client into its driver,
    `statements` from the driver to the engine, in `round_trips` to a server, each counted where it
    is made (None: there are none to count); `visits` and `checksum` are the answer. `work` covers
    the elapsed time alone, without checking and undoing writes.
    """

    elapsed_ns: int
    commit_ns: int
    visits: int
    checksum: str
    calls: int
    statements: int | None
    round_trips: int | None
    work: Work


@dataclass(frozen=True, slots=True)
class Served:
    """The result of concurrent users: a tally of all look-ups, one of all inserts; and how many
    connections of inserted parts were found from both ends afterwards. A missing one is an
    error."""

    elapsed_ns: int
    lookups: Tally
    inserts: Tally
    links_checked: int
    work: Work


class Client(System):
    """A system under test, called by a client.

    Not shared between threads. Errors: `EngineError` with the engine's own message;
    `UnsupportedError` for a measure that the engine cannot execute.
    """

    language: ClassVar[str]
    """The language of the client: rust or python."""
    library: ClassVar[str] = ""
    """The source of the engine's library, if `versions` is empty."""

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self.database = NONE

    def expect(self, database: Database) -> None:
        """The database that exists, or will be loaded: it determines the measures' inputs."""
        self.database = database

    @abstractmethod
    def load(self) -> int:
        """Create the database in place of any other, indexes and the last commit included.
        Returns elapsed ns."""

    @abstractmethod
    def measure(self, measure: str, iteration: int) -> Measured:
        """Run a measure once; its writes are undone outside its clock."""

    def users(
        self, readers: int, writers: int, duration_ns: int, starts_ns: Sequence[int] | None
    ) -> Served:
        """Run concurrent users, each a thread with a driver of its own, one part a request, which
        readers look up and writers insert: a closed loop, or an open one whose requests are due at
        `starts_ns`, for readers and for writers.

        Raises `EngineError` if a connection of an inserted part is not found from both ends.
        """
        del readers, writers, duration_ns, starts_ns
        raise UnsupportedError(f"{self.name}: one user at a time")

    def settle(self) -> None:
        """The engine's own work after loading, before the first measure."""


def structures(gaps: Mapping[str, str]) -> Mapping[str, Structure]:
    """The capabilities of a client: all measures, but those with a reason in `gaps`."""
    return {
        measure: Structure(measure not in gaps, gaps.get(measure, ""))
        for measure in client_measures()
    }


def capabilities(
    gaps: Mapping[str, str],
    tactics: Mapping[str, tuple[str, ...]],
    *,
    answers: bool = True,
) -> Capabilities:
    """The declaration of a client: measures without those in `gaps`, and tactics, defaults
    first."""
    return Capabilities(structures(gaps), tactics, answers=answers)
