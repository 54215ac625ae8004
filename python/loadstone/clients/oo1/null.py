"""OO1 on an engine that answers every call at once: the harness overhead in Python."""

from collections.abc import Iterable, Mapping
from typing import Any

from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.oo1.driver import Driver, NewPart, Row

KIND = "part-type0"


class NullDriver(Driver):
    """Every part leads to itself, three times; nothing is kept."""

    def load(self, database: Database) -> None:
        """Nothing to load."""

    def settle(self) -> None:
        """Nothing to settle."""

    def terms(self) -> Mapping[str, str]:
        """The statement that there is no engine."""
        return {"answers": "none: no engine is called"}

    def close(self) -> None:
        """Nothing to close."""

    def begin(self) -> None:
        """Nothing to begin."""

    def end(self) -> None:
        """Nothing to end."""

    def find(self, number: int) -> tuple[Any, Row]:
        """A part of that id."""
        return number, (number, 0, 0, KIND)

    def read(self, handle: Any) -> Row:
        """The same."""
        return (handle, 0, 0, KIND)

    def links(self, handle: Any) -> Iterable[Any]:
        """Three."""
        return (handle, handle, handle)

    def links_back(self, handle: Any) -> Iterable[Any]:
        """Three."""
        return (handle, handle, handle)

    def links_in_order(self, handle: Any) -> Iterable[Any]:
        """Three."""
        return (handle, handle, handle)

    def range(self, first_s: int, end_s: int) -> Iterable[Row]:
        """None."""
        del first_s, end_s
        return ()

    def scan(self) -> Iterable[Row]:
        """None."""
        return ()

    def reference(self, origin: int, target: int) -> Row:
        """A part of that id."""
        del origin
        return (target, 0, 0, KIND)

    def group(self, number: int) -> Iterable[Row]:
        """None."""
        del number
        return ()

    def begin_write(self) -> None:
        """Nothing to begin."""

    def insert(self, new: NewPart) -> None:
        """Forgotten at once."""

    def update(self, number: int) -> None:
        """Forgotten at once."""

    def remove(self, first: int, last: int) -> None:
        """Nothing is there."""

    def commit(self) -> None:
        """Nothing to make durable."""

    def rollback(self) -> None:
        """Nothing to give up."""
