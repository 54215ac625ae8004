"""Parts as Python objects that refer to each other: the objects that an object database makes
persistent.

A part has its own fields, its three connections and the parts that are connected to it. Two
containers find parts: by id, and by build time. The engine supplies containers and objects.
"""

from abc import abstractmethod
from collections.abc import Iterable, MutableMapping
from typing import Any, Protocol

from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.oo1.driver import BUILD_SUM_S, PLACE_MAX, Driver, NewPart, Row
from loadstone.clients.oo1.relations import connection_table, part_table

ID_BITS = 32


class Part(Protocol):
    """A part; `to`, `lengths` and `types` stand side by side, one place a connection."""

    id: int
    x: int
    y: int
    type: str
    build_s: int
    to: "tuple[Part, ...]"
    lengths: tuple[int, ...]
    types: tuple[str, ...]
    origins: "tuple[Part, ...]"


class ByBuild(Protocol):
    """Parts in order of build time, under `build_key`."""

    def __setitem__(self, key: int, part: Any, /) -> None: ...
    def __delitem__(self, key: int, /) -> None: ...
    def values(self, first: int, last: int, /) -> Iterable[Any]:
        """Those with keys from `first` to `last`, both included."""


def build_key(build_s: int, number: int) -> int:
    """Build times repeat: the id behind it makes the key unique."""
    return build_s << ID_BITS | number


class ObjectDriver(Driver):
    """Navigation between objects; the engine below decides when it reads them, and from where."""

    by_id: MutableMapping[int, Any]
    by_build: ByBuild

    @abstractmethod
    def make(self) -> Any:
        """An empty part of the engine's kind."""

    def fill(self, database: Database) -> None:
        """Make all parts and join them; the containers are empty."""
        parts: list[Part] = [self.make() for _ in range(database.parts)]
        columns = part_table(database).to_pydict()
        for part, number, kind, x, y, build_s in zip(parts, *columns.values(), strict=True):
            part.id, part.type, part.x, part.y, part.build_s = number, kind, x, y, build_s
            self.by_id[number] = part
            self.by_build[build_key(build_s, number)] = part
        origins: list[list[Part]] = [[] for _ in parts]
        columns = connection_table(database).to_pydict()
        for origin, target in zip(columns["frm"], columns["too"], strict=True):
            origins[target - 1].append(parts[origin - 1])
        threes = (threes_of(columns[name]) for name in ("too", "type", "length"))
        for part, back, to, types, lengths in zip(parts, origins, *threes, strict=True):
            part.to = tuple(parts[target - 1] for target in to)
            part.types, part.lengths, part.origins = types, lengths, tuple(back)

    # The interpreter specialises the attributes written out: as an `attrgetter`, a look-up took
    # twice as long.

    def find(self, number: int) -> tuple[Any, Row]:
        """In the container by id."""
        part = self.by_id[number]
        return part, (part.id, part.x, part.y, part.type)

    def read(self, handle: Any) -> Row:
        """The object's own attributes."""
        return (handle.id, handle.x, handle.y, handle.type)

    def links(self, handle: Any) -> Iterable[Any]:
        """References, swizzled where the engine swizzles."""
        to: tuple[Any, ...] = handle.to
        return to

    def links_back(self, handle: Any) -> Iterable[Any]:
        """References too."""
        origins: tuple[Any, ...] = handle.origins
        return origins

    def links_in_order(self, handle: Any) -> Iterable[Any]:
        """Put in order by the program."""
        pairs = zip(handle.lengths, handle.to, strict=True)
        return [part for _, part in sorted(pairs, key=lambda pair: (pair[0], pair[1].id))]

    def range(self, first_s: int, end_s: int) -> Iterable[Row]:
        """In the container by build time; no part has the id 0."""
        found = self.by_build.values(build_key(first_s, 0), build_key(end_s, 0))
        return map(self.read, found)

    def scan(self) -> Iterable[Row]:
        """In order of ids."""
        return [(part.x, part.y) for part in self.by_id.values()]

    def reference(self, origin: int, target: int) -> Row:
        """By way of the part that the connection leaves."""
        for part in self.by_id[origin].to:
            if part.id == target:
                return self.read(part)
        raise KeyError((origin, target))

    def group(self, number: int) -> Iterable[Row]:
        """The connections lie in their part."""
        part = self.by_id[number]
        places = zip(part.to, part.lengths, part.types, strict=True)
        return [(number, to.id, length, kind) for to, length, kind in places]

    def insert(self, new: NewPart) -> None:
        """A new object, and a reference back in each that it is connected to."""
        number, x, y, kind, build_s, links = new
        part = self.make()
        part.id, part.type, part.x, part.y, part.build_s = number, kind, x, y, build_s
        part.to = tuple(self.by_id[target] for target, _, _ in links)
        part.lengths = tuple(length for _, length, _ in links)
        part.types = tuple(kind for _, _, kind in links)
        part.origins = ()
        for target in part.to:
            target.origins = (*target.origins, part)
        self.by_id[number] = part
        self.by_build[build_key(build_s, number)] = part

    def update(self, number: int) -> None:
        """In the object, and at its new place in the container by build time."""
        part = self.by_id[number]
        del self.by_build[build_key(part.build_s, number)]
        part.x, part.y = PLACE_MAX - part.x, PLACE_MAX - part.y
        part.build_s = BUILD_SUM_S - part.build_s
        self.by_build[build_key(part.build_s, number)] = part

    def remove(self, first: int, last: int) -> None:
        """Out of both containers, and out of those that it is connected to."""
        for number in range(first, last + 1):
            part = self.by_id.pop(number)
            del self.by_build[build_key(part.build_s, number)]
            for target in part.to:
                target.origins = tuple(other for other in target.origins if other is not part)


def threes_of(values: list[Any]) -> Iterable[tuple[Any, ...]]:
    """Three connections leave each part, and lie together."""
    return zip(*[iter(values)] * 3, strict=True)
