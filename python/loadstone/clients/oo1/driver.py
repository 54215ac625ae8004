"""The contract between OO1's loops in Python and an engine: as `crates/clients/src/oo1/driver.rs`
does in Rust."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.clocked import Transactions
from loadstone.errors import UnsupportedError

DEPTH = 7
"""Levels of a traversal below its start."""
PLACE_MAX = 99_999
"""Largest x and y: an update replaces them by their difference from it."""
BUILD_SUM_S = 2 * 315_532_800 + 3_653 * 86_400 - 1
"""First and last second of build times: an update replaces a time by its difference from this."""

Row = Sequence[Any]
"""A part (id, x, y, type), or a connection (from, to, length, type)."""
NewPart = tuple[int, int, int, str, int, Sequence[tuple[int, int, str]]]
"""(id, x, y, type, build, three times (to, length, type))."""


class Driver(Transactions):
    """An engine as the client sees it; every call is one interaction of OO1.

    A handle is the engine's name of a part that the client reached: an object, an id.
    """

    @abstractmethod
    def load(self, database: Database) -> None:
        """Create the database in place of any other, durable at return."""

    @abstractmethod
    def find(self, number: int) -> tuple[Any, Row]:
        """Handle and content of a part, by its id. `LookupError` where there is none."""

    @abstractmethod
    def read(self, handle: Any) -> Row:
        """The part that a handle names: one call for each visit."""

    @abstractmethod
    def links(self, handle: Any) -> Iterable[Any]:
        """The parts that a part is connected to, repeated ones repeated, in any order."""

    @abstractmethod
    def links_back(self, handle: Any) -> Iterable[Any]:
        """The parts that are connected to it."""

    def links_in_order(self, handle: Any) -> Iterable[Any]:
        """Those that it is connected to, in ascending (length, to)."""
        raise UnsupportedError(f"{type(self).__name__} keeps no order: {handle!r}")

    @abstractmethod
    def range(self, first_s: int, end_s: int) -> Iterable[Row]:
        """The parts with a build time from `first_s` to before `end_s`."""

    @abstractmethod
    def scan(self) -> Iterable[Row]:
        """(x, y) of all parts."""

    @abstractmethod
    def reference(self, origin: int, target: int) -> Row:
        """The part that a connection leads to, by way of it, once even if it is repeated."""

    @abstractmethod
    def group(self, number: int) -> Iterable[Row]:
        """The three connections of a part."""

    @abstractmethod
    def insert(self, new: NewPart) -> None:
        """A new part and its three connections, all access paths maintained."""

    @abstractmethod
    def update(self, number: int) -> None:
        """Turn a part's x, y and build time over: twice is as before."""

    @abstractmethod
    def remove(self, first: int, last: int) -> None:
        """Delete the parts of these ids with their connections, which are all that touch them."""

    def find_batch(self, numbers: Sequence[int]) -> Iterable[Row]:
        """The parts of these ids in one call, repeated ones repeated."""
        raise UnsupportedError(f"{type(self).__name__} takes one of {len(numbers)} keys at a time")

    def traverse_batch(self, start: int, depth: int, *, back: bool) -> Iterable[Row]:
        """A traversal in one call, or one a level: every path counted, the start included."""
        raise UnsupportedError(f"{type(self).__name__} cannot go {depth} deep: {start}, {back}")

    def nothing(self) -> int:
        """The ladder's first rung: a call that reaches the driver and no further."""
        return 0

    def empty(self) -> None:
        """The second: the smallest request to the engine itself."""
        raise UnsupportedError(f"{type(self).__name__} has no statements")

    def constant(self) -> int:
        """The third: a constant fetched from the engine."""
        raise UnsupportedError(f"{type(self).__name__} has no statements")
