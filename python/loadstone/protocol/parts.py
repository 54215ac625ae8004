"""The values within messages: of several fields, and named by their meaning.

`messages.py` lists the requests and replies that carry them.
"""

from dataclasses import dataclass

import msgspec

from loadstone.benchmarks.base import StoredRelation, table_of
from loadstone.plan.workload import DrawnText
from loadstone.record.budget import BudgetPart
from loadstone.workload.opening import Opening


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value within messages."""


class Named(Part, frozen=True):
    """The answer expected of the tuples that an update concerns and of the number of all: the
    queries, and the sum of their answers' checksums."""

    queries: tuple[str, ...]
    checksum: str


class Variation(Part, frozen=True):
    """One input of an operation: its text, the one that takes it back, and the oracle's answer."""

    number: int
    text: str
    undo: str
    rows: int
    checksum: str
    determined: tuple[int, str] | None = None
    """(rows, checksum) of what a query that leaves its answer open determines of it, where that is
    enough; None: the whole answer has to be this one."""
    named: Named | None = None
    """Of an update whose relation need not be read whole for each sample."""


class ChangedTable(Part, frozen=True):
    """A table that a user's statement changes: its primary key, all its columns, and those of them
    of which new values are not compared."""

    name: str
    key: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    volatile: tuple[str, ...] = ()


class SqlText(Part, frozen=True):
    """Of a user's statement: the dialect of its text, the tables and columns that it may name, and
    how its answers are compared, as `plan.workload.WorkloadStatement` has it."""

    written_in: str
    tables: tuple[str, ...]
    columns: tuple[tuple[str, str, str], ...]
    """Each with its table and its type."""
    digits: int
    order: tuple[int, ...]
    changed: tuple[ChangedTable, ...] = ()
    """The tables that it changes; none: it is a query."""
    script: bool = False
    """Whether it is a script of statements."""
    opening: Opening | None = None
    """What it leaves open."""
    dates: bool = True
    """Whether the engine has types for dates and timestamps."""
    same: tuple[str, ...] = ()
    grows: tuple[str, ...] = ()
    """Queries that hold concurrent users of a script to what it must leave."""


class Block(Part, frozen=True):
    """Consecutive samples of one cell: one of each variation, in this order."""

    benchmark: str
    edition: str
    rows: int
    design: str
    destination: str
    temperature: str
    variations: tuple[Variation, ...]
    warm_up: int
    first_ordinal: int
    round: int
    storage: str = ""
    """The storage structure that the operation exercises."""
    warming: tuple[Variation, ...] = ()
    """Inputs that no sample has, for the warm-up; none: it runs the block's variations."""
    limit_ns: int = 0
    """A statement that takes longer is ended, and with it the block; 0: none is."""
    checked: int | None = None
    """Answers are checked of so many samples, the first ones; None: of all."""
    sql: SqlText | None = None
    """None: the texts are QUEL, or name a client's measure."""

    def uncut(self) -> "Block | None":
        """The same with the first text alone, without its LIMIT and OFFSET; None where they stand
        within it."""
        from loadstone.workload.sql_opening import without_cut

        first, *_ = self.variations
        text = None if self.sql is None else without_cut(first.text, self.sql.written_in)
        if text is None:
            return None
        return msgspec.structs.replace(
            self, variations=(msgspec.structs.replace(first, text=text),)
        )

    def asking(self) -> "Block":
        """The same for one query over the tables of a script."""
        sql = None if self.sql is None else msgspec.structs.replace(self.sql, script=False)
        return msgspec.structs.replace(self, sql=sql)


class Loop(Part, frozen=True):
    """`model` is closed or open; the rate of an open one, and those of a ramp, count for all users;
    `limits`: whether a loop that left its client no headroom is invalid."""

    model: str
    users: int
    duration_ns: int
    seed: int
    rate_per_s: float | None = None
    limits: bool = True
    writers: int = 0
    """Users who insert at the same time, where the others look up."""
    ramp: tuple[float, ...] = ()
    drawn: tuple[DrawnText, ...] = ()
    drawn_start: int = 0

    def with_drawn(self, drawn: tuple[DrawnText, ...], start: int) -> "Loop":
        """With requests after the variations, as `plan.workload.WorkloadStatement` has them."""
        return msgspec.structs.replace(self, drawn=drawn, drawn_start=start)


@dataclass(frozen=True, slots=True)
class StoredAt:
    """A stored relation of one edition at one scale: the information that a worker needs to make
    it, or to find it."""

    benchmark: str
    edition: str
    rows: int
    item: StoredRelation

    @property
    def table(self) -> str:
        """The name of its table. A user's has the name by which statements know it."""
        if self.item.data is not None:
            return self.item.relation
        return table_of(self.item.relation, self.item.design, self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCount(BudgetPart):
    """The number of times that one thread of the worker, or one process of a server, was in a
    function when its CPU clock ticked."""

    thread: int


class ThreadTime(Part, frozen=True):
    """The time that a thread of the worker, or a process of a server, spent in the samples of a
    block: on a CPU, and waiting for one (None: the kernel does not report)."""

    server: bool
    thread: int
    name: str
    cpu_ns: int
    waited_ns: int | None


class RungTimes(Part, frozen=True):
    """A rung of the ladder of statements: the times of its samples; or, without any, the reason."""

    rung: str
    elapsed_ns: tuple[int, ...] = ()
    reason: str = ""
