"""The blocks of a study: one operation on combinations of switches, block after block.

    scouting: each combination once, those that take too long ended; what they decide
    until every figure is known closely, or the time is over:
        a block = new processes; each combination once, in a random order
    what the blocks decide, and blocks of that

All combinations of a block meet the same processes and nearly the same moment, so a contrast
within a block has only the noise of the samples; the blocks are the observations.
"""

from collections.abc import Sequence
from math import inf

from loadstone import _core
from loadstone.plan.role import Role
from loadstone.record import CellResult
from loadstone.run.group import Group, OpenCell
from loadstone.run.poll import admitted
from loadstone.run.study_cells import StudyCells
from loadstone.statistics.paired_ratio import OBSERVATIONS_MIN
from loadstone.studies.design import every
from loadstone.studies.steering import escalation

PART_NS = 10_000_000
"""A combination takes samples for about this time in a block: a single short one would show the
state of the caches, more only this block's processes again."""
PART_SAMPLES_MAX = 8
SLOW_NS = 250_000_000
"""So long a statement fills by itself what a warm-up would, and eight blocks of it take long."""
BLOCKS_MAX = 64
"""Beyond these an interval hardly gets narrower, and a record holds every sample."""
LONG_RATIO = 10
"""A statement is ended at so many times that at base, if it is beyond `LONG_PARTS`, too."""
LONG_PARTS = 4
"""So many times the time that the operation has for one combination in one block."""


class StudyBlocks:
    """The blocks of a study's cells of one operation."""

    def __init__(self, group: Group) -> None:
        plan = group.context.plan
        if plan.study is None:
            raise ValueError("the blocks of a study need a study")
        self._group = group
        self._plan = plan
        self._executor = group.executor
        self._time = group.context.time
        self._on_effects = group.context.listener.on_effects
        self._block_ns = inf
        """The time that the next block may take, so that as many as give an interval fit into the
        operation's."""
        self._sample_ns = 1.0
        """The time of a combination's sample in the last block, all that goes with it included."""
        self._ordinals = 0
        """Samples that every combination of the blocks so far has taken or passed over: all of a
        block have the same ordinals, and so the same inputs."""
        self._studied = [
            StudyCells(plan, plan.study, items, self._admitted)
            for items in group.operations.values()
            if any(item.cell.variant == plan.study.base for item in items)
        ]

    def recording_order(self, results: Sequence[CellResult]) -> Sequence[CellResult]:
        """Those that the plan does not list come first: its last completes the operation. The
        decisions are recorded before the first of them."""
        for one in self._studied:
            self._group.context.recorder.decisions(one.decisions)
        listed = self._plan.variants
        return sorted(results, key=lambda one: one.cell.variant in listed)

    def _admitted(self, like: OpenCell, flipped: tuple[str, ...]) -> OpenCell | None:
        cell = admitted(self._group.context, self._executor, like.cell, flipped)
        return None if cell is None else self._group.add(cell)

    def take_samples(self) -> None:
        """Take the blocks. There are as many as give an interval, also where that takes longer."""
        time, begun_ns = self._time, _core.clock_ns()
        self._group.look()
        share_ns = time.share_ns * len(self._studied)
        for one in self._studied:
            self._scout(one, share_ns)
        scouted = sum(len(item.samples) for item in self._group.opened)
        self._sample_ns = max(1.0, (_core.clock_ns() - begun_ns) / max(scouted, 1))
        number = self._more_blocks(0, begun_ns + share_ns)
        first_ns = _core.clock_ns()
        for one in self._studied:
            number = self._further(one, number, (first_ns - begun_ns) / number)
            one.spare()
            one.settle()
        ended_ns = _core.clock_ns()
        time.spent(len(self._studied), first_ns - begun_ns, ended_ns - first_ns)

    def _scout(self, one: StudyCells, share_ns: float) -> None:
        """Measure each combination of the design once, the base first. What is ended decides on the
        others."""
        if one.base.status != "ok":
            return
        self._scouted(one.base)
        if one.base.status != "ok":
            return
        parts = OBSERVATIONS_MIN * len(one.design.combinations)
        longest = LONG_PARTS * share_ns / parts
        own_ns = one.base.samples[0].elapsed_ns
        limit_ns = int(max(LONG_RATIO * own_ns, longest)) if one.steered else 0
        for item in one.controls():
            self._scouted(item)
        ended = True
        while ended:
            # Alone first: what is ended there spares the others its end.
            for flipped in one.design.parts.values():
                if flipped in one.design.combinations:
                    self._scouted(one.cell(flipped), limit_ns)
            ended = one.steered and one.hold()
            if not ended and one.design.parts:
                self._scouted(one.cell(every(one.design.parts)), limit_ns)
                ended = one.steered and one.hold()
        if one.steered:
            one.prune()
        for flipped in one.design.combinations:
            self._scouted(one.cell(flipped), limit_ns)
        self._ordinals = 1
        self._on_effects(one.effects())

    def _scouted(self, item: OpenCell | None, limit_ns: int = 0) -> None:
        if item is not None and item.status == "ok" and not item.samples:
            outcome = self._executor.take(item.cell, range(1), 0, warm=False, limit_ns=limit_ns)
            item.add(outcome)

    def _more_blocks(self, number: int, end_ns: float) -> int:
        """Take blocks until all is known closely or the time is over, and as many at least as give
        intervals. Returns the next block's number."""
        first, begun_ns = number, _core.clock_ns()
        least = max((one.least for one in self._studied), default=OBSERVATIONS_MIN)
        while number - first < BLOCKS_MAX:
            taken = number - first
            now_ns = _core.clock_ns()
            self._block_ns = (end_ns - now_ns) / max(least - taken, 1)
            # The next block takes about as long as those before it.
            over = now_ns + (now_ns - begun_ns) / max(taken, 1) > end_ns
            if taken >= least and (over or not any(one.is_open() for one in self._studied)):
                break
            self._study_block(number)
            number += 1
        return number

    def _further(self, one: StudyCells, number: int, block_ns: float) -> int:
        """The demands of an operation's blocks beyond their time or their design: more of them
        where every pair is asked about, then its groups opened, then three switches taken apart.
        Returns the next block's number."""
        if not one.steered or one.base.status != "ok":
            return number
        time = self._time
        end_ns = _core.clock_ns() + time.further_ns
        while one.is_loose and number < BLOCKS_MAX and _core.clock_ns() + block_ns < end_ns:
            self._study_block(number)
            number += 1
        if one.open(number):
            number = self._more_blocks(number, _core.clock_ns() + time.share_ns)
        further = escalation(one.design.parts, one.effects().effects)
        if further is None:
            return number
        cells = len(one.design.combinations)
        expected_ns = block_ns * OBSERVATIONS_MIN * (len(further.combinations) + 2) / (cells + 2)
        # What is seen comes first: shares that are but undecided leave the others' part to them.
        room_ns = time.further_ns if further.hidden is None else time.further_share_ns
        one.take_apart(further, number, undone=expected_ns > room_ns)
        if not one.decisions[-1].undone:
            number = self._more_blocks(number, _core.clock_ns() + expected_ns)
        return number

    def _study_block(self, number: int) -> None:
        """Start new processes, and give each combination its part."""
        begun_ns = _core.clock_ns()
        able = [item for one in self._studied for item in one.able()]
        if number:
            # The harness overhead is no combination: it keeps its process.
            studied = [
                item for item in able if self._plan.role_of(item.cell.variant) is not Role.OVERHEAD
            ]
            self._group.fork(studied)
            self._group.look()
        # Scouting took the first sample of the first block.
        part = self._part(able, (self._block_ns - (_core.clock_ns() - begun_ns)) / self._sample_ns)
        count = part - (0 if number else 1)
        taken = range(self._ordinals, self._ordinals + count)
        started_ns = _core.clock_ns()
        for index in _core.schedule(self._group.seed + number, len(able), 1)[0] if count else ():
            if able[index].status == "ok":
                self._take(able[index], taken, number)
        self._ordinals = taken.stop
        if count and able:
            self._sample_ns = max(1.0, (_core.clock_ns() - started_ns) / count / len(able))
        for one in self._studied:
            if one.base.status == "ok":
                self._on_effects(one.effects())

    @staticmethod
    def _part(able: Sequence[OpenCell], room: float = inf) -> int:
        """The samples of a part, the same for all combinations: as many as the slowest takes in its
        time, by its median. One sample in which the worker had no processor would shorten the parts
        where their medians are needed most. `room`: samples that the block's time has room for, all
        combinations together; what goes with a sample may take longer than the sample."""
        known = [[float(sample.elapsed_ns) for sample in item.samples] for item in able]
        times_ns = [_core.interval_of_median(taken_ns)[0] for taken_ns in known if taken_ns]
        if not times_ns:
            return 1
        return int(max(1, min(PART_SAMPLES_MAX, PART_NS // max(times_ns), room // len(able))))

    def _take(self, item: OpenCell, block: range, number: int) -> None:
        """Take a block of a cell, without a warm-up if its statement is slow."""
        slow = bool(item.samples) and item.samples[-1].elapsed_ns > SLOW_NS
        item.add(self._executor.take(item.cell, block, number, warm=slow))
