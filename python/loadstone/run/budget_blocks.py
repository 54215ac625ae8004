"""The blocks of a time budget: one operation on all variants, with and without the sampler, and the
rungs of its ladder of statements.

    a block = each variant once, in a random order; of each, in a random order:
              its statement, its statement with the sampler, the rungs of its ladder

So the sampler's cost, and each rung beyond the one below, is a contrast within a block. The cell's
own blocks checked every answer; here one of each turn is checked, since to read a relation back may
take a thousand times the statement.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loadstone import _core
from loadstone.plan.plan import Cell, Plan
from loadstone.plan.role import Role
from loadstone.plan.statement_ladder import UNWATCHED, WATCHED, WHOLE
from loadstone.plan.variant import is_aa_control
from loadstone.protocol.messages import FunctionCount, Profiled
from loadstone.record.budget import (
    NOTHING,
    Budget,
    BudgetBlock,
    BudgetPart,
    BudgetRung,
    BudgetThread,
)
from loadstone.run.executor import Executor, Outcome

BLOCKS = 8
"""The observations of a contrast: they give an interval, and one is left if two are odd."""
TURN_NS = 60_000_000
"""A statement is watched for about this time in a block: 240 samples in all, and more of shorter
ones."""
TURN_SAMPLES_MAX = 600
"""Of a short statement, of which a sample costs more time than it takes."""
TURN_WALL_NS = 150_000_000
"""With all that goes with its statements (undoing, warming up, counters) a turn takes about this
time, however short they are."""
FIRST_TURN_SAMPLES = 40
"""In the first block, which shows how long all that takes."""
ANSWERS_CHECKED = 1
"""Of a turn."""
FREQUENCIES_HZ = ((200_000, 9973), (500_000, 1997), (2_000_000, 997))
"""Of the sampler, for statements that take less than so many ns: short ones are seen more often,
else most would not be seen at all. A sample costs some 16 us on a virtual machine, so that of
longer ones the sampler takes a hundredth of the time."""
FREQUENCY_HZ = 499
"""For all longer ones. All are primes."""
RUNG_SAMPLES_MAX = 16
"""Of a rung in a block, whose median counts."""
RUNGS = "rungs"
FUNCTIONS_MAX = 100
"""Those of a cell that keep their names in the record: further ones were seen once or twice."""


@dataclass(slots=True)
class Taken:
    """What was found of a cell: `outcome` is not `ok` where an answer was wrong."""

    budget: Budget | None = None
    outcome: Outcome = field(default_factory=Outcome)


@dataclass(slots=True)
class _Gathered:
    """What was measured of a cell so far."""

    profiled: list[Profiled] = field(default_factory=list)
    blocks: list[BudgetBlock] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    failed: Outcome | None = None
    statement_wall_ns: float | None = None
    """Of the last turn: what a statement took with all that goes with it."""


def has_budget(plan: Plan, cell: Cell) -> bool:
    """Whether a cell's time is taken apart: not of a cold cell, each of whose samples has new
    processes and too little time, nor of the harness and the controls of its noise."""
    is_harness = plan.role_of(cell.variant) is Role.OVERHEAD or is_aa_control(cell.variant)
    return cell.temperature != "cold" and not is_harness


def taken_budgets(
    executor: Executor, seed: int, typical_ns: Mapping[Cell, float]
) -> Mapping[Cell, Taken]:
    """Take the blocks of these cells, whose median times are known."""
    cells = list(typical_ns)
    found = {cell: _Gathered() for cell in cells}
    for block, order in enumerate(_core.schedule(seed, len(cells), BLOCKS) if cells else ()):
        for cell in (cells[place] for place in order):
            if found[cell].failed is None:
                wall_ns = found[cell].statement_wall_ns
                _turn(executor, cell, _Turn(block, seed, typical_ns[cell], wall_ns), found[cell])
    return {cell: _taken(executor, cell, gathered) for cell, gathered in found.items()}


@dataclass(frozen=True, slots=True)
class _Turn:
    """A cell's part of a block."""

    block: int
    seed: int
    typical_ns: float
    wall_ns: float | None
    """What a statement takes with all that goes with it; None: not known yet."""

    @property
    def samples(self) -> range:
        """Those of the statement."""
        most = FIRST_TURN_SAMPLES if self.wall_ns is None else TURN_WALL_NS // self.wall_ns
        within = TURN_NS // max(self.typical_ns, 1)
        return range(int(max(1, min(TURN_SAMPLES_MAX, within, most))))

    @property
    def frequency_hz(self) -> int:
        """The sampler's."""
        known = (hz for below_ns, hz in FREQUENCIES_HZ if self.typical_ns < below_ns)
        return next(known, FREQUENCY_HZ)

    @property
    def rung_samples(self) -> range:
        """Those of each rung."""
        return self.samples[:RUNG_SAMPLES_MAX]

    def shuffled(self, names: Sequence[str]) -> list[str]:
        """In this block's order."""
        order = _core.schedule(self.seed + self.block + 1, len(names), 1)[0] if names else ()
        return [names[place] for place in order]


def _turn(executor: Executor, cell: Cell, turn: _Turn, gathered: _Gathered) -> None:
    """One variant's part of a block; the first of it warms up."""
    rungs = [rung for rung in executor.rungs(cell) if rung not in gathered.reasons]
    kinds = turn.shuffled([UNWATCHED, WATCHED, *([RUNGS] if rungs else [])])
    warm = False
    for kind in kinds:
        if kind == RUNGS:
            outcome = executor.climb(cell, turn.rung_samples, turn.block, turn.shuffled(rungs))
            for each in outcome.rungs:
                if each.reason:
                    gathered.reasons[each.rung] = each.reason
                else:
                    gathered.blocks.append(_block(turn.block, each.rung, each.elapsed_ns))
        else:
            begun_ns = _core.clock_ns()
            if kind == WATCHED:
                outcome = executor.watch(
                    cell,
                    turn.samples,
                    turn.block,
                    turn.frequency_hz,
                    warm=warm,
                    checked=ANSWERS_CHECKED,
                )
            else:
                outcome = executor.take(
                    cell, turn.samples, turn.block, warm=warm, checked=ANSWERS_CHECKED
                )
            warm = True
            took_ns = max(1, _core.clock_ns() - begun_ns)
            gathered.statement_wall_ns = took_ns / len(turn.samples)
            if outcome.status == "ok":
                times = [sample.elapsed_ns for sample in outcome.samples]
                gathered.blocks.append(_block(turn.block, kind, times))
            if outcome.profiled is not None:
                gathered.profiled.append(outcome.profiled)
        if outcome.status != "ok":
            gathered.failed = outcome
            return


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
    texts = {each.rung: each for each in executor.tell_rungs(cell).rung_texts}
    rungs = tuple(
        BudgetRung(
            rung,
            texts[rung].text if rung in texts else "",
            texts[rung].plan if rung in texts else "",
            gathered.reasons.get(rung, ""),
        )
        for rung in executor.rungs(cell)
        if rung != WHOLE
    )
    return Taken(_budget(gathered, rungs))


def _without(reason: str) -> Budget:
    return Budget(NOTHING, reason, 1, 0, 0, 0, 0)


def _budget(gathered: _Gathered, rungs: tuple[BudgetRung, ...]) -> Budget:
    found = gathered.profiled
    return Budget(
        sampled=found[0].sampled,
        reason=found[0].reason,
        period_ns=found[0].period_ns,
        statements=sum(len(one.result.samples) for one in found),
        elapsed_ns=sum(one.elapsed_ns for one in found),
        reading_ns=sum(one.reading_ns for one in found),
        lost=sum(one.lost for one in found),
        threads=_threads(found),
        parts=_parts([count for one in found for count in one.counts]),
        blocks=tuple(gathered.blocks),
        rungs=rungs,
    )


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
