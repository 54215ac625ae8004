"""OO1's measures in Python, each written once over `Driver`: the counterpart of
`crates/clients/src/oo1/loops.rs`.

Inside the clock: the transaction around the measure, the calls, the null procedure, and storing the
visited parts. Outside: drawing inputs, the checksum of the visits, checking a measure's writes
(which is its answer), and undoing them. Counters cover the inside.
"""

from collections.abc import Callable, Iterable
from typing import Any

from loadstone import _core
from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.base import Measured
from loadstone.clients.clocked import reading, writing
from loadstone.clients.oo1.driver import BUILD_SUM_S, DEPTH, Driver, NewPart, Row

RUNG_CALLS = 1000

Visited = list[Row]


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
    """`read` returns the number of its calls."""
    visited: Visited = []
    timed, calls = reading(driver, lambda: read(visited))
    return timed.measured(_core.oo1_checksum(kind, visited), calls)


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


def _insert(driver: Driver, parts: list[NewPart]) -> Measured:
    def write() -> None:
        for new in parts:
            driver.insert(supply(new))

    timed, _ = writing(driver, write)
    try:
        answer = _look(driver, lambda: _inserted(driver, parts))
    finally:
        writing(driver, lambda: driver.remove(parts[0][0], parts[-1][0]))
    return timed.measured(answer, len(parts))


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
    def change() -> None:
        for number, _ in before:
            driver.update(number)

    timed, _ = writing(driver, change)
    try:
        answer = _look(driver, lambda: _updated(driver, before))
    finally:
        writing(driver, change)
    return timed.measured(answer, len(before))


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
