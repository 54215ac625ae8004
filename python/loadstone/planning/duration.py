"""About how long a plan takes on two otherwise idle cores. Every announced time comes from here,
for one benchmark and for several in one record.

engines started, the instrument calibrated, the engines ended each relation made, checked and loaded
on each variant warm cells: samples and warm-ups;  cold cells: a restart of all engines for each
round, samples further samples of undecided cells;  loops of users;  time budgets

Not in it: measuring disturbed cells again, which a quiet machine does not need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loadstone.benchmarks.base import Benchmark, Operation
from loadstone.engines.capabilities import Estimate
from loadstone.engines.system import System
from loadstone.plan.plan import Cell, Plan
from loadstone.plan.role import Role
from loadstone.plan.variant import is_aa_control
from loadstone.planning.planner import NULL_ENGINE
from loadstone.statistics.stopping import REPEAT_BLOCK

START_S = 6.0
"""A private server's files are made; processes import their engines, and end."""
RELATION_S = 0.05
"""A relation is made, stored and checked, beside what its tuples take."""
TUPLE_S = 12e-6
REOPENED_S = 0.45
"""Engines are stopped, evicted, and started again side by side."""
SAMPLE_S = 0.002
"""One statement, its answer's check and the way to its worker, beside what its tuples take."""
BUDGET_S = 1.2
"""A cell's time budget: eight blocks of its statement with the sampler and without, of its rungs,
and of the warm-ups."""
STUDY_S = 10.0
"""A study's start: combinations share what is loaded, but for those that need other tables."""
STUDY_TUPLE_S = 50e-6
REPEATED_SHARE = 0.5
"""Of the time that undecided cells may take."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How a variant differs from others in an estimate."""

    tuples: float = 1.0
    """Its time for a tuple, as a multiple of the usual time."""
    commit_s: float = 0.0
    """How long one of its commits waits for the device."""


USUAL = Pace()

Executed = Mapping[tuple[str, str], float]
"""The time in s of one execution of a user's statement, by its name and the variant: nobody knows
it before each was executed once."""


def seconds_estimated(
    plan: Plan,
    benchmark: Benchmark,
    engines: Mapping[str, type[System]],
    cells: Sequence[Cell] | None = None,
    paces: Mapping[str, Pace] | None = None,
    *,
    loops: int,
) -> float:
    """A rough estimate for these cells, or all, and so many loops of users; `engines`, and the
    `paces` of those that are not the usual one, by variant."""
    if plan.study is not None:
        return STUDY_S + sum(rows * STUDY_TUPLE_S for rows in plan.rows) + plan.within_s
    own = [cell for cell in (plan.cells if cells is None else cells) if not cell.gap]
    work = _Work(plan, benchmark, engines, own, paces or {})
    starts_s = (work.estimate(name).start_s for name in {cell.variant for cell in own})
    parts_s = (START_S, *starts_s, work.loading_s(), work.samples_s(), work.repeated_s())
    return sum(parts_s) + loops * plan.loop_s + budget_seconds(plan, own)


def seconds_left(
    plan: Plan,
    benchmark: Benchmark,
    engines: Mapping[str, type[System]],
    cells: Sequence[Cell],
    executed: Executed,
    *,
    loops: int,
) -> float:
    """A rough estimate for these cells of a user's workload, and so many loops, once each statement
    was executed; those that are not in `executed` are not measured."""
    own = [cell for cell in cells if (cell.operation, cell.variant) in executed]
    work = _Work(plan, benchmark, engines, own, {}, executed)
    once_more_s = max(work.repeated_s(), work.pass_s())
    return work.samples_s() + once_more_s + loops * plan.loop_s + budget_seconds(plan, own)


def budget_seconds(plan: Plan, cells: Sequence[Cell] | None = None) -> float:
    """A rough estimate of the part that the time budgets of these cells, or all, take."""
    those = plan.cells if cells is None else cells
    taken = (not cell.gap and has_budget(plan, cell) for cell in those)
    return BUDGET_S * sum(taken) if plan.budget else 0.0


def has_budget(plan: Plan, cell: Cell) -> bool:
    """Whether a cell gets a time budget. Only cells of the largest scale do, since each scale takes
    as long again. A cold cell does not, since each sample has new processes and too little time;
    nor do the harness and the A/A controls."""
    is_harness = plan.role_of(cell.variant) is Role.OVERHEAD or is_aa_control(cell.variant)
    is_warm = cell.temperature != "cold"
    return is_warm and not is_harness and cell.rows == max(plan.rows)


@dataclass(frozen=True, slots=True)
class _Work:
    """Cells to be measured, and what their time depends on."""

    plan: Plan
    benchmark: Benchmark
    engines: Mapping[str, type[System]]
    cells: Sequence[Cell]
    paces: Mapping[str, Pace]
    executed: Executed = field(default_factory=dict)

    def estimate(self, variant: str) -> Estimate:
        """What its engine declares of its time."""
        return self.engines[variant].capabilities.estimate

    @property
    def operations(self) -> Mapping[tuple[int, str], Operation]:
        """By the number of tuples, and the name."""
        return {
            (rows, item.name): item
            for rows in self.plan.rows
            for item in self.benchmark.operations(self.plan.edition, rows)
        }

    def loading_s(self) -> float:
        """Every variant loads the relations in the designs that its operations need."""
        total_s = 0.0
        operations = self.operations
        stored = self.benchmark.stored_relations(self.plan.edition)
        for rows in dict.fromkeys(cell.rows for cell in self.cells):
            own = [cell for cell in self.cells if cell.rows == rows]
            designs = {operations[rows, cell.operation].design for cell in own}
            count = sum(one.design in designs for one in stored)
            for variant in {cell.variant for cell in own}:
                # One statement makes it, and another checks it.
                relation_s = RELATION_S + 2 * self.estimate(variant).statement_s
                total_s += count * relation_s + rows * TUPLE_S
        return total_s

    def samples_s(self) -> float:
        """Warm-ups and samples, and for cold ones the restarts."""
        total_s = 0.0
        operations = self.operations
        reopened: dict[tuple[int, str], int] = {}
        starts_s: dict[tuple[int, str], float] = {}
        for cell in self.cells:
            if cell.variant == NULL_ENGINE:
                continue
            operation = operations[cell.rows, cell.operation]
            total_s += (cell.samples + self._warm_ups(operation, cell)) * self._once_s(
                operation, cell
            )
            if cell.temperature == "cold":
                # Operations measured in the same rounds are made cold one after the other.
                key = cell.rows, cell.operation
                start_s = self.estimate(cell.variant).start_s
                reopened[key] = max(reopened.get(key, 0), cell.samples)
                starts_s[key] = max(starts_s.get(key, REOPENED_S), start_s)
        return total_s + sum(times * starts_s[key] for key, times in reopened.items())

    def _once_s(self, operation: Operation, cell: Cell) -> float:
        """One sample."""
        estimate, pace = self.estimate(cell.variant), self.paces.get(cell.variant, USUAL)
        calls = self.benchmark.calls(operation)
        calls_s = calls * estimate.calls_s.get(self.benchmark.name, 0.0)
        tuples_s = cell.rows * self.benchmark.tuple_s * pace.tuples
        commits_s = self.benchmark.commits(operation) * pace.commit_s
        usual_s = estimate.statement_s + tuples_s + calls_s + commits_s
        return SAMPLE_S + self.executed.get((cell.operation, cell.variant), usual_s)

    def _warm_ups(self, operation: Operation, cell: Cell) -> int:
        """Before each block inputs that no sample has, or the block's own texts."""
        if cell.temperature != "warm":
            return 0
        return self.plan.warm_up * (len(operation.warming) or cell.samples)

    def pass_s(self) -> float:
        """Each comparison that is undecided takes one more block of all, however long that is."""
        once_s = sum(
            min(REPEAT_BLOCK, max(self.plan.repeat_most - cell.samples, 0))
            * self.executed[cell.operation, cell.variant]
            for cell in self.cells
            if cell.temperature != "cold"
        )
        return REPEATED_SHARE * (1 + self.plan.warm_up) * once_s

    def repeated_s(self) -> float:
        """The time for further samples of undecided cells."""
        plan = self.plan
        warm = {cell.operation for cell in self.cells if cell.temperature != "cold"}
        most = max((cell.samples for cell in self.cells), default=plan.repeat_most)
        return REPEATED_SHARE * plan.repeat_s * len(warm) if plan.repeat_most > most else 0.0
