"""A time budget: parts of an elapsed time that add up to it.

    elapsed = CPU + off CPU             CPU, as the kernel accounts it, less than elapsed
    CPU     = sum of parts + residual   each part: its samples times the sampler's period

The residual is the check. Every thread's last period before, and first after, a stretch is cut off
somewhere, each place alike: so of n stretches it is about 0, with a deviation of
period * sqrt(n / 6). A share of the samples has Wilson's interval.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

_Z = 1.959964
"""Two-sided 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Part:
    """A component's time, with the 95 % interval of its share."""

    component: str
    ns: float
    low_ns: float
    high_ns: float


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """Where an elapsed time went."""

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
    """What chance allows it to be, either way."""

    @property
    def closes(self) -> bool:
        """Whether the parts add up to the elapsed time, as far as chance allows."""
        return abs(self.residual_ns) <= self.residual_ns_max

    @property
    def total_ns(self) -> float:
        """All rows together."""
        return sum(part.ns for part in self.parts) + (self.waited_ns or 0) + self.slept_ns


def time_budget(
    samples: Mapping[str, int],
    period_ns: int,
    elapsed_ns: int,
    cpu_ns: int,
    waited_ns: int | None,
    stretches: int,
) -> TimeBudget:
    """The budget of `stretches` samples of one operation, together `elapsed_ns`: `samples` by
    component, one for every `period_ns` of CPU time, of `cpu_ns` in all; `waited_ns` for a CPU."""
    count = sum(samples.values())
    sampled_ns = count * period_ns
    parts = []
    for component, number in samples.items():
        low, high = _wilson(number, count)
        parts.append(Part(component, number * period_ns, low * sampled_ns, high * sampled_ns))
    off_ns = elapsed_ns - cpu_ns
    waited = None if waited_ns is None else min(float(waited_ns), max(float(off_ns), 0.0))
    return TimeBudget(
        elapsed_ns=elapsed_ns,
        parts=tuple(sorted(parts, key=lambda part: (-part.ns, part.component))),
        waited_ns=waited,
        slept_ns=off_ns - (waited or 0.0),
        residual_ns=cpu_ns - sampled_ns,
        residual_ns_max=_Z * period_ns * sqrt(max(stretches, 1) / 6),
    )


def _wilson(number: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    share, z2 = number / count, _Z * _Z
    middle = share + z2 / (2 * count)
    half = _Z * sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    whole = 1 + z2 / count
    return max((middle - half) / whole, 0.0), min((middle + half) / whole, 1.0)
