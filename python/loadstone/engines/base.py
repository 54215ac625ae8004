"""The contract of an engine: the requests to a system under test, and their order.

A worker process owns one engine object and calls

    start -> load (each table) -> settle -> [run | fetch | read | plan]* -> remove

with `stop`/`start` around every cold sample. An engine never sees a clock, a plan or a record. All
its data lies in its scratch folder or in a schema it created and marked.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.engines.capabilities import Table, quoted
from loadstone.engines.system import System
from loadstone.errors import UnsupportedError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pyarrow as pa


class Engine(System):
    """A system that executes statements."""

    dialect: ClassVar[str]
    """The language of its statements: a dialect as sqlglot names it, or `quel`."""

    @abstractmethod
    def tables(self) -> Sequence[str]:
        """Names of the tables that exist in our space."""

    @abstractmethod
    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """Create a table and fill it by the fastest native way, in one transaction, then build its
        indexes. A half-made table of that name is replaced. Returns the rows it now holds."""

    @abstractmethod
    def settle(self, tables: Sequence[str]) -> None:
        """Gather statistics on tables just loaded and write everything back (checkpoint)."""

    @abstractmethod
    def run(self, statement: str) -> int:
        """Execute one statement to completion, commit included. Returns the tuples it changed, or
        -1 if the engine does not report them. Timed."""

    @abstractmethod
    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute one query and fetch every row to the client as Python values. Timed."""

    @abstractmethod
    def read(self, statement: str) -> "Iterable[tuple[Any, ...]] | pa.Table":
        """The same rows by the quickest way, for checking an answer. Never timed. Rows may come
        only as they are requested, so that a large relation takes little memory: then the statement
        begins with the first, and no other may be executed before the last."""

    def contents(self, table: str) -> "Iterable[tuple[Any, ...]] | pa.Table":
        """All rows of a table of ours, as by `read`."""
        return self.read(f"SELECT * FROM {self.quote(table)}")  # noqa: S608 - quoted

    @abstractmethod
    def drop(self, table: str) -> None:
        """Drop one of our tables if it exists."""

    @abstractmethod
    def explain(self, statement: str) -> str:
        """The plan the engine would use, as its own text; changes nothing."""

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """The storage structures (of `STORAGES`) by which the plan that `explain` gave for a
        statement reaches its tables, `heap` for a scan of all tuples; empty if it reaches none.
        None if the engine does not report it. Read from the plan, so that a structure is seen to be
        used, not only declared. Changes nothing."""
        del statement, plan
        return None

    def another(self) -> "AbstractContextManager[Engine]":
        """One more session of the same database, with the same tactics, for another thread of this
        process; it ends with its context, and before the engine does.

        It has `run`, `fetch` and `read`; whatever else is needed, the engine itself does. Raises
        `UnsupportedError` if there can be only one.
        """
        raise UnsupportedError(f"{self.name} has one session only")

    def stored_name(self, name: str) -> str:
        """The stored name of a table. The names in every statement, in `load`, `settle`, `drop` and
        `tables` are such names; the same unless an engine must distinguish ours from others by
        name."""
        return name

    @property
    def schema(self) -> str:
        """The schema that statements name with every table; empty if they need not, because nobody
        else can change where a session looks for names."""
        return ""

    def quote(self, name: str) -> str:
        """A table name of ours as it is written in a statement."""
        return quoted(name)
