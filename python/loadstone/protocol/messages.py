"""Every request of a runner to a worker, and every reply: each listed once, by its fields.

A request names the type of its reply: `class Load(Request[Loaded])`. `wire.py` turns messages into
lines and back, and takes no line that does not fit the types. Their values are in `parts.py`.
"""

from typing import Any, Generic, TypeVar, Union, get_args

import msgspec

from loadstone.plan.variant import Variant
from loadstone.protocol.parts import (
    Block,
    FunctionCount,
    Loop,
    Part,
    RungTimes,
    StoredAt,
    ThreadTime,
)
from loadstone.quel.statement import Statement
from loadstone.record.budget import BudgetRung, BudgetTimer
from loadstone.record.model import AnswerCheck, ColdEvidence, Sample, StatementText
from loadstone.record.users import LoopFigures
from loadstone.text.zone import UTC


class Reply(Part, frozen=True, tag=True, tag_field="reply"):
    """An answer of a worker."""


R = TypeVar("R", bound=Reply)


class Request(Part, Generic[R], frozen=True, tag=True, tag_field="request"):
    """A request of the runner; `R` is the type of the reply, unless that is `Failed`."""


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

    translated: dict[str, Statement] = msgspec.field(default_factory=dict)
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
    """(rows, checksum) of each variation's answer, and its first rows as people read them."""

    answers: tuple[tuple[int, str], ...]
    first_rows: tuple[tuple[str, ...], ...] = ()
    determined: tuple[tuple[int, str] | None, ...] = ()
    """The same of what a query that leaves its answer open determines of it."""


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


class Climbed(Reply, frozen=True):
    """The rungs that were climbed, in their order."""

    rungs: tuple[RungTimes, ...]


class RungTexts(Reply, frozen=True):
    """The text that each rung sends to the engine, with the engine's plan where it has one; and the
    engine's own times of the statement."""

    rungs: tuple[BudgetRung, ...]
    own_times: tuple[BudgetTimer, ...] = ()


class Explained(Reply, frozen=True):
    """Statements as the engine gets them, with its plans."""

    statements: tuple[StatementText, ...]


class LoopResult(Reply, frozen=True):
    """A loop of users, and that of the writers beside them."""

    figures: LoopFigures
    beside: LoopFigures | None = None


class Open(Request[Opened], frozen=True):
    """Load exactly this variant's engine and start it in the folder `scratch`; `has_predecessor`:
    an earlier worker may have left something."""

    variant: Variant
    scratch: str
    owner: str
    has_predecessor: bool = False
    as_it_stands: bool = False
    """The user's own tables are read, and nothing is written there."""
    users_text: bool = False
    """The statements are the user's own."""
    timezone: str = UTC
    """The zone in which the engine reads and writes times."""


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
    """Execute a block's first variation, unmeasured, and show its rows, unless they are longer than
    this as text."""

    block: Block
    bytes_max: int


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
