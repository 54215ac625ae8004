"""The outcome of one step of the executor, for one cell."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.benchmarks.expected import Answer
from loadstone.protocol.messages import Profiled
from loadstone.protocol.parts import RungTimes
from loadstone.record.budget import BudgetRung, BudgetTimer
from loadstone.record.model import AnswerCheck, ColdEvidence, Sample, StatementText


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a step for one cell: `ok`, `failed`, `gap` or `censored` with the reason, and
    what the step returned. A cell is many steps."""

    status: str = "ok"
    reason: str = ""
    samples: Sequence[Sample] = ()
    answers: Sequence[AnswerCheck] = ()
    evidence: Sequence[ColdEvidence] = ()
    statements: Sequence[StatementText] = ()
    profiled: Profiled | None = None
    rungs: Sequence[RungTimes] = ()
    rung_texts: Sequence[BudgetRung] = ()
    own_times: Sequence[BudgetTimer] = ()
    longer_than_ns: int | None = None
    """Of a censored cell: its statement was ended after so long."""
    partly: bool = False
    """Of a censored cell: whether another sample of the step ended in time."""
    given: Sequence[Answer] = ()
    first_rows: Sequence[Sequence[str]] = ()
    """Of each answer in `given`."""
    determined: Sequence[Answer | None] = ()
    """Of each answer in `given`: the part of it that the query determines."""
    rows: str | None = None
    """Those of a variation, as text."""
