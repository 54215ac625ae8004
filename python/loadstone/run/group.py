"""A group: one operation at one temperature on all variants, or several operations that are
compared, as the rungs of a ladder.

    take the samples of its cells in blocks, side by side: how many, and when, the policy decides
        (`rounds.py` of an ordinary run, `study_group.py` of a study)
    see where the time of each cell goes, where the plan wants that
    request plans, in one separate pass; judge every cell by the limits
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from loadstone import _core
from loadstone.plan.plan import Cell
from loadstone.plan.role import Role
from loadstone.plan.variant import AA_SUFFIX, has_share, is_aa_control, parallelism_of
from loadstone.planning.duration import has_budget
from loadstone.planning.planner import NULL_ENGINE
from loadstone.record import CellResult, Sample
from loadstone.record.budget import Budget
from loadstone.record.model import (
    MEASURED,
    AnswerCheck,
    ColdEvidence,
    Condition,
    Disturbance,
    StatementText,
)
from loadstone.record.writer import now
from loadstone.run.budget_blocks import taken_budgets, typical_of
from loadstone.run.context import Context
from loadstone.run.executor import Executor
from loadstone.run.outcome import Outcome
from loadstone.statistics import validity
from loadstone.text.numbers import plural

PRETOUCH_BYTES = 16 << 20
"""Touched before each round, because a hypervisor takes idle memory back within seconds."""


@dataclass(slots=True)
class OpenCell:
    """A cell being measured: the outcomes of its steps so far, of which `result` makes the frozen
    `CellResult` of the record."""

    cell: Cell
    samples: list[Sample] = field(default_factory=list)
    answers: list[AnswerCheck] = field(default_factory=list)
    evidence: list[ColdEvidence] = field(default_factory=list)
    statements: list[StatementText] = field(default_factory=list)
    condition: Condition | None = None
    disturbance: Disturbance | None = None
    budget: Budget | None = None
    status: str = "ok"
    reason: str = ""
    longer_than_ns: int | None = None
    """The place where its statement was ended."""

    def add(self, outcome: Outcome) -> None:
        """Add the outcome of a step. A failure, or a gap that shows only now, ends the cell."""
        self.samples += outcome.samples
        self.answers += outcome.answers
        self.evidence += outcome.evidence
        self.statements += outcome.statements
        if outcome.status != "ok":
            self.status, self.reason = outcome.status, outcome.reason
            self.longer_than_ns = outcome.longer_than_ns
        if outcome.status == "censored" and (self.samples or outcome.partly):
            # Others were within the limit: it bounds neither the least time nor the median.
            count = plural(len(self.samples), "sample") if self.samples else "others"
            self.status, self.longer_than_ns = "failed", None
            self.reason = f"{outcome.reason} once, after {count} within it"

    def result(self) -> CellResult:
        """The cell's result. The times of a failed or a censored cell are not kept."""
        measured = self.status in MEASURED
        return CellResult(
            cell=self.cell,
            status=self.status,
            reason=self.reason,
            ended_at=now(),
            samples=tuple(self.samples) if measured else (),
            answers=tuple(self.answers),
            evidence=tuple(self.evidence),
            statements=tuple(self.statements),
            condition=self.condition,
            disturbance=self.disturbance,
            budget=self.budget if measured else None,
            longer_than_ns=self.longer_than_ns,
        )


class Policy(Protocol):
    """Decides how many samples a group takes, and in which blocks."""

    def take_samples(self) -> None:
        """Take the samples of all cells of the group that are in order."""

    def recording_order(self, results: Sequence[CellResult]) -> Iterable[CellResult]:
        """The results in the order in which they are recorded."""


class Group:
    """The state of a group's cells while they are measured."""

    def __init__(
        self, context: Context, cells: Sequence[Cell], seed: int, executor: Executor
    ) -> None:
        self.context = context
        self.seed = seed
        self.executor = executor
        self.opened: list[OpenCell] = []
        self.operations: dict[str, list[OpenCell]] = {}
        for cell in cells:
            self.add(cell)
        self._listed = len(self.opened)

    def add(self, cell: Cell) -> OpenCell:
        """Open a cell; one that is a gap, or whose answer was no good, is ended at once."""
        item = OpenCell(cell)
        if cell.gap:
            item.status, item.reason = "gap", cell.gap
        elif refused := self.executor.refused(cell):
            item.add(refused)
        self.opened.append(item)
        self.operations.setdefault(cell.operation, []).append(item)
        return item

    def measure(self, policy: Policy) -> Iterable[CellResult]:
        """Take the samples, explain the statements, and judge the cells."""
        live = [*self.in_order()]
        conditions = self.context.conditions
        conditions.begin()
        policy.take_samples()
        condition = conditions.end()
        if self.context.plan.budget:
            self._take_budgets()
        self._explain()
        for item in self.in_order():
            reason = validity.without_data(
                item.samples, item.answers, item.evidence, item.statements
            )
            if reason:
                item.status, item.reason = "gap", reason
        for item in (*live, *self.opened[self._listed :]):
            item.condition = condition
        for items in self.operations.values() if self.context.plan.limits else ():
            self._judge(items, condition)
        return policy.recording_order([item.result() for item in self.opened])

    def in_order(self) -> Iterator[OpenCell]:
        """The cells that nothing has ended so far."""
        return (item for item in self.opened if item.status == "ok")

    def look(self) -> None:
        """A round begins: touch memory, and run the speed probe."""
        _core.pretouch(PRETOUCH_BYTES)
        self.context.conditions.probe_speed()

    def fork(self, items: Sequence[OpenCell]) -> None:
        """Give the engines of these cells new processes."""
        outcomes = self.executor.fork([item.cell for item in items])
        for item, outcome in zip(items, outcomes, strict=True):
            item.add(outcome)

    def _take_budgets(self) -> None:
        """See where the time of each cell goes that is in order so far."""
        plan = self.context.plan
        items = {
            item.cell: item
            for item in self.in_order()
            if item.samples and has_budget(plan, item.cell)
        }
        typical = {cell: typical_of(item.samples) for cell, item in items.items()}
        tabled = self.context.benchmark.published().sampled_operations
        taken = taken_budgets(self.executor, self.seed, typical, tabled)
        for cell, found in taken.items():
            items[cell].budget = found.budget
            items[cell].add(found.outcome)

    def _explain(self) -> None:
        """Request the plans of the cells that are in order, and of those that were ended or failed,
        whose plan may show why."""
        ended = [item for item in self.opened if item.status in ("censored", "failed")]
        for item in self.in_order():
            item.add(self.executor.explain(item.cell))
        for item in ended:
            if not item.statements:
                item.statements += self.executor.explain(item.cell, briefly=True).statements

    def _judge(self, items: Sequence[OpenCell], condition: Condition) -> None:
        """Hold the cells of one operation against the limits, with its own harness overhead and A/A
        control."""
        plan = self.context.plan
        overhead = next((item.samples for item in items if item.cell.variant == NULL_ENGINE), [])
        right = [item for item in items if item.status == "ok" and item.samples]
        controls = _aa_pair(right)
        for item in right:
            name = item.cell.variant
            if plan.role_of(name) is Role.OVERHEAD:
                continue
            # An A/A control is its variant once more.
            controlled = name.removesuffix(AA_SUFFIX)
            judged = validity.judge(
                item,
                overhead,
                condition,
                clock_ns=self.context.clock_ns,
                role=plan.role_of(controlled),
                limited=has_share(name),
                parallelism=parallelism_of(name),
                apart=controls[1] if controlled == controls[0] else 1.0,
            )
            item.status, item.reason, item.disturbance = judged


def _aa_pair(right: Sequence[OpenCell]) -> tuple[str, float]:
    """The variant that was measured twice, and the factor of its A/A difference beyond the limit; 1
    without."""
    taken = {item.cell.variant: item.samples for item in right}
    for name, samples in taken.items():
        first = name.removesuffix(AA_SUFFIX)
        if is_aa_control(name) and first in taken:
            return first, validity.aa_factor(taken[first], samples)
    return "", 1.0
