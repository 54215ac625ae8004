"""The clock of all loops in Python: the counterpart of `crates/clients/src/clocked.rs`.

    meter | clock | begin, reads, end | clock | meter
    meter | clock | begin, writes | clock, commit | clock | meter

Clock and meter cover the transaction and the calls in it. Inputs are drawn before, and an answer is
put together after.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from loadstone._core import clock_ns
from loadstone.clients.base import Measured
from loadstone.machine.counters import Meter, Work

T = TypeVar("T")


class Transactions(ABC):
    """An engine's life and transactions, as every driver has them.

    An engine's exceptions pass through; the client turns them into an `EngineError`.
    """

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
    def begin(self) -> None:
        """Before the first read of a measure, inside the clock."""

    @abstractmethod
    def end(self) -> None:
        """After the last read, inside the clock."""

    @abstractmethod
    def begin_write(self) -> None:
        """Begin to write, inside the clock."""

    @abstractmethod
    def commit(self) -> None:
        """Make what was written since `begin_write` durable."""

    @abstractmethod
    def rollback(self) -> None:
        """Give up what was written since `begin_write`."""

    def sent(self) -> int | None:
        """Statements executed since it was opened; None for an engine without statements."""
        return None


@dataclass(frozen=True, slots=True)
class Timed:
    """The cost of a transaction."""

    elapsed_ns: int
    commit_ns: int
    statements: int | None
    work: Work

    def measured(self, answer: tuple[int, str], calls: int) -> Measured:
        """A run of a measure with this cost: (visits, checksum), and calls into the driver."""
        return Measured(
            self.elapsed_ns, self.commit_ns, *answer, calls, self.statements, None, None, self.work
        )


def reading(driver: Transactions, read: Callable[[], T]) -> tuple[Timed, T]:
    """Read inside one clock and one read transaction."""
    sent = driver.sent()
    meter = Meter(())
    start_ns = clock_ns()
    driver.begin()
    try:
        seen = read()
    finally:
        driver.end()
    elapsed_ns = clock_ns() - start_ns
    work = meter.read()
    return Timed(elapsed_ns, 0, _between(sent, driver.sent()), work), seen


def writing(driver: Transactions, write: Callable[[], T]) -> tuple[Timed, T]:
    """Write inside one clock and one transaction, which is given up where `write` fails."""
    sent = driver.sent()
    meter = Meter(())
    written = False
    start_ns = clock_ns()
    try:
        driver.begin_write()
        done = write()
        written_ns = clock_ns()
        driver.commit()
        written = True
        ended_ns = clock_ns()
        work = meter.read()
    finally:
        if not written:
            driver.rollback()
    statements = _between(sent, driver.sent())
    return Timed(ended_ns - start_ns, ended_ns - written_ns, statements, work), done


def _between(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before
