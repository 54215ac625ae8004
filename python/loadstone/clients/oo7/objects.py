"""OO7's objects as Python objects that refer to each other: the objects that an object database
makes persistent. The engine supplies containers and objects.

A connection lies in the part that it leaves, as one place of three tuples; an object knows the
objects that refer to it, as the schema has it.
"""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any, Protocol

from loadstone.benchmarks.oo7.database import Database
from loadstone.clients.oo7.driver import OWN, Driver, Row, rows, toggled

ID_BITS = 32


class ByDate(Protocol):
    """Atomic parts in order of their dates, under `date_key`."""

    def __setitem__(self, key: int, part: Any, /) -> None: ...
    def __delitem__(self, key: int, /) -> None: ...
    def values(self, first: int, last: int, /) -> Iterable[Any]:
        """Those with keys from `first` to `last`, both included."""


CONTAINERS = ("modules", "complexes", "base_assemblies", "composites", "parts", "titles", "dates")
"""The extents and indexes: by id, but for those of titles and of dates."""


def date_key(date: int, number: int) -> int:
    """Dates repeat: the id behind it makes the key unique."""
    return date << ID_BITS | number


class ObjectDriver(Driver):
    """Navigation between objects; the engine below decides when it reads them, and from where."""

    modules: MutableMapping[int, Any]
    complexes: MutableMapping[int, Any]
    base_assemblies: MutableMapping[int, Any]
    composites: MutableMapping[int, Any]
    parts: MutableMapping[int, Any]
    titles: MutableMapping[str, Any]
    dates: ByDate

    @abstractmethod
    def make(self) -> Any:
        """An empty object of the engine's kind."""

    def _object(self, row: Row) -> Any:
        made = self.make()
        made.id, made.type, made.date = row[:3]
        return made

    def fill(self, database: Database) -> None:
        """Make all objects and join them; the containers are empty."""
        for row in rows(database, "module"):
            self.modules[row[0]] = self._object(row)
        for number, title, _, text in rows(database, "manual"):
            manual = self.make()
            manual.id, manual.title, manual.text = number, title, text
            self.modules[number].manual = manual
        for number in range(1, len(self._fill_tree(database)) + 1):
            self._fill_composite(database, number)

    def _fill_tree(self, database: Database) -> dict[int, Any]:
        """Assemblies with their components, which are empty yet: all composite parts."""
        below: dict[Any, list[Any]] = defaultdict(list)
        for row in rows(database, "complexassembly"):
            made = self.complexes[row[0]] = self._object(row)
            made.module = self.modules[row[4]]
            made.above = self.complexes[row[3]] if row[3] else None
            below[made.above].append(made)
            if made.above is None:
                made.module.root = made
        bases: dict[Any, list[Any]] = defaultdict(list)
        for row in rows(database, "baseassembly"):
            made = self.base_assemblies[row[0]] = self._object(row)
            made.module, made.above = self.modules[row[4]], self.complexes[row[3]]
            bases[made.above].append(made)
        for made in self.complexes.values():
            made.below, made.bases = tuple(below[made]), tuple(bases[made])
        composites: dict[int, Any] = {}
        for row in rows(database, "compositepart"):
            composites[row[0]] = self.composites[row[0]] = self._object(row)
        for name, users in (("componentpriv", "users"), ("componentshar", "sharers")):
            used: dict[int, list[Any]] = defaultdict(list)
            using: dict[int, list[Any]] = defaultdict(list)
            for base, composite in rows(database, name):
                used[base].append(composites[composite])
                using[composite].append(self.base_assemblies[base])
            for number, made in self.base_assemblies.items():
                setattr(made, "private" if users == "users" else "shared", tuple(used[number]))
            for number, made in composites.items():
                setattr(made, users, tuple(using[number]))
        return composites

    def _fill_composite(self, database: Database, number: int) -> None:
        """Fill one composite part with its own document, parts and connections."""
        composite = self.composites[number]
        own, documents, parts, connections = (rows(database, name, number) for name in OWN)
        [(identity, title, _, text)] = documents
        document = composite.document = self.make()
        document.id, document.title, document.text = identity, title, text
        document.composite = composite
        self.titles[title] = composite
        made: dict[int, Any] = {}
        for row in parts:
            part = made[row[0]] = self._object(row)
            part.x, part.y, part.document, part.composite = *row[3:6], composite
        leaving: dict[int, list[Row]] = defaultdict(list)
        arriving: dict[int, list[Any]] = defaultdict(list)
        for row in connections:
            leaving[row[0]].append(row)
            arriving[row[1]].append(made[row[0]])
        for identity, part in made.items():
            out = leaving[identity]
            part.to = tuple(made[row[1]] for row in out)
            part.types, part.lengths = tuple(row[2] for row in out), tuple(row[3] for row in out)
            part.origins = tuple(arriving[identity])
            self.parts[identity] = part
            self.dates[date_key(part.date, identity)] = part
        composite.parts, composite.root = tuple(made.values()), made[own[0][3]]

    def design_root(self, module: int) -> Any:
        """A reference."""
        return self.modules[module].root

    def subassemblies(self, complex_assembly: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        """References."""
        return complex_assembly.below, complex_assembly.bases

    def components(self, base: Any) -> Iterable[Any]:
        """References."""
        private: tuple[Any, ...] = base.private
        return private

    def shared_components(self, base: Any) -> Iterable[Any]:
        """References."""
        shared: tuple[Any, ...] = base.shared
        return shared

    def root_part(self, composite: Any) -> Any:
        """A reference."""
        return composite.root

    def part_id(self, part: Any) -> int:
        """An attribute."""
        number: int = part.id
        return number

    def read(self, part: Any) -> Row:
        """The object's own attributes."""
        return (part.id, part.type, part.date, part.x, part.y, part.document)

    def connected(self, part: Any) -> Iterable[Any]:
        """References, swizzled where the engine swizzles."""
        to: tuple[Any, ...] = part.to
        return to

    def find(self, number: int) -> Any:
        """In the container by id."""
        return self.parts[number]

    def dated(self, first: int, last: int) -> Iterable[Row]:
        """In the container by date; no part has the id 0."""
        return map(self.read, self.dates.values(date_key(first, 0), date_key(last + 1, 0)))

    def scan(self) -> Iterable[Row]:
        """In order of ids."""
        return map(self.read, self.parts.values())

    def composite_of(self, part: Any) -> Any:
        """A reference."""
        return part.composite

    def composite(self, composite: Any) -> Row:
        """The object's own attributes."""
        return (composite.id, composite.type, composite.date)

    def users(self, composite: Any) -> Iterable[Any]:
        """References back."""
        users: tuple[Any, ...] = composite.users
        return users

    def base(self, base: Any) -> tuple[Row, Any]:
        """The object's own attributes, and a reference."""
        return (base.id, base.type, base.date), base.above

    def complex(self, complex_assembly: Any) -> tuple[Row, Any]:
        """The object's own attributes, and a reference."""
        own = (complex_assembly.id, complex_assembly.type, complex_assembly.date)
        return own, complex_assembly.above

    def bases(self) -> Iterable[Any]:
        """The extent."""
        return self.base_assemblies.values()

    def titled(self, title: str) -> Any:
        """In the container by title."""
        return self.titles[title]

    def document(self, composite: Any) -> str:
        """One attribute, whatever its length."""
        text: str = composite.document.text
        return text

    def manual(self, module: int) -> str:
        """One attribute, whatever its length."""
        text: str = self.modules[module].manual.text
        return text

    def documents_of_parts(self) -> Iterable[Row]:
        """By the number of the document: a document has its composite part's."""
        composites = self.composites
        return [(part.id, composites[part.document].document.title) for part in self.parts.values()]

    def swap(self, part: Any) -> None:
        """In the object."""
        part.x, part.y = part.y, part.x

    def toggle_date(self, part: Any) -> None:
        """In the object, and at its new place in the container by date."""
        del self.dates[date_key(part.date, part.id)]
        part.date = toggled(part.date)
        self.dates[date_key(part.date, part.id)] = part

    def rewrite(self, composite: Any, text: str) -> None:
        """In the document."""
        composite.document.text = text

    def insert(self, database: Database, composite: int, receiver: int) -> None:
        """New objects, and references both ways between the part and the assembly."""
        [row] = rows(database, "compositepart", composite)
        made = self.composites[composite] = self._object(row)
        base = self.base_assemblies[receiver]
        made.users, made.sharers = (base,), ()
        base.private = (*base.private, made)
        self._fill_composite(database, composite)

    def delete(self, composite: int) -> None:
        """Out of all containers, and of the assemblies that use it."""
        gone = self.composites.pop(composite)
        for base in dict.fromkeys((*gone.users, *gone.sharers)):
            base.private = tuple(other for other in base.private if other is not gone)
            base.shared = tuple(other for other in base.shared if other is not gone)
        del self.titles[gone.document.title]
        for part in gone.parts:
            del self.parts[part.id]
            del self.dates[date_key(part.date, part.id)]

    def contents(self, relation: str) -> Iterable[Row]:
        """As the relations have them."""
        return STORED[relation](self)


def _module(driver: ObjectDriver) -> Iterable[Row]:
    return [(it.id, it.type, it.date, it.root.id) for it in driver.modules.values()]


def _manual(driver: ObjectDriver) -> Iterable[Row]:
    manuals = [module.manual for module in driver.modules.values()]
    return [(it.id, it.title, len(it.text), it.text) for it in manuals]


def _complex(driver: ObjectDriver) -> Iterable[Row]:
    return [
        (it.id, it.type, it.date, it.above.id if it.above else 0, it.module.id)
        for it in driver.complexes.values()
    ]


def _base(driver: ObjectDriver) -> Iterable[Row]:
    return [
        (it.id, it.type, it.date, it.above.id, it.module.id)
        for it in driver.base_assemblies.values()
    ]


def _private(driver: ObjectDriver) -> Iterable[Row]:
    return [(it.id, part.id) for it in driver.base_assemblies.values() for part in it.private]


def _shared(driver: ObjectDriver) -> Iterable[Row]:
    """By the references back."""
    return [(base.id, it.id) for it in driver.composites.values() for base in it.sharers]


def _composite(driver: ObjectDriver) -> Iterable[Row]:
    return [(it.id, it.type, it.date, it.root.id) for it in driver.composites.values()]


def _document(driver: ObjectDriver) -> Iterable[Row]:
    """By the index on titles."""
    documents = [(title, it.document) for title, it in driver.titles.items()]
    return [(it.id, title, it.composite.id, it.text) for title, it in documents]


def _part(driver: ObjectDriver) -> Iterable[Row]:
    return [(*driver.read(it), it.composite.id) for it in driver.parts.values()]


def _connection(driver: ObjectDriver) -> Iterable[Row]:
    return [
        (part.id, to.id, kind, length)
        for part in driver.parts.values()
        for to, kind, length in zip(part.to, part.types, part.lengths, strict=True)
    ]


STORED = {
    "module": _module, "manual": _manual, "complexassembly": _complex, "baseassembly": _base,
    "componentpriv": _private, "componentshar": _shared, "compositepart": _composite,
    "document": _document, "atomicpart": _part, "connection": _connection,
}  # fmt: skip
"""Every stored object, by the relation that it would be a row of."""
