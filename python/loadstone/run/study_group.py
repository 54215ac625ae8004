"""The interleaved group of a study: one operation on all combinations, block after block.

    until every figure is known closely, or its time is over:
        a block = new processes; each combination once, in a random order

All combinations of a block meet the same processes and nearly the same moment, so a contrast
within a block has only the noise of the samples; the blocks are the observations.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loadstone import _core
from loadstone.analysis.study import operation_effects
from loadstone.plan.role import Role
from loadstone.run.interleaved_group import InterleavedGroup, OpenCell
from loadstone.statistics.paired_ratio import OBSERVATIONS_MIN
from loadstone.statistics.study import too_wide

if TYPE_CHECKING:
    from loadstone.record import CellResult

TURN_NS = 20_000_000
"""A combination takes samples for about this time in a block: a single short one would show the
state of the caches, more only this block's processes again."""
TURN_SAMPLES_MAX = 8
SLOW_NS = 250_000_000
"""So long a statement fills by itself what a warm-up would, and eight blocks of it take long."""
BLOCKS_MAX = 64
"""Beyond these an interval hardly gets narrower, and a record holds every sample."""


class StudyGroup(InterleavedGroup):
    """Owns the state of a study's cells of one operation."""

    def _planned_rounds(self, live: Sequence[OpenCell]) -> int:
        """Take the blocks. There are as many as give an interval, also where that takes longer."""
        begun_ns = _core.clock_ns()
        for number in range(BLOCKS_MAX):
            spent_ns = _core.clock_ns() - begun_ns
            # The next block takes about as long as those before it.
            over = spent_ns * (number + 1) > self._plan.repeat_s * 1e9 * max(number, 1)
            if number >= OBSERVATIONS_MIN and (over or not self._is_open(live)):
                break
            self._study_block(live, number)
        return BLOCKS_MAX

    def _is_open(self, live: Sequence[OpenCell]) -> bool:
        """Whether some figure of some operation is known less closely than a study wants. Only the
        widths of intervals count: to stop at the first effect would find some that are none."""
        study = self._plan.study
        if study is None:
            return False
        by_operation: dict[str, dict[str, CellResult]] = defaultdict(dict)
        for item in live:
            by_operation[item.cell.operation][item.cell.variant] = item.result()
        return any(
            too_wide(operation_effects(self._plan, study, results).effects)
            for results in by_operation.values()
            if study.base in results
        )

    def _study_block(self, live: Sequence[OpenCell], number: int) -> None:
        """Start new processes, and give each combination its turn."""
        able = [item for item in live if item.status == "ok"]
        if number:
            # The harness overhead is no combination: it keeps its process.
            studied = [
                item for item in able if self._plan.role_of(item.cell.variant) is not Role.OVERHEAD
            ]
            outcomes = self._executor.fork([item.cell for item in studied])
            for item, outcome in zip(studied, outcomes, strict=True):
                item.add(outcome)
        self._look()
        count = self._turn(able)
        for index in _core.schedule(self._seed + number, len(able), 1)[0]:
            item = able[index]
            taken = len(item.samples)
            if item.status == "ok":
                self._take(item, range(taken, taken + count), number)

    @staticmethod
    def _turn(able: Sequence[OpenCell]) -> int:
        """The samples of a turn, the same for all combinations: as many as the slowest takes in its
        time, by its median. One sample in which the worker had no processor would shorten the turns
        where their medians are needed most."""
        known = [[float(sample.elapsed_ns) for sample in item.samples] for item in able]
        times_ns = [_core.interval_of_median(taken_ns)[0] for taken_ns in known if taken_ns]
        return int(max(1, min(TURN_SAMPLES_MAX, TURN_NS // max(times_ns)))) if times_ns else 1

    def _take(self, item: OpenCell, block: range, number: int) -> None:
        """Take a block of a cell, without a warm-up if its statement is slow."""
        slow = bool(item.samples) and item.samples[-1].elapsed_ns > SLOW_NS
        item.add(self._executor.take(item.cell, block, number, warm=slow))

    def _repeat(self, number: int) -> None:
        """All its blocks are planned rounds."""
        del number
