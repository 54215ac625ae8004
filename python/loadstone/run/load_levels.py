"""The user loops of a plan at a scale; each is recorded the moment it ends.

For each operation whose rows go to the client (users who make relations would collide), each load
level and each variant: a closed loop, then an open one, whose rate follows from the closed one
unless the plan has it. With writers in the plan, one more closed loop: writers beside readers. The
loops themselves are in the worker.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.benchmarks.base import Benchmark
from loadstone.plan.choices import RAMP_STEPS, REQUESTS_MAX, ramp_rates
from loadstone.plan.plan import Cell, Plan
from loadstone.plan.variant import is_aa_control
from loadstone.planning.planner import shared_operations
from loadstone.protocol.messages import LoopResult
from loadstone.protocol.parts import Loop
from loadstone.record import Recorder
from loadstone.record.users import LoopFigures, UsersPoint

MODELS = ("closed", "open")
RATE_SHARE = 0.6
"""Of the closed loop's throughput: busy, yet not so full that the queue alone is measured."""

Key = tuple[str, str, int, int, str, str]


@dataclass(frozen=True, slots=True)
class LoadLevel:
    """A number of users on an operation of a variant: two loops, one of each model. With `writers`,
    only a closed one, because an open schedule would apply to both."""

    cell: Cell
    """One of the plan's cells of this operation, variant and scale."""
    users: int
    writers: int = 0
    writing: str = ""
    """The operation of the writers."""

    @property
    def models(self) -> Sequence[str]:
        """The models of its loops."""
        return MODELS[:1] if self.writers else MODELS

    @property
    def beside(self) -> str:
        """The other users of the same loop."""
        return _beside(self.writers, self.writing) if self.writers else ""

    def key(self, model: str) -> Key:
        """A loop's identity in a record."""
        cell = self.cell
        return (cell.operation, cell.variant, cell.rows, self.users, model, self.beside)


def _beside(users: int, operation: str) -> str:
    return f"{users} user{'s' if users > 1 else ''} on {operation}"


def load_levels(
    plan: Plan, benchmark: Benchmark, recorded: Sequence[UsersPoint] = ()
) -> tuple[LoadLevel, ...]:
    """All load levels of a plan in the order of measuring, without those that a record holds in
    both models."""
    if not plan.users:
        return ()
    done = {_key(point) for point in recorded}
    found = []
    for rows in plan.rows:
        clients = shared_operations(plan, benchmark, rows)
        cells = {
            (cell.operation, cell.variant): cell
            for cell in reversed(plan.cells)
            if cell.rows == rows and cell.operation in clients and not is_aa_control(cell.variant)
        }
        found += [
            LoadLevel(cells[operation, variant], users)
            for operation in clients
            for users in plan.users
            for variant in plan.variants
            if (operation, variant) in cells
        ]
        reading, writing = (benchmark.mixed or ("", "")) if plan.writers else ("", "")
        found += [
            LoadLevel(cells[reading, variant], users, plan.writers, writing)
            for users in plan.users
            for variant in plan.variants
            if (reading, variant) in cells
        ]
    return tuple(
        level for level in found if not done.issuperset(level.key(model) for model in level.models)
    )


def loops_left(plan: Plan, benchmark: Benchmark, recorded: Sequence[UsersPoint] = ()) -> int:
    """The loops that a record lacks, in `Plan.loop_s`: each rate of a ramp takes as long."""
    done = {_key(point) for point in recorded}
    return sum(
        RAMP_STEPS if plan.ramp and model == "open" else 1
        for level in load_levels(plan, benchmark, recorded)
        for model in level.models
        if not level.cell.gap and level.key(model) not in done
    )


class UserLoops:
    """Measures the load levels of a plan. `ask` sends a loop to a cell's worker and always replies;
    `recorded` are the points that the record holds."""

    def __init__(
        self,
        plan: Plan,
        recorder: Recorder,
        ask: Callable[[Cell, Loop], LoopResult],
        recorded: Sequence[UsersPoint],
    ) -> None:
        self._plan = plan
        self._recorder = recorder
        self._ask = ask
        self._points = {_key(point): point for point in recorded}

    def measure(self, level: LoadLevel) -> None:
        """Its loops, without those that the record holds. The writers' point comes before the
        readers': if the readers' exists, both do."""
        for model in level.models:
            key = level.key(model)
            if key not in self._points:
                for point in self._found(level, model):
                    self._points[_key(point)] = point
                    self._recorder.users(point)

    def _found(self, level: LoadLevel, model: str) -> Sequence[UsersPoint]:
        if not level.writers:
            return [self._point(level, model)[0]]
        point, written = self._point(level, model)
        found: dict[str, Any] = {"histogram": b""}
        if written is not None:
            found = written.fields(status=point.status, reason=point.reason)
        writers = dataclasses.replace(
            point,
            operation=level.writing,
            users=level.writers,
            beside=_beside(level.users, level.cell.operation),
            **found,
        )
        return [writers, point]

    def _point(self, level: LoadLevel, model: str) -> tuple[UsersPoint, LoopFigures | None]:
        """The point of a level, and the figures of the writers beside it."""
        if level.cell.gap:
            return _without_times(level, model, "gap", level.cell.gap), None
        rate_per_s = None
        ramp = ramp_rates(self._plan.ramp) if self._plan.ramp and model == "open" else ()
        if model == "open" and not ramp:
            closed = self._points[level.key("closed")]
            if closed.status == "gap":
                return dataclasses.replace(closed, model=model), None
            rate_per_s = self._rate_per_s(closed)
            if rate_per_s is None:
                reason = "the closed loop failed, so there is no default rate: set --rate"
                return _without_times(level, model, "failed", reason), None
        loop = Loop(
            model=model,
            users=level.users,
            duration_ns=round(self._plan.loop_s * 1e9) * max(len(ramp), 1),
            seed=self._plan.seed,
            rate_per_s=rate_per_s,
            limits=self._plan.limits,
            writers=level.writers,
            ramp=ramp,
        )
        result = self._ask(level.cell, loop)
        point = _point_of(level, model, result.figures, rate_per_s)
        return dataclasses.replace(point, ramp=ramp), result.beside

    def _rate_per_s(self, closed: UsersPoint) -> float | None:
        if self._plan.rate_per_s is not None:
            return self._plan.rate_per_s
        if not closed.completed:
            return None
        throughput_per_s = closed.completed / closed.elapsed_ns * 1e9
        return min(RATE_SHARE * throughput_per_s, REQUESTS_MAX / self._plan.loop_s)


def _key(point: UsersPoint) -> Key:
    return (
        point.operation, point.variant, point.rows, point.users, point.model, point.beside
    )  # fmt: skip


def _without_times(level: LoadLevel, model: str, status: str, reason: str) -> UsersPoint:
    return _point_of(level, model, LoopFigures(client="", status=status, reason=reason))


def _point_of(
    level: LoadLevel, model: str, figures: LoopFigures, rate_per_s: float | None = None
) -> UsersPoint:
    return UsersPoint(
        operation=level.cell.operation,
        variant=level.cell.variant,
        rows=level.cell.rows,
        model=model,
        users=level.users,
        rate_per_s=rate_per_s,
        beside=level.beside,
        **figures.fields(),
    )
