"""One stage of a scale: its tables, its expected answers, and its interleaved groups.

A group decides on its measurements and their order (`interleaved_group.py`); an executor performs
them on the stage's engines (`executor.py`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from loadstone import _core
from loadstone.benchmarks.base import Benchmark, StoredRelation
from loadstone.machine.conditions import Conditions
from loadstone.plan.plan import Cell, Plan
from loadstone.planning.tables import relations, stored
from loadstone.protocol.messages import LoopResult
from loadstone.protocol.parts import Loop
from loadstone.record import CellResult, Recorder
from loadstone.record.model import MEASURED, AnswerCheck, Event
from loadstone.record.writer import now
from loadstone.run.executor import Executor
from loadstone.run.interleaved_group import InterleavedGroup
from loadstone.run.poll import poll, poll_admitted, record_answers
from loadstone.run.progress_listener import ProgressListener
from loadstone.run.study_group import StudyDoors, StudyGroup, StudyTime
from loadstone.run.variant_worker import VariantWorker
from loadstone.statistics import validity
from loadstone.statistics.disturbance import calmer
from loadstone.workload.agreement import AgreedAnswers


class Stage:
    """One stage of a scale: the tables of its designs, their expected answers, and the interleaved
    groups."""

    def __init__(
        self,
        plan: Plan,
        rows: int,
        designs: Collection[str],
        benchmark: Benchmark,
        workers: dict[str, VariantWorker],
        recorder: Recorder,
        listener: ProgressListener,
        conditions: Conditions,
        time: StudyTime,
        overdue: Mapping[tuple[str, str], str] = MappingProxyType({}),
    ) -> None:
        """`time`: a study's, which its stages share; `overdue`: the statements that an earlier
        session ended, by operation and variant."""
        self.operations = {item.name: item for item in benchmark.operations(plan.edition, rows)}
        self._plan = plan
        self._rows = rows
        self._recorder = recorder
        self._listener = listener
        relations_of: dict[str, Sequence[StoredRelation]] = {
            name: stored(benchmark, plan, rows, designs, name, worker.engine.capabilities)
            for name, worker in workers.items()
        }
        everything = [item for items in relations_of.values() for item in items]
        self._answers = benchmark.answers(plan.edition, rows, relations(everything))
        self._executor = Executor(
            plan, rows, self.operations, workers, relations_of, self._answers, recorder, listener,
            overdue,
        )  # fmt: skip
        self._groups = 0
        self._one_session = benchmark.one_session
        self._tabled = benchmark.published().sampled_operations
        self._conditions = conditions
        self._doors = StudyDoors(time, self._admit, listener.on_effects, recorder.decisions)
        self._clock_ns = _core.clock_resolution_ns() + _core.clock_cost_ns()

    def load(self, cells: Sequence[Cell], *, sized: bool) -> None:
        """Load every variant that has something to measure here; `sized`: its size is recorded. The
        expected answers of a user's statements are then asked of the engines."""
        if isinstance(self._answers, AgreedAnswers):
            # All are asked, also those whose own cells are measured already.
            names = {cell.operation for cell in cells}
            cells = [cell for cell in self._plan.cells if cell.operation in names]
        for name in dict.fromkeys(cell.variant for cell in cells if not cell.gap):
            self._executor.load(name, sized=sized)
        if isinstance(self._answers, AgreedAnswers):
            executed = poll(self._plan, cells, self._answers, self._executor)
            record_answers(self._plan, self._answers, self._recorder)
            self._listener.on_executed(executed)

    def measure_group(self, cells: Sequence[Cell]) -> list[CellResult]:
        """One operation at one temperature on all variants; every cell is recorded as it ends."""
        return [self._ended(result) for result in self._measured(cells)]

    def again(self, before: Sequence[CellResult]) -> bool:
        """Measure a disturbed group again. Recorded if it was calmer: that is returned. Failed
        cells are not tried again: a second try would hide the first."""
        group = [result for result in before if result.status in MEASURED]
        after = list(self._measured([result.cell for result in group]))
        if better := calmer(after, group):
            for result in after:
                self._ended(result)
        else:
            cell = group[0].cell
            self._recorder.event(
                Event(now(), "measured again", "", f"{cell.operation}, {cell.rows:,}, "
                      f"{cell.temperature}: no calmer than before, so the first figures stand")
            )  # fmt: skip
        return better

    def _ended(self, result: CellResult) -> CellResult:
        divided = self._divided(result.cell)
        if divided and result.status in MEASURED and result.answers:
            # No answer is known to be right, so no time is one of a right answer.
            reason = "; ".join(filter(None, (divided, result.reason)))
            result = replace(result, status="invalid", reason=reason)
        if result.status in MEASURED:
            result = replace(result, label=self._label(result.cell, result.answers))
        self._recorder.cell(result)
        self._listener.on_result(result)
        return result

    def _admit(self, like: Cell, flipped: tuple[str, ...]) -> Cell | None:
        """As the executor's; of a user's statement its answer is asked, too."""
        cell = self._executor.admit(like, flipped)
        if cell is not None and isinstance(self._answers, AgreedAnswers):
            poll_admitted(cell, self._answers, self._executor)
            record_answers(self._plan, self._answers, self._recorder)
        return cell

    def _divided(self, cell: Cell) -> str:
        """Why no answer of a user's statement is known to be right; else empty."""
        if not isinstance(self._answers, AgreedAnswers):
            return ""
        return self._answers.divided(cell.operation, cell.variant)

    def _label(self, cell: Cell, checks: Sequence[AnswerCheck] = ()) -> str:
        """The label of a variant's answer to a user's statement."""
        if not isinstance(self._answers, AgreedAnswers):
            return ""
        return self._answers.label(cell.operation, cell.variant, checks)

    def _measured(self, cells: Sequence[Cell]) -> Iterator[CellResult]:
        self._groups += 1
        seed = self._plan.seed + self._rows + self._groups
        is_study = self._plan.study is not None
        kind = partial(StudyGroup, doors=self._doors) if is_study else InterleavedGroup
        group = kind(
            self._plan, cells, seed, self._executor, self._conditions, self._clock_ns,
            one_session=self._one_session, first_scale=self._rows == self._plan.rows[0],
            tabled=self._tabled,
        )  # fmt: skip
        return group.measure()

    def users(self, cell: Cell, loop: Loop) -> LoopResult:
        """Run a load level on a cell's operation; a failure of the engine is a result like
        others."""
        self._conditions.begin()
        result = self._executor.run_loop(cell, loop)
        beyond = validity.of_machine(self._conditions.end())
        figures = result.figures
        if figures.status == "ok" and (divided := self._divided(cell)):
            return LoopResult(figures.but(status="invalid", reason=divided), result.beside)
        if figures.status == "ok" and (label := self._label(cell)):
            figures = figures.but(reason=label)
            result = LoopResult(figures, result.beside)
        if figures.status == "ok" and beyond and self._plan.limits:
            reason = "; ".join(filter(None, (beyond, figures.reason)))
            return LoopResult(figures.but(status="disturbed", reason=reason), result.beside)
        return result
