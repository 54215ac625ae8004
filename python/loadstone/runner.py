"""Executes a plan: opens the workers, loads, measures scale by scale, records every cell."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

from loadstone import _core, machine, scratch
from loadstone.benchmarks.base import Benchmark, Operation
from loadstone.conditions import Conditions
from loadstone.crew import VariantWorker
from loadstone.engines.base import System
from loadstone.many_users import Crowd, ManyUsers, crowds
from loadstone.plan import Cell, Plan
from loadstone.planner import FLOOR
from loadstone.record import Recorder
from loadstone.record.model import OperationText, UsersPoint
from loadstone.scale import Scale, Watcher
from loadstone.variant import Variant


class Runner:
    """Runs the cells of a plan that a record does not hold yet."""

    def __init__(
        self,
        plan: Plan,
        pending: Sequence[Cell],
        benchmark: Benchmark,
        variants: Mapping[str, tuple[Variant, type[System]]],
        claim: scratch.Claim,
        watcher: Watcher,
        recorded: Sequence[UsersPoint] = (),
    ) -> None:
        self._plan = plan
        self._pending = pending
        self._recorded = recorded
        self._benchmark = benchmark
        self._watcher = watcher
        self._scratch = claim.path
        self._crew = {
            name: VariantWorker(variant, engine, claim, plan, benchmark)
            for name, (variant, engine) in variants.items()
        }

    def open(self) -> None:
        """Bring every engine up, side by side, before anything is written or measured."""
        self._watcher.told(f"starting {', '.join(self._crew)}")
        for worker in self._crew.values():
            worker.abandon()
        with ThreadPoolExecutor(len(self._crew)) as pool:
            opened = [pool.submit(worker.open) for worker in self._crew.values()]
        for each in opened:
            each.result()  # the first failure in the order of the plan is the one that is told

    def run(self, recorder: Recorder) -> None:
        """Measure and record. Cells already recorded survive whatever ends this."""
        self._watcher.told("the instrument measures itself")
        if FLOOR in self._crew:
            # Before idle states are held off: what they cost is one of the figures.
            recorder.calibration(self._crew[FLOOR].ask("calibrate")["figures"])
        awake = _core.hold_awake()
        if not self._plan.awake:
            awake.close()
        try:
            conditions = Conditions()
            reason = awake.reason if self._plan.awake else "the plan lets them sleep"
            held = {"idle_states.held": awake.held, "idle_states.reason": reason}
            recorder.machine({**machine.describe(self._scratch), **held})
            self._describe(recorder)
            for rows in self._plan.rows:
                self._scale(rows, recorder, conditions)
        finally:
            awake.close()

    def close(self) -> list[str]:
        """End all workers, each with what it made. Returns what may be left of it, and where."""
        return [left for worker in self._crew.values() if (left := worker.close())]

    def _describe(self, recorder: Recorder) -> None:
        notes = []
        for name, worker in self._crew.items():
            recorder.terms(worker.terms())
            for storage, structure in worker.engine.capabilities.structures.items():
                if structure.supported and structure.note:
                    notes.append((name, storage, structure.note))
        recorder.structure_notes(notes)

    def _scale(self, rows: int, recorder: Recorder, conditions: Conditions) -> None:
        """Stage by stage, and in each in the plan's order; a stage with nothing left to measure is
        not loaded."""
        cells = [cell for cell in self._pending if cell.rows == rows]
        pending = crowds(self._plan, self._benchmark, self._recorded)
        crowded = [crowd for crowd in pending if crowd.cell.rows == rows]
        if not cells and not crowded:
            return
        edition = self._plan.edition
        operations = {item.name: item for item in self._benchmark.operations(edition, rows)}
        recorder.operations(_texts(operations, rows, self._plan))
        for place, stage in enumerate(self._benchmark.stages(edition)):
            names = {name for name, item in operations.items() if item.design in stage}
            own = [cell for cell in cells if cell.operation in names]
            users = [crowd for crowd in crowded if crowd.cell.operation in names]
            scale = Scale(self._plan, rows, stage, self._benchmark, self._crew, recorder,
                          self._watcher, conditions)  # fmt: skip
            scale.load([*own, *(crowd.cell for crowd in users)], sized=place == 0)
            self._measure(scale, own, users, recorder)

    def _measure(
        self, scale: Scale, cells: Sequence[Cell], crowded: Sequence[Crowd], recorder: Recorder
    ) -> None:
        units: dict[tuple[str, str], list[Cell]] = {}
        for cell in cells:
            beside = scale.operations[cell.operation].unit or cell.operation
            units.setdefault((cell.temperature, beside), []).append(cell)
        for unit in units.values():
            scale.unit(tuple(unit))
        many = ManyUsers(self._plan, recorder, scale.users, self._recorded)
        for crowd in crowded:
            many.measure(crowd)


def _texts(operations: Mapping[str, Operation], rows: int, plan: Plan) -> list[OperationText]:
    planned = {cell.operation for cell in plan.cells if cell.rows == rows}
    return [
        OperationText(
            name=operation.name,
            rows=rows,
            ordinal=ordinal,
            title=operation.title,
            group=operation.group,
            query=operation.query,
            design=operation.design,
            storage=operation.storage,
            destination=operation.destination,
            quel=operation.texts[0],
        )
        for ordinal, operation in enumerate(operations.values())
        if operation.name in planned
    ]


def published_of(benchmark: Benchmark) -> dict[str, Any]:
    """The paper's numbers, as the record keeps them."""
    return asdict(benchmark.published())
