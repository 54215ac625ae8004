"""A loop of concurrent users, as its worker reports it and as a record keeps it."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from loadstone.text.kinds import Count, Json, Message, Name, Ns, Scale, Status, VariantName, Words
from loadstone.text.shape import one_of

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
"""Those that a loop keeps beside the maximum."""
Percentile = Annotated[str, one_of((*(f"{p:g}" for p in PERCENTILES), "max"))]
Latencies = Annotated[Mapping[Percentile, Ns], Json(1_000)]
"""A percentile, or `max`, to ns."""
Interval = tuple[Count, Count, Ns, Ns, Ns]
"""Of an interval of a loop: requests that were answered in it and that failed, and the latencies in
ns that half of the answered and 99 % of them did not exceed, and the longest."""
Rate = Annotated[float, Meta(ge=0, le=1e12)]
RateOfStep = Annotated[float, Meta(gt=0, le=1e12)]
_CONFLICT = re.compile(
    r"conflict|could not serialize|deadlock|database (?:table )?is (?:locked|busy)|"
    r"lock wait timeout|record has changed since",
    re.IGNORECASE,
)
"""The words with which an engine refuses a transaction because of a concurrent one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFigures:
    """The result of a loop; the defaults are those of one that has no times to show.

    `client` is the language of the calling program, empty where its loop ended without a result.
    `latency_ns` counts from the intended start, `service_ns` from the actual one, `lag_ns` lies
    between them. A closed loop has no lag, and the other two agree. `histogram`: the latencies,
    HdrHistogram V2 deflate.
    """

    client: Name = "python"
    elapsed_ns: Ns = 0
    completed: Count = 0
    failed: Count = 0
    late: Count = 0
    skipped: Count = 0
    client_cpu_ns: Ns | None = None
    server_cpu_ns: Ns | None = None
    latency_ns: Latencies = field(default_factory=dict)
    lag_ns: Latencies = field(default_factory=dict)
    service_ns: Latencies = field(default_factory=dict)
    histogram: Annotated[bytes, Meta(max_length=1 << 22)] = b""
    status: Status = "ok"
    reason: Message = ""
    links_checked: Count | None = None
    """Connections of inserted parts that were found from both ends after the loop; None if the loop
    inserts nothing. A missing one makes the loop failed."""
    compared: Count | None = None
    """Of the completed requests, those whose answers were compared; None: that is not counted."""
    interval_ns: Ns = 0
    intervals: Annotated[tuple[Interval, ...], Json(1 << 18)] = ()
    """The loop over time, in intervals of that length from its begin on; empty: not measured."""
    statements: Annotated[tuple[tuple[str, str], ...], Json(1 << 22)] = ()
    """Of statements that differ in values alone, the text of the first, and the engine's plan."""

    def fields(self, **others: Any) -> dict[str, Any]:
        """Its fields by name, for a `UsersPoint`, with `others` in place of some."""
        return {each.name: getattr(self, each.name) for each in dataclasses.fields(self)} | others

    def but(self, **others: Any) -> "LoopFigures":
        """The same with `others` in place of some fields."""
        return dataclasses.replace(self, **others)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersPoint(LoopFigures):
    """The figures of one loop of concurrent users on one operation.

    `model` is closed (a user asks again when answered) or open (requests are due by a schedule of
    `rate_per_s` in all).
    """

    operation: Name
    variant: VariantName
    rows: Scale
    model: Annotated[str, one_of(("closed", "open"))]
    users: Annotated[int, Meta(ge=1, le=10**6)]
    rate_per_s: Rate | None
    beside: Words = ""
    """The other users of the same loop (`2 users on insert`); empty without any."""
    ramp: Annotated[tuple[RateOfStep, ...], Json(4_000)] = ()
    """The rates of the steps of an open loop, all together of its duration; empty: one rate."""

    @property
    def has_failed_requests(self) -> bool:
        """Whether requests failed, and the first of them not by a conflict with another user. False
        where conflicts came first and other failures after them."""
        return bool(self.failed) and not _CONFLICT.search(self.reason)

    def by_column(self) -> dict[str, Any]:
        """Its fields in the order of the record's columns."""
        plain = dataclasses.asdict(self)
        return {name: plain[name] for name in COLUMNS}


COLUMNS = (
    "operation", "variant", "rows", "client", "model", "users", "rate_per_s", "elapsed_ns",
    "completed", "failed", "late", "skipped", "client_cpu_ns", "server_cpu_ns", "latency_ns",
    "lag_ns", "service_ns", "histogram", "status", "reason", "beside", "links_checked", "compared",
    "interval_ns", "intervals", "ramp", "statements",
)  # fmt: skip
"""The fields of a point in the order of the record's columns: figures stand between its own."""
