"""The form of figures in findings: each with its interval, in the unit of the figure."""

from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import duration, interval, percent, size, times, unit_for

BEYOND_ALL = 1.005
"""The least share that would be reported as 101 %."""


def said_share(share: Estimate) -> str:
    """`86 % (80 to 92 %)`, between 0 and 100 %."""
    within = share.within(0.0, 1.0)
    reported = percent(within.value)
    if within.low is None or within.high is None:
        return reported
    return f"{reported} ({percent(within.low).removesuffix(' %')} to {percent(within.high)})"


def said_part(share: Estimate, whole: str = "the difference") -> str:
    """`86 % (80 to 92 %) of the difference`."""
    return f"{said_share(share)} of {whole}"


def beyond_all(share: Estimate | None) -> str:
    """A sentence, where a part is longer by more than the whole difference."""
    if share is None or share.value < BEYOND_ALL:
        return ""
    return " In all else the slower one takes less time."


def said_ratio(ratio: Estimate) -> str:
    """A ratio and its bounds in brackets; `~` before one without an interval."""
    if ratio.low is None or ratio.high is None:
        return f"~{times(ratio.value)}"
    low, high = (
        times(bound).rstrip("\N{MULTIPLICATION SIGN}") for bound in (ratio.low, ratio.high)
    )
    return f"{times(ratio.value)} ({low} to {high})"


def said_ns(time: Estimate) -> str:
    """A duration and its bounds in brackets, in its unit."""
    unit = unit_for([abs(time.value)])
    within = interval(time, unit)
    return f"{duration(time.value)} ({within})" if within else duration(time.value)


def said_longer(time: Estimate) -> str:
    """A difference of durations, of which the second is taken off: `3.60 ms (3.12 … 3.76) longer`;
    one below 0 as `shorter`, with its bounds turned."""
    if time.value >= 0:
        return f"{said_ns(time)} longer"
    low, high = (None if bound is None else -bound for bound in (time.high, time.low))
    return f"{said_ns(Estimate(-time.value, low, high))} shorter"


def said_bytes(count: Estimate) -> str:
    """`1.5 MiB (1.4 MiB to 1.6 MiB)`; one size where all samples have it."""
    if count.low is None or count.high is None or size(count.low) == size(count.high):
        return size(count.value)
    return f"{size(count.value)} ({size(count.low)} to {size(count.high)})"
