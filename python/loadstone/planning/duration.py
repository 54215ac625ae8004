"""About how long a plan takes on two otherwise idle cores. Every announced time comes from here,
for one benchmark and for several in one record.

engines started, the instrument calibrated, the engines ended each relation made, checked and loaded
on each variant warm cells: samples and warm-ups;  cold cells: a restart of all engines for each
round, samples further samples of undecided cells;  loops of users;  time budgets

Not in it: measuring disturbed cells again, which a quiet machine does not need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

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

Operations = Mapping[tuple[int, str], Operation]
"""By the number of tuples, and the name."""
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
    operations = {
        (rows, item.name): item
        for rows in plan.rows
        for item in benchmark.operations(plan.edition, rows)
    }
    return sum(
        (
            START_S
            + sum(_estimate(engines[name]).start_s for name in {one.variant for one in own}),
            _loading_s(plan, benchmark, operations, engines, own),
            _samples_s(plan, benchmark, operations, engines, own, paces or {}),
            _repeated_s(plan, own),
            loops * plan.loop_s,
            budget_seconds(plan, own),
        )
    )


def seconds_left(
    plan: Plan,
    benchmark: Benchmark,
    engines: Mapping[str, type[System]],
    cells: Sequence[Cell],
    executed: Executed,
    *,
    loops: int,
) -> float:
    """A rough estimate for these cells of a user's workload, and so many loops, from where each
    statement was executed once; those that are not in `executed` are not measured."""
    own = [cell for cell in cells if (cell.operation, cell.variant) in executed]
    operations = {
        (rows, item.name): item
        for rows in plan.rows
        for item in benchmark.operations(plan.edition, rows)
    }
    return sum(
        (
            _samples_s(plan, benchmark, operations, engines, own, {}, executed),
            max(_repeated_s(plan, own), _pass_s(plan, own, executed)),
            loops * plan.loop_s,
            budget_seconds(plan, own),
        )
    )


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


def _loading_s(
    plan: Plan,
    benchmark: Benchmark,
    operations: Operations,
    engines: Mapping[str, type[System]],
    cells: Sequence[Cell],
) -> float:
    """Every variant loads the relations in the designs that its operations need."""
    total_s = 0.0
    stored = benchmark.stored_relations(plan.edition)
    for rows in dict.fromkeys(cell.rows for cell in cells):
        own = [cell for cell in cells if cell.rows == rows]
        designs = {operations[rows, cell.operation].design for cell in own}
        count = sum(one.design in designs for one in stored)
        for variant in {cell.variant for cell in own}:
            # One statement makes it, and another checks it.
            relation_s = RELATION_S + 2 * _estimate(engines[variant]).statement_s
            total_s += count * relation_s + rows * TUPLE_S
    return total_s


def _estimate(engine: type[System]) -> Estimate:
    return engine.capabilities.estimate


def _samples_s(
    plan: Plan,
    benchmark: Benchmark,
    operations: Operations,
    engines: Mapping[str, type[System]],
    cells: Sequence[Cell],
    paces: Mapping[str, Pace],
    executed: Executed = MappingProxyType({}),
) -> float:
    total_s = 0.0
    reopened: dict[tuple[int, str], int] = {}
    starts_s: dict[tuple[int, str], float] = {}
    for cell in cells:
        if cell.variant == NULL_ENGINE:
            continue
        operation = operations[cell.rows, cell.operation]
        estimate = _estimate(engines[cell.variant])
        calls_s = benchmark.calls(operation) * estimate.calls_s.get(benchmark.name, 0.0)
        pace = paces.get(cell.variant, USUAL)
        tuples_s = cell.rows * benchmark.tuple_s * pace.tuples
        commits_s = benchmark.commits(operation) * pace.commit_s
        usual_s = estimate.statement_s + tuples_s + calls_s + commits_s
        once_s = SAMPLE_S + executed.get((cell.operation, cell.variant), usual_s)
        total_s += (cell.samples + _warm_ups(plan, operation, cell)) * once_s
        if cell.temperature == "cold":
            # Operations measured in the same rounds are made cold one after the other.
            key = cell.rows, cell.operation
            reopened[key] = max(reopened.get(key, 0), cell.samples)
            starts_s[key] = max(starts_s.get(key, REOPENED_S), estimate.start_s)
    return total_s + sum(times * starts_s[key] for key, times in reopened.items())


def _warm_ups(plan: Plan, operation: Operation, cell: Cell) -> int:
    """Before each block inputs that no sample has, or the block's own texts."""
    if cell.temperature != "warm":
        return 0
    return plan.warm_up * (len(operation.warming) or cell.samples)


def _pass_s(plan: Plan, cells: Sequence[Cell], executed: Executed) -> float:
    """Each comparison that is undecided takes one more block of all, however long that is."""
    once_s = sum(
        min(REPEAT_BLOCK, max(plan.repeat_most - cell.samples, 0))
        * executed[cell.operation, cell.variant]
        for cell in cells
        if cell.temperature != "cold"
    )
    return REPEATED_SHARE * (1 + plan.warm_up) * once_s


def _repeated_s(plan: Plan, cells: Sequence[Cell]) -> float:
    warm = {cell.operation for cell in cells if cell.temperature != "cold"}
    most = max((cell.samples for cell in cells), default=plan.repeat_most)
    return REPEATED_SHARE * plan.repeat_s * len(warm) if plan.repeat_most > most else 0.0
