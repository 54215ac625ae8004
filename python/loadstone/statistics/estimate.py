"""A figure with its interval."""

from dataclasses import dataclass

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
