"""The contents of a record, as plain values. Reports and findings see nothing else.

Most classes are the rows of a table; `text/kinds.py` has the values that a field may have.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Annotated, Any

from msgspec import Meta

from loadstone.plan.plan import Cell, Plan
from loadstone.plan.presentation import Presentation
from loadstone.plan.study import Decision
from loadstone.plan.workload import BASES, Accepted
from loadstone.record.budget import Budget
from loadstone.record.users import UsersPoint
from loadstone.text.kinds import (
    At,
    Count,
    Digest,
    Json,
    LongText,
    MeasuredNs,
    Message,
    Name,
    Ns,
    Ordinal,
    Scale,
    Share,
    VariantName,
    Words,
)
from loadstone.text.shape import matching, one_of

Access = Annotated[str, matching("[a-z,]{0,200}", "names joined by commas")]


def by_name(row: Any) -> dict[str, Any]:
    """The fields of a frozen value by name, as they are. `dataclasses.asdict` copies each, which
    takes most of the time of writing a hundred thousand samples down."""
    kind: Any = type(row)
    return {name: getattr(row, name) for name in _names(kind)}


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


@dataclass(frozen=True, slots=True)
class Sample:
    """One timed repetition.

    CPU and device figures are None if the system does not report them; `commit_ns` is the commit's
    part of the time, if a client measures it separately; `calls`, `statements` and `round_trips`
    are the client's counts of its calls into the client library, of statements sent to the engine,
    and of waits for a server. `elapsed_ns` is at least 1. Those of `WORK` are the engine's own
    counts, where it has them.
    """

    ordinal: Ordinal
    round: Ordinal
    variation: Ordinal
    started_ns: Ns
    elapsed_ns: MeasuredNs
    client_cpu_ns: Ns | None = None
    server_cpu_ns: Ns | None = None
    read_bytes: Count | None = None
    written_bytes: Count | None = None
    commit_ns: Ns | None = None
    client_threads: Count | None = None
    server_threads: Count | None = None
    calls: Count | None = None
    statements: Count | None = None
    round_trips: Count | None = None
    tuples: Count | None = None
    pages: Count | None = None
    comparisons: Count | None = None
    hash_probes: Count | None = None
    spilled_bytes: Count | None = None
    log_bytes: Count | None = None
    batches_ahead: Count | None = None
    functions_compiled: Count | None = None
    code_bytes: Count | None = None
    compile_ns: Ns | None = None
    first_copy_reads: Count | None = None
    second_copy_reads: Count | None = None


WORK = (
    "tuples", "pages", "comparisons", "hash_probes", "spilled_bytes", "log_bytes", "batches_ahead",
    "functions_compiled", "code_bytes", "compile_ns", "first_copy_reads", "second_copy_reads",
)  # fmt: skip
"""The fields of a sample that an engine counts of its own work."""


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """One sample's answer and the oracle's."""

    ordinal: Ordinal
    variation: Ordinal
    expected_rows: Count
    expected_checksum: Digest
    rows: Count
    checksum: Digest

    @property
    def right(self) -> bool:
        """Whether cardinality and checksum agree."""
        return (self.rows, self.checksum) == (self.expected_rows, self.expected_checksum)


@dataclass(frozen=True, slots=True)
class ColdEvidence:
    """The proof of one sample of a cold cell.

    Pages are those of the engine's data files in the page cache: before they were evicted and
    after, both while the engine was dead; once it had opened; and, evicted again, immediately
    before the clock. Opening read `opening_read_bytes` from the device, and may have left
    `kept_bytes` of the `data_bytes` in the engine's own memory: an upper bound. None if unknown.
    """

    ordinal: Ordinal
    proved: bool
    reason: Message
    method: Name
    files: Count
    bytes: Count
    resident_before: Count | None
    resident_after: Count | None
    engine_dead: bool
    resident_opened: Count | None = None
    resident_at_clock: Count | None = None
    opening_read_bytes: Count | None = None
    kept_bytes: Count | None = None
    data_bytes: Count | None = None

    @property
    def holds(self) -> bool:
        """Whether the observations support `proved`: a dead engine, and no page left, neither then
        nor when the clock started."""
        seen = self.engine_dead and not self.resident_after
        return self.proved and seen and self.resident_at_clock == 0


@dataclass(frozen=True, slots=True)
class StatementText:
    """One variation as sent to the engine, the engine's plan for it, and the structures by
    which that plan reaches its tables (`access`, comma-separated; empty: it reaches none; None: the
    engine does not report them, or was not asked, as for scans of a heap)."""

    variation: Ordinal
    text: LongText
    plan: LongText
    access: Access | None = None

    def planned_otherwise(self, storage: str) -> bool:
        """Whether the plan reaches tables, but none by the structure that was requested."""
        return bool(self.paths) and storage not in self.paths

    @property
    def paths(self) -> tuple[str, ...]:
        """The structures, one by one."""
        return tuple(self.access.split(",")) if self.access else ()


@dataclass(frozen=True, slots=True)
class Condition:
    """The machine's state while a cell was measured, as shares of all processors' time over the
    cell's interleaved group (or, if that is longer, the second that ended with it): the
    hypervisor's share, and that of programs other than the run; and the slowdown of a fixed
    computation since the start of the session (0.1: 10 % longer). The speed probe is the median
    time of a miniature of an engine's work, taken in each round. None if the system does not report
    it."""

    stolen_share: Share | None
    foreign_share: Share | None
    speed_drift: Annotated[float, Meta(ge=-1, le=1e9)] | None
    speed_probe_ns: Annotated[float, Meta(ge=1, le=1e18)] | None = None


@dataclass(frozen=True, slots=True)
class Disturbance:
    """The bounds of a disturbed time: on an idle machine, it would have lain between `low_factor`
    (0 to 1) and `high_factor` (1 or more) times the measured one.

    `worked_share` is the part of it in which processors worked for the cell; None if the system
    does not report it, if the statement is too short for its counters, or if only the A/A control
    disturbs it.
    """

    worked_share: Share | None
    low_factor: Share
    high_factor: Annotated[float, Meta(ge=1, le=1e12)]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The basis of the expected answers of a user's statement (`plan.workload.BASES`): `engines`
    are those that agree, or that answered, joined by commas; `words` say how others differ.
    `answers` are those expected, by variation: the ways in which engines give it."""

    operation: Name
    rows: Scale
    basis: Annotated[str, one_of(BASES)]
    engines: Words
    words: Message
    answers: Annotated[tuple[tuple[Accepted, ...], ...], Json(1 << 22)] = ()


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """A variant's answer to a variation of a user's statement, before anything was measured.

    `kind` numbers the answers to a variation from 0: answers of one number agree, others differ;
    None where it could not be compared with another one. `first_rows` are texts for people.
    """

    operation: Name
    rows: Scale
    variation: Ordinal
    variant: VariantName
    tuples: Count
    checksum: Digest
    kind: Ordinal | None
    first_rows: Annotated[tuple[str, ...], Json(1 << 14)]


LEFT_BEHIND = "left behind"
"""The kind of the event that says what a run may have left in a database of the user's."""
NOT_MEASURED = "not measured"
"""The kind of the event that says why a session could not measure a benchmark, or its rest."""
MEASURED = ("ok", "disturbed", "invalid")
"""The statuses of cells that keep their samples."""
BELIEVED = ("ok", "disturbed")
"""The statuses of cells with usable figures, each within its interval."""


@dataclass(frozen=True, slots=True)
class CellResult:
    """The result of a cell.

    `status`: ok; failed (`reason` says how: `> 60 s`, `wrong answer …`, `engine crashed …`); gap
    (declared); disturbed (others took part of the machine: a figure within the wider interval that
    `disturbance` gives); invalid (measured, but beyond a limit of the instrument); and in a study
    censored (its statement was ended after `longer_than_ns`: no figure, but a lower bound) and
    spared (a decision made it superfluous). A cold cell whose evidence is incomplete has
    `temperature_shown` = `unproved`.

    `label` says of its answer what makes it neither right nor wrong, as `kind: words`; its status
    and its figures stand beside it, unranked.
    """

    cell: Cell
    status: str
    reason: str
    ended_at: str
    samples: tuple[Sample, ...] = ()
    answers: tuple[AnswerCheck, ...] = ()
    evidence: tuple[ColdEvidence, ...] = ()
    statements: tuple[StatementText, ...] = ()
    condition: Condition | None = None
    disturbance: Disturbance | None = None
    budget: Budget | None = None
    """Where its time went, if the plan asks for it and it was measured."""
    longer_than_ns: int | None = None
    label: str = ""

    @property
    def read_nothing(self) -> bool:
        """Whether the system reports that no sample read anything from storage, though it had an
        answer. Operations without an answer (a calibration engine, a rung of a ladder) need no
        data."""
        asked = bool(self.samples and self.answers)
        return asked and all(sample.read_bytes == 0 for sample in self.samples)

    @property
    def temperature_shown(self) -> str:
        """The label that the evidence allows; for a cell that was not measured, the planned one. A
        cell that read nothing may have found its data in memory, whatever the evidence shows."""
        if self.cell.temperature != "cold" or self.status not in MEASURED:
            return self.cell.temperature
        proved = bool(self.evidence) and all(item.holds for item in self.evidence)
        proved = proved and len(self.evidence) >= len(self.samples)
        return "cold" if proved and not (self.read_nothing or self.refuted) else "unproved"

    @property
    def refuted(self) -> tuple[int, ...]:
        """As the function `refuted`."""
        return refuted(self.samples, self.answers, self.evidence)


def kind_of_label(label: str) -> str:
    """A label's kind: the part before its words."""
    return label.partition(": ")[0]


def refuted(
    samples: Sequence[Sample], answers: Sequence[AnswerCheck], evidence: Sequence[ColdEvidence]
) -> tuple[int, ...]:
    """Ordinals of samples whose evidence and counters contradict each other: no data was in memory,
    and yet nothing came from the device while the answer was made.

    Operations without an answer (a calibration engine, a rung of a ladder) need not touch the data;
    counters that the system does not report contradict nothing.
    """
    proved = {item.ordinal for item in evidence if item.proved and item.bytes > 0}
    answered = {answer.ordinal for answer in answers if answer.expected_rows > 0}
    return tuple(
        sample.ordinal
        for sample in samples
        if sample.read_bytes == 0 and sample.ordinal in proved & answered
    )


@dataclass(frozen=True, slots=True)
class OperationText:
    """An operation as it was run at one scale; `quel` is its first, published variation."""

    name: Name
    rows: Scale
    ordinal: Ordinal
    title: Words
    group: Words
    query: Words
    design: Name
    storage: Name
    destination: Name
    quel: LongText


@dataclass(frozen=True, slots=True)
class InputText:
    """The input of a variation of an operation at one scale, constants included."""

    operation: Name
    rows: Scale
    variation: Ordinal
    text: LongText


@dataclass(frozen=True, slots=True)
class Load:
    """One relation loaded into one physical design: outside every cell, shown for information."""

    variant: VariantName
    rows: Scale
    relation: Name
    design: Name
    tuples: Count
    elapsed_ns: Ns
    answer_ok: bool

    @property
    def tuples_per_s(self) -> float:
        """The speed of loading."""
        return self.tuples / self.elapsed_ns * 1e9


MEASURED_KEYS = frozenset({"round_trip_ns"})
"""Keys of terms whose values are measured, not set: every session has another value."""


@dataclass(frozen=True, slots=True)
class Term:
    """A setting as we asked for it, and as the engine reads it back."""

    variant: VariantName
    key: Name
    asked: Message | None
    read_back: Message | None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened outside a cell: a worker died, a load failed, a run was resumed."""

    at: At
    kind: Name
    variant: VariantName
    message: Message


@dataclass(frozen=True, slots=True)
class Session:
    """One process's work on a run; a resumed run has several. `outcome` is None while it runs or
    where it was killed."""

    session_id: int
    started_at: str
    command: str
    ended_at: str | None = None
    outcome: str | None = None
    elapsed_ns: int | None = None
    machine: dict[str, Any] = field(default_factory=dict)
    calibration: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """A whole record."""

    run_id: str
    created_at: str
    loadstone_version: str
    plan: Plan
    published: dict[str, Any]
    presentation: Presentation
    """The benchmark's own declarations."""
    sessions: tuple[Session, ...]
    operations: tuple[OperationText, ...]
    results: tuple[CellResult, ...]
    loads: tuple[Load, ...]
    terms: tuple[Term, ...]
    structure_notes: tuple[tuple[str, str, str], ...]
    """(variant, storage, note): the stand-in for a structure that the engine does not literally
    have."""
    sizes: tuple[tuple[str, int, int], ...]
    """(variant, rows, bytes) after loading."""
    events: tuple[Event, ...]
    users: tuple[UsersPoint, ...] = ()
    inputs: tuple[InputText, ...] = ()
    """Of the first variations of each operation; empty in a record of before there were any."""
    decisions: tuple[Decision, ...] = ()
    """Of a study: the latest session's of each operation and scale."""
    agreements: tuple[Agreement, ...] = ()
    """Of a user's workload: the latest session's of each statement."""
    given: tuple[GivenAnswer, ...] = ()
    """As `agreements`: the answers of each variant."""

    @property
    def pending(self) -> tuple[Cell, ...]:
        """Cells of the plan that have no result yet."""
        done = {result.cell.key for result in self.results}
        return tuple(cell for cell in self.plan.cells if cell.key not in done)
