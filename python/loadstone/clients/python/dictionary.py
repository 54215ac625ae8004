"""Plain Python objects in a dict: the limit of any database used from Python. Lost when closed."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from loadstone.clients.declared import capabilities
from loadstone.clients.oo1.driver import Driver
from loadstone.clients.oo1.objects import ObjectDriver
from loadstone.clients.oo7.driver import Driver as Oo7Driver
from loadstone.clients.oo7.objects import CONTAINERS
from loadstone.clients.oo7.objects import ObjectDriver as Oo7ObjectDriver
from loadstone.clients.python.embedded import PythonClient
from loadstone.clients.rust.embedded import KEY_VALUE
from loadstone.engines.capabilities import Capabilities
from loadstone.plan.role import Role


class PlainPart:
    """A part with a place for each field."""

    __slots__ = ("build_s", "id", "lengths", "origins", "to", "type", "types", "x", "y")


class PlainObject:
    """An object of any class of OO7, with the attributes that it is given."""


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
    """How an object is found."""

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


class DictionaryDriver(Store, ObjectDriver):
    """OO1's parts."""

    access = "references; dict on id, list in order of build"

    def clear(self) -> None:
        """No part is left."""
        self.by_id: dict[int, PlainPart] = {}
        self.by_build = PlainByKey()

    def make(self) -> PlainPart:
        """A plain object."""
        return PlainPart()


class DictionaryOo7Driver(Store, Oo7ObjectDriver):
    """OO7's objects."""

    access = "references; dicts on ids and titles, list in order of dates"

    def clear(self) -> None:
        """No object is left."""
        for name in CONTAINERS:
            setattr(self, name, PlainByKey() if name == "dates" else {})

    def make(self) -> PlainObject:
        """A plain object."""
        return PlainObject()


class DictionaryClient(PythonClient):
    """Plain objects, references and a dict: the limit of a client in Python, not a database."""

    name: ClassVar[str] = "python-dict"
    capabilities: ClassVar[Capabilities] = replace(
        capabilities("python-dict", KEY_VALUE, {}), stoppable=False, role=Role.LIMIT
    )

    def connect(self) -> Driver:
        """Empty."""
        return DictionaryDriver()

    def connect_oo7(self) -> Oo7Driver:
        """Empty."""
        return DictionaryOo7Driver()
