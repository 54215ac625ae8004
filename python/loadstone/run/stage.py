"""One stage of a scale: its tables, its expected answers, and its interleaved groups.

A group's policy decides on its measurements and their order (`rounds.py`, `study_group.py`); an
executor performs them on the stage's engines (`executor.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from loadstone.plan.plan import Cell
from loadstone.protocol.messages import LoopResult
from loadstone.protocol.parts import Loop
from loadstone.record import CellResult
from loadstone.record.model import MEASURED, AnswerCheck, Event
from loadstone.record.writer import now
from loadstone.run.context import Context
from loadstone.run.executor import Executor
from loadstone.run.group import Group
from loadstone.run.poll import poll
from loadstone.run.rounds import Rounds
from loadstone.run.study_group import StudyBlocks
from loadstone.statistics import validity
from loadstone.statistics.disturbance import calmer
from loadstone.workload.agreement import AgreedAnswers


class Stage:
    """One stage of a scale: the tables of its designs, their expected answers, and the interleaved
    groups."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._answers = context.answers
        self._executor = Executor(context)
        self._groups = 0

    def load(self, cells: Sequence[Cell], *, sized: bool) -> None:
        """Load every variant that has something to measure here; `sized`: its size is recorded. The
        expected answers of a user's statements are then asked of the engines."""
        if isinstance(self._answers, AgreedAnswers):
            # All are asked, also those whose own cells are measured already.
            names = {cell.operation for cell in cells}
            cells = [cell for cell in self.context.plan.cells if cell.operation in names]
        for name in dict.fromkeys(cell.variant for cell in cells if not cell.gap):
            self._executor.load(name, sized=sized)
        if isinstance(self._answers, AgreedAnswers):
            executed = poll(self.context, cells, self._answers, self._executor)
            self.context.listener.on_executed(executed)

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
            self.context.recorder.event(
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
        self.context.recorder.cell(result)
        self.context.listener.on_result(result)
        return result

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

    def _measured(self, cells: Sequence[Cell]) -> Iterable[CellResult]:
        self._groups += 1
        plan = self.context.plan
        seed = plan.seed + self.context.rows + self._groups
        group = Group(self.context, cells, seed, self._executor)
        return group.measure(Rounds(group) if plan.study is None else StudyBlocks(group))

    def users(self, cell: Cell, loop: Loop) -> LoopResult:
        """Run a load level on a cell's operation; a failure of the engine is a result like
        others."""
        self.context.conditions.begin()
        result = self._executor.run_loop(cell, loop)
        beyond = validity.of_machine(self.context.conditions.end())
        figures = result.figures
        if figures.status == "ok" and (divided := self._divided(cell)):
            return LoopResult(figures.but(status="invalid", reason=divided), result.beside)
        if figures.status == "ok" and (label := self._label(cell)):
            figures = figures.but(reason=label)
            result = LoopResult(figures, result.beside)
        if figures.status == "ok" and beyond and self.context.plan.limits:
            reason = "; ".join(filter(None, (beyond, figures.reason)))
            return LoopResult(figures.but(status="disturbed", reason=reason), result.beside)
        return result
