"""User loops, as tables that every format can print: one of the closed loops, one of the open ones.

A percentile means another thing in each, so the heading names the loop's model. Beside a closed
loop's throughput stands the one that the machine's processors would allow at the processor time
that a request took: the limit, if nothing else kept requests waiting. It is false where the
counters miss a process that works for the engine, and too high where users beyond the measured
number would cost more each.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from loadstone.analysis.over_time import ramp_verdict
from loadstone.analysis.standing import unjudged
from loadstone.plan.plan import Plan
from loadstone.plan.role import Role
from loadstone.plan.variant import is_users_server
from loadstone.record.model import BELIEVED, Run
from loadstone.record.users import PERCENTILES, UsersPoint
from loadstone.text.numbers import digits, duration, number, plural

TITLES = {
    "closed": "Concurrent users, closed loop: each sends a request when the last is answered",
    "open": "Concurrent users, open loop: due by a schedule, latency from when it was due",
}
ABSENT = "\N{EN DASH}"
LIMITED_SHARE = 0.9
"""A curve that reaches this share of what the processors allow is called limited by them."""

Column = tuple[str, Callable[[UsersPoint], str]]


@dataclass(frozen=True, slots=True)
class UsersRow:
    """A loop: its texts in the columns, and the point itself."""

    texts: tuple[str, ...]
    point: UsersPoint


@dataclass(frozen=True, slots=True)
class UsersTable:
    """All loops of one model. The first `names` columns are words, the others figures."""

    model: str
    title: str
    headings: tuple[str, ...]
    names: int
    rows: tuple[UsersRow, ...]
    remarks: tuple[str, ...] = ()
    """The rates at which its ramps fell behind, and loops of which not all answers were
    compared."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Why a loop is not ok, or which of its requests failed."""
        return tuple(
            f"{_loop(row.point)}, {self.model} loop: {row.point.status}: {row.point.reason}"
            for row in self.rows
            if row.point.reason
        )


def users_tables(run: Run) -> tuple[UsersTable, ...]:
    """The tables that have rows, the closed loops' first, each in the order of measuring."""
    scales = len({point.rows for point in run.users}) > 1
    mark = unjudged(run)
    processors = processors_of(run)
    tables = []
    for model, title in TITLES.items():
        points = [point for point in run.users if point.model == model]
        names = _names(run.presentation.scale if scales else "")
        columns = [*names, *_figures(model, processors)]
        rows = [UsersRow(tuple(text(point) for _, text in columns), point) for point in points]
        clients = ", ".join(sorted({point.client for point in points if point.client}))
        languages = f" (client: {clients})" if clients else ""
        if rows:
            headings = tuple(heading for heading, _ in columns)
            title = f"{title}{languages}{mark}"
            remarks = tuple(_remarks(points, run.plan))
            tables.append(UsersTable(model, title, headings, len(names), tuple(rows), remarks))
    return tuple(tables)


def _remarks(points: Sequence[UsersPoint], plan: Plan) -> Iterator[str]:
    """Of engines: the harness overhead has no answers, and is behind at no rate."""
    points = [one for one in points if plan.role_of(one.variant) != Role.OVERHEAD]
    for point in points:
        if point.ramp and point.status in BELIEVED:
            verdict = ramp_verdict(point, plan.loop_s)
            yield f"ramp of {_loop(point)}: {verdict.words}"
    for point in points:
        compared = point.compared if point.status in BELIEVED else None
        if compared is not None and compared < point.completed:
            of_all = f"{number(compared)} of {number(point.completed)}"
            state = _state_of(point, plan)
            yield f"{_loop(point)}, {point.model} loop: {of_all} answers were compared{state}"


def _state_of(point: UsersPoint, plan: Plan) -> str:
    """The check of a script that changes data, whose answers depend on the other users."""
    statements = plan.workload.statements if plan.workload else ()
    changing = [one for one in statements if one.name == point.operation and one.script_changes]
    if not changing:
        return ""
    checked = changing[0].same or changing[0].grows
    return f"; the state that they left was {'checked' if checked else 'not checked'}"


def _loop(point: UsersPoint) -> str:
    beside = f" beside {point.beside}" if point.beside else ""
    return f"{point.operation} on {point.variant}, {plural(point.users, 'user')}{beside}"


def throughput_per_s(point: UsersPoint) -> float | None:
    """Requests answered in a second, all users together; None where none was, or no time passed."""
    if not point.completed or not point.elapsed_ns:
        return None
    return point.completed / point.elapsed_ns * 1e9


def processors_of(run: Run) -> int | None:
    """Those that the run could use, by its last session; None where it does not say."""
    for session in reversed(run.sessions):
        for key in ("cpu.count_usable", "cpu.count"):
            if session.machine.get(key):
                return int(session.machine[key])
    return None


def limit_per_s(point: UsersPoint, processors: int | None) -> float | None:
    """The requests in a second that this many processors could answer, at the processor time that
    each took client and server; None where the client's was not measured, or a server of the user's
    works uncounted. An embedded engine works in the client."""
    if not point.completed or not point.client_cpu_ns or processors is None:
        return None
    if point.server_cpu_ns is None and is_users_server(point.variant):
        return None
    worked_ns = point.client_cpu_ns + (point.server_cpu_ns or 0)
    return processors * point.completed / worked_ns * 1e9


@dataclass(frozen=True, slots=True)
class UsersCurve:
    """The throughput of a variant's closed loops on one operation, over their users; the points
    that are to be believed, at least two."""

    operation: str
    variant: str
    rows: int
    points: tuple[tuple[int, float], ...]
    """(users, answered in a second), by users."""
    limit: float | None
    """The throughput that the processors allow at the processor time of the loop with the most
    users."""

    @property
    def gain(self) -> float:
        """The most that was reached, over the fewest users' throughput."""
        return self.most / self.points[0][1]

    @property
    def most(self) -> float:
        """The highest throughput that was reached."""
        return max(rate for _, rate in self.points)

    @property
    def is_limited(self) -> bool:
        """Whether the processors allow little more."""
        return self.limit is not None and self.most > LIMITED_SHARE * self.limit


def users_curves(run: Run) -> tuple[UsersCurve, ...]:
    """A curve for each operation, scale and variant, without loops that had writers beside."""
    processors = processors_of(run)
    closed = [
        point
        for point in run.users
        if point.model == "closed" and point.status == "ok" and not point.beside
    ]
    closed.sort(key=lambda point: (point.operation, point.rows, point.variant, point.users))
    curves = []
    for (operation, rows, variant), group in groupby(
        closed, key=lambda point: (point.operation, point.rows, point.variant)
    ):
        loops = [(point, throughput_per_s(point)) for point in group]
        reported = tuple((point.users, rate) for point, rate in loops if rate)
        if len(reported) > 1:
            limit = limit_per_s(loops[-1][0], processors)
            curves.append(UsersCurve(operation, variant, rows, reported, limit))
    return tuple(curves)


def _names(scale: str) -> Sequence[Column]:
    scales: list[Column] = [(scale, lambda point: number(point.rows))] if scale else []
    return [
        ("operation", lambda point: point.operation),
        ("variant", lambda point: point.variant),
        *scales,
    ]


def _figures(model: str, processors: int | None) -> Sequence[Column]:
    always: list[Column] = [
        ("users", _level),
        ("status", lambda point: point.status),
    ]
    done: Column = ("answered/s", lambda point: _rate(throughput_per_s(point)))
    latencies = [_percentile(f"{model} {name}", key) for name, key in LATENCIES.items()]
    if model == "closed":
        limit: Column = ("limit/s", lambda point: _rate(limit_per_s(point, processors)))
        return [*always, done, limit, *latencies]
    return [
        *always,
        ("requests/s", _requested),
        done,
        *latencies,
        ("open lag p99", lambda point: _reported(point.lag_ns, "99")),
        ("late", lambda point: number(point.late)),
        ("skipped", lambda point: number(point.skipped)),
    ]


def _requested(point: UsersPoint) -> str:
    """The rate of an open loop; of a ramp, the first and the last."""
    if point.ramp:
        return f"{_rate(point.ramp[0])} to {_rate(point.ramp[-1])}"
    return _rate(point.rate_per_s)


def _level(point: UsersPoint) -> str:
    """The number of users, and the users beside them."""
    return number(point.users) + (f", beside {point.beside}" if point.beside else "")


LATENCIES = {f"p{percentile:g}": f"{percentile:g}" for percentile in PERCENTILES} | {"max": "max"}
"""Each one's name in a heading, and its key in a point."""


def _percentile(heading: str, key: str) -> Column:
    return heading, lambda point: _reported(point.latency_ns, key)


def _reported(figures: Mapping[str, int], key: str) -> str:
    return duration(figures[key]) if key in figures else ABSENT


def _rate(value: float | None) -> str:
    return ABSENT if value is None else digits(value)
