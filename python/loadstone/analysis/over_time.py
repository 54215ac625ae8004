"""Loops of users over time, and the rate of a ramp at which answers no longer keep up.

Only whole intervals within the loop's planned time count: what ends after it belongs to none.

    keeps up to R      each step up to that of R was answered as fast as requests came. False if in
                       one of them answers fell short by more than chance.
    falls behind at R  from the step of R on, fewer requests were answered in every step than came,
                       by more than `DEVIATIONS` standard deviations of their number and one request
                       of each user; so the queue, and with it the latency, grows as long as the
                       rate stays. At least two steps show it. False if a later step kept up.
    undecided          anything else: others took part of the machine, a step fell short and a later
                       one did not (a pause), or the last one alone did.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadstone.record.model import BELIEVED, Run
from loadstone.record.users import UsersPoint
from loadstone.text.numbers import number

DEVIATIONS = 3.0
"""Requests come at random: their number in a step has the standard deviation of its root."""
STEPS_MIN = 2

KEPT_UP, BEHIND, UNDECIDED = "kept up", "fell behind", "undecided"


@dataclass(frozen=True, slots=True)
class Moment:
    """An interval: when it ended, in seconds from the loop's begin, the requests that were answered
    in a second of it, and the latencies of its slowest and of all but the slowest hundredth; None
    where none was answered."""

    end_s: float
    per_s: float
    p99_ns: int | None
    max_ns: int | None


@dataclass(frozen=True, slots=True)
class RampVerdict:
    """`kept` is the highest rate that was kept up with, `behind` the first at which answers fell
    behind; `words` say it with the evidence."""

    verdict: str
    kept_per_s: float | None
    behind_per_s: float | None
    words: str


@dataclass(frozen=True, slots=True)
class OverTime:
    """A loop, and what happened in each of its whole intervals."""

    point: UsersPoint
    moments: tuple[Moment, ...]
    ramp: RampVerdict | None

    @property
    def slowest(self) -> Moment:
        """The interval with the fewest answers."""
        return min(self.moments, key=lambda moment: moment.per_s)

    @property
    def median_per_s(self) -> float:
        """Half of the intervals had no more answers in a second."""
        return sorted(moment.per_s for moment in self.moments)[len(self.moments) // 2]


def loops_over_time(run: Run) -> tuple[OverTime, ...]:
    """Every loop of a run that was measured over time and has figures, in the order of
    measuring."""
    found = []
    for point in run.users:
        moments = tuple(_moments(point, run.plan.loop_s))
        if point.status in BELIEVED and moments:
            verdict = ramp_verdict(point, run.plan.loop_s) if point.ramp else None
            found.append(OverTime(point, moments, verdict))
    return tuple(found)


def most_users_over_time(run: Run) -> tuple[tuple[OverTime, ...], ...]:
    """By operation, scale and model: of each variant, and of users beside, the loop with the most
    users."""
    groups: dict[tuple[str, int, str], dict[tuple[str, bool], OverTime]] = {}
    for loop in loops_over_time(run):
        point = loop.point
        group = groups.setdefault((point.operation, point.rows, point.model), {})
        same = group.get((point.variant, bool(point.beside)))
        if same is None or same.point.users < point.users:
            group[point.variant, bool(point.beside)] = loop
    return tuple(tuple(group.values()) for group in groups.values())


def _moments(point: UsersPoint, loop_s: float) -> Iterator[Moment]:
    if not point.interval_ns:
        return
    planned_ns = loop_s * 1e9 * max(len(point.ramp), 1)
    whole = int(planned_ns / point.interval_ns + 1e-6)
    none = (0, 0, 0, 0, 0)
    for place in range(whole):
        each = point.intervals[place] if place < len(point.intervals) else none
        completed, _, _, p99_ns, max_ns = each
        yield Moment(
            end_s=(place + 1) * point.interval_ns / 1e9,
            per_s=completed / point.interval_ns * 1e9,
            p99_ns=p99_ns if completed else None,
            max_ns=max_ns if completed else None,
        )


def ramp_verdict(point: UsersPoint, step_s: float) -> RampVerdict:
    """The rate at which a ramp's answers fell behind, if its steps show one."""
    if point.status != "ok":
        return RampVerdict(UNDECIDED, None, None, "undecided: others took part of the machine")
    shortfalls = [
        _is_behind(rate_per_s * step_s, done, point.users)
        for rate_per_s, done in zip(point.ramp, _answered(point, step_s), strict=True)
    ]
    first = shortfalls.index(True) if True in shortfalls else len(shortfalls)
    highest = f"{number(round(point.ramp[-1]))}/s"
    if first == len(shortfalls):
        return RampVerdict(KEPT_UP, point.ramp[-1], None, f"kept up to {highest}")
    kept = point.ramp[first - 1] if first else None
    rate = f"{number(round(point.ramp[first]))}/s"
    later = len(shortfalls) - first
    if later < STEPS_MIN or not all(shortfalls[first:]):
        why = "the last step alone" if later < STEPS_MIN else "and a later step did not"
        return RampVerdict(UNDECIDED, kept, None, f"undecided: fell behind at {rate}, {why}")
    done = _answered(point, step_s)[first] / step_s
    words = (
        f"fell behind at {rate}: {number(round(done))}/s were answered, and fewer than came in"
        f" each of the {later} steps from there on"
    )
    return RampVerdict(BEHIND, kept, point.ramp[first], words)


def _answered(point: UsersPoint, step_s: float) -> Sequence[int]:
    """The requests that ended in each step, answered or failed."""
    each = round(step_s * 1e9 / point.interval_ns)
    ended = [completed + failed for completed, failed, *_ in point.intervals]
    return [sum(ended[step * each : (step + 1) * each]) for step in range(len(point.ramp))]


def _is_behind(due: float, ended: int, users: int) -> bool:
    return due - ended > DEVIATIONS * math.sqrt(due) + users
