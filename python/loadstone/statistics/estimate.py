"""A figure with its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from loadstone import _core

CONFIDENCE = 0.95
"""Of every interval, but for those of a study that are many at once."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % confidence interval; a bound is None where samples are too few."""

    value: float
    low: float | None = None
    high: float | None = None

    def within(self, least: float, most: float) -> "Estimate":
        """The figure and its bounds, each of which lies between these."""
        bounds = (
            None if each is None else min(max(each, least), most) for each in (self.low, self.high)
        )
        return Estimate(min(max(self.value, least), most), *bounds)


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
    return scaled(Estimate(log(value), low and log(low), high and log(high)), scale)


def side(effect: Estimate) -> int:
    """The side of 0 on which its whole interval lies: 1, -1, or 0 where it holds 0 or is none."""
    if effect.low is None or effect.high is None:
        return 0
    return (effect.low > 0) - (effect.high < 0)


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """The figure and its bounds, each times a factor above 0."""
    low, high = estimate.low, estimate.high
    return Estimate(
        estimate.value * factor,
        None if low is None else low * factor,
        None if high is None else high * factor,
    )
