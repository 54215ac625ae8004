"""The times of a study: in each block, one for each combination."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean, median

from loadstone import _core
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import OBSERVATIONS_MIN
from loadstone.statistics.study.contrasts import Contrast, value
from loadstone.statistics.study.parts import Combination

Block = Mapping[Combination, float]
"""Combination -> ln of its median time in ms. One that failed in this block is absent."""


@dataclass(frozen=True, slots=True)
class Observations:
    """The blocks of one operation, in time order."""

    blocks: Sequence[Block]

    @property
    def measured(self) -> frozenset[Combination]:
        """The combinations that at least half of the blocks have, or as many as give an interval:
        some are measured only after others showed that they matter."""
        counts = Counter(combination for block in self.blocks for combination in block)
        least = min(len(self.blocks) / 2, OBSERVATIONS_MIN)
        return frozenset(one for one, count in counts.items() if count >= least)

    def having(self, chosen: Collection[Combination]) -> list[Block]:
        """The blocks that measured all of these combinations."""
        wanted = set(chosen)
        return [block for block in self.blocks if wanted <= block.keys()]

    def estimate(self, contrast: Contrast, confidence: float) -> Estimate | None:
        """A contrast on ln; None where no block has all its combinations."""
        found = [value(contrast, block) for block in self.having(contrast)]
        return centre(found, confidence) if found else None

    def estimate_ms(self, contrast: Contrast, confidence: float) -> Estimate | None:
        """A contrast of times instead of logarithms, in ms.

        Each block's times are first divided by their geometric mean over the combinations of the
        contrast: what is common to a block multiplies its times, and would not cancel otherwise.
        """
        relative = self.estimate_relative(contrast, confidence)
        if relative is None:
            return None
        return _times(relative, self.typical_ms(contrast))

    def estimate_relative(self, contrast: Contrast, confidence: float) -> Estimate | None:
        """The same as a share of `typical_ms`."""
        found = []
        for block in self.having(contrast):
            common = fmean(block[combination] for combination in contrast)
            found.append(sum(weight * exp(block[one] - common) for one, weight in contrast.items()))
        return centre(found, confidence) if found else None

    def typical_ms(self, chosen: Collection[Combination]) -> float:
        """The geometric mean of the times of these combinations, in the median block."""
        return exp(median(fmean(block[one] for one in chosen) for block in self.having(chosen)))


def centre(values: Sequence[float], confidence: float) -> Estimate:
    """The median of the means of any two values (Hodges and Lehmann) and the interval of Wilcoxon's
    signed ranks, widened where values plainly resemble their neighbours in time.

    Not the mean: one block in which a neighbour doubled one time would move it by more than the
    interval's width, and the mean may lie outside of this interval.
    """
    # The function takes ratios, and returns one: scaled, so that none leaves the range of a float.
    scale = max(map(abs, values)) or 1.0
    ratios = [exp(value / scale) for value in values]
    value, low, high = _core.interval_of_paired_ratio(ratios, [1.0] * len(ratios), confidence)
    return _times(Estimate(log(value), low and log(low), high and log(high)), scale)


def side(effect: Estimate) -> int:
    """The side of 0 on which its whole interval lies: 1, -1, or 0 where it holds 0 or is none."""
    if effect.low is None or effect.high is None:
        return 0
    return (effect.low > 0) - (effect.high < 0)


def _times(estimate: Estimate, factor: float) -> Estimate:
    low, high = estimate.low, estimate.high
    return Estimate(
        estimate.value * factor,
        None if low is None else low * factor,
        None if high is None else high * factor,
    )
