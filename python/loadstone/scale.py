"""One scale of a run: its tables, its expected answers, and its units of interleaving.

for each unit (one operation at one temperature on all variants):
    for each round: touch memory; the variants in a random order, one block each
    explain, in one isolated pass; record every cell
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loadstone import _core
from loadstone.answers import ExpectedAnswers
from loadstone.benchmarks.base import Benchmark
from loadstone.crew import VariantWorker
from loadstone.errors import LoadstoneError, TimeLimitError, UnsupportedError, WorkerDiedError
from loadstone.plan import Cell, Plan
from loadstone.record import CellResult, Recorder, Sample
from loadstone.record.model import AnswerCheck, ColdEvidence, StatementText
from loadstone.record.writer import now
from loadstone.tables import relations, stored

PRETOUCH_BYTES = 16 << 20
"""Touched before each round, because a host takes idle memory back within seconds."""


@dataclass(slots=True)
class Watcher:
    """Whom the runner tells how far it is: the terminal, a test, or nobody."""

    told: Callable[[str], None] = lambda _: None
    ended: Callable[[CellResult], None] = lambda _: None


@dataclass(slots=True)
class _Open:
    """A cell being measured."""

    cell: Cell
    samples: list[Sample] = field(default_factory=list)
    answers: list[AnswerCheck] = field(default_factory=list)
    evidence: list[ColdEvidence] = field(default_factory=list)
    statements: list[StatementText] = field(default_factory=list)
    status: str = "ok"
    reason: str = ""

    def result(self) -> CellResult:
        right = self.status == "ok"
        return CellResult(
            cell=self.cell,
            status=self.status,
            reason=self.reason,
            ended_at=now(),
            samples=tuple(self.samples) if right else (),
            answers=tuple(self.answers),
            evidence=tuple(self.evidence),
            statements=tuple(self.statements),
        )


class Scale:
    """One scale of a run: its tables, its expected answers, its units."""

    def __init__(
        self,
        plan: Plan,
        rows: int,
        benchmark: Benchmark,
        crew: Mapping[str, VariantWorker],
        recorder: Recorder,
        watcher: Watcher,
    ) -> None:
        self.operations = {item.name: item for item in benchmark.operations(plan.edition, rows)}
        self._plan = plan
        self._rows = rows
        self._crew = crew
        self._recorder = recorder
        self._watcher = watcher
        self._stored = {
            name: stored(benchmark, plan, rows, name, worker.engine.capabilities)
            for name, worker in crew.items()
        }
        everything = [item for items in self._stored.values() for item in items]
        self._answers = ExpectedAnswers(
            self._plan.benchmark, self._plan.edition, rows, relations(everything)
        )
        self._units = 0

    def load(self, cells: Sequence[Cell]) -> None:
        """Load every variant that has something to measure here."""
        for name in dict.fromkeys(cell.variant for cell in cells if not cell.gap):
            worker = self._crew[name]
            try:
                worker.load(self._stored[name], self._rows, self._answers, self._recorder,
                            self._watcher.told)  # fmt: skip
            except LoadstoneError as error:
                self._revive(worker, error)

    def unit(self, cells: Sequence[Cell]) -> None:
        """One operation at one temperature on all variants, interleaved in rounds."""
        opened = [_Open(cell) for cell in cells]
        for item in opened:
            if item.cell.gap:
                item.status, item.reason = "gap", item.cell.gap
        live = [item for item in opened if item.status == "ok"]
        self._units += 1
        rounds = min(self._plan.rounds, max((item.cell.samples for item in live), default=1))
        seed = self._plan.seed + self._rows + self._units
        for round_number, order in enumerate(_core.schedule(seed, len(live), rounds)):
            _core.pretouch(PRETOUCH_BYTES)
            for item in (live[index] for index in order):
                if item.status == "ok":
                    self._guarded(item, self._take, round_number, rounds)
        for item in live:
            if item.status == "ok":
                self._guarded(item, self._explain)
        for item in opened:
            result = item.result()
            self._recorder.cell(result)
            self._watcher.ended(result)

    def _guarded(self, item: _Open, step: Callable[..., None], *arguments: int) -> None:
        """A failure of the engine is the cell's result, and the next cell finds all in order."""
        worker = self._crew[item.cell.variant]
        self._watcher.told(
            f"{item.cell.operation} on {item.cell.variant} ({item.cell.temperature})"
        )
        try:
            step(item, worker, *arguments)
        except (TimeLimitError, WorkerDiedError) as error:
            item.status, item.reason = "failed", error.message
            self._revive(worker, error)
        except UnsupportedError as error:
            item.status, item.reason = "gap", error.message
        except LoadstoneError as error:
            item.status, item.reason = "failed", error.message
            self._mend(worker)
        else:
            if item.status != "ok":
                self._mend(worker)

    def _take(self, item: _Open, worker: VariantWorker, number: int, rounds: int) -> None:
        count = item.cell.samples
        first, last = count * number // rounds, count * (number + 1) // rounds
        if first == last:
            return
        block = self._block(item.cell, range(first, last), number)
        reply = worker.ask("block", block=block)
        item.samples += [Sample(**values) for values in reply["samples"]]
        item.answers += [AnswerCheck(**values) for values in reply["answers"]]
        item.evidence += [ColdEvidence(**values) for values in reply["evidence"]]
        wrong = next((answer for answer in item.answers if not answer.right), None)
        if wrong is not None:
            item.status, item.reason = "failed", _wrong(wrong)

    def _explain(self, item: _Open, worker: VariantWorker) -> None:
        variations = min(item.cell.samples, len(self.operations[item.cell.operation].texts))
        block = self._block(item.cell, range(min(variations, 2)), 0)
        for values in worker.ask("explain", block=block)["statements"]:
            item.statements.append(StatementText(**values))

    def _block(self, cell: Cell, ordinals: range, number: int) -> dict[str, Any]:
        operation = self.operations[cell.operation]
        variations = []
        for ordinal in ordinals:
            variation = 0 if cell.temperature == "hot" else ordinal % len(operation.texts)
            undo = operation.undo[variation] if operation.undo else ""
            expected = self._answers.of(operation, variation)
            variations.append((variation, operation.texts[variation], undo, *expected))
        cold = cell.temperature == "cold"
        return {
            "benchmark": self._plan.benchmark,
            "edition": self._plan.edition,
            "rows": self._rows,
            "design": operation.design,
            "destination": operation.destination,
            "temperature": cell.temperature,
            "variations": variations,
            "warm_up": 0 if cold else self._plan.warm_up,
            "first_ordinal": ordinals.start,
            "round": number,
        }

    def _mend(self, worker: VariantWorker) -> None:
        try:
            worker.mend(self._stored[worker.variant.name], self._rows, self._answers)
        except LoadstoneError as error:
            self._revive(worker, error)

    def _revive(self, worker: VariantWorker, error: LoadstoneError) -> None:
        worker.revive(
            self._stored[worker.variant.name], self._rows, self._answers, self._recorder, error
        )


def _wrong(answer: AnswerCheck) -> str:
    if answer.rows != answer.expected_rows:
        return f"wrong answer: {answer.rows:,} tuples, {answer.expected_rows:,} expected"
    return f"wrong answer: {answer.rows:,} tuples, but not the right ones"
