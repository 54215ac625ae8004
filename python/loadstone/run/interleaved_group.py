"""An interleaved group: one operation at one temperature on all variants, measured in blocks; or
several operations that are compared, as the rungs of a ladder.

    for each planned round: touch memory; restart the engines; one block of each cell, in a random
                            order; of cold cells, a block is one sample
    while a comparison is undecided: another round of its cells, and of the A/A control of them
    request plans, in one separate pass; judge every cell by the limits
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from loadstone import _core
from loadstone.machine.conditions import Conditions
from loadstone.plan.plan import Cell, Plan
from loadstone.plan.role import Role
from loadstone.plan.variant import (
    AA_SUFFIX,
    differ_in_one_tactic,
    engine_of,
    has_share,
    is_aa_control,
    parallelism_of,
)
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
from loadstone.run.executor import Executor
from loadstone.run.outcome import Outcome
from loadstone.statistics import validity
from loadstone.statistics.disturbance import disturbance
from loadstone.statistics.paired_ratio import FORK_NS, OBSERVATIONS_MIN, REFORK_S
from loadstone.statistics.stopping import (
    REPEAT_BLOCK,
    next_count,
    of_few_processes,
    undecided,
)
from loadstone.text.numbers import plural

FORK_SAMPLES = 40
"""Samples of a variant in one fork; more would only describe these processes."""
REWARM_NS_MAX = 50_000_000
"""An operation that takes longer fills the processor's caches by itself; within one session the
engine's are full."""
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

    def disturbed(self, reason: str, condition: Condition | None, apart: float) -> None:
        """Keep the figure, within the bounds that the machine's condition (if that is the reason)
        and the A/A difference leave; if they leave too little, it is invalid."""
        found = disturbance(self.samples, condition, apart, parallelism_of(self.cell.variant))
        nothing = validity.of_disturbance(self.samples, found, apart)
        self.disturbance = found
        self.status = "invalid" if nothing else "disturbed"
        self.reason = "; ".join(filter(None, (reason, nothing)))


class InterleavedGroup:
    """Owns the state of an interleaved group's cells, and decides what is executed next."""

    def __init__(
        self,
        plan: Plan,
        cells: Sequence[Cell],
        seed: int,
        executor: Executor,
        conditions: Conditions,
        clock_ns: float,
        *,
        one_session: bool = False,
        first_scale: bool = True,
        tabled: Collection[str] = (),
    ) -> None:
        """`tabled` are the operations whose sampled times stand in a paper's table."""
        self.opened = [OpenCell(cell) for cell in cells]
        for item in self.opened:
            if item.cell.gap:
                item.status, item.reason = "gap", item.cell.gap
            elif refused := executor.refused(item.cell):
                item.add(refused)
        self._operations: dict[str, list[OpenCell]] = {}
        for item in self.opened:
            self._operations.setdefault(item.cell.operation, []).append(item)
        self._plan = plan
        self._seed = seed
        self._executor = executor
        self._conditions = conditions
        self._clock_ns = clock_ns
        self._tabled = tabled
        self._one_session = one_session
        # In a preset the other scales serve the growth curves: what is alike there may stay so.
        self._repeats = first_scale or plan.repeat_s >= REFORK_S

    def measure(self) -> Iterator[CellResult]:
        """Run the planned rounds and those that undecided comparisons request."""
        live, listed = list(self._right()), len(self.opened)
        self._conditions.begin()
        rounds = self._planned_rounds(live)
        if self._repeats:
            self._repeat(rounds)
        condition = self._conditions.end()
        if self._plan.budget:
            self._take_budgets()
        self._explain()
        for item in self._right():
            reason = validity.without_data(
                item.samples, item.answers, item.evidence, item.statements
            )
            if reason:
                item.status, item.reason = "gap", reason
        for item in (*live, *self.opened[listed:]):
            item.condition = condition
        for items in self._operations.values() if self._plan.limits else ():
            self._hold_against_limits(items, condition)
        for item in self.opened:
            yield item.result()

    def _take_budgets(self) -> None:
        """See where the time of each cell goes that is in order so far."""
        items = {
            item.cell: item
            for item in self._right()
            if item.samples and has_budget(self._plan, item.cell)
        }
        typical = {cell: typical_of(item.samples) for cell, item in items.items()}
        taken = taken_budgets(self._executor, self._seed, typical, self._tabled)
        for cell, found in taken.items():
            items[cell].budget = found.budget
            items[cell].add(found.outcome)

    def _explain(self) -> None:
        """Request the plans of the cells that are in order, and of those that were ended or failed,
        whose plan may show why."""
        for item in self._right():
            item.add(self._executor.explain(item.cell))
        for item in self.opened:
            if item.status in ("censored", "failed") and not item.statements:
                item.statements += self._executor.explain(item.cell, briefly=True).statements

    def _right(self) -> Iterator[OpenCell]:
        return (item for item in self.opened if item.status == "ok")

    def _planned_rounds(self, live: Sequence[OpenCell]) -> int:
        """Take as many blocks of each cell as the plan has rounds. For each further round of a warm
        cell its engine is restarted: the memory that a process receives makes two of the same
        engine differ for as long as they live, and a figure of one alone would look too certain."""
        most = max((item.cell.samples for item in live), default=1)
        is_cold = any(item.cell.temperature == "cold" for item in live)
        rounds = most if is_cold else min(self._plan.rounds, most)
        for number, order in enumerate(_core.schedule(self._seed, len(live), rounds)):
            self._look()
            blocks = {
                index: range(count * number // rounds, count * (number + 1) // rounds)
                for index in order
                for count in [live[index].cell.samples]
            }
            if is_cold:
                self._reopen([(live[index], block) for index, block in blocks.items()])
            for item, block in ((live[index], block) for index, block in blocks.items()):
                if number and block and self._reforked(item):
                    item.add(self._executor.restart(item.cell, quick=True))
                if item.status == "ok" and block:
                    self._take(item, block, number)
        return rounds

    def _reopen(self, taken: Sequence[tuple[OpenCell, range]]) -> None:
        """Make the engines of a round cold, side by side; each sample completes it by itself."""
        due = [(item, block) for item, block in taken if item.status == "ok" and block]
        outcomes = self._executor.reopen([(item.cell, block) for item, block in due])
        for (item, _), outcome in zip(due, outcomes, strict=True):
            item.add(outcome)

    def _look(self) -> None:
        """A round begins: touch memory, and run the speed probe."""
        _core.pretouch(PRETOUCH_BYTES)
        self._conditions.probe_speed()

    def _reforked(self, item: OpenCell) -> bool:
        """Whether its engine is restarted; cold samples do so themselves."""
        return not self._one_session and item.status == "ok" and item.cell.temperature != "cold"

    def _repeat(self, number: int) -> None:
        """More rounds of the cells whose comparison is undecided, up to the plan's cap. A cold
        sample costs a restart: cold cells keep to the plan."""
        end_ns = _core.clock_ns() + int(self._plan.repeat_s * len(self._operations) * 1e9)
        forks = 0
        while _core.clock_ns() < end_ns and (more := self._undecided()):
            self._look()
            if self._plan.repeat_s < REFORK_S:
                fewest = min(len(item.samples) for item in more)
                goal = next_count(fewest, self._plan.repeat_most)
                number = self._blocks(more, number, end_ns, goal)
                continue
            # Half as many again: few looks are taken at the data.
            for _ in range(max(OBSERVATIONS_MIN, forks // 2)):
                number = self._fork(more, number, end_ns)
                forks += 1

    def _fork(self, more: Sequence[OpenCell], number: int, end_ns: int) -> int:
        """Measure one fork. Returns the next round's number."""
        if _core.clock_ns() >= end_ns:
            return number
        self._refork(more)
        goal = min(len(item.samples) for item in more) + FORK_SAMPLES
        fork_end_ns = min(end_ns, _core.clock_ns() + FORK_NS)
        return self._blocks(more, number, fork_end_ns, min(goal, self._plan.repeat_most))

    def _refork(self, more: Sequence[OpenCell]) -> None:
        """Give these engines new processes; within one session, restart them in their own."""
        if self._one_session:
            for item in more:
                item.add(self._executor.restart(item.cell, quick=False))
            return
        outcomes = self._executor.fork([item.cell for item in more])
        for item, outcome in zip(more, outcomes, strict=True):
            item.add(outcome)

    def _blocks(self, more: Sequence[OpenCell], number: int, end_ns: int, goal: int) -> int:
        """Take short blocks, in a random order each, until all have so many samples or the time is
        over. Memory is not touched between blocks: that would empty the caches each time. Returns
        the next round's number."""
        last = ""
        while any(item.status == "ok" and len(item.samples) < goal for item in more):
            order = _core.schedule(self._seed + number, len(more), 1)[0]
            if more[order[0]].cell.variant == last:
                # Two blocks in succession find the processor's caches filled by the first.
                order = [*order[1:], order[0]]
            last = more[order[-1]].cell.variant
            for index in order:
                item, count = more[index], len(more[index].samples)
                block = range(count, min(goal, count + REPEAT_BLOCK))
                if item.status == "ok" and block:
                    self._take(item, block, number)
            number += 1
            if _core.clock_ns() >= end_ns:
                break
        return number

    def _take(self, item: OpenCell, block: range, number: int) -> None:
        """Take a block of a cell. Within one session an operation that was long enough needs no
        further warm-up."""
        long = bool(item.samples) and item.samples[-1].elapsed_ns > REWARM_NS_MAX
        warm = self._one_session and long
        item.add(self._executor.take(item.cell, block, number, warm=warm))

    def _undecided(self) -> list[OpenCell]:
        found = []
        for items in self._operations.values():
            able = [
                item
                for item in items
                if item.status == "ok"
                and item.cell.temperature != "cold"
                and self._plan.role_of(item.cell.variant) is not Role.OVERHEAD
                and item.samples
            ]
            samples = {
                item.cell.variant: item.samples
                for item in able
                if item.cell.variant != self._plan.aa_control
            }
            control = next((x for x in able if x.cell.variant == self._plan.aa_control), None)
            names = undecided(samples, self._plan.precision)
            # In the time of a preset no comparison gets as many processes as a cause takes.
            if control is not None and self._plan.repeat_s >= REFORK_S:
                names = self._with_control(names, samples)
            found += [
                item
                for item in able
                if item.cell.variant in names and len(item.samples) < self._plan.repeat_most
            ]
        return found

    def _with_control(
        self, names: frozenset[str], samples: Mapping[str, Sequence[Sample]]
    ) -> frozenset[str]:
        """These, and the variants of its engine of which one switch could be called the cause if
        they had enough processes; where there is any variant of that engine, the A/A control and
        what it controls, in the same blocks: its interval is what a cause has to exceed."""
        control = self._plan.aa_control
        first, engine = control.removesuffix(AA_SUFFIX), engine_of(control)
        own = [name for name in samples if engine_of(name) == engine]
        switched = [pair for pair in combinations(own, 2) if differ_in_one_tactic(*pair)]
        if first not in own:
            return names
        if self._plan.precision:
            names |= of_few_processes(samples, switched)
        return names | {first, control} if names.intersection(own) else names

    def _hold_against_limits(self, items: Sequence[OpenCell], condition: Condition) -> None:
        """Judge the cells of one operation: by its own overhead and A/A control."""
        overhead = next((item.samples for item in items if item.cell.variant == NULL_ENGINE), [])
        machine = validity.of_machine(condition)
        right = [item for item in items if item.status == "ok" and item.samples]
        controls = _aa_pair(right)
        for item in right:
            if self._plan.role_of(item.cell.variant) is Role.OVERHEAD:
                continue
            # An A/A control is what it controls once more.
            role = self._plan.role_of(item.cell.variant.removesuffix(AA_SUFFIX))
            # A cell without an answer (a rung of a ladder) is there to measure the harness.
            below = overhead if item.answers else []
            reason = (
                validity.of_coldness(item.samples, item.answers, item.evidence)
                or validity.of_work(item.samples, overhead)
                or validity.of_share(item.samples, limited=has_share(item.cell.variant))
                or validity.of_instrument(item.samples, below, self._clock_ns, role)
            )
            if reason:
                item.status, item.reason = "invalid", reason
                continue
            apart = controls[1] if item.cell.variant.removesuffix(AA_SUFFIX) == controls[0] else 1.0
            again = validity.of_aa_control(apart)
            if machine or again:
                why = "; ".join(filter(None, (machine, again)))
                item.disturbed(why, condition if machine else None, apart)


def _aa_pair(right: Sequence[OpenCell]) -> tuple[str, float]:
    """The variant that was measured twice, and the factor of its A/A difference beyond the limit; 1
    without."""
    taken = {item.cell.variant: item.samples for item in right}
    for name, samples in taken.items():
        first = name.removesuffix(AA_SUFFIX)
        if is_aa_control(name) and first in taken:
            return first, validity.aa_factor(taken[first], samples)
    return "", 1.0
