"""From how many things on what starts later and takes less for each is ahead.

Two sides, each with a start and a cost of each thing, are timed at a small and at a large size, in
pairs: in a block both. Their difference is a straight line over the size, and where it is 0 they
break even. The line is given by the differences at the two sizes; each has its interval, and the
bounds of the break-even are the least and the greatest that differences within both allow. So the
interval holds the truth at least as often as both of them do, however they go together.

False where times are no straight lines: `Crossing.predicted` is what the line says of a size
between, to be held against what was measured there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.statistics.estimate import CONFIDENCE, Estimate
from loadstone.statistics.study.observations import centre


@dataclass(frozen=True, slots=True)
class Crossing:
    """`value` None: never; `low` None: no interval, or never within it; `high` None: perhaps never.
    0 where it is ahead from the start. Differences are of the other side less the first, in the
    unit of the times."""

    value: float | None
    low: float | None
    high: float | None
    small: int
    large: int
    at_small: Estimate
    at_large: Estimate

    @property
    def is_only_first(self) -> bool:
        """Whether it is ahead at the small size and no more later."""
        return self.value is None and self.at_small.value < 0

    @property
    def extrapolated(self) -> bool:
        """Whether it lies beyond the largest size, where nothing was measured."""
        return self.value is not None and self.value > self.large

    def predicted(self, size: int) -> Estimate:
        """The difference that the line has at a size between the two."""
        share = (size - self.small) / (self.large - self.small)

        def at(small: float | None, large: float | None) -> float | None:
            return None if small is None or large is None else small + (large - small) * share

        value = at(self.at_small.value, self.at_large.value)
        assert value is not None  # noqa: S101 - both values are known
        low = at(self.at_small.low, self.at_large.low)
        return Estimate(value, low, at(self.at_small.high, self.at_large.high))


def crossing(
    small: int, at_small: Sequence[float], large: int, at_large: Sequence[float]
) -> Crossing:
    """Of the differences of both sides' times, block by block, at a small and at a large size."""
    if not 0 <= small < large:
        raise ValueError(f"a break-even needs a small and a large size, not {small} and {large}")
    # Each of the two differences errs half as often as the break-even.
    confidence = 1 - (1 - CONFIDENCE) / 2
    first, last = centre(at_small, confidence), centre(at_large, confidence)
    value = _root(small, first.value, large, last.value)
    bounds = [b for b in (first.low, first.high, last.low, last.high) if b is not None]
    if len(bounds) < 4:
        return Crossing(value, None, None, small, large, first, last)
    corners = [_root(small, d0, large, d1) for d0 in bounds[:2] for d1 in bounds[2:]]
    known = [root for root in corners if root is not None]
    return Crossing(
        value=value,
        low=min(known, default=None),
        high=max(known) if len(known) == len(corners) else None,
        small=small,
        large=large,
        at_small=first,
        at_large=last,
    )


def _root(small: int, at_small: float, large: int, at_large: float) -> float | None:
    """The place where the line reaches 0 on its way down; 0 where it is below from the start, None
    where it is not on its way down."""
    if at_small <= 0 and at_large <= 0:
        falling = at_small - at_large
        return max(small + (large - small) * at_small / falling, 0.0) if falling > 0 else 0.0
    if at_large >= at_small:
        return None
    return max(small + (large - small) * at_small / (at_small - at_large), 0.0)
