"""How long to go on: a cell is repeated while a comparison in which it stands is undecided.

The rule looks at how wide an interval is, and hardly at where it lies: stopping at the first
interval that happens to exclude "equal" would find differences that are not there.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

from loadstone import _core
from loadstone.record.model import Sample
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import paired_ratio

NEAR = 0.10
"""Two variants further apart than this, by their whole interval, need not be told more exactly."""
LONE_FACTOR = 2.5
"""A cell with nothing beside it may be this much wider: its variations are not paired away."""
REPEAT_BLOCK = 4
"""Samples of a variant before the next variant's block: what drifts hits the two of a pair
alike."""


def undecided(taken: Mapping[str, Sequence[Sample]], precision: float) -> frozenset[str]:
    """The variants whose cells need more samples; `precision` is a share, 0 asks for none."""
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


def next_count(taken: int, cap: int) -> int:
    """How many samples a undecided cell has after its next block: half as many again, so that few
    looks are taken at the data."""
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
