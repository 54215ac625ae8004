"""Executes a plan: opens the workers, loads, measures scale by scale, records every cell."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from math import inf
from types import MappingProxyType
from typing import Any

from loadstone import _core
from loadstone.benchmarks.base import Benchmark, Operation, StoredRelation
from loadstone.engines.system import System
from loadstone.machine import facts
from loadstone.machine.conditions import Conditions
from loadstone.plan.plan import Cell, Plan
from loadstone.plan.variant import Variant
from loadstone.planning.planner import NULL_ENGINE
from loadstone.planning.tables import relations, stored
from loadstone.protocol import environment
from loadstone.protocol.messages import Calibrate
from loadstone.record import CellResult, Recorder, Run
from loadstone.record.model import MEASURED_KEYS, Event, InputText, OperationText, Term
from loadstone.record.users import UsersPoint
from loadstone.record.writer import now
from loadstone.run import scratch
from loadstone.run.context import Context
from loadstone.run.in_parallel import in_parallel
from loadstone.run.load_levels import LoadLevel, UserLoops, load_levels
from loadstone.run.progress_listener import ProgressListener
from loadstone.run.stage import Stage
from loadstone.run.study_time import StudyTime
from loadstone.run.variant_worker import VariantWorker
from loadstone.statistics.disturbance import is_disturbed
from loadstone.statistics.paired_ratio import REFORK_S

AGAIN_SHARE = 0.5
"""Share of the time of a stage's cells, for measuring disturbed ones again, where the user named
operations."""
AGAIN_PRESET_SHARE = 0.05
"""The same in a preset, whose time was announced: on a busy machine every group is disturbed."""
AGAIN_NS_MIN = 5_000_000_000
"""A preset of seconds may take this much longer."""
AGAIN_VAIN_MAX = 3
"""Groups in succession that were no calmer: the machine has not calmed down."""

Group = Sequence[CellResult]
"""Cells that were measured interleaved."""
Overdue = Mapping[int, Mapping[tuple[str, str], str]]
"""The least time, in words, of each statement that was ended: by scale, then by operation and
variant."""

INPUTS_RECORDED = 10
"""Variations of each operation whose input is in the record: a thousand ids are six kilobytes."""


def changed_terms(before: Iterable[Term], now: Iterable[Term]) -> list[str]:
    """The terms of which an engine shows another value than before. What it has not reported since
    it was started anew (which statements it was sent, say) is not another value, nor is what is
    measured each time."""
    reported = {
        term for term in now if term.read_back is not None and term.key not in MEASURED_KEYS
    }
    return sorted({term.key for term in reported - {*before}})


class Runner:
    """Runs the cells of a plan that a record does not hold yet."""

    def __init__(
        self,
        plan: Plan,
        pending: Sequence[Cell],
        benchmark: Benchmark,
        variants: Mapping[str, tuple[Variant, type[System]]],
        claim: scratch.Claim,
        listener: ProgressListener,
        recorded: Sequence[UsersPoint] = (),
        disturbed: Sequence[Group] = (),
        overdue: Overdue = MappingProxyType({}),
    ) -> None:
        """`recorded`: loops that the record has; `disturbed`: groups of its cells to be measured
        again; `overdue`: the statements that it ended."""
        self._plan = plan
        self._pending = pending_cells(plan, pending)
        self._recorded = recorded
        self._disturbed = disturbed
        self._overdue = overdue
        self._benchmark = benchmark
        self._listener = listener
        self._scratch = claim.path
        self._workers = {
            variant.name: worker
            for shared, engine in sharing(variants, study=plan.study is not None)
            for worker in [VariantWorker(shared, engine, claim, plan, benchmark)]
            for variant in shared
        }
        self._each = tuple(dict.fromkeys(self._workers.values()))
        again = (result.cell for group in disturbed for result in group)
        groups = {(cell.operation, cell.rows) for cell in (*self._pending, *again)}
        self._time = StudyTime(plan.within_s, len(groups))
        self._terms: dict[str, list[Term]] = {}
        """The terms of each variant, as last recorded."""

    def open(self) -> None:
        """Start every engine, in parallel, before anything is written or measured."""
        self._listener.on_status(f"starting {', '.join(self._workers)}")
        for worker in self._each:
            worker.abandon()
        # Interrupted, the threads would wait for engines, and we for them.
        opened = in_parallel(
            {worker: worker.open for worker in self._each},
            strikes=[worker.strike for worker in self._each],
        )
        for each in opened.values():
            each.result()  # the first failure in the order of the plan is the one that is reported

    def run(self, recorder: Recorder) -> None:
        """Measure and record. Cells already recorded survive whatever ends this."""
        self._listener.on_status("calibrating the instrument")
        if NULL_ENGINE in self._workers:
            # Before idle states are held off: what they cost is one of the figures.
            recorder.calibration(self._workers[NULL_ENGINE].ask(Calibrate()).figures)
        idle_states = _core.disable_idle_states()
        if not self._plan.disable_idle_states:
            idle_states.close()
        try:
            conditions = Conditions()
            reason = (
                idle_states.reason
                if self._plan.disable_idle_states
                else "the plan leaves idle states enabled"
            )
            held = {"idle_states.held": idle_states.held, "idle_states.reason": reason}
            url = any(worker.variant.url is not None for worker in self._each)
            recorder.machine(
                {**facts.describe(self._scratch), **environment.facts(os.environ, url=url), **held}
            )
            self._describe(recorder)
            for rows in self._plan.rows:
                self._stage(rows, recorder, conditions)
            self._report_terms(recorder, self._workers)
        finally:
            idle_states.close()

    def close(self) -> dict[str, str]:
        """End all workers, each with its data, and those in parallel whose data is ours alone: what
        is done in a user's database ends at once if the user interrupts it. Returns messages about
        leftovers, by variant."""
        ours = [worker for worker in self._each if worker.variant.url is None]
        closed = in_parallel(
            {worker: worker.close for worker in ours}, strikes=[worker.strike for worker in ours]
        )
        reported = {
            worker.variant.name: closed[worker].result() if worker in closed else worker.close()
            for worker in self._each
        }
        return {name: left for name, left in reported.items() if left}

    def kill(self) -> dict[str, str]:
        """End all workers at once, with all their processes. Returns as `close`."""
        return {worker.variant.name: left for worker in self._each if (left := worker.kill())}

    def _describe(self, recorder: Recorder) -> None:
        notes = []
        for name, worker in self._workers.items():
            for storage, structure in worker.engine.capabilities.structures.items():
                if structure.supported and structure.note:
                    notes.append((name, storage, structure.note))
        recorder.structure_notes(notes)

    def _report_terms(self, recorder: Recorder, names: Iterable[str]) -> None:
        """Record the terms of variants once they are loaded; and, if an engine later reports
        others, these and the change."""
        for name in names:
            terms = self._workers[name].terms(name)
            before = self._terms.get(name)
            changed = changed_terms(before or terms, terms)
            if changed:
                message = f"terms changed since the start: {', '.join(changed)}"
                recorder.event(Event(now(), "terms changed", name, message))
            if before is None or changed:
                recorder.terms(terms)
            self._terms[name] = terms

    def _stage(self, rows: int, recorder: Recorder, conditions: Conditions) -> None:
        """Stage by stage, and in each in the plan's order; a stage with nothing left to measure is
        not loaded."""
        cells = [cell for cell in self._pending if cell.rows == rows]
        pending = load_levels(self._plan, self._benchmark, self._recorded)
        levels = [level for level in pending if level.cell.rows == rows]
        disturbed = [group for group in self._disturbed if group[0].cell.rows == rows]
        if not cells and not levels and not disturbed:
            return
        edition = self._plan.edition
        operations = {item.name: item for item in self._benchmark.operations(edition, rows)}
        recorder.operations(_texts(operations, rows, self._plan))
        recorder.inputs(_inputs(self._benchmark, operations, rows, self._plan))
        for place, designs in enumerate(self._benchmark.stages(edition)):
            if not self._has_room():
                return
            names = {name for name, item in operations.items() if item.design in designs}
            own = [cell for cell in cells if cell.operation in names]
            users = [level for level in levels if level.cell.operation in names]
            again = [group for group in disturbed if group[0].cell.operation in names]
            stage = Stage(self._context(rows, operations, designs, recorder, conditions))
            repeated = [result.cell for group in again for result in group]
            needed = [*own, *repeated, *(level.cell for level in users)]
            stage.load(needed, sized=place == 0)
            loaded = {cell.variant for cell in needed if not cell.gap}
            self._report_terms(recorder, sorted(loaded, key=self._plan.variants.index))
            self._measure(stage, own, again, users, recorder)

    def _context(
        self,
        rows: int,
        operations: Mapping[str, Operation],
        designs: Collection[str],
        recorder: Recorder,
        conditions: Conditions,
    ) -> Context:
        """The stage of a scale that has the tables of these designs."""
        plan, benchmark = self._plan, self._benchmark
        kept: dict[str, Sequence[StoredRelation]] = {
            name: stored(benchmark, plan, rows, designs, name, worker.engine.capabilities)
            for name, worker in self._workers.items()
        }
        everything = [item for items in kept.values() for item in items]
        return Context(
            plan=plan,
            benchmark=benchmark,
            rows=rows,
            operations=operations,
            workers=self._workers,
            stored=kept,
            answers=benchmark.answers(plan.edition, rows, relations(everything)),
            recorder=recorder,
            listener=self._listener,
            conditions=conditions,
            time=self._time,
            overdue=dict(self._overdue.get(rows, {})),
        )

    def _measure(
        self,
        stage: Stage,
        cells: Sequence[Cell],
        disturbed: Sequence[Group],
        levels: Sequence[LoadLevel],
        recorder: Recorder,
    ) -> None:
        begun_ns = _core.clock_ns()
        groups = list(self._groups(stage, interleaved_groups(cells, stage.context.operations)))
        spent_ns = _core.clock_ns() - begun_ns
        # A user who resumes a run for them has the time.
        self._again(stage, [(group, 0) for group in disturbed], None)
        if self._plan.study is None:
            # A study's contrasts lie within blocks, which a disturbance hits as a whole.
            timed = [(group, took_ns) for group, took_ns in groups if _disturbed(group)]
            self._again(stage, timed, again_limit_ns(self._plan, spent_ns))
        loops = UserLoops(self._plan, recorder, stage.users, self._recorded)
        for level in levels:
            loops.measure(level)

    def _groups(
        self, stage: Stage, groups: Sequence[Sequence[Cell]]
    ) -> Iterator[tuple[Group, int]]:
        """Measure groups one after the other, each with the time that it took, in ns. Those that a
        study has no time left for stay to be measured, by its resumption."""
        for group in groups:
            if not self._has_room():
                return
            begun_ns = _core.clock_ns()
            results = stage.measure_group(group)
            took_ns = _core.clock_ns() - begun_ns
            self._time.ended(len({cell.operation for cell in group}), took_ns)
            yield results, took_ns

    def _has_room(self) -> bool:
        return self._plan.study is None or self._time.has_room()

    def _again(
        self, stage: Stage, groups: Sequence[tuple[Group, int]], limit_ns: float | None
    ) -> None:
        """Measure disturbed groups again, in case the machine is calmer; none begins that would end
        after `limit_ns` if it took as long as before."""
        end_ns = inf if limit_ns is None else _core.clock_ns() + limit_ns
        vain = 0
        for group, took_ns in groups:
            if vain == AGAIN_VAIN_MAX or not self._has_room():
                return
            if _core.clock_ns() + took_ns >= end_ns:
                continue
            begun_ns = _core.clock_ns()
            self._listener.on_status(f"{group[0].cell.operation} again: it was disturbed")
            vain = 0 if stage.again(group) else vain + 1
            self._time.ended(1, _core.clock_ns() - begun_ns)


def again_limit_ns(plan: Plan, spent_ns: float) -> float:
    """The time for measuring disturbed groups again, where the cells of their stage took so
    long."""
    share = AGAIN_PRESET_SHARE if plan.repeat_s < REFORK_S else AGAIN_SHARE
    return max(share * spent_ns, AGAIN_NS_MIN)


def pending_cells(plan: Plan, pending: Sequence[Cell]) -> Sequence[Cell]:
    """The cells to be measured where these are missing. Of a study all cells of an operation:
    contrasts are taken within blocks, so that those of an interrupted group have nothing to be
    compared with."""
    if plan.study is None:
        return pending
    groups = {(cell.operation, cell.rows, cell.temperature) for cell in pending}
    return [c for c in plan.cells if (c.operation, c.rows, c.temperature) in groups]


def sharing(
    variants: Mapping[str, tuple[Variant, type[System]]], *, study: bool
) -> list[tuple[tuple[Variant, ...], type[System]]]:
    """The variants by worker, in the plan's order. In a study those share one, and its data, that
    differ in nothing that needs other tables; elsewhere each has its own."""
    found: list[tuple[list[Variant], type[System]]] = []
    for variant, engine in variants.values():
        for shared, kind in found if study else ():
            if kind is engine and engine.same_data(shared[0], variant):
                shared.append(variant)
                break
        else:
            found.append(([variant], engine))
    return [(tuple(shared), engine) for shared, engine in found]


def interleaved_groups(
    cells: Iterable[Cell], operations: Mapping[str, Operation]
) -> list[tuple[Cell, ...]]:
    """The cells of one scale that are measured interleaved, in the plan's order."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        beside = operations[cell.operation].interleaved_group or cell.operation
        found.setdefault((cell.temperature, beside), []).append(cell)
    return [tuple(group) for group in found.values()]


def disturbed_groups(run: Run, benchmark: Benchmark) -> list[Group]:
    """The groups of a record's cells of which some cell was disturbed."""
    results = {result.cell.key: result for result in run.results}
    found: list[list[CellResult]] = []
    for rows in run.plan.rows:
        operations = {item.name: item for item in benchmark.operations(run.plan.edition, rows)}
        cells = [result.cell for result in run.results if result.cell.rows == rows]
        found += [
            [results[cell.key] for cell in group] for group in interleaved_groups(cells, operations)
        ]
    return [group for group in found if _disturbed(group)]


def overdue_statements(run: Run) -> Overdue:
    """The statements that a record's sessions ended at the time limit, so that another session does
    not wait for them again: none that was cold then, which warm may be quicker, and none of a
    study, which has limits of its own."""
    found: dict[int, dict[tuple[str, str], str]] = {}
    for result in run.results if run.plan.study is None else ():
        cell = result.cell
        if result.status == "censored" and cell.temperature != "cold":
            found.setdefault(cell.rows, {})[cell.operation, cell.variant] = result.reason
    return found


def _disturbed(group: Group) -> bool:
    return any(map(is_disturbed, group))


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


def _inputs(
    benchmark: Benchmark, operations: Mapping[str, Operation], rows: int, plan: Plan
) -> list[InputText]:
    """The inputs of the first variations of the planned operations."""
    planned: dict[str, int] = {}
    for cell in plan.cells:
        if cell.rows == rows:
            planned[cell.operation] = max(planned.get(cell.operation, 0), cell.samples)
    return [
        InputText(name, rows, number, benchmark.input(plan.edition, rows, operations[name], number))
        for name, samples in planned.items()
        for number in range(min(samples, INPUTS_RECORDED, len(operations[name].texts)))
    ]


def published_of(benchmark: Benchmark) -> dict[str, Any]:
    """The paper's numbers, as the record keeps them."""
    return asdict(benchmark.published())
