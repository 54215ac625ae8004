"""OO1's measures in Python, each written once over `Driver`: the counterpart of
`crates/clients/src/oo1/loops.rs`.

Inside the clock: the transaction around the measure, the calls, the null procedure, and storing the
visited parts. Outside: drawing inputs, the checksum of the visits, checking a measure's writes
(which is its answer), and undoing them. Counters cover the inside.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from loadstone import _core
from loadstone._core import clock_ns
from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.base import Measured
from loadstone.errors import UnsupportedError
from loadstone.machine.counters import Meter

DEPTH = 7
RUNG_CALLS = 1000
PLACE_MAX = 99_999
"""Largest x and y: an update replaces them by their difference from it."""
BUILD_SUM_S = 2 * 315_532_800 + 3_653 * 86_400 - 1
"""First and last second of build times: an update replaces a time by its difference from this."""

Row = Sequence[Any]
"""A part (id, x, y, type), or a connection (from, to, length, type)."""
NewPart = tuple[int, int, int, str, int, Sequence[tuple[int, int, str]]]
"""(id, x, y, type, build, three times (to, length, type))."""
Visited = list[Row]


class Driver(ABC):
    """An engine as the client sees it; every call is one interaction of OO1.

    A handle is the engine's name of a part that the client reached: an object, an id. Its
    exceptions pass through; the client turns them into an `EngineError`.
    """

    @abstractmethod
    def begin(self) -> None:
        """Before the first read of a measure, inside the clock."""

    @abstractmethod
    def end(self) -> None:
        """After the last read, inside the clock."""

    @abstractmethod
    def load(self, database: Database) -> None:
        """Create the database in place of any other, durable at return."""

    @abstractmethod
    def settle(self) -> None:
        """The engine's own work after loading; no clock runs."""

    @abstractmethod
    def terms(self) -> Mapping[str, str]:
        """The terms, read back from the engine."""

    @abstractmethod
    def close(self) -> None:
        """Close the engine, its files included."""

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
    def begin_write(self) -> None:
        """Begin to write, inside the clock."""

    @abstractmethod
    def insert(self, new: NewPart) -> None:
        """A new part and its three connections, all access paths maintained."""

    @abstractmethod
    def update(self, number: int) -> None:
        """Turn a part's x, y and build time over: twice is as before."""

    @abstractmethod
    def remove(self, first: int, last: int) -> None:
        """Delete the parts of these ids with their connections, which are all that touch them."""

    @abstractmethod
    def commit(self) -> None:
        """Make what was written since `begin_write` durable."""

    @abstractmethod
    def rollback(self) -> None:
        """Give up what was written since `begin_write`."""

    def find_batch(self, numbers: Sequence[int]) -> Iterable[Row]:
        """The parts of these ids in one call, repeated ones repeated."""
        raise UnsupportedError(f"{type(self).__name__} takes one of {len(numbers)} keys at a time")

    def traverse_batch(self, start: int, depth: int, *, back: bool) -> Iterable[Row]:
        """A traversal in one call, or one a level: every path counted, the start included."""
        raise UnsupportedError(f"{type(self).__name__} cannot go {depth} deep: {start}, {back}")

    def sent(self) -> int | None:
        """Statements executed since it was opened; None for an engine without statements."""
        return None

    def nothing(self) -> int:
        """The ladder's first rung: a call that reaches the driver and no further."""
        return 0

    def empty(self) -> None:
        """The second: the smallest request to the engine itself."""
        raise UnsupportedError(f"{type(self).__name__} has no statements")

    def constant(self) -> int:
        """The third: a constant fetched from the engine."""
        raise UnsupportedError(f"{type(self).__name__} has no statements")


def null(x: int, y: int, kind: str) -> None:
    """OO1's null procedure in the client's language."""


def supply(new: NewPart) -> NewPart:
    """OO1 has the program's own procedure make x and y of each new part."""
    return new


def run(driver: Driver, database: Database, measure: str, iteration: int) -> Measured:
    """Run a measure once. Its writes are undone before it returns."""
    inputs = _core.oo1_inputs(database.parts, database.seed, database.locality, measure, iteration)
    return MEASURES[measure](driver, inputs)


def _reading(driver: Driver, read: Callable[[Visited], int], kind: str = "part") -> Measured:
    """Read inside one clock and one read transaction; `read` returns the number of its calls."""
    visited: Visited = []
    sent = driver.sent()
    meter = Meter(())
    start_ns = clock_ns()
    driver.begin()
    try:
        calls = read(visited)
    finally:
        driver.end()
    elapsed_ns = clock_ns() - start_ns
    work = meter.read()
    statements = _statements(sent, driver.sent())
    answer = _core.oo1_checksum(kind, visited)
    return Measured(elapsed_ns, 0, *answer, calls, statements, None, None, work)


def _statements(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _lookup(driver: Driver, numbers: list[int]) -> Measured:
    def read(visited: Visited) -> int:
        find, keep = driver.find, visited.append
        for number in numbers:
            part = find(number)[1]
            null(part[1], part[2], part[3])
            keep(part)
        return len(numbers)

    return _reading(driver, read)


def _traversal(
    driver: Driver, start: int, links: Callable[[Any], Iterable[Any]], kind: str = "part"
) -> Measured:
    """Depth first, duplicates kept."""

    def read(visited: Visited) -> int:
        fetch, keep = driver.read, visited.append

        def descend(handle: Any, depth: int) -> int:
            expanded = 1
            for following in links(handle):
                part = fetch(following)
                null(part[1], part[2], part[3])
                keep(part)
                if depth > 1:
                    expanded += descend(following, depth - 1)
            return expanded

        handle, part = driver.find(start)
        null(part[1], part[2], part[3])
        keep(part)
        expanded = descend(handle, DEPTH)
        return len(visited) + expanded

    return _reading(driver, read, kind)


def _one_call(driver: Driver, ask: Callable[[], Iterable[Row]]) -> Measured:
    def read(visited: Visited) -> int:
        keep = visited.append
        for part in ask():
            null(part[1], part[2], part[3])
            keep(part)
        return 1

    return _reading(driver, read)


def _scan(driver: Driver, inputs: list[Any]) -> Measured:
    del inputs

    def read(visited: Visited) -> int:
        keep = visited.append
        for point in driver.scan():
            null(point[0], point[1], "")
            keep(point)
        return 1

    return _reading(driver, read, "point")


def _reference(driver: Driver, ends: list[tuple[int, int]]) -> Measured:
    def read(visited: Visited) -> int:
        refer, keep = driver.reference, visited.append
        for origin, target in ends:
            part = refer(origin, target)
            null(part[1], part[2], part[3])
            keep(part)
        return len(ends)

    return _reading(driver, read)


def _group(driver: Driver, numbers: list[int]) -> Measured:
    def read(visited: Visited) -> int:
        group, keep = driver.group, visited.append
        for number in numbers:
            for link in group(number):
                null(link[2], link[1], link[3])
                keep(link)
        return len(numbers)

    return _reading(driver, read, "link")


def _writing(driver: Driver, write: Callable[[], None], calls: int) -> Measured:
    """Write inside one clock. The answer is read afterwards."""
    sent = driver.sent()
    meter = Meter(())
    start_ns = clock_ns()
    written = False
    try:
        driver.begin_write()
        write()
        written_ns = clock_ns()
        driver.commit()
        written = True
        ended_ns = clock_ns()
        work = meter.read()
    finally:
        if not written:
            driver.rollback()
    statements = _statements(sent, driver.sent())
    commit_ns = ended_ns - written_ns
    return Measured(ended_ns - start_ns, commit_ns, 0, "", calls, statements, None, None, work)


def _take_back(driver: Driver, write: Callable[[], None]) -> None:
    """Undo a measure's writes, outside clock and counters."""
    _writing(driver, write, 0)


def _insert(driver: Driver, parts: list[NewPart]) -> Measured:
    def write() -> None:
        for new in parts:
            driver.insert(supply(new))

    written = _writing(driver, write, len(parts))
    try:
        visits, checksum = _look(driver, lambda: _inserted(driver, parts))
    finally:
        _take_back(driver, lambda: driver.remove(parts[0][0], parts[-1][0]))
    return replace(written, visits=visits, checksum=checksum)


def _inserted(driver: Driver, parts: list[NewPart]) -> tuple[Visited, Visited]:
    """Each new part by id, by build time, and with its neighbours both ways: every access path."""
    visited: Visited = []
    links: Visited = []
    for number, _, _, _, build_s, ends in parts:
        handle, part = driver.find(number)
        visited.append(part)
        visited.extend(driver.read(at) for at in driver.links(handle))
        links.extend(driver.group(number))
        visited.extend(driver.range(build_s, build_s + 1))
        for target, _, _ in ends:
            handle, _ = driver.find(target)
            visited.extend(driver.read(at) for at in driver.links_back(handle))
    return visited, links


def _update(driver: Driver, before: list[tuple[int, int]]) -> Measured:
    def turn() -> None:
        for number, _ in before:
            driver.update(number)

    written = _writing(driver, turn, len(before))
    try:
        visits, checksum = _look(driver, lambda: _updated(driver, before))
    finally:
        _take_back(driver, turn)
    return replace(written, visits=visits, checksum=checksum)


def _updated(driver: Driver, before: list[tuple[int, int]]) -> tuple[Visited, Visited]:
    """Each part by id, and by its old and its new build time."""
    visited: Visited = []
    for number, before_s in before:
        visited.append(driver.find(number)[1])
        for build_s in (before_s, BUILD_SUM_S - before_s):
            visited.extend(driver.range(build_s, build_s + 1))
    return visited, []


def _look(driver: Driver, look: Callable[[], tuple[Visited, Visited]]) -> tuple[int, str]:
    """Read the parts and connections after a write, as one answer; no clock runs."""
    driver.begin()
    try:
        parts, links = look()
    finally:
        driver.end()
    count, checksum = _core.oo1_checksum("part", parts)
    more, other = _core.oo1_checksum("link", links)
    return count + more, f"{(int(checksum, 16) + int(other, 16)) % 2**64:016x}"


def _rung(driver: Driver, step: Callable[[], object]) -> Measured:
    def read(visited: Visited) -> int:
        del visited
        for _ in range(RUNG_CALLS):
            step()
        return RUNG_CALLS

    return _reading(driver, read)


MEASURES: dict[str, Callable[[Driver, list[Any]], Measured]] = {
    "lookup": _lookup,
    "traversal": lambda driver, at: _traversal(driver, at[0], driver.links),
    "reverse": lambda driver, at: _traversal(driver, at[0], driver.links_back),
    "insert": _insert,
    "range": lambda driver, at: _one_call(driver, lambda: driver.range(at[0], at[1])),
    "scan": _scan,
    "reference": _reference,
    "group": _group,
    "update": _update,
    "ordered": lambda driver, at: _traversal(driver, at[0], driver.links_in_order, "part-in-order"),
    "lookup-batch": lambda driver, at: _one_call(driver, lambda: driver.find_batch(at)),
    "traversal-batch": lambda driver, at: _one_call(
        driver, lambda: driver.traverse_batch(at[0], DEPTH, back=False)
    ),
    "reverse-batch": lambda driver, at: _one_call(
        driver, lambda: driver.traverse_batch(at[0], DEPTH, back=True)
    ),
    "nothing": lambda driver, _: _rung(driver, driver.nothing),
    "empty": lambda driver, _: _rung(driver, driver.empty),
    "constant": lambda driver, _: _rung(driver, driver.constant),
}
