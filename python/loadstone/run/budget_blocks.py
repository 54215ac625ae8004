"""The blocks of a time budget: one operation on all variants, with and without the sampler, and the
rungs of its ladder of statements.

    a block = each variant once, in a random order; of each a warm-up, and in a random order:
              its statement, its statement with the sampler, the rungs of its ladder

    where these found a statement at work too seldom: more of it with the sampler, and nothing else

So the sampler's cost, and each rung beyond the one below, is a contrast within a block. The cell's
own blocks checked every answer; here one of each part is checked, since to read a relation back may
take a thousand times the statement.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log2

from loadstone import _core
from loadstone.plan.plan import Cell
from loadstone.plan.statement_ladder import UNWATCHED, WARMED_NS_MAX, WATCHED, WHOLE
from loadstone.protocol.messages import Profiled
from loadstone.protocol.parts import FunctionCount
from loadstone.record.budget import (
    NOTHING,
    Budget,
    BudgetBlock,
    BudgetPart,
    BudgetRung,
    BudgetThread,
    BudgetTimer,
)
from loadstone.record.model import Sample
from loadstone.run.executor import SAMPLING_SHARE_MAX, Executor
from loadstone.run.outcome import Outcome
from loadstone.statistics.paired_ratio import INTERVAL_PAIRS_MIN

BLOCKS = 8
"""The observations of a contrast: they give an interval, and one is left if two are odd."""
BLOCKS_LEAST = INTERVAL_PAIRS_MIN
"""Fewer give no interval."""
CELL_NS = 1_100_000_000
"""A cell's time: a block takes as many samples as its part of that has room for, so that a budget
of short statements takes no longer than one of long ones."""
CELL_NS_MOST = 4_000_000_000
"""For so long blocks are taken where there are not enough for an interval yet."""
TABLED_SAMPLES = 100
"""The sampler's samples of an operation whose sampled time stands in a paper's table: a share of a
fifth is known to 8 points then. Blocks grow for them, within `CELL_NS_MOST`."""
PART_NS = 50_000_000
"""A statement is watched for about this time in a block: 160 samples in all."""
PART_SAMPLES_MAX = 600
"""Of a statement so short that most of its time here is spent beside it."""
PART_WALL_NS = 80_000_000
"""With all that goes with its statements (undoing, counters) a statement is watched for about this
time in a block, however short it is."""
COMPARED_SAMPLES_MAX = 16
"""Of the statement without the sampler, of a rung, and of the warm-up, in a block: medians count,
and most operations have fewer texts."""
FILLED = 0.9
"""Of a cell's time: blocks differ, and the last shall have room, too."""
ROOM_FIRST = 0.5
"""Of the samples that a block takes at most: so many are taken in the first, whose time shows what
the others have room for."""
ALONE_NS = 2_000_000_000
"""A statement that takes longer has hundreds of samples the first time: it is watched once, and
neither compared nor taken apart by rungs, which would take six times as long."""
LONG = "a statement of more than 2 s is only watched"
ANSWERS_CHECKED = 1
"""Of a part."""
FREQUENCY_HZ = 997
"""Of the sampler, at most: the worker takes as many as cost a small share of the time there."""
DENSER_MOST = 8
"""A statement that mostly waits loses less of its time to as many samples a second of CPU time: so
many times as many at most, in powers of two, since another rate begins with a new sampler."""
SAMPLES_LEAST = 8
"""Of a cell. An update is taken back after each time, outside the clock, which may take a hundred
times as long: of the ten that a cell's time had room for, most had no sample at all."""
FURTHER_NS = ALONE_NS
"""A cell's time for more of them. A statement that takes longer is watched once."""
FURTHER_BLOCKS = 4
RUNGS = "rungs"
FUNCTIONS_MAX = 100
"""Those of a cell that keep their names in the record: further ones were seen once or twice."""


@dataclass(slots=True)
class Taken:
    """A cell's budget as measured: `outcome` is not `ok` where an answer was wrong."""

    budget: Budget | None = None
    outcome: Outcome = field(default_factory=Outcome)


@dataclass(slots=True)
class _Gathered:
    """The measurements of a cell so far."""

    profiled: list[Profiled] = field(default_factory=list)
    blocks: list[BudgetBlock] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    failed: Outcome | None = None
    spent_ns: int = 0
    last_ns: int = 0
    """Of that in the last block."""
    taken: int = 0
    """Blocks."""
    room: float = ROOM_FIRST
    """Of the samples that a block takes at most: so many has the next one."""
    wanted: int = 0
    """The sampler's samples that it shall have, all blocks together."""
    watched_ns: float = 0.0
    """A statement with the sampler, and all that goes with it, took so long in the last block."""
    further_ns: int = 0

    @property
    def wants_samples(self) -> bool:
        """Whether the sampler, which sees something, found the statement at work too seldom."""
        if self.failed is not None or not self.profiled or self.profiled[0].sampled == NOTHING:
            return False
        seen = sum(count.samples for one in self.profiled for count in one.counts)
        return seen < SAMPLES_LEAST and self.further_ns + self.watched_ns <= FURTHER_NS

    @property
    def is_open(self) -> bool:
        """Whether a further block is taken: the first always is."""
        if self.failed is not None:
            return False
        longer = self.taken < BLOCKS_LEAST or self._wants_more
        return self.spent_ns + self.last_ns <= (CELL_NS_MOST if longer else CELL_NS)

    @property
    def _wants_more(self) -> bool:
        """Whether blocks like those so far would see too little."""
        seen = sum(count.samples for one in self.profiled for count in one.counts)
        return seen * BLOCKS < self.wanted * self.taken

    def ended(self, block_ns: int) -> None:
        """A block took this time: the next one has as many samples as fit into its part of what is
        left of the cell's."""
        self.spent_ns += block_ns
        self.last_ns = block_ns
        self.taken += 1
        cell_ns = CELL_NS_MOST if self._wants_more else CELL_NS
        part_ns = max(cell_ns * FILLED - self.spent_ns, 0) / max(BLOCKS - self.taken, 1)
        self.room = min(cell_ns / CELL_NS, self.room * part_ns / max(block_ns, 1))

    def add(self, block: int, kind: str, outcome: Outcome, compared: int) -> None:
        """Add what was measured in a block. Of a statement's samples so many are compared, with the
        sampler and without: longer in succession they find fuller caches."""
        if outcome.status != "ok":
            self.failed = outcome
            return
        for each in outcome.rungs:
            if each.reason:
                self.reasons[each.rung] = each.reason
            else:
                self.blocks.append(_block(block, each.rung, each.elapsed_ns))
        if outcome.samples and compared:
            times = [sample.elapsed_ns for sample in outcome.samples[:compared]]
            self.blocks.append(_block(block, kind, times))
        if outcome.profiled is not None:
            self.profiled.append(outcome.profiled)


@dataclass(frozen=True, slots=True)
class Typical:
    """A cell's statement by its own samples: the median time, and the share of it in which a CPU
    worked on it."""

    elapsed_ns: float
    busy: float = 1.0


def typical_of(samples: Sequence[Sample]) -> Typical:
    """Of a cell's own samples, of which there is one at least."""
    shares = [
        (one.client_cpu_ns + (one.server_cpu_ns or 0)) / max(one.elapsed_ns, 1)
        for one in samples
        if one.client_cpu_ns is not None
    ]
    elapsed_ns = _core.interval_of_median([float(one.elapsed_ns) for one in samples])[0]
    return Typical(elapsed_ns, _core.interval_of_median(shares)[0] if shares else 1.0)


def taken_budgets(
    executor: Executor,
    seed: int,
    typical: Mapping[Cell, Typical],
    tabled: Container[str] = (),
) -> Mapping[Cell, Taken]:
    """Take the blocks of these cells; `tabled` are the operations whose sampled times stand in a
    paper's table."""
    cells = list(typical)
    found = {
        cell: _Gathered(wanted=TABLED_SAMPLES if cell.operation in tabled else 0) for cell in cells
    }
    for block, order in enumerate(_core.schedule(seed, len(cells), BLOCKS) if cells else ()):
        for cell in (cells[place] for place in order):
            gathered = found[cell]
            if gathered.is_open:
                begun_ns = _core.clock_ns()
                part = _Part(block, seed, typical[cell], gathered.room)
                _part(executor, cell, part, gathered)
                gathered.ended(_core.clock_ns() - begun_ns)
    for block in range(BLOCKS, BLOCKS + FURTHER_BLOCKS):
        for cell, gathered in found.items():
            if gathered.wants_samples:
                _further(executor, cell, _Part(block, seed, typical[cell]), gathered)
    return {cell: _taken(executor, cell, gathered) for cell, gathered in found.items()}


@dataclass(slots=True)
class _Part:
    """A cell's part of a block."""

    block: int
    seed: int
    typical: Typical
    room: float = 1.0
    wall_ns: float = 0.0
    """The time of a statement with all that goes with it; 0: as long as itself."""

    @property
    def samples(self) -> range:
        """Those of the statement with the sampler."""
        most = PART_WALL_NS // max(self.wall_ns, 1)
        within = PART_NS // max(self.typical.elapsed_ns, 1)
        return range(int(max(1, self.room * min(PART_SAMPLES_MAX, within, most))))

    @property
    def compared(self) -> range:
        """Those without it, of each rung, and of the warm-up."""
        return self.samples[: int(max(1, self.room * COMPARED_SAMPLES_MAX))]

    @property
    def share_max(self) -> float:
        """The share of a CPU that samples may cost: as much of the statement's time in all cases,
        within `DENSER_MOST`."""
        denser = 1 / max(self.typical.busy, 1 / DENSER_MOST)
        return SAMPLING_SHARE_MAX * float(1 << int(log2(max(denser, 1))))

    def shuffled(self, names: Sequence[str]) -> list[str]:
        """In this block's order."""
        order = _core.schedule(self.seed + self.block + 1, len(names), 1)[0] if names else ()
        return [names[place] for place in order]


def _part(executor: Executor, cell: Cell, part: _Part, gathered: _Gathered) -> None:
    """One variant's part of a block; the first of it warms up."""
    rungs = [rung for rung in executor.rungs(cell) if rung not in gathered.reasons]
    if part.typical.elapsed_ns > ALONE_NS:
        gathered.reasons.update(dict.fromkeys(rungs, LONG))
        kinds = [WATCHED]
    else:
        kinds = part.shuffled([UNWATCHED, WATCHED, *([RUNGS] if rungs else [])])
    if part.typical.elapsed_ns < WARMED_NS_MAX:
        begun_ns = _core.clock_ns()
        outcome = executor.take(cell, part.compared, part.block, warm=True, checked=0)
        part.wall_ns = (_core.clock_ns() - begun_ns) / len(part.compared)
        if outcome.status != "ok":
            gathered.failed = outcome
            return
    for kind in kinds:
        outcome = _measured(executor, cell, part, kind, part.shuffled(rungs), gathered)
        gathered.add(part.block, kind, outcome, len(part.compared))
        if outcome.status != "ok":
            return


def _measured(
    executor: Executor,
    cell: Cell,
    part: _Part,
    kind: str,
    rungs: Sequence[str],
    gathered: _Gathered,
) -> Outcome:
    """The steps of a part, one after the other."""
    checked = ANSWERS_CHECKED
    if kind == RUNGS:
        return executor.climb(cell, part.compared, part.block, rungs)
    if kind == UNWATCHED:
        return executor.take(cell, part.compared, part.block, warm=True, checked=checked)
    return _watched(executor, cell, part, part.samples, checked, gathered)


def _watched(
    executor: Executor, cell: Cell, part: _Part, samples: range, checked: int, gathered: _Gathered
) -> Outcome:
    begun_ns = _core.clock_ns()
    outcome = executor.watch(
        cell, samples, part.block, FREQUENCY_HZ, part.share_max, warm=True, checked=checked
    )
    gathered.watched_ns = (_core.clock_ns() - begun_ns) / len(samples)
    return outcome


def _further(executor: Executor, cell: Cell, part: _Part, gathered: _Gathered) -> None:
    """The statement with the sampler alone, for a part of the cell's time for that. Compared with
    nothing, since the other parts were measured in other blocks."""
    begun_ns = _core.clock_ns()
    within = FURTHER_NS / FURTHER_BLOCKS // max(gathered.watched_ns, 1)
    samples = range(int(max(1, min(PART_SAMPLES_MAX, within))))
    gathered.add(part.block, WATCHED, _watched(executor, cell, part, samples, 0, gathered), 0)
    gathered.further_ns += _core.clock_ns() - begun_ns


def _block(block: int, rung: str, elapsed_ns: Sequence[int]) -> BudgetBlock:
    typical_ns = _core.interval_of_median([float(one) for one in elapsed_ns])[0]
    return BudgetBlock(block, rung, len(elapsed_ns), max(1, round(typical_ns)))


def _taken(executor: Executor, cell: Cell, gathered: _Gathered) -> Taken:
    if gathered.failed is not None:
        wrong = any(not answer.right for answer in gathered.failed.answers)
        reason = f"while its time was taken apart: {gathered.failed.reason}"
        if wrong:
            return Taken(outcome=Outcome("failed", reason, answers=gathered.failed.answers))
        return Taken(_without(reason))
    reported = executor.report_rungs(cell)
    texts = {each.rung: each for each in reported.rung_texts}
    timers = tuple(reported.own_times)
    rungs = tuple(
        replace(texts.get(rung, BudgetRung(rung)), reason=gathered.reasons.get(rung, ""))
        for rung in executor.rungs(cell)
        if rung != WHOLE
    )
    return Taken(_budget(gathered, rungs, timers))


def _without(reason: str) -> Budget:
    return Budget(NOTHING, reason, 1, 0, 0, 0, 0)


def _budget(
    gathered: _Gathered, rungs: tuple[BudgetRung, ...], timers: tuple[BudgetTimer, ...]
) -> Budget:
    found = gathered.profiled
    return Budget(
        sampled=found[0].sampled,
        reason=found[0].reason,
        period_ns=_sample_ns(found),
        statements=sum(len(one.result.samples) for one in found),
        elapsed_ns=sum(one.elapsed_ns for one in found),
        reading_ns=sum(one.reading_ns for one in found),
        lost=sum(one.lost for one in found),
        threads=_threads(found),
        parts=_parts([count for one in found for count in one.counts]),
        blocks=tuple(gathered.blocks),
        rungs=rungs,
        timers=timers,
    )


def _sample_ns(found: Sequence[Profiled]) -> int:
    """CPU time that a sample stands for, in the mean: a period, where the samples do not report all
    of the CPU time; else what is left over at the end of a part is shared out."""
    samples = sum(count.samples for one in found for count in one.counts)
    sampled_ns = [one.sampled_ns for one in found if one.sampled_ns is not None]
    if len(sampled_ns) < len(found) or not samples:
        return found[0].period_ns
    return max(1, round(sum(sampled_ns) / samples))


def _threads(found: Sequence[Profiled]) -> tuple[BudgetThread, ...]:
    """Threads of one name together."""
    times: dict[tuple[bool, bool, str], tuple[int, int | None]] = {}
    for one in found:
        for thread in one.threads:
            executing = not thread.server and thread.thread == one.executing
            key = (thread.server, executing, thread.name)
            cpu_ns, waited_ns = times.get(key, (0, 0))
            known = waited_ns is not None and thread.waited_ns is not None
            waited_ns = (waited_ns or 0) + (thread.waited_ns or 0) if known else None
            times[key] = (cpu_ns + thread.cpu_ns, waited_ns)
    threads = [BudgetThread(*key, *spent) for key, spent in times.items()]
    return tuple(sorted(threads, key=lambda one: (-one.cpu_ns, one.name)))


def _parts(counts: Sequence[FunctionCount]) -> tuple[BudgetPart, ...]:
    """Functions of all threads together; the seldom ones by component."""
    seen: Counter[tuple[bool, str, str, str, str]] = Counter()
    for one in counts:
        seen[one.server, one.component, one.object, one.function, one.entry] += one.samples
    named = [key for key, _ in sorted(seen.items(), key=lambda pair: (-pair[1], pair[0]))]
    kept = set(named[:FUNCTIONS_MAX])
    parts: Counter[tuple[bool, str, str, str, str]] = Counter()
    for key, samples in seen.items():
        server, component, *_ = key
        parts[key if key in kept else (server, component, "", "", "")] += samples
    ordered = sorted(parts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(BudgetPart(*key, samples) for key, samples in ordered)
