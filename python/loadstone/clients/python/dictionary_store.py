"""Plain Python objects in containers, whatever the benchmark. Lost when closed."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar


class PlainByKey:
    """Keys in a list in order, parts in a dict."""

    def __init__(self) -> None:
        self._keys: list[int] = []
        self._parts: dict[int, Any] = {}

    def __setitem__(self, key: int, part: Any) -> None:
        insort(self._keys, key)
        self._parts[key] = part

    def __delitem__(self, key: int) -> None:
        del self._parts[key]
        del self._keys[bisect_left(self._keys, key)]

    def values(self, first: int, last: int) -> Iterable[Any]:
        """Those with keys from `first` to `last`."""
        keys = self._keys[bisect_left(self._keys, first) : bisect_right(self._keys, last)]
        return [self._parts[key] for key in keys]


class Store:
    """No transaction, no durability."""

    clear: Callable[[], None]
    """The driver's: no object is left."""
    fill: Callable[[Any], None]
    """The driver's, which makes all objects."""
    access: ClassVar[str]
    """The way in which an object is found."""

    def __init__(self) -> None:
        self.clear()

    def load(self, database: Any) -> None:
        """In memory."""
        self.clear()
        self.fill(database)

    def settle(self) -> None:
        """Nothing to settle."""

    def close(self) -> None:
        """Let go of the objects."""
        self.clear()

    def begin(self) -> None:
        """Nothing to begin."""

    def end(self) -> None:
        """Nothing to end."""

    def begin_write(self) -> None:
        """Nothing to begin."""

    def commit(self) -> None:
        """Nothing to make durable."""

    def rollback(self) -> None:
        """Writes stay: there is no log."""

    def terms(self) -> Mapping[str, str]:
        """The client's own terms."""
        return {
            "durability": "none: the objects are lost when the program ends",
            "isolation": "none: no rollback, one user",
            "setting.access": self.access,
        }
