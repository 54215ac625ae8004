"""Equal repetitions of two cells beside each other: what a ratio is made of.

Sample *i* of a cell runs variation *i* of its operation, in the same round on every variant. So a
pair has the same work in common and, within a record, the same few moments: what differs between
variations, and what drifts, cancels out.

The samples of one turn are no independent witnesses: how warm the processor's caches were when the
turn began colours all of them. Nor are the turns of a short spell: what memory an engine drew when
it started, and where the machine's other guests stood, is the same in all. Each spell counts as one
where there are enough, else each turn.
"""

from collections.abc import Sequence
from itertools import groupby
from math import exp, log
from statistics import median

from loadstone import _core
from loadstone.record.model import Sample
from loadstone.statistics.estimate import Estimate

WITNESSES_MIN = 8
"""Fewer spells, or turns, than this say too little: then what they are made of counts by itself."""
INTERVAL_PAIRS_MIN = 6
"""The fewest pairs that give a 95 % interval."""
SPELL_NS = 300_000_000
"""So long two processes are compared before, where operations are named, others take their places:
what they happen to have, their own addresses for one, stays as it is as long as they live."""
PAUSE_NS = 200_000_000
"""Turns that begin this far apart are of two spells: a new process needs longer to be there."""


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
    by_turn = [list(turn) for _, turn in groupby(pairs, key=lambda pair: pair[0].round)]
    turns = [median(_log_ratio(a, b) for a, b in turn) for turn in by_turn]
    spells = _spells([turn[0][0].started_ns for turn in by_turn], turns)
    if len(spells) >= WITNESSES_MIN:
        witnesses = [median(one) for one in spells]
    elif len(turns) >= WITNESSES_MIN:
        witnesses = turns
    else:
        witnesses = [_log_ratio(a, b) for a, b in pairs]
    ratios = [exp(witness) for witness in witnesses]
    return Estimate(*_core.interval_of_paired_ratio(ratios, [1.0] * len(ratios)))


def _spells(started_ns: Sequence[int], turns: Sequence[float]) -> list[list[float]]:
    """The turns that began within `SPELL_NS` of the first of them, and with no pause, together."""
    spells: list[list[float]] = []
    begun_ns = last_ns = 0
    for start_ns, turn in zip(started_ns, turns, strict=True):
        if not spells or start_ns - begun_ns >= SPELL_NS or start_ns - last_ns >= PAUSE_NS:
            spells.append([])
            begun_ns = start_ns
        spells[-1].append(turn)
        last_ns = start_ns
    return spells


def _log_ratio(numerator: Sample, denominator: Sample) -> float:
    """A time of zero counts as 1 ns."""
    return log(max(numerator.elapsed_ns, 1)) - log(max(denominator.elapsed_ns, 1))
