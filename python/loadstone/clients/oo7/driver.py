"""The contract between OO7's loops in Python and an engine: as `crates/clients/src/oo7/driver.rs`
does in Rust.

A handle is the engine's name of an object that the client reached: an object, an id.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from loadstone import _core
from loadstone.benchmarks.oo7.database import Database
from loadstone.clients.clocked import Transactions

Row = Sequence[Any]
"""An atomic part (id, type, date, x, y, document); another object (id, type, date); or a stored row
with the columns of `oo7_rows`."""
RELATIONS = (
    "module", "manual", "complexassembly", "baseassembly", "componentpriv", "componentshar",
    "compositepart", "document", "atomicpart", "connection",
)  # fmt: skip
OWN = ("compositepart", "document", "atomicpart", "connection")
"""The relations of what belongs to one composite part."""


def rows(database: Database, relation: str, owner: int | None = None) -> list[tuple[Any, ...]]:
    """The generated rows of a relation, or those that belong to one object."""
    return _core.oo7_rows(database.parts, database.fan_out, database.seed, relation, owner)


def toggled(date: int) -> int:
    """A date after T3: odd ones become later, even ones earlier, and twice is as before."""
    return date - 1 if date % 2 == 0 else date + 1


class Driver(Transactions):
    """An engine as the client sees it."""

    keeps = True
    """Whether it holds what it was given; else no answer means anything."""

    @abstractmethod
    def load(self, database: Database) -> None:
        """Create the database in place of any other, durable at return."""

    @abstractmethod
    def design_root(self, module: int) -> Any:
        """The root of a module's tree."""

    @abstractmethod
    def subassemblies(self, complex_assembly: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        """The complex assemblies below one, in their order, and the base assemblies."""

    @abstractmethod
    def components(self, base: Any) -> Iterable[Any]:
        """The private components of a base assembly, repeated ones repeated."""

    @abstractmethod
    def shared_components(self, base: Any) -> Iterable[Any]:
        """The shared components of a base assembly, repeated ones repeated."""

    @abstractmethod
    def root_part(self, composite: Any) -> Any:
        """The atomic part from which a composite part's graph is entered."""

    @abstractmethod
    def part_id(self, part: Any) -> int:
        """The id of an atomic part."""

    @abstractmethod
    def read(self, part: Any) -> Row:
        """An atomic part: one call for each visit."""

    @abstractmethod
    def connected(self, part: Any) -> Iterable[Any]:
        """The atomic parts at the other ends of the connections that leave one."""

    @abstractmethod
    def find(self, number: int) -> Any:
        """An atomic part by its id, in an index. `LookupError` where there is none."""

    @abstractmethod
    def dated(self, first: int, last: int) -> Iterable[Row]:
        """The atomic parts with such dates, by the index on dates where there is one."""

    @abstractmethod
    def scan(self) -> Iterable[Row]:
        """All atomic parts."""

    @abstractmethod
    def composite_of(self, part: Any) -> Any:
        """The composite part that an atomic part belongs to."""

    @abstractmethod
    def composite(self, composite: Any) -> Row:
        """A composite part's own attributes."""

    @abstractmethod
    def users(self, composite: Any) -> Iterable[Any]:
        """The base assemblies that use a composite part privately, once for each use."""

    @abstractmethod
    def base(self, base: Any) -> tuple[Row, Any]:
        """A base assembly and the complex one that it belongs to."""

    @abstractmethod
    def complex(self, complex_assembly: Any) -> tuple[Row, Any]:
        """A complex assembly and the one that it belongs to; None at a root."""

    @abstractmethod
    def bases(self) -> Iterable[Any]:
        """All base assemblies."""

    def older_bases(self) -> Iterable[Row] | None:
        """The base assemblies that use a newer composite part; None where the engine has no query
        language, so that the loops look at each."""
        return None

    @abstractmethod
    def titled(self, title: str) -> Any:
        """The composite part of the document with that title, by the index on titles."""

    @abstractmethod
    def document(self, composite: Any) -> str:
        """The text of a composite part's document."""

    @abstractmethod
    def manual(self, module: int) -> str:
        """The text of a module's manual."""

    @abstractmethod
    def documents_of_parts(self) -> Iterable[Row]:
        """(id of an atomic part, title of the document that it names by number), of all."""

    @abstractmethod
    def swap(self, part: Any) -> None:
        """Swap x and y of an atomic part."""

    @abstractmethod
    def toggle_date(self, part: Any) -> None:
        """Toggle an atomic part's date (see `toggled`), the index maintained."""

    @abstractmethod
    def rewrite(self, composite: Any, text: str) -> None:
        """Give a composite part's document another text."""

    @abstractmethod
    def insert(self, database: Database, composite: int, receiver: int) -> None:
        """Make a composite part as the database has it, with all that is its own, a private
        component of base assembly `receiver`; all access paths maintained."""

    @abstractmethod
    def delete(self, composite: int) -> None:
        """Delete a composite part with all that is its own, and take it from every base
        assembly."""

    @abstractmethod
    def contents(self, relation: str) -> Iterable[Row]:
        """Every stored object of a relation, as a row of `oo7_rows`."""
