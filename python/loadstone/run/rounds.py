"""The rounds of an ordinary run.

for each planned round: touch memory; restart the engines; one block of each cell, in a random
                        order; of cold cells, a block is one sample
while a comparison is undecided: another round of its cells, and of the A/A control of them
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

from loadstone import _core
from loadstone.plan.role import Role
from loadstone.plan.variant import AA_SUFFIX, differ_in_one_tactic, engine_of
from loadstone.record import CellResult, Sample
from loadstone.run.group import Group, OpenCell
from loadstone.statistics.paired_ratio import FORK_NS, OBSERVATIONS_MIN, REFORK_S
from loadstone.statistics.stopping import (
    REPEAT_BLOCK,
    next_count,
    of_few_processes,
    undecided,
)

FORK_SAMPLES = 40
"""Samples of a variant in one fork; more would only describe these processes."""
REWARM_NS_MAX = 50_000_000
"""An operation that takes longer fills the processor's caches by itself; within one session the
engine's are full."""


class Rounds:
    """The planned rounds of a group, and those that undecided comparisons ask for."""

    def __init__(self, group: Group) -> None:
        context = group.context
        self._group = group
        self._plan = context.plan
        self._executor = group.executor
        self._one_session = context.benchmark.one_session
        # In a preset the other scales serve the growth curves: what is alike there may stay so.
        first_scale = context.rows == self._plan.rows[0]
        self._repeats = first_scale or self._plan.repeat_s >= REFORK_S

    def take_samples(self) -> None:
        """Take the planned rounds, then further ones."""
        rounds = self._take_planned([*self._group.in_order()])
        if self._repeats:
            self._repeat(rounds)

    def recording_order(self, results: Sequence[CellResult]) -> Sequence[CellResult]:
        """In the plan's order."""
        return results

    def _take_planned(self, live: Sequence[OpenCell]) -> int:
        """Take as many blocks of each cell as the plan has rounds. For each further round of a warm
        cell its engine is restarted: the memory that a process receives makes two of the same
        engine differ for as long as they live, and a figure of one alone would look too certain."""
        most = max((item.cell.samples for item in live), default=1)
        is_cold = any(item.cell.temperature == "cold" for item in live)
        rounds = most if is_cold else min(self._plan.rounds, most)
        for number, order in enumerate(_core.schedule(self._group.seed, len(live), rounds)):
            self._group.look()
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

    def _reforked(self, item: OpenCell) -> bool:
        """Whether its engine is restarted; cold samples do so themselves."""
        return not self._one_session and item.status == "ok" and item.cell.temperature != "cold"

    def _repeat(self, number: int) -> None:
        """More rounds of the cells whose comparison is undecided, up to the plan's cap. A cold
        sample costs a restart: cold cells keep to the plan."""
        end_ns = _core.clock_ns() + int(self._plan.repeat_s * len(self._group.operations) * 1e9)
        forks = 0
        while _core.clock_ns() < end_ns and (more := self._undecided()):
            self._group.look()
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
        if not self._one_session:
            self._group.fork(more)
            return
        for item in more:
            item.add(self._executor.restart(item.cell, quick=False))

    def _blocks(self, more: Sequence[OpenCell], number: int, end_ns: int, goal: int) -> int:
        """Take short blocks, in a random order each, until all have so many samples or the time is
        over. Memory is not touched between blocks: that would empty the caches each time. Returns
        the next round's number."""
        last = ""
        while any(item.status == "ok" and len(item.samples) < goal for item in more):
            order = _core.schedule(self._group.seed + number, len(more), 1)[0]
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
        for items in self._group.operations.values():
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
