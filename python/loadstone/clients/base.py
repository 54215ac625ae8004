"""The contract of a client: a program that calls one engine.

A worker process owns one client object and calls

    start -> expect -> load -> [measure]* -> remove

with `stop`/`start` around every cold sample. What it loads and which measures it has are a
benchmark's: the database comes with each request, and a client that has no program for it says so.
Every result names its client.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from loadstone._core import Tally
from loadstone.benchmarks.base import ProgramDatabase
from loadstone.engines.system import System
from loadstone.errors import UnsupportedError
from loadstone.machine.counters import Work

ONE_USER = "one user at a time"
"""The reason of a client whose program has no concurrent users."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of a measure.

    `commit_ns` is the commit's part of the time; `calls` went from the client into its driver,
    `statements` from the driver to the engine, in `round_trips` to a server, each counted where it
    is made (None: there are none to count); `log_bytes` are those that the engine counts of its own
    log (None: it shows none); `visits` and `checksum` are the answer. `work` covers
    the elapsed time alone, without checking and undoing writes.
    """

    elapsed_ns: int
    commit_ns: int
    visits: int
    checksum: str
    calls: int
    statements: int | None
    round_trips: int | None
    log_bytes: int | None
    work: Work


@dataclass(frozen=True, slots=True)
class Served:
    """The result of concurrent users: a tally of all reads, one of all writes; and how many things
    that were written were found afterwards, as the benchmark counts them: OO1's links from both
    ends, OO7's changes of atomic parts. A missing one is an error."""

    elapsed_ns: int
    reads: Tally
    writes: Tally
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

    @abstractmethod
    def expect(self, database: ProgramDatabase) -> None:
        """The database that exists, or will be loaded: it determines the measures' inputs. Raises
        `UnsupportedError` for one of a benchmark that the client has no program for."""

    @abstractmethod
    def load(self) -> int:
        """Create the database in place of any other, indexes and the last commit included.
        Returns elapsed ns."""

    @abstractmethod
    def measure(self, measure: str, iteration: int) -> Measured:
        """Run a measure once; its writes are undone outside its clock."""

    def users(
        self,
        readers: int,
        writers: int,
        duration_ns: int,
        starts_ns: Sequence[int] | None,
        measures: tuple[str, str] | None = None,
    ) -> Served:
        """Run concurrent users, each a thread with a driver of its own, one thing a request:
        readers of the first of `measures` and writers of the second, by default those that the
        benchmark mixes. A closed loop, or an open one whose requests are due at `starts_ns`, for
        readers and for writers.

        Raises `EngineError` if something that was acknowledged is not found.
        """
        del readers, writers, duration_ns, starts_ns, measures
        raise UnsupportedError(f"{self.name}: {self.capabilities.one_user or ONE_USER}")

    def documented(self) -> Mapping[str, str]:
        """Facts of the engine that the benchmark requests, and that no interface reports: from its
        documentation, as settings of its variant."""
        return {}

    def settle(self) -> None:
        """The engine's own work after loading, before the first measure."""
