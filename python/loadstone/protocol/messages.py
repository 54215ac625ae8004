"""Every request of a runner to a worker, and every reply: each listed once, by its fields.

A request names the type of its reply: `class Load(Request[Loaded])`. `wire.py` turns messages into
lines and back, and takes no line that does not fit the types.
"""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar, Union, get_args

import msgspec

from loadstone.benchmarks.base import StoredRelation, table_of
from loadstone.plan.variant import Variant
from loadstone.plan.workload import DrawnText
from loadstone.quel.statement import Statement
from loadstone.record.budget import BudgetTimer
from loadstone.record.model import AnswerCheck, ColdEvidence, Interval, Sample, StatementText


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value within messages."""


class Reply(Part, frozen=True, tag=True, tag_field="reply"):
    """An answer of a worker."""


R = TypeVar("R", bound=Reply)


class Request(Part, Generic[R], frozen=True, tag=True, tag_field="request"):
    """A request of the runner; `R` is the type of the reply, unless that is `Failed`."""


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
    columns: tuple[str, ...]
    digits: int
    order: tuple[int, ...]
    changed: tuple[ChangedTable, ...] = ()
    """The tables that it changes; none: it is a query."""
    script: bool = False
    """Whether it is a script of statements."""
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


class Failed(Reply, frozen=True):
    """The request was not fulfilled. `kind` names the error in `errors.py`; empty: any other
    exception of an engine."""

    kind: str
    message: str
    hint: str = ""


class Done(Reply, frozen=True):
    """There is no more to say."""


class Opened(Reply, frozen=True):
    """Versions of engine and client, and the terms as the engine shows them."""

    versions: dict[str, str]
    terms: dict[str, str]


class TermsReported(Reply, frozen=True):
    """Terms as the system shows them now."""

    terms: dict[str, str]


class Calibrated(Reply, frozen=True):
    """Figures of the instrument by key, in ns where the key says so; None: not to be had here."""

    figures: dict[str, float | None]


class State(Reply, frozen=True):
    """The state that a successor need not find out again: statements already translated, and the
    database that a client program was last asked for."""

    translated: dict[str, Statement] = {}
    stored: StoredAt | None = None


class Loaded(Reply, frozen=True):
    """Tuples in the database after loading, and the time it took."""

    tuples: int
    elapsed_ns: int


class Settled(Reply, frozen=True):
    """Bytes that everything takes on disk."""

    size_bytes: int


class Found(Reply, frozen=True):
    """(rows, checksum) of a stored relation; None where it does not exist."""

    answer: tuple[int, str] | None


class Answered(Reply, frozen=True):
    """(rows, checksum) of each variation's answer."""

    answers: tuple[tuple[int, str], ...]


class RowsShown(Reply, frozen=True):
    """All rows of an answer, as `workload.answers.written` has them; None where they are too
    many."""

    rows: str | None


class BlockResult(Reply, frozen=True):
    """The samples of one block, up to the first wrong answer, or a statement beyond its limit."""

    samples: tuple[Sample, ...]
    answers: tuple[AnswerCheck, ...]
    evidence: tuple[ColdEvidence, ...]
    ended: bool = False


class FunctionCount(Part, frozen=True):
    """The number of times that a thread of the worker, or a process of a server, was in a function
    when its CPU clock ticked. `object` is the file that the function is in; `entry`, in the kernel,
    the system call or exception that led there; `component` is the engine's word for it. A
    `BudgetPart` of the record is a sum of these over threads and blocks."""

    server: bool
    thread: int
    component: str
    object: str
    function: str
    entry: str
    samples: int


class ThreadTime(Part, frozen=True):
    """The time that a thread of the worker, or a process of a server, spent in the samples of a
    block: on a CPU, and waiting for one (None: the kernel does not report)."""

    server: bool
    thread: int
    name: str
    cpu_ns: int
    waited_ns: int | None


class Profiled(Reply, frozen=True):
    """A block's samples, and the functions that their time went to; a `Budget` of the record is of
    many such blocks, with their rungs. `sampled` is one of `record.budget.SAMPLED`; `reason` says
    what could not be seen, all functions or the kernel's; empty: nothing. `executing` is the
    worker's thread that sent the statements; to read its clock took it `reading_ns` of CPU time in
    all."""

    result: BlockResult
    sampled: str
    reason: str
    period_ns: int
    """CPU time between two ticks of a thread."""
    sampled_ns: int | None
    """CPU time that all counts stand for together; None where the kernel was not seen: each stands
    for a period."""
    elapsed_ns: int
    """Of the block's samples together."""
    lost: int
    """Ticks that were not noted, at least."""
    executing: int
    reading_ns: int
    counts: tuple[FunctionCount, ...]
    threads: tuple[ThreadTime, ...]


class RungText(Part, frozen=True):
    """A rung's statement; `plan` is empty where there is nothing to plan."""

    rung: str
    text: str
    plan: str = ""


class RungTimes(Part, frozen=True):
    """A rung of the ladder of statements: the times of its samples; or, without any, the reason."""

    rung: str
    elapsed_ns: tuple[int, ...] = ()
    reason: str = ""


class Climbed(Reply, frozen=True):
    """The rungs that were climbed, in their order."""

    rungs: tuple[RungTimes, ...]


class RungTexts(Reply, frozen=True):
    """The text that each rung sends to the engine, with the engine's plan where it has one; and the
    engine's own times of the statement."""

    rungs: tuple[RungText, ...]
    own_times: tuple[BudgetTimer, ...] = ()


class Explained(Reply, frozen=True):
    """Statements as the engine gets them, with its plans."""

    statements: tuple[StatementText, ...]


class LoopFigures(Part, frozen=True, kw_only=True):
    """The result of a loop of users: the measured fields of a `UsersPoint`; the defaults are those
    of a loop that has no times to show. `client` is the language of the calling program, empty
    where its loop ended without a result."""

    client: str = "python"
    status: str = "ok"
    reason: str = ""
    elapsed_ns: int = 0
    completed: int = 0
    failed: int = 0
    late: int = 0
    skipped: int = 0
    client_cpu_ns: int | None = None
    server_cpu_ns: int | None = None
    latency_ns: dict[str, int] = {}
    lag_ns: dict[str, int] = {}
    service_ns: dict[str, int] = {}
    histogram: bytes = b""
    links_checked: int | None = None
    compared: int | None = None
    interval_ns: int = 0
    intervals: tuple[Interval, ...] = ()

    def fields(self, **others: Any) -> dict[str, Any]:
        """Its fields by name, for a `UsersPoint`, with `others` in place of some."""
        return {**msgspec.structs.asdict(self), **others}

    def but(self, **others: Any) -> "LoopFigures":
        """The same with `others` in place of some fields."""
        return msgspec.structs.replace(self, **others)


class LoopResult(Reply, frozen=True):
    """A loop of users, and that of the writers beside them."""

    figures: LoopFigures
    beside: LoopFigures | None = None


class Open(Request[Opened], frozen=True):
    """Load exactly this variant's engine and start it in the folder `scratch`; `heir`: a worker
    before this one may have left something."""

    variant: Variant
    scratch: str
    owner: str
    heir: bool = False
    as_it_stands: bool = False
    """The user's own tables are read, and nothing is written there."""
    users_text: bool = False
    """The statements are the user's own."""


class ReportTerms(Request[TermsReported], frozen=True):
    """Ask the system for its terms."""


class Calibrate(Request[Calibrated], frozen=True):
    """Measure the instrument itself, in a process like those that measure engines."""


class Restart(Request[Done], frozen=True):
    """Stop the system, see it dead, and restart it on its data."""


class Reopen(Request[Done], frozen=True):
    """Stop the system, see it dead, evict its files and restart it, for the first sample of this
    cold block, which is the next request."""

    block: Block


class Switch(Request[TermsReported], frozen=True):
    """Make the system another variant of the same engine, on the data that it has."""

    variant: Variant


class ExportState(Request[State], frozen=True):
    """Stop the system and leave its data to another worker; this one does nothing more."""


class ImportState(Request[Done], frozen=True):
    """Take over the state of the worker before this one."""

    state: State


class Load(Request[Loaded], frozen=True):
    """Make a stored relation and load it."""

    stored: StoredAt


class Settle(Request[Settled], frozen=True):
    """Collect statistics of these tables and write a checkpoint."""

    tables: tuple[str, ...]


class LookUp(Request[Found], frozen=True):
    """Count and sum up the rows of a stored relation."""

    stored: StoredAt


class TakeBlock(Request[BlockResult], frozen=True):
    """Take the samples of a block."""

    block: Block


class GiveAnswers(Request[Answered], frozen=True):
    """Execute each of a block's variations once, unmeasured, and report the answer."""

    block: Block


class ShowRows(Request[RowsShown], frozen=True):
    """Execute a block's first variation, unmeasured, and show its rows, unless there are more than
    so many."""

    block: Block
    rows_max: int


class Profile(Request[Profiled], frozen=True):
    """Take the samples of a warm block and see which functions their time goes to, so many times a
    second of CPU time, or less often where all of it would take a larger share of that time than
    `share_max`."""

    block: Block
    frequency_hz: int = 997
    share_max: float = 1.0


class Climb(Request[Climbed], frozen=True):
    """Take one sample of each of a warm block's variations on each of these rungs of its ladder of
    statements, rung by rung in this order."""

    block: Block
    rungs: tuple[str, ...]


class ReportRungs(Request[RungTexts], frozen=True):
    """Report what each of these rungs sends for a block's first variation, and what the engine's
    own timers say of it: for that alone it is executed, and taken back."""

    block: Block
    rungs: tuple[str, ...]


class Explain(Request[Explained], frozen=True):
    """Translate a block's variations and ask the engine for its plans; execute nothing."""

    block: Block


class RunLoop(Request[LoopResult], frozen=True):
    """Let concurrent users work on a block's variations."""

    block: Block
    loop: Loop


class Remove(Request[Done], frozen=True):
    """Remove all the engine's data."""


REQUESTS: tuple[type[Request[Any]], ...] = tuple(Request.__subclasses__())
REPLIES: tuple[type[Reply], ...] = tuple(Reply.__subclasses__())
ANY_REQUEST: Any = Union[REQUESTS]  # noqa: UP007 - made of a tuple
ANY_REPLY: Any = Union[REPLIES]  # noqa: UP007


def reply_of(request: type[Request[R]]) -> type[R]:
    """The type of a request's reply."""
    (reply,) = get_args(request.__orig_bases__[0])  # type: ignore[attr-defined]
    found: type[R] = reply
    return found
