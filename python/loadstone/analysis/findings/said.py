"""How findings say figures: each with its interval, in the unit of the figure."""

from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import duration, interval, percent, size, times, unit_for


def said_share(share: Estimate) -> str:
    """`86 % (80 to 92 %)`; what lies above all or below nothing is told as that."""
    bounded = [None if each is None else min(max(each, 0.0), 1.0)
               for each in (share.value, share.low, share.high)]  # fmt: skip
    value, low, high = bounded
    told = percent(value or 0.0)
    if low is None or high is None:
        return told
    return f"{told} ({percent(low).removesuffix(' %')} to {percent(high)})"


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


def said_bytes(count: Estimate) -> str:
    """`1.5 MiB (1.4 MiB to 1.6 MiB)`; one size where all samples have it."""
    if count.low is None or count.high is None or size(count.low) == size(count.high):
        return size(count.value)
    return f"{size(count.value)} ({size(count.low)} to {size(count.high)})"
