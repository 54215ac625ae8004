"""The contract of an engine: the requests to a system under test, and their order.

A worker process owns one engine object and calls

    start -> load (each table) -> settle -> [run | fetch | read | plan]* -> remove

with `stop`/`start` around every cold sample. An engine never sees a clock, a plan or a record. All
its data lies in its scratch folder or in a schema it created and marked.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.engines.capabilities import Generated, Table, quoted
from loadstone.engines.system import System
from loadstone.errors import UnsupportedError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pyarrow as pa

    from loadstone._core import StatementUsers


@dataclass(frozen=True, slots=True)
class Work:
    """An engine's own counts since it was started."""

    tuples: int
    """That came from relations and from whatever stood between the steps of a plan."""
    pages: int
    """Of relations, that were read, from memory or from the device."""
    comparisons: int
    """Of two values, or of a value with a pattern."""
    hash_probes: int
    """Look-ups in hash tables."""
    spilled_bytes: int
    """Written to files because they did not fit into the memory budget."""
    log_bytes: int
    """Of records appended to the log."""
    batches_ahead: int
    """Of tuples, that a thread judged ahead of the one that takes them."""
    functions_compiled: int
    """Made of a statement, as machine code."""
    code_bytes: int
    """Of that machine code."""
    compile_ns: int
    """It took to make it."""
    first_copy_reads: int = 0
    """That the first copy of a mirrored database was given; 0 without a mirror."""
    second_copy_reads: int = 0
    """That the second was given."""

    def since(self, before: "Work") -> "Work":
        """The counts since an earlier reading."""
        pairs = zip(astuple(self), astuple(before), strict=True)
        return Work(*(now - then for now, then in pairs))


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

    def generate(self, table: Table, source: Generated) -> int | None:
        """As `load`, of rows that the engine's own processes make, each a part of the relation.
        None, and nothing done, where it has no such processes: then it is given the rows."""
        del table, source
        return None

    @abstractmethod
    def settle(self, tables: Sequence[str]) -> None:
        """Gather statistics on tables just loaded and write everything back (checkpoint)."""

    def remove_dead(self, table: str, changed: int) -> None:
        """So many tuples of a table were changed since the last call, whether or not that was taken
        back: remove what that left behind, where a program of the engine's would by now that is off
        during samples. Outside the clock."""

    @abstractmethod
    def run(self, statement: str) -> int:
        """Execute one statement to completion, commit included. Returns the tuples it changed, or
        -1 if the engine does not report them. Timed."""

    @abstractmethod
    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute one query and fetch every row to the client as Python values. Timed."""

    def admit(self, statement: str, *, changes: bool) -> None:
        """See, before it is timed, that a statement does nothing in a user's database that it must
        not; `changes`: it is for `run`, else for `fetch`. These see it, too, of one that was not
        seen here. Raises `EngineError`."""
        del statement, changes

    def interrupt(self) -> None:
        """End the statement that another thread is in: it raises there, and nothing of it is kept.
        Called again until that has happened, since the statement may not have begun. An engine that
        cannot lets it come to its end."""

    @abstractmethod
    def read(self, statement: str) -> "Iterable[tuple[Any, ...]] | pa.Table":
        """The same rows by the quickest way, for checking an answer. Never timed. Rows may come
        only as they are requested, so that a large relation takes little memory: then the statement
        begins with the first, and no other may be executed before the last."""

    def contents(self, table: str) -> "Iterable[tuple[Any, ...]] | pa.Table":
        """All rows of a table of ours, as by `read`."""
        return self.read(f"SELECT * FROM {self.quote(table)}")  # noqa: S608 - quoted

    def checksum(self, table: str) -> tuple[int, str] | None:
        """(tuples, checksum) of a table of ours, added up where its rows are; None where they must
        come here by `contents`. The checksum of a relation is the sum of those of its parts, modulo
        2^64, in 16 hexadecimal digits."""
        del table
        return None

    def ask_nothing(self) -> None:
        """An empty request, to the engine and back. Timed, as the next two are. Each raises
        `UnsupportedError` where the engine or its driver has no such thing."""
        raise UnsupportedError(f"{self.name} has no empty request")

    def ask_constant(self) -> None:
        """Execute a statement that gives a constant, and that stays prepared from its first
        execution on."""
        raise UnsupportedError(f"{self.name} has no constant to request")

    def plan(self, statement: str, query: str) -> None:
        """Parse a statement and plan it, as `run` does each time; execute nothing. `query` is what
        a statement that makes a relation retrieves, else the statement."""
        del statement, query
        raise UnsupportedError(f"{self.name} cannot plan a statement alone")

    def count(self, query: str, *, planned: bool) -> int:
        """The number that a query answers with. Timed. `planned`: the query is parsed and planned
        as if it had never been asked before."""
        del planned
        return int(self.fetch(query)[0][0])

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """All statements until its end are one transaction, which is then taken back. Raises
        `UnsupportedError` if each statement is one by itself."""
        raise UnsupportedError(f"{self.name} commits each statement by itself")
        yield  # a context manager is made of what yields

    @abstractmethod
    def drop(self, table: str) -> None:
        """Drop one of our tables if it exists."""

    @abstractmethod
    def explain(self, statement: str) -> str:
        """The plan the engine would use, as its own text; changes nothing."""

    def own_times(self, statement: str) -> Mapping[str, int]:
        """The engine's own times of one execution of a statement: ns by a name that says what is
        timed, `planning` and `execution` where it has these; empty without any. It executes
        the statement, within a transaction that is taken back."""
        del statement
        return {}

    def phases(self) -> Mapping[str, int] | None:
        """The time of all statements so far, ns by the name of each phase, where the engine counts
        it exactly: phases that follow upon one another, so that they add up. None if it does not.
        Read outside the clock."""
        return None

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """The storage structures (of `STORAGES`) by which the plan that `explain` gave for a
        statement reaches its tables, `heap` for a scan of all tuples; empty if it reaches none.
        None if the engine does not report it. Read from the plan, so that a structure is seen to be
        used, not only declared. Changes nothing."""
        del statement, plan
        return None

    def work(self) -> Work | None:
        """Its counts so far; None if it has none. Read outside the clock, around each sample."""
        return None

    def another(self) -> "AbstractContextManager[Engine]":
        """One more session of the same database, with the same tactics, for another thread of this
        process; it ends with its context, and before the engine does.

        It has `run`, `fetch` and `read`; everything else is asked of the engine itself. Raises
        `UnsupportedError` if there can be only one.
        """
        raise UnsupportedError(f"{self.name} has one session only")

    def users(self) -> "AbstractContextManager[StatementUsers]":
        """Concurrent users in Rust, whom no interpreter makes wait for each other, each with a
        session of the same database under the same tactics. Until the context ends, the engine
        itself is asked nothing: it may be stopped. Raises `UnsupportedError` where there are none:
        then users are threads of Python, by `another`."""
        raise UnsupportedError(f"{self.name} has no users in Rust")

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
