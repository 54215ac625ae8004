"""The times of a study: in each block, one for each combination."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean, median

from loadstone.statistics.estimate import CONFIDENCE, Estimate, centre, scaled, side
from loadstone.statistics.paired_ratio import OBSERVATIONS_MIN
from loadstone.statistics.shares import share_of
from loadstone.studies.contrasts import Contrast, value
from loadstone.studies.design import Combination

WHOLE_LEAST = log(1.5)
"""The shares of a smaller whole are not reported: a few per cent of noise would be tens of
points."""

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
        return scaled(relative, self.typical_ms(contrast))

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


def share(observed: Observations, part: Contrast, whole: Contrast) -> Estimate | None:
    """The share of `part` in `whole`; None where the whole is below `WHOLE_LEAST` or its own
    interval holds 0."""
    blocks = observed.having({**whole, **part})
    if not blocks:
        return None
    pairs = [(value(part, block), value(whole, block)) for block in blocks]
    distance = centre([below for _, below in pairs], CONFIDENCE)
    if abs(distance.value) < WHOLE_LEAST or (distance.low is not None and not side(distance)):
        return None
    return share_of(pairs, interval=distance.low is not None)
