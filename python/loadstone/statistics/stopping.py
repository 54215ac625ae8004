"""The stopping rule: a cell is repeated while a comparison that includes it is undecided; one of
two variants that differ in one switch, too, until enough processes of each were compared to call
the switch its cause.

The rule looks at the width of an interval, at the number of processes, and hardly at an interval's
position: stopping at the first that excludes equality would find differences that do not exist.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from loadstone import _core
from loadstone.record.model import Sample
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import OBSERVATIONS_MIN, paired_ratio, processes_of

NEAR = 0.10
"""Two variants that differ by more than this, by their whole interval, need no further
precision."""
LONE_FACTOR = 2.5
"""A single cell may have an interval this much wider: its variations are not paired away."""
REPEAT_BLOCK = 4
"""Samples in a block: drift then hits the two of a pair alike."""


def undecided(taken: Mapping[str, Sequence[Sample]], precision: float) -> frozenset[str]:
    """The variants whose cells need more samples; `precision` is a share, 0 requests none."""
    if not precision:
        return frozenset()
    if len(taken) == 1:
        return frozenset(
            variant
            for variant, samples in taken.items()
            if _wide(_median(samples), LONE_FACTOR * precision)
        )
    found: set[str] = set()
    for one, other in combinations(taken, 2):
        ratio = paired_ratio(taken[one], taken[other])
        if ratio is not None and _wide(ratio, precision) and _near(ratio):
            found |= {one, other}
    return frozenset(found)


def of_few_processes(
    taken: Mapping[str, Sequence[Sample]], pairs: Iterable[tuple[str, str]]
) -> frozenset[str]:
    """The variants of those pairs of which fewer processes were compared than `explained` takes."""
    few = [pair for pair in pairs if processes_of(*(taken[one] for one in pair)) < OBSERVATIONS_MIN]
    return frozenset(variant for pair in few for variant in pair)


def next_count(taken: int, cap: int) -> int:
    """The number of samples that an undecided cell has after its next block: half as many again, so
    that the data is tested seldom."""
    return min(cap, taken + max(5, taken // 2))


def _median(samples: Sequence[Sample]) -> Estimate:
    return Estimate(*_core.interval_of_median([float(sample.elapsed_ns) for sample in samples]))


def _wide(estimate: Estimate, precision: float) -> bool:
    if estimate.low is None or estimate.high is None:
        return True
    return (estimate.high - estimate.low) / 2 > precision * estimate.value


def _near(ratio: Estimate) -> bool:
    if ratio.low is None or ratio.high is None:
        return max(ratio.value, 1 / ratio.value) < 1 + 5 * NEAR
    return ratio.low < 1 + NEAR and ratio.high > 1 / (1 + NEAR)
