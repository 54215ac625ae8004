"""Equal repetitions of two cells beside each other: the basis of a ratio.

Sample *i* of a cell runs variation *i* of its operation, in the same round on every variant. So a
pair has the same work and, within a record, nearly the same time: differences between variations,
and drift, cancel out.

Samples within a block are correlated: the state of the processor's caches at its beginning affects
all of them. Blocks of a short fork are correlated, too: the memory that an engine received when it
started, and the machine's other guests, are the same in all. Each fork counts as one observation if
there are enough, else each block.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from math import exp, log
from statistics import median

from loadstone import _core
from loadstone.record.model import Sample
from loadstone.statistics.estimate import Estimate

OBSERVATIONS_MIN = 8
"""With fewer forks, or blocks, their parts are the observations."""
INTERVAL_PAIRS_MIN = 6
"""The fewest pairs that give a 95 % interval."""
FORK_NS = 300_000_000
"""The time for which two processes are compared before others replace them, where operations are
named: their addresses stay the same as long as they live."""
PAUSE_NS = 200_000_000
"""Blocks that begin this far apart belong to two forks: a new process takes longer than this to
start."""
REFORK_S = 1.0
"""The least time for repetitions of a comparison in which it gets new processes, which take half a
second: a preset's share of time has no room for that, and has more blocks of those alive."""


def paired(first: Sequence[Sample], second: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    """Equal repetitions, in the order of the first's time."""
    other = {(sample.ordinal, sample.variation): sample for sample in second}
    both = ((sample, other.get((sample.ordinal, sample.variation))) for sample in first)
    return [(a, b) for a, b in both if b is not None]


def paired_ratio(numerator: Sequence[Sample], denominator: Sequence[Sample]) -> Estimate | None:
    """The ratio of the elapsed times with its 95 % interval; None where there is no pair."""
    pairs = paired(numerator, denominator)
    if not pairs:
        return None
    ratios = [exp(observation) for observation in _observations(pairs, _log_ratio)]
    return Estimate(*_core.interval_of_paired_ratio(ratios, [1.0] * len(ratios)))


def paired_difference(first: Sequence[Sample], second: Sequence[Sample]) -> Estimate | None:
    """The first's elapsed time less the second's, in ns, in the median of the pairs, with its 95 %
    interval; None where there is no pair."""
    pairs = paired(first, second)
    if not pairs:
        return None
    return Estimate(*_core.interval_of_median(_observations(pairs, _less)))


def _observations(
    pairs: Sequence[tuple[Sample, Sample]], of: Callable[[Sample, Sample], float]
) -> list[float]:
    """The values of `of` for each fork, block or pair: the largest of these of which there are
    enough."""
    by_block = [list(block) for _, block in groupby(pairs, key=_round)]
    blocks = [median(of(a, b) for a, b in block) for block in by_block]
    forks = _forks([block[0][0].started_ns for block in by_block], blocks)
    if len(forks) >= OBSERVATIONS_MIN:
        return [median(one) for one in forks]
    if len(blocks) >= OBSERVATIONS_MIN:
        return blocks
    return [of(a, b) for a, b in pairs]


def processes_of(first: Sequence[Sample], second: Sequence[Sample]) -> int:
    """The processes of each that their pairs compare, at most: those that ran one after another
    without a pause count as one."""
    by_block = [list(block) for _, block in groupby(paired(first, second), key=_round)]
    return len(_forks([block[0][0].started_ns for block in by_block], [0.0] * len(by_block)))


def _round(pair: tuple[Sample, Sample]) -> int:
    return pair[0].round


def _forks(started_ns: Sequence[int], blocks: Sequence[float]) -> list[list[float]]:
    """The blocks that began within the length of a fork of the first of them, and without a pause,
    together."""
    forks: list[list[float]] = []
    begun_ns = last_ns = 0
    for start_ns, block in zip(started_ns, blocks, strict=True):
        if not forks or start_ns - begun_ns >= FORK_NS or start_ns - last_ns >= PAUSE_NS:
            forks.append([])
            begun_ns = start_ns
        forks[-1].append(block)
        last_ns = start_ns
    return forks


def _less(first: Sample, second: Sample) -> float:
    return float(first.elapsed_ns - second.elapsed_ns)


def _log_ratio(numerator: Sample, denominator: Sample) -> float:
    """A time of zero counts as 1 ns."""
    return log(max(numerator.elapsed_ns, 1)) - log(max(denominator.elapsed_ns, 1))
