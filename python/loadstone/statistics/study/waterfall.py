"""A waterfall: from the time at base to that at the other end, one step for each part.

On ln a step is the part's contribution, the same in every order. In ms it depends on how far the
steps before it have come, so the order belongs to the figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from loadstone.statistics.estimate import Estimate
from loadstone.statistics.study.effects import StudyEffects


@dataclass(frozen=True, slots=True)
class Step:
    """The contribution of one part."""

    name: str
    ln: Estimate
    ms: float
    """The difference to the step before."""
    after_ms: float

    @property
    def ratio(self) -> float:
        """The factor by which it multiplies the time."""
        return exp(self.ln.value)


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The ratios of all steps and the remainder multiply to the whole, and their ms add to the
    difference of the two ends, but for rounding of the last bit."""

    base_ms: float
    steps: tuple[Step, ...]
    """In the order in which they were taken."""
    remainder: Step
    """The rest beside the contributions: interactions of three and more, and that medians of sums
    are no sums of medians. Taken last; it has no interval, the closure has."""
    end_ms: float


def waterfall(found: StudyEffects, order: Sequence[str] | None = None) -> Waterfall | None:
    """Of one operation, in this order of its parts (by default their own); None where a part has no
    contribution, or an end no time."""
    names = list(found.parts) if order is None else list(order)
    known = {name: found.parts[name].contribution for name in names}
    if found.base_ms is None or found.whole is None:
        return None
    steps = []
    reached, before_ms = 0.0, found.base_ms
    for name, contribution in known.items():
        if contribution is None:
            return None
        reached += contribution.value
        after_ms = found.base_ms * exp(reached)
        steps.append(Step(name, contribution, after_ms - before_ms, after_ms))
        before_ms = after_ms
    end_ms = found.base_ms * exp(found.whole.value)
    left = Estimate(found.whole.value - reached)
    return Waterfall(
        found.base_ms, tuple(steps), Step("", left, end_ms - before_ms, end_ms), end_ms
    )
