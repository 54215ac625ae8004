"""A loop of concurrent users in a record, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
"""Those that a `UsersPoint` keeps beside the maximum."""
Interval = tuple[int, int, int, int, int]
"""Of an interval of a loop: requests that were answered in it and that failed, and the latencies in
ns that half of the answered and 99 % of them did not exceed, and the longest."""


@dataclass(frozen=True, slots=True)
class UsersPoint:
    """Concurrent users on one operation.

    `model` is closed (a user asks again when answered) or open (requests are due by a schedule of
    `rate_per_s` in all). `latency_ns` counts from the intended start, `service_ns` from the actual
    one, `lag_ns` lies between them: each maps a percentile of `PERCENTILES`, or `max`, to ns. A
    closed loop has no lag, and the other two agree. `histogram`: the latencies, HdrHistogram V2
    deflate.
    """

    operation: str
    variant: str
    rows: int
    client: str
    model: str
    users: int
    rate_per_s: float | None
    elapsed_ns: int
    completed: int
    failed: int
    late: int
    skipped: int
    client_cpu_ns: int | None
    server_cpu_ns: int | None
    latency_ns: Mapping[str, int]
    lag_ns: Mapping[str, int]
    service_ns: Mapping[str, int]
    histogram: bytes
    status: str
    reason: str
    beside: str = ""
    """The other users of the same loop (`2 users on insert`); empty without any."""
    links_checked: int | None = None
    """Connections of inserted parts that were found from both ends after the loop; None if the loop
    inserts nothing. A missing one makes the loop failed."""
    compared: int | None = None
    """Of the completed requests, those whose answers were compared; None: that is not counted."""
    interval_ns: int = 0
    intervals: tuple[Interval, ...] = ()
    """The loop over time, in intervals of that length from its begin on; empty: not measured."""
    ramp: tuple[float, ...] = ()
    """The rates of the steps of an open loop, all together of its duration; empty: one rate."""
    statements: tuple[tuple[str, str], ...] = ()
    """Of statements that differ in values alone, the text of the first, and the engine's plan."""
