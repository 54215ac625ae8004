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
