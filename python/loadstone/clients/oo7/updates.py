"""OO7's operations that write, in Python, each written once over `Driver`: the counterpart of
`crates/clients/src/oo7/updates.rs`.

Inside the clock: one transaction with its commit. Outside: the look at what it left in the
database, the taking back, and the proof that the database is as it was generated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from loadstone.benchmarks.oo7.database import COMPOSITES, Database
from loadstone.clients.base import Measured
from loadstone.clients.clocked import writing
from loadstone.clients.oo7.driver import RELATIONS, Driver, rows
from loadstone.clients.oo7.seen import WORD, Seen, contents, left, summed
from loadstone.clients.oo7.walk import MODULE, Walk, null, t1
from loadstone.errors import EngineError

BEGINNINGS = ("I am", "This is")
"""The way in which a document begins, and how it begins after T5."""
REPEATED = 4
"""Times of T2c and T3c."""


@dataclass(slots=True)
class Done:
    """The values that a writing operation saw, and how many things it changed."""

    seen: Seen = field(default_factory=Seen)
    updates: int = 0
    calls: int = 0


Write = Callable[[], Done]


def _writing(
    driver: Driver, database: Database, write: Write, take_back: Callable[[], object]
) -> Measured:
    """Write inside one clock, look at what is left, take it back, and prove that it is."""
    timed, done = writing(driver, write)
    _, found = left(driver)
    writing(driver, take_back)
    _prove_as_generated(driver, database)
    _, checksum = done.seen.answer()
    checksum = (checksum + (found << 32 | found >> 32)) % WORD
    return timed.measured((done.updates, f"{checksum:016x}"), done.calls)


_generated: dict[Database, tuple[int, int]] = {}


def _prove_as_generated(driver: Driver, database: Database) -> None:
    if not driver.keeps:
        return
    if database not in _generated:
        _generated.clear()
        _generated[database] = summed((name, rows(database, name)) for name in RELATIONS)
    found = contents(driver)
    if found != _generated[database]:
        raise EngineError(
            f"it holds {found[0]} objects, not as generated, after an update was taken back",
            hint="load the database again",
        )


def _update(driver: Driver, change: str, times: int, each: bool, done: Done) -> Done:
    """T1, and at the roots, or at each part, a change repeated so many times."""
    walk = Walk(driver)
    read, keep = driver.read, done.seen.parts.append
    apply = driver.swap if change == "swap" else driver.toggle_date
    before = len(done.seen.parts)

    def visit(part: Any, is_root: bool) -> None:
        row = read(part)
        null(row[0], row[3])
        keep(row)
        if each or is_root:
            for _ in range(times):
                apply(part)
            done.updates += times

    for composite in walk.components():
        walk.graph(composite, visit)
    done.calls += walk.calls + len(done.seen.parts) - before + done.updates
    return done


def _traversal(change: str, times: int, each: bool) -> "Operation":
    """T2 and T3: each change is its own inverse, so that the same again takes it back."""

    def run(driver: Driver, database: Database, inputs: list[int]) -> Measured:
        del inputs

        def again() -> Done:
            return _update(driver, change, times, each, Done())

        return _writing(driver, database, again, again)

    return run


def _cached(driver: Driver, database: Database, inputs: list[int]) -> Measured:
    """T1, then T2a, in one transaction."""
    del inputs

    def both() -> Done:
        done = Done()
        done.calls = t1(driver, range(MODULE, MODULE + 1), done.seen.parts)
        return _update(driver, "swap", 1, False, done)

    return _writing(driver, database, both, lambda: _update(driver, "swap", 1, False, Done()))


def visited(driver: Driver, path: Sequence[int], reads: Sequence[str], done: Done) -> None:
    """T1 of components of the base assembly at the end of a way."""
    walk = Walk(driver)
    base = walk.base_at(path)
    before = len(done.seen.parts)

    def visit(part: Any, is_root: bool) -> None:
        del is_root
        row = driver.read(part)
        null(row[0], row[3])
        done.seen.parts.append(row)

    for kind in reads:
        for composite in walk.components_of(base, kind):
            walk.graph(composite, visit)
    done.calls += walk.calls + len(done.seen.parts) - before


def _changed(driver: Driver, path: Sequence[int], kind: str, done: Done) -> None:
    """T2b of components of that base assembly."""
    walk = Walk(driver)
    base = walk.base_at(path)

    def visit(part: Any, is_root: bool) -> None:
        del is_root
        row = driver.read(part)
        null(row[0], row[3])
        done.seen.parts.append(row)
        driver.swap(part)
        done.updates += 1

    for composite in walk.components_of(base, kind):
        walk.graph(composite, visit)
    done.calls += walk.calls + 2 * done.updates


def _of_several_users(reads: Sequence[str], changes: str) -> "Operation":
    """Executed by one: T1 of components, then T2b of some of them."""

    def run(driver: Driver, database: Database, path: list[int]) -> Measured:
        def both() -> Done:
            done = Done()
            visited(driver, path, reads, done)
            _changed(driver, path, changes, done)
            return done

        return _writing(driver, database, both, lambda: _changed(driver, path, changes, Done()))

    return run


def _begin_anew(driver: Driver, before: str, after: str) -> Done:
    """The place where a component's document begins with one text, make it begin with another."""
    done = Done()
    walk = Walk(driver)
    for composite in walk.components():
        text = driver.document(composite)
        begins = text.startswith(before)
        done.seen.letters.append((int(begins), len(text)))
        if begins:
            driver.rewrite(composite, after + text.removeprefix(before))
            done.updates += 1
    done.calls = walk.calls + len(done.seen.letters) + done.updates
    return done


def _text_done(driver: Driver, database: Database, inputs: list[int]) -> Measured:
    del inputs
    before, after = BEGINNINGS
    return _writing(
        driver,
        database,
        lambda: _begin_anew(driver, before, after),
        lambda: _begin_anew(driver, after, before),
    )


def _text_undone(driver: Driver, database: Database, inputs: list[int]) -> Measured:
    del inputs
    before, after = BEGINNINGS
    writing(driver, lambda: _begin_anew(driver, before, after))
    return _writing(driver, database, lambda: _begin_anew(driver, after, before), lambda: None)


def _insert(driver: Driver, database: Database, receivers: list[int]) -> Measured:
    """S1: ten new composite parts, each for one base assembly."""
    return _writing(
        driver,
        database,
        lambda: _made(driver, database, receivers),
        lambda: _gone(driver, database, receivers),
    )


def _delete(driver: Driver, database: Database, receivers: list[int]) -> Measured:
    """S2: of what S1 made outside the clock."""
    writing(driver, lambda: _made(driver, database, receivers))
    return _writing(driver, database, lambda: _gone(driver, database, receivers), lambda: None)


def _made(driver: Driver, database: Database, receivers: list[int]) -> Done:
    first = database.modules * COMPOSITES + 1
    for number, receiver in enumerate(receivers, first):
        driver.insert(database, number, receiver)
    return Done(updates=len(receivers), calls=len(receivers))


def _gone(driver: Driver, database: Database, receivers: list[int]) -> Done:
    first = database.modules * COMPOSITES + 1
    for number in range(first, first + len(receivers)):
        driver.delete(number)
    return Done(updates=len(receivers), calls=len(receivers))


Operation = Callable[[Driver, Database, list[int]], Measured]

UPDATES: dict[str, Operation] = {
    **{
        f"T2{kind}": _traversal("swap", *how)
        for kind, how in (("a", (1, False)), ("b", (1, True)), ("c", (REPEATED, True)))
    },
    **{
        f"T3{kind}": _traversal("date", *how)
        for kind, how in (("a", (1, False)), ("b", (1, True)), ("c", (REPEATED, True)))
    },
    "T5do": _text_done,
    "T5undo": _text_undone,
    "CU": _cached,
    "S1": _insert,
    "S2": _delete,
    "M2": _of_several_users(("private",), "private"),
    "M4": _of_several_users(("shared",), "shared"),
    "M5": _of_several_users(("private", "shared"), "private"),
    "M6": _of_several_users(("private", "shared"), "private"),
}
"""By name, those that write."""
