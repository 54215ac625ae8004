"""The figures of a loop of users, from its tally."""

from collections.abc import Callable

from loadstone._core import Tally
from loadstone.record.users import PERCENTILES, LoopFigures


def loop_figures(tally: Tally, failed: int, *, closed: bool) -> LoopFigures:
    """From one tally of all users. In a closed loop nothing is due: nothing is late, there is no
    lag, and service equals latency."""
    latency_ns = percentiles(tally.latency_ns, tally.completed)
    return LoopFigures(
        completed=tally.completed,
        failed=failed,
        late=0 if closed else tally.late,
        skipped=tally.skipped,
        latency_ns=latency_ns,
        lag_ns={} if closed else percentiles(tally.lag_ns, tally.completed),
        service_ns=latency_ns if closed else percentiles(tally.service_ns, tally.completed),
        histogram=tally.to_bytes(),
    )


def no_figures(status: str, reason: str) -> LoopFigures:
    """Of a loop that has no times to show."""
    return loop_figures(Tally(), 0, closed=True).but(status=status, reason=reason)


def percentiles(of: Callable[[float], int | None], count: int) -> dict[str, int]:
    """Each percentile that has at least one of `count` requests beyond it, and the maximum."""
    kept = [p for p in PERCENTILES if round(count * (100.0 - p) / 100.0, 6) >= 1]
    found = {f"{p:g}": of(p) for p in kept} | {"max": of(100.0)}
    return {name: value for name, value in found.items() if value is not None}
