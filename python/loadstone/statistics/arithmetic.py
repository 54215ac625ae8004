"""Sums, differences and ratios of figures that were measured apart, with their bounds.

Such figures are not paired, so the bounds are the widest possible: a sum's low bound is the sum of
the low ones, a difference's is low less high. For independent errors that is wider than 95 % needs;
it is never narrower than for errors that agree. A bound is None where any is.
"""

from collections.abc import Iterable

from loadstone.statistics.estimate import Estimate


def total(estimates: Iterable[Estimate]) -> Estimate:
    """The sum."""
    known = list(estimates)
    return Estimate(
        sum(one.value for one in known),
        _sum([one.low for one in known]),
        _sum([one.high for one in known]),
    )


def less(whole: Estimate, part: Estimate) -> Estimate:
    """The difference; may be negative."""
    return Estimate(
        whole.value - part.value,
        _sum([whole.low, None if part.high is None else -part.high]),
        _sum([whole.high, None if part.low is None else -part.low]),
    )


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """A positive multiple."""
    bounds = (estimate.low, estimate.high)
    low, high = (None if bound is None else bound * factor for bound in bounds)
    return Estimate(estimate.value * factor, low, high)


def over(part: Estimate, whole: Estimate) -> Estimate:
    """The ratio of two positive figures; a whole of 0 counts as 1 ns."""

    def divided(above: float | None, below: float | None) -> float | None:
        return None if above is None or below is None else above / max(below, 1.0)

    ratio = part.value / max(whole.value, 1.0)
    return Estimate(ratio, divided(part.low, whole.high), divided(part.high, whole.low))


def _sum(bounds: list[float | None]) -> float | None:
    known = [bound for bound in bounds if bound is not None]
    return sum(known) if len(known) == len(bounds) else None
