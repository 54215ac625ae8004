"""The time budget of a cell: where its time went, as it was measured."""

from dataclasses import dataclass
from typing import Annotated

from loadstone.plan.statement_ladder import RUNGS, UNWATCHED, WATCHED
from loadstone.text.kinds import (
    Count,
    LongText,
    MeasuredNs,
    Message,
    Name,
    Ns,
    Ordinal,
    Times,
    Words,
)
from loadstone.text.shape import one_of

ALL, PROGRAMS, NOTHING = "all", "programs", "nothing"
SAMPLED = (ALL, PROGRAMS, NOTHING)
"""The sampler's view: programs and the kernel, programs alone, or nothing."""


@dataclass(frozen=True, slots=True)
class BudgetThread:
    """The time that threads of the worker, or processes of a server, spent in the statements that
    were watched: on a CPU, and waiting for one (None: the kernel does not report). `executing`: the
    thread that sent the statements."""

    server: bool
    executing: bool
    name: Words
    cpu_ns: Ns
    waited_ns: Ns | None


@dataclass(frozen=True, slots=True)
class BudgetPart:
    """The number of times that the sampler found a function at work. `object` is the file that it
    is in, `entry`, in the kernel, the system call or exception that led there. Functions that were
    seldom seen are one part of each component, with an empty name."""

    server: bool
    component: Words
    object: Words
    function: Words
    entry: Words
    samples: Count


@dataclass(frozen=True, slots=True)
class BudgetBlock:
    """A rung of the ladder of statements in one block: the median of its samples. `rung` is one of
    `statement_ladder.RUNGS`; or `WATCHED` or `UNWATCHED`, the statement itself with the sampler and
    without."""

    block: Ordinal
    rung: Annotated[str, one_of((*RUNGS, WATCHED, UNWATCHED))]
    samples: Times
    elapsed_ns: MeasuredNs


@dataclass(frozen=True, slots=True)
class BudgetRung:
    """The text that a rung sent to the engine, and the engine's plan for it; `reason`: why it was
    not measured, else empty."""

    rung: Annotated[str, one_of(RUNGS)]
    text: LongText = ""
    plan: LongText = ""
    reason: Message = ""


@dataclass(frozen=True, slots=True)
class BudgetTimer:
    """One of the engine's own times of the statement, the median of so many executions.
    A cross-check of the rungs and the samples, and no part of the budget."""

    name: Name
    executions: Times
    elapsed_ns: Ns


@dataclass(frozen=True, slots=True)
class Budget:
    """Where the time of a cell's statements went. `reason` says what the sampler could not see;
    empty if it saw everything. All figures are of the watched `statements`, which took `elapsed_ns`
    together."""

    sampled: Annotated[str, one_of(SAMPLED)]
    reason: Message
    period_ns: MeasuredNs
    """CPU time that a sample stands for, in the mean."""
    statements: Count
    elapsed_ns: Ns
    reading_ns: Ns
    """CPU time of the executing thread that reading its own clock took, in all."""
    lost: Count
    """Samples that were not noted, at least."""
    threads: tuple[BudgetThread, ...] = ()
    parts: tuple[BudgetPart, ...] = ()
    blocks: tuple[BudgetBlock, ...] = ()
    rungs: tuple[BudgetRung, ...] = ()
    timers: tuple[BudgetTimer, ...] = ()
