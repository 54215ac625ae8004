"""Everything that one stage of a scale is measured with, as one value that is handed on whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loadstone import _core
from loadstone.benchmarks.base import Benchmark, Operation, StoredRelation
from loadstone.benchmarks.expected import Answers
from loadstone.machine.conditions import Conditions
from loadstone.plan.plan import Plan
from loadstone.record import Recorder
from loadstone.run.progress_listener import ProgressListener
from loadstone.run.study_time import StudyTime
from loadstone.run.variant_worker import VariantWorker


def _clock_ns() -> float:
    return _core.clock_resolution_ns() + _core.clock_cost_ns()


@dataclass(frozen=True, slots=True)
class Context:
    """A plan, its workers, and the tables of one stage."""

    plan: Plan
    benchmark: Benchmark
    rows: int
    operations: Mapping[str, Operation]
    workers: dict[str, VariantWorker]
    """By variant. A study adds to it, and to `stored`."""
    stored: dict[str, Sequence[StoredRelation]]
    """The relations of the stage, by variant."""
    answers: Answers
    recorder: Recorder
    listener: ProgressListener
    conditions: Conditions
    time: StudyTime
    """The time of a study, which its stages share."""
    overdue: dict[tuple[str, str], str] = field(default_factory=dict)
    """The least time, in words, of each statement that was ended, by operation and variant. It
    begins with those of earlier sessions."""
    clock_ns: float = field(default_factory=_clock_ns)
    """The clock's resolution and cost together."""
