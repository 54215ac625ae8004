"""OO7's operations in Python, each written once over `Driver`: the counterpart of
`crates/clients/src/oo7/loops.rs`.

Inside the clock: the transaction around the operation, the calls, the null operation, and storing
what was visited. Outside: drawing inputs, and the checksum of the visits. The operations that write
are in `updates.py`.
"""

from collections.abc import Callable
from typing import Any

from loadstone import _core
from loadstone._core import clock_ns
from loadstone.benchmarks.oo7.database import Database
from loadstone.clients.base import Measured
from loadstone.clients.clocked import reading
from loadstone.clients.oo7.driver import Driver, Row
from loadstone.clients.oo7.seen import Seen
from loadstone.clients.oo7.updates import UPDATES, Done, visited
from loadstone.clients.oo7.walk import MODULE, Walk, null, t1
from loadstone.errors import EngineError

WORK = 10
"""Clock reads that T1WW makes at each atomic part, as in Rust."""
LETTER = "I"
NEWEST = {"Q2": (1990, 1999), "Q3": (1900, 1999)}
"""Dates of the newest 1 and 10 percent."""

Read = Callable[[Driver, Seen], int]
"""Reads, and returns the number of its calls."""


def run(driver: Driver, database: Database, measure: str, iteration: int) -> Measured:
    """Run an operation once. What it wrote is taken back before it returns."""
    inputs = _core.oo7_inputs(database.parts, database.fan_out, database.seed, measure, iteration)
    if measure in UPDATES:
        return UPDATES[measure](driver, database, inputs)
    if measure not in READS:
        known = ", ".join(_core.oo7_measures())
        raise EngineError(f"no measure {measure!r}", hint=f"there is: {known}")
    return _reading(driver, READS[measure](database, inputs))


def _reading(driver: Driver, read: Read) -> Measured:
    seen = Seen()
    timed, calls = reading(driver, lambda: read(driver, seen))
    count, checksum = seen.answer()
    return timed.measured((count, f"{checksum:016x}"), calls)


def _t1_work(driver: Driver, seen: Seen) -> int:
    walk = Walk(driver)
    read, keep = driver.read, seen.parts.append

    def visit(part: Any, is_root: bool) -> None:
        del is_root
        row = read(part)
        null(row[0], row[3])
        keep(row)
        for _ in range(WORK):
            clock_ns()

    for composite in walk.components():
        walk.graph(composite, visit)
    return walk.calls + len(seen.parts)


def _t4(driver: Driver, seen: Seen) -> int:
    walk = Walk(driver)
    for composite in walk.components():
        text = driver.document(composite)
        seen.letters.append((text.count(LETTER), len(text)))
    return walk.calls + len(seen.letters)


def _t6(driver: Driver, seen: Seen) -> int:
    walk = Walk(driver)
    for composite in walk.components():
        row = driver.read(driver.root_part(composite))
        null(row[0], row[3])
        seen.parts.append(row)
    return walk.calls + 2 * len(seen.parts)


def _t7(start: int) -> Read:
    """From an atomic part to each assembly above it, once."""

    def read(driver: Driver, seen: Seen) -> int:
        bases = driver.users(driver.composite_of(driver.find(start)))
        calls = 3
        known: set[tuple[bool, int]] = set()

        def is_first(row: Row, is_base: bool) -> bool:
            named = (is_base, row[0])
            if named in known:
                return False
            known.add(named)
            null(row[0], row[2])
            (seen.bases if is_base else seen.complex).append(row)
            return True

        for base in bases:
            row, above = driver.base(base)
            calls += 1
            # A base assembly has one way to the root: above one that was seen all were.
            is_new = is_first(row, True)
            while is_new and above is not None:
                row, above = driver.complex(above)
                calls += 1
                is_new = is_first(row, False)
        return calls

    return read


def _t8(driver: Driver, seen: Seen) -> int:
    text = driver.manual(MODULE)
    seen.letters.append((text.count(LETTER), len(text)))
    return 1


def _t9(driver: Driver, seen: Seen) -> int:
    text = driver.manual(MODULE)
    seen.ends.append((text[:1], text[-1:]))
    return 1


def _q1(numbers: list[int]) -> Read:
    def read(driver: Driver, seen: Seen) -> int:
        for number in numbers:
            row = driver.read(driver.find(number))
            null(row[0], row[3])
            seen.parts.append(row)
        return len(numbers)

    return read


def _parts(ask: Callable[[Driver], Any]) -> Read:
    """One call that gives atomic parts."""

    def read(driver: Driver, seen: Seen) -> int:
        for row in ask(driver):
            null(row[0], row[3])
            seen.parts.append(row)
        return 1

    return read


def _q4(composites: list[int]) -> Read:
    titles = [f"Composite Part {number:08}" for number in composites]

    def read(driver: Driver, seen: Seen) -> int:
        for title in titles:
            for base in driver.users(driver.titled(title)):
                row, _ = driver.base(base)
                null(row[0], row[2])
                seen.bases.append(row)
        return 2 * len(titles) + len(seen.bases)

    return read


def _q5(driver: Driver, seen: Seen) -> int:
    """Each base assembly once, however many of its components are newer."""
    if (found := driver.older_bases()) is not None:
        seen.bases.extend(found)
        return 1
    calls = 1
    for base in driver.bases():
        row, _ = driver.base(base)
        dates = [driver.composite(one)[2] for one in driver.components(base)]
        calls += 2 + len(dates)
        if max(dates, default=row[2]) > row[2]:
            null(row[0], row[2])
            seen.bases.append(row)
    return calls


def _q6(database: Database) -> Read:
    def read(driver: Driver, seen: Seen) -> int:
        calls = 0

        def newest_below(here: Any) -> int:
            nonlocal calls
            row, _ = driver.complex(here)
            below, bases = driver.subassemblies(here)
            calls += 2
            newest = max(map(newest_below, below), default=-1)
            for base in bases:
                own, _ = driver.base(base)
                used = [driver.composite(one)[2] for one in driver.components(base)]
                calls += 2 + len(used)
                if max(used, default=-1) > own[2]:
                    null(own[0], own[2])
                    seen.bases.append(own)
                newest = max(newest, *used)
            if newest > row[2]:
                null(row[0], row[2])
                seen.complex.append(row)
            return newest

        for module in range(1, database.modules + 1):
            newest_below(driver.design_root(module))
        return calls

    return read


def _q8(driver: Driver, seen: Seen) -> int:
    for row in driver.documents_of_parts():
        null(row[0], len(row[1]))
        seen.pairs.append(row)
    return 1


def _visited(reads: str) -> Callable[[Database, list[int]], Read]:
    """M1 and M3: T1 of a base assembly's components."""

    def reported(database: Database, path: list[int]) -> Read:
        del database

        def read(driver: Driver, seen: Seen) -> int:
            done = Done(seen)
            visited(driver, path, (reads,), done)
            return done.calls

        return read

    return reported


def _walked(modules: Callable[[Database], range]) -> Callable[[Database, list[int]], Read]:
    return lambda database, _: lambda driver, seen: t1(driver, modules(database), seen.parts)


def _always(read: Read) -> Callable[[Database, list[int]], Read]:
    return lambda *_: read


READS: dict[str, Callable[[Database, list[int]], Read]] = {
    "T1": _walked(lambda _: range(MODULE, MODULE + 1)),
    "T1WW": _always(_t1_work),
    "T4": _always(_t4),
    "T6": _always(_t6),
    "T7": lambda _, at: _t7(at[0]),
    "T8": _always(_t8),
    "T9": _always(_t9),
    "T10": _walked(lambda database: range(1, database.modules + 1)),
    "Q1": lambda _, numbers: _q1(numbers),
    "Q2": _always(_parts(lambda driver: driver.dated(*NEWEST["Q2"]))),
    "Q3": _always(_parts(lambda driver: driver.dated(*NEWEST["Q3"]))),
    "Q4": lambda _, composites: _q4(composites),
    "Q5": _always(_q5),
    "Q6": lambda database, _: _q6(database),
    "Q7": _always(_parts(lambda driver: driver.scan())),
    "Q8": _always(_q8),
    "M1": _visited("private"),
    "M3": _visited("shared"),
}
