"""A component's part in the difference of two cells' times.

Equal repetitions are paired, as for a ratio: in each pair the slower one's component less the
faster one's, beside the difference of their times. The share is that of `shares.py`: the s at
which part - s * whole is centred on zero, with the interval that signed ranks leave it.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from statistics import median

from loadstone.record.model import Sample
from loadstone.statistics.estimate import CONFIDENCE, Estimate, centre, side
from loadstone.statistics.paired_ratio import INTERVAL_PAIRS_MIN, OBSERVATIONS_MIN, paired
from loadstone.statistics.shares import Pairs, share_of

OBSERVATIONS_MAX = 40
"""More are joined with their neighbours in time: the work grows with the square, and 40 decide."""

Component = Callable[[Sample], float | None]


def difference(slow: Sequence[Sample], fast: Sequence[Sample]) -> Estimate | None:
    """The time that the slow one takes longer, in ns, with its 95 % interval; None without pairs
    enough for one."""
    wholes = [whole for _, whole in _observed(slow, fast, _elapsed)]
    return centre(wholes, CONFIDENCE) if len(wholes) >= INTERVAL_PAIRS_MIN else None


def part_of_difference(
    slow: Sequence[Sample], fast: Sequence[Sample], component: Component
) -> Estimate | None:
    """The share of a component in the difference of the times; None if some sample does not report
    it, without pairs enough for an interval, or where the slow one is not certainly slower."""
    pairs = _observed(slow, fast, component)
    if len(pairs) < INTERVAL_PAIRS_MIN:
        return None
    if side(centre([whole for _, whole in pairs], CONFIDENCE)) <= 0:
        return None
    return share_of(pairs, interval=True)


def _observed(slow: Sequence[Sample], fast: Sequence[Sample], component: Component) -> Pairs:
    """Part and whole of each observation: of pairs, or of blocks where there are enough."""
    found: list[tuple[int, float, float]] = []
    for one, other in paired(slow, fast):
        above, below = component(one), component(other)
        if above is None or below is None:
            return []
        found.append((one.round, above - below, float(one.elapsed_ns - other.elapsed_ns)))
    blocks = [list(block) for _, block in groupby(found, key=lambda each: each[0])]
    grouped = blocks if len(blocks) >= OBSERVATIONS_MIN else [[each] for each in found]
    return [_typical(group) for group in _joined(grouped)]


def _joined(groups: list[list[tuple[int, float, float]]]) -> list[list[tuple[int, float, float]]]:
    """Neighbours in time together, so that at most `OBSERVATIONS_MAX` are left."""
    step = -(-len(groups) // OBSERVATIONS_MAX) or 1
    return [
        [each for group in groups[start : start + step] for each in group]
        for start in range(0, len(groups), step)
    ]


def _typical(group: Sequence[tuple[int, float, float]]) -> tuple[float, float]:
    return median(part for _, part, _ in group), median(whole for _, _, whole in group)


def _elapsed(sample: Sample) -> float:
    return float(sample.elapsed_ns)
