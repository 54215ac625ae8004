"""Equal repetitions of two cells beside each other: what a ratio is made of.

Sample *i* of a cell runs variation *i* of its operation, in the same round on every variant. So a
pair has the same work in common and, within a record, the same few moments: what differs between
variations, and what drifts, cancels out.

The samples of one turn are no independent witnesses: how warm the processor's caches were when the
turn began, and where the machine's other guests stood, colours all of them. Where there are enough
turns, each turn counts as one.
"""

from collections.abc import Sequence
from itertools import groupby
from math import exp, log
from statistics import median

from loadstone import _core
from loadstone.estimate import Estimate
from loadstone.record.model import Sample

TURNS_MIN = 8
"""Fewer turns than this say too little: then the samples count one by one."""


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
    turns = [
        [_log_ratio(a, b) for a, b in turn]
        for _, turn in groupby(pairs, key=lambda pair: pair[0].round)
    ]
    ratios = [exp(median(turn)) for turn in turns]
    if len(turns) < TURNS_MIN:
        ratios = [exp(ratio) for turn in turns for ratio in turn]
    return Estimate(*_core.interval_of_paired_ratio(ratios, [1.0] * len(ratios)))


def _log_ratio(numerator: Sample, denominator: Sample) -> float:
    """A time of zero counts as 1 ns."""
    return log(max(numerator.elapsed_ns, 1)) - log(max(denominator.elapsed_ns, 1))
