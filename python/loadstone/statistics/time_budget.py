"""A time budget: parts of an elapsed time that add up to it.

    elapsed = CPU + off CPU             CPU, as the kernel accounts it, less than elapsed
    CPU     = sum of parts + residual   each part: its samples times the sampler's period

The residual is the check. A thread's clock ticks once a period, and a stretch begins anywhere
between two ticks, each place alike. So a stretch of d periods, f of them beyond whole ones, has f
more samples or none, with a variance of f (1 - f): in the mean 1/6 for stretches longer than a
period. Of n stretches the residual is about 0, with a deviation of period * sqrt(n f (1 - f)) for
each thread. A share of the samples has Wilson's interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

_Z = 1.959964
"""Two-sided 95 % of a normal distribution."""
_OFTEN = (1 - sqrt(1 / 3)) / 2
"""At 1 less this, and at this, f (1 - f) is its mean over all f, 1/6: beyond a stretch of nearly a
period its length varies more than what f shows."""


@dataclass(frozen=True, slots=True)
class Part:
    """A component's time, with the 95 % interval of its share."""

    component: str
    ns: float
    low_ns: float
    high_ns: float


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The place where an elapsed time went."""

    elapsed_ns: float
    parts: tuple[Part, ...]
    """The largest first."""
    waited_ns: float | None
    """Off the CPU, and ready to run; None: not known."""
    slept_ns: float
    """Off the CPU otherwise: on a device, a lock, or another program. Negative where several
    threads ran at the same time, for as long as they did."""
    residual_ns: float
    """CPU time beyond the parts."""
    residual_ns_max: float
    """Its bound by chance, either way."""

    @property
    def is_chance(self) -> bool:
        """Whether chance alone explains the residual."""
        return abs(self.residual_ns) <= self.residual_ns_max

    @property
    def total_ns(self) -> float:
        """All rows together."""
        return sum(part.ns for part in self.parts) + (self.waited_ns or 0) + self.slept_ns


def time_budget(
    samples: Mapping[str, int],
    period_ns: int,
    elapsed_ns: int,
    threads_ns: Sequence[float],
    waited_ns: int | None,
    stretches: int,
) -> TimeBudget:
    """The budget of `stretches` samples of one operation, together `elapsed_ns`: `samples` by
    component, one for every `period_ns` of CPU time, of which each thread took one of `threads_ns`;
    `waited_ns` for a CPU."""
    cpu_ns = sum(threads_ns)
    variance = sum(_variance(ns / period_ns, stretches) for ns in threads_ns)
    count = sum(samples.values())
    sampled_ns = count * period_ns
    parts = []
    for component, number in samples.items():
        low, high = wilson(number, count)
        parts.append(Part(component, number * period_ns, low * sampled_ns, high * sampled_ns))
    off_ns = elapsed_ns - cpu_ns
    waited = None if waited_ns is None else min(float(waited_ns), max(float(off_ns), 0.0))
    return TimeBudget(
        elapsed_ns=elapsed_ns,
        parts=tuple(sorted(parts, key=lambda part: (-part.ns, part.component))),
        waited_ns=waited,
        slept_ns=off_ns - (waited or 0.0),
        residual_ns=cpu_ns - sampled_ns,
        residual_ns_max=_Z * period_ns * sqrt(variance),
    )


def _variance(periods: float, stretches: int) -> float:
    """Of a thread's number of samples, over so many periods in so many stretches of like length."""
    each = periods / max(stretches, 1)
    return max(stretches, 1) * (each * (1 - each) if each < 1 - _OFTEN else 1 / 6)


def wilson(number: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    share, z2 = number / count, _Z * _Z
    centre = share + z2 / (2 * count)
    half = _Z * sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    whole = 1 + z2 / count
    return max((centre - half) / whole, 0.0), min((centre + half) / whole, 1.0)
