"""The abilities that a system may have beyond the contract of `system.py` and `base.py`.

Each is a small protocol, which a caller tests by `isinstance`: a system has the ability when it
defines the methods, and inherits nothing. Where it lacks one, the caller does without, or reports a
gap. For the abilities of a class there are functions at the end of this file.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from loadstone.engines.capabilities import Generated, Table, Work
from loadstone.engines.ownership import Hold, Leftover
from loadstone.engines.system import Probe

if TYPE_CHECKING:
    from loadstone._core import StatementUsers
    from loadstone.plan.variant import Variant


@runtime_checkable
class Interruptible(Protocol):
    """A statement can be ended while it is executed; another comes to its end."""

    def interrupt(self) -> None:
        """End the statement that another thread is in: it raises there, and nothing of it is kept.
        Called again until that has happened, since the statement may not have begun."""


@runtime_checkable
class Guarded(Protocol):
    """A user's database there has functions that a statement could call."""

    def admit(self, statement: str, *, changes: bool) -> None:
        """Check, before it is timed, that a statement does nothing in a user's database that it
        must not; `changes`: it is for `run`, else for `fetch`. These check it, too, if it was not
        checked here. Raises `EngineError`."""


@runtime_checkable
class RemovesDead(Protocol):
    """A change leaves dead tuples, which a background program would remove that is off here."""

    def remove_dead(self, table: str, changed: int) -> None:
        """So many tuples of a table were changed since the last call, whether or not that was
        rolled back: remove what they left, if the program would have by now. Outside the clock."""


@runtime_checkable
class Distributed(Protocol):
    """Its own processes make and read the parts of a relation."""

    def generate(self, table: Table, source: Generated) -> int | None:
        """As `load`, of rows that the engine's processes make. None, and nothing done, where they
        cannot: then it is given the rows."""

    def checksum(self, table: str) -> tuple[int, str] | None:
        """(tuples, checksum) of a table of ours, added up where its rows are; None where they must
        come here by `contents`. The checksum of a relation is the sum of those of its parts, modulo
        2^64, in 16 hexadecimal digits."""


@runtime_checkable
class CountsWork(Protocol):
    """It counts its own work. Read outside the clock, around each sample."""

    def work(self) -> Work:
        """Its counts so far."""

    def phases(self) -> Mapping[str, int]:
        """The time of all statements so far, ns by the name of each phase: phases that follow upon
        one another, so that they add up."""


@runtime_checkable
class SeparateRelations(Protocol):
    """It keeps its catalogs in other files than our data, and reads all through the page cache, in
    which its reads of our data then show."""

    def relation_files(self) -> Sequence[Path]:
        """The `files` that hold our relations and indexes and nothing else. Empty where that is not
        so with these tactics."""


@runtime_checkable
class CountsCached(Protocol):
    """It counts the pages in its own memory by the file of each; else they are bounded from
    outside."""

    def cached_bytes(self) -> int | None:
        """Bytes of our relations in its own memory; None where it cannot tell. Asked once it is
        open, and must bring in none itself."""


@runtime_checkable
class ReadsHeaders(Protocol):
    """Opening it reads what holds no tuple by the file's format: headers, the start of the
    catalog. All other bytes that opening reads count as data."""

    def header_bytes(self) -> int:
        """Those bytes of `files`."""


@runtime_checkable
class RustUsers(Protocol):
    """Concurrent users can be in Rust, where no interpreter makes them wait for each other."""

    def users(self) -> "AbstractContextManager[StatementUsers]":
        """Users, each with a session of the same database under the same tactics. Until the context
        ends, the engine itself is asked nothing: it may be stopped. Raises `UnsupportedError` where
        they must be threads of Python after all, by `another`."""


@runtime_checkable
class BareRequests(Protocol):
    """It takes requests that read no data."""

    def ask_nothing(self) -> None:
        """An empty request, to the engine and back. Timed."""

    def ask_constant(self) -> None:
        """Execute a statement that gives a constant, and that stays prepared from its first
        execution on. Timed."""


@runtime_checkable
class Plans(Protocol):
    """It can plan a statement without executing it."""

    def plan(self, statement: str, query: str) -> None:
        """Parse a statement and plan it, as `run` does each time. `query` is what a statement that
        makes a relation retrieves, else the statement. Timed."""


@runtime_checkable
class KeepsPlans(Protocol):
    """It keeps the plan of a query, and can plan it anew."""

    def count(self, query: str, *, planned: bool) -> int:
        """The number that a query answers with. `planned`: the query is parsed and planned as if it
        had never been asked before. Timed."""


@runtime_checkable
class RollsBack(Protocol):
    """It has transactions of several statements."""

    def taken_back(self) -> AbstractContextManager[None]:
        """All statements until its end are one transaction, which is then rolled back."""


@runtime_checkable
class OwnTimes(Protocol):
    """It reports the times of a statement itself."""

    def own_times(self, statement: str) -> Mapping[str, int]:
        """The engine's own times of one execution: ns by a name that says what is timed, `planning`
        and `execution` where it has these. It executes the statement, within a transaction that is
        rolled back."""


@runtime_checkable
class Probed(Protocol):
    """It can do something but start, or fail to, so that the doctor tries it."""

    def probe(self, scratch: Path) -> Probe | None:
        """Try, in an empty folder of ours, whether the engine starts as this user; what that makes
        is removed again. Raises nothing: that it does not start is the answer."""


@runtime_checkable
class LeavesProcesses(Protocol):
    """A killed worker leaves its server running."""

    def abandon(self, scratch: Path) -> Sequence[int]:
        """End the processes that a killed worker left running for this scratch folder, and remove
        its objects outside of it. Returns the process ids that were ended. Knows no variant and no
        owner: the folder shows."""


@runtime_checkable
class UsersDatabase(Protocol):
    """It works in a user's database, where its objects bear a mark."""

    def sweep(self, variant: "Variant") -> Sequence[Leftover]:
        """Our objects of earlier runs there, recognised by the mark."""

    def clear(self, variant: "Variant", leftover: Leftover) -> None:
        """Remove one thing that `sweep` found, after looking at its mark once more."""

    def hold(self, variant: "Variant", owner: str) -> Hold:
        """Mark there that this run lives, so that `clean`, on any machine, spares it; from before
        the engine starts there until it has removed its objects. Raises `EngineError`."""


@runtime_checkable
class UsersServer(Protocol):
    """A statement goes on in a user's server when its client is gone."""

    def end_sessions(self, variant: "Variant", owner: str) -> None:
        """End the sessions that a killed worker left there. Raises `EngineError`."""


@runtime_checkable
class Lacking(Protocol):
    """Other releases of it lack tactics."""

    def lacking(self) -> Collection[str]:
        """The tactics that cannot be switched in the release that this process has."""


def lacking(kind: object) -> Collection[str]:
    """The tactics that an engine's class lacks in its present release."""
    return kind.lacking() if isinstance(kind, Lacking) else ()


def probe(kind: object, scratch: Path) -> Probe | None:
    """Try whether an engine of this class starts; None where it can do nothing but start."""
    return kind.probe(scratch) if isinstance(kind, Probed) else None


def users_database(kind: object) -> UsersDatabase | None:
    """An engine's class, if it leaves marked objects in a user's database."""
    return kind if isinstance(kind, UsersDatabase) else None


def end_sessions(kind: object, variant: "Variant", owner: str) -> None:
    """End the sessions that a killed worker left in a user's server."""
    if isinstance(kind, UsersServer):
        kind.end_sessions(variant, owner)


def processes_ended(kind: object, scratch: Path) -> Sequence[int]:
    """End what a killed worker of an engine's class left running. Returns the process ids."""
    return kind.abandon(scratch) if isinstance(kind, LeavesProcesses) else ()
