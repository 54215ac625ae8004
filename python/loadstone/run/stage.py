"""One stage of a scale: its tables, its expected answers, and its interleaved groups.

A group's measurements and their order are in the module of interleaved groups; here are its blocks,
and the handling of an engine's failure within one.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from loadstone import _core
from loadstone.benchmarks.base import Benchmark
from loadstone.errors import LoadstoneError, TimeLimitError, UnsupportedError, WorkerDiedError
from loadstone.machine.conditions import Conditions
from loadstone.plan.plan import Cell, Plan
from loadstone.planning.tables import relations, stored
from loadstone.protocol import messages
from loadstone.protocol.messages import Block, LoopFigures, LoopResult, Variation
from loadstone.record import CellResult, Recorder
from loadstone.record.model import MEASURED, Event
from loadstone.record.writer import now
from loadstone.run.interleaved_group import InterleavedGroup, OpenCell
from loadstone.run.variant_worker import VariantWorker
from loadstone.statistics import validity
from loadstone.statistics.disturbance import calmer

REWARM_NS_MAX = 50_000_000
"""An operation that takes longer fills the processor's caches by itself; within one session the
engine's are full."""
RESTART_NS_MAX = 50_000_000
"""An engine that takes longer to restart is restarted only if operations are named."""


@dataclass(slots=True)
class ProgressListener:
    """The listener for a run's progress: the terminal, a test, or none."""

    on_status: Callable[[str], None] = lambda _: None
    on_result: Callable[[CellResult], None] = lambda _: None


class Stage:
    """One stage of a scale: the tables of its designs, their expected answers, and the interleaved
    groups."""

    def __init__(
        self,
        plan: Plan,
        rows: int,
        designs: Collection[str],
        benchmark: Benchmark,
        workers: Mapping[str, VariantWorker],
        recorder: Recorder,
        listener: ProgressListener,
        conditions: Conditions,
    ) -> None:
        self.operations = {item.name: item for item in benchmark.operations(plan.edition, rows)}
        self._plan = plan
        self._rows = rows
        self._workers = workers
        self._recorder = recorder
        self._listener = listener
        self._stored = {
            name: stored(benchmark, plan, rows, designs, name, worker.engine.capabilities)
            for name, worker in workers.items()
        }
        everything = [item for items in self._stored.values() for item in items]
        self._answers = benchmark.answers(plan.edition, rows, relations(everything))
        self._groups = 0
        self._one_session = benchmark.one_session
        self._restart_ns: dict[str, int] = {}
        self._restarted: set[str] = set()
        """Variants whose engine has executed nothing since its restart: its memory is empty."""
        self._conditions = conditions
        self._clock_ns = _core.clock_resolution_ns() + _core.clock_cost_ns()

    def load(self, cells: Sequence[Cell], *, sized: bool) -> None:
        """Load every variant that has something to measure here; `sized`: its size is recorded."""
        for name in dict.fromkeys(cell.variant for cell in cells if not cell.gap):
            worker = self._workers[name]
            try:
                worker.load(self._stored[name], self._rows, self._answers, self._recorder,
                            self._listener.on_status, sized=sized)  # fmt: skip
            except LoadstoneError as error:
                self._replace(worker, error)

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
        self._recorder.cell(result)
        self._listener.on_result(result)
        return result

    def _measured(self, cells: Sequence[Cell]) -> Iterator[CellResult]:
        self._groups += 1
        seed = self._plan.seed + self._rows + self._groups
        group = InterleavedGroup(
            self._plan, cells, seed, self._conditions, self._clock_ns,
            one_session=self._one_session, first_scale=self._rows == self._plan.rows[0],
        )  # fmt: skip
        return group.measure(
            lambda *block: self._guarded(self._take, *block),
            self._refork,
            lambda item: self._guarded(self._explain, item),
        )

    def users(self, cell: Cell, loop: messages.Loop) -> LoopResult:
        """Run a load level on a cell's operation; a failure of the engine is a result like
        others."""
        worker = self._workers[cell.variant]
        self._listener.on_status(
            f"{cell.operation} on {cell.variant} ({loop.users} users, {loop.model} loop)"
        )
        variations = range(len(self.operations[cell.operation].texts))
        self._conditions.begin()
        try:
            result = worker.ask(messages.RunLoop(self._block(cell, variations, 0), loop))
        except (TimeLimitError, WorkerDiedError) as error:
            self._replace(worker, error)
            return _no_loop("failed", error)
        except UnsupportedError as error:
            return _no_loop("gap", error)
        except LoadstoneError as error:
            self._mend(worker)
            return _no_loop("failed", error)
        beyond = validity.of_machine(self._conditions.end())
        figures = result.figures
        if figures.status == "failed":
            self._mend(worker)
        elif figures.status == "ok" and beyond and self._plan.limits:
            reason = "; ".join(filter(None, (beyond, figures.reason)))
            return LoopResult(figures.but(status="disturbed", reason=reason), result.beside)
        return result

    def _guarded(self, step: Callable[..., None], item: OpenCell, *arguments: Any) -> None:
        """A failure of the engine is the cell's result; the next cell finds a working engine."""
        worker = self._workers[item.cell.variant]
        self._listener.on_status(
            f"{item.cell.operation} on {item.cell.variant} ({item.cell.temperature})"
        )
        try:
            step(item, worker, *arguments)
        except (TimeLimitError, WorkerDiedError) as error:
            item.status, item.reason = "failed", error.message
            self._replace(worker, error)
        except UnsupportedError as error:
            item.status, item.reason = "gap", error.message
        except LoadstoneError as error:
            item.status, item.reason = "failed", error.message
            self._mend(worker)
        else:
            if item.status != "ok":
                self._mend(worker)

    def _take(self, item: OpenCell, worker: VariantWorker, block: range, number: int) -> None:
        long = bool(item.samples) and item.samples[-1].elapsed_ns > REWARM_NS_MAX
        warm = self._one_session and long and item.cell.variant not in self._restarted
        self._restarted.discard(item.cell.variant)
        asked = self._block(item.cell, block, number, warm=warm)
        item.add(worker.ask(messages.TakeBlock(asked)))

    def _refork(self, items: Sequence[OpenCell], hurried: bool) -> None:
        """Restart engines: in their processes if `hurried`, and only the quick ones; otherwise in
        new processes, all in parallel, since nothing is measured meanwhile."""
        workers = [(item, self._workers[item.cell.variant]) for item in items]
        able = [(item, worker) for item, worker in workers if worker.reforkable]
        if hurried or self._one_session:
            for item, worker in able:
                if not hurried or self._restart_ns.get(worker.variant.name, 0) <= RESTART_NS_MAX:
                    self._guarded(self._restart, item)
        elif able:
            with ThreadPoolExecutor(len(able)) as pool:
                reforked = [(item, pool.submit(worker.refork)) for item, worker in able]
            for item, outcome in reforked:
                self._guarded(self._reforked, item, outcome)

    def _reforked(self, item: OpenCell, worker: VariantWorker, outcome: Future[None]) -> None:
        del item, worker
        outcome.result()

    def _restart(self, item: OpenCell, worker: VariantWorker) -> None:
        del item
        start_ns = _core.clock_ns()
        worker.ask(messages.Restart())
        self._restarted.add(worker.variant.name)
        self._restart_ns[worker.variant.name] = _core.clock_ns() - start_ns

    def _explain(self, item: OpenCell, worker: VariantWorker) -> None:
        variations = min(item.cell.samples, len(self.operations[item.cell.operation].texts))
        block = self._block(item.cell, range(min(variations, 2)), 0)
        item.statements += worker.ask(messages.Explain(block)).statements

    def _block(self, cell: Cell, ordinals: range, number: int, *, warm: bool = False) -> Block:
        """The block with these ordinals; `warm`: nothing has to be warmed up before it."""
        operation = self.operations[cell.operation]
        variations = []
        for ordinal in ordinals:
            variation = 0 if cell.temperature == "hot" else ordinal % len(operation.texts)
            undo = operation.undo[variation] if operation.undo else ""
            expected = self._answers.of(operation, variation)
            variations.append(Variation(variation, operation.texts[variation], undo, *expected))
        cold = cell.temperature == "cold"
        warming = operation.warming if cell.temperature == "warm" else ()
        return Block(
            benchmark=self._plan.benchmark,
            edition=self._plan.edition,
            rows=self._rows,
            design=operation.design,
            destination=operation.destination,
            temperature=cell.temperature,
            variations=tuple(variations),
            warm_up=0 if cold or warm else self._plan.warm_up,
            first_ordinal=ordinals.start,
            round=number,
            warming=tuple(Variation(-1, text, "", 0, "") for text in warming),
            storage=operation.storage,
        )

    def _mend(self, worker: VariantWorker) -> None:
        try:
            worker.mend(self._stored[worker.variant.name], self._rows, self._answers)
        except LoadstoneError as error:
            self._replace(worker, error)

    def _replace(self, worker: VariantWorker, error: LoadstoneError) -> None:
        worker.replace(
            self._stored[worker.variant.name], self._rows, self._answers, self._recorder, error
        )


def _no_loop(status: str, error: LoadstoneError) -> LoopResult:
    return LoopResult(LoopFigures(status=status, reason=error.message))
