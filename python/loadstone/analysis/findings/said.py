"""The form of figures in findings: each with its interval, in the unit of the figure."""

from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import duration, interval, percent, size, times, unit_for

SHARE_MAX = 10.0
"""A larger share has no meaning as a figure: the whole is then hardly more than nothing."""


def said_share(share: Estimate) -> str:
    """`86 % (80 to 92 %)`; as measured, also below 0 and beyond 100 %."""
    reported = _percent(share.value)
    if share.low is None or share.high is None:
        return reported
    return f"{reported} ({_percent(share.low).removesuffix(' %')} to {_percent(share.high)})"


def said_part(share: Estimate, whole: str = "the difference") -> str:
    """`86 % (80 to 92 %) of the difference`; a part that is larger than the whole difference, since
    the slower one is faster in the rest, as
    `more than the difference, 207 % (190 to 220 %) of it,`."""
    if share.value < BEYOND_ALL:
        return f"{said_share(share)} of {whole}"
    return f"more than {whole}, {said_share(share)} of it,"


def beyond_all(share: Estimate | None) -> str:
    """A sentence, where a share of a difference is reported as more than all of it."""
    if share is None or max(share.value, share.high or 0.0) < BEYOND_ALL:
        return ""
    return " Where it is more than 100 %, the rest favours the slower one."


BEYOND_ALL = 1.005
"""The least share that is reported as 101 %."""


def _percent(share: float) -> str:
    return f"over {percent(SHARE_MAX)}" if share > SHARE_MAX else percent(share)


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
