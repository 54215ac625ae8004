"""The contract of a client: a calling program with one engine at the other side of its seam.

A worker process owns one such object and calls

    start -> load -> [measure]* -> remove

with `stop`/`start` around every cold sample. The measures are OO1's (`docs/oo1.md`; the names
are those of `_core.client_measures`); the program's loop is written once in Rust, and once in
Python for engines that have only a Python interface. The client is named in every result.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from loadstone._core import Tally, client_measures
from loadstone.engines.base import Capabilities, Structure, System
from loadstone.errors import UnsupportedError
from loadstone.machine.counters import Work

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant


@dataclass(frozen=True, slots=True)
class Database:
    """OO1's database: so many parts, by the literal rule, with locality or without."""

    parts: int
    locality: bool = True
    seed: int = 1


NONE = Database(200)
"""Before one is expected: the engine can be opened and asked for its terms, no more."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of a measure. `commit_ns` is the part of the time that the commit took; `calls` went
    from the program into the client, `statements` from the client to the engine, in so many
    `round_trips` to a server, each counted where it is made (None: there are none to count);
    `visits` and `checksum` are the answer. `work` is that of the elapsed time alone: neither the
    look at what a measure wrote nor its taking back."""

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
    """What concurrent users got: a tally of all look-ups, one of all inserts; and how many
    connections of inserted parts were found from both ends afterwards. A link that is not is an
    error."""

    elapsed_ns: int
    lookups: Tally
    inserts: Tally
    links_checked: int
    work: Work


class Client(System):
    """A system under test behind a calling program. Not shared between threads.

    Errors: `EngineError` with the engine's own message; `UnsupportedError` for a measure that the
    engine has no means for.
    """

    language: ClassVar[str]
    """The language of the calling program: rust or python."""

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self.database = NONE

    def expect(self, database: Database) -> None:
        """The database that is there, or will be loaded: it draws the measures' inputs."""
        self.database = database

    @abstractmethod
    def load(self) -> int:
        """Create the database in place of any other, indexes and the last commit included.
        Returns elapsed ns."""

    @abstractmethod
    def measure(self, measure: str, iteration: int) -> Measured:
        """Run a measure once; what it wrote is taken back outside its clock."""

    def users(
        self, readers: int, writers: int, duration_ns: int, starts_ns: Sequence[int] | None
    ) -> Served:
        """Concurrent users, each a thread of the program with a client of its own, one part a
        request, which readers look up and writers insert: a closed loop, or an open one whose
        requests are due at `starts_ns`, for readers and for writers. Raises `EngineError` where a
        connection of an inserted part is not found from both ends."""
        del readers, writers, duration_ns, starts_ns
        raise UnsupportedError(f"{self.name}: one user at a time")

    def settle(self) -> None:
        """Whatever the engine wants done after loading, before the first measure."""


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
    """What a client declares: measures without those in `gaps`, and tactics, defaults first."""
    return Capabilities(structures(gaps), tactics, answers=answers)
