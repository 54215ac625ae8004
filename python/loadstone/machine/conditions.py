"""The machine's state while cells are measured: the time that the hypervisor and other programs
took, and the clock frequency. Rule 6 of the method."""

import os
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from loadstone import _core
from loadstone.record.model import Condition

WINDOW_NS = 1_000_000_000
"""The kernel counts in ticks of 10 ms: over less than a second their shares mean little."""
SPIN_ITERATIONS = 200_000
"""About a tenth of a millisecond of dependent operations."""
SPINS = 5
PROBE_RUNS = 7
LOST_SHARE_MAX = 0.02
"""The run's own time is known to this share of all processors' time.

A process that ended is counted in ticks, so some ms are lost with it. A server that outlived its
worker takes its whole time out of the run's sight, and would make as much of the run's later work
look foreign.
"""


@dataclass(frozen=True, slots=True)
class _Reading:
    at_ns: int
    busy_ns: int
    idle_ns: int
    stolen_ns: int
    own_ns: int


class Conditions:
    """Reads the state around each interleaved group. Made at the start of a session."""

    def __init__(self) -> None:
        self.spin_reference_ns = _fastest_spin_ns(4 * SPINS)
        self._readings: deque[_Reading] = deque()
        self._begun_ns = 0
        self._speed_probe = _core.SpeedProbe()
        self._probe_ns: list[int] = []
        self.begin()

    def begin(self) -> None:
        """A group begins."""
        self._begun_ns = _core.clock_ns()
        self._probe_ns.clear()
        self._read()

    def probe_speed(self) -> None:
        """Run the speed probe; once in each round."""
        self._probe_ns += [max(self._speed_probe.run_ns(), 1) for _ in range(PROBE_RUNS)]

    def end(self) -> Condition:
        """The group has ended: the machine's state meanwhile."""
        drift = _fastest_spin_ns(SPINS) / self.spin_reference_ns - 1
        probe_ns = median(self._probe_ns) if self._probe_ns else None
        latest = self._read()
        if latest is None:
            return Condition(None, None, drift, probe_ns)
        start_ns = min(self._begun_ns, latest.at_ns - WINDOW_NS)
        while len(self._readings) > 2 and self._readings[1].at_ns <= start_ns:
            self._readings.popleft()
        first = self._readings[0]
        busy_ns = latest.busy_ns - first.busy_ns
        stolen_ns = latest.stolen_ns - first.stolen_ns
        all_ns = busy_ns + stolen_ns + latest.idle_ns - first.idle_ns
        if latest.at_ns - first.at_ns < WINDOW_NS or all_ns <= 0:
            return Condition(None, None, drift, probe_ns)  # too early in the session to report
        foreign_ns = self._foreign_ns(busy_ns, LOST_SHARE_MAX * all_ns)
        foreign_share = None if foreign_ns is None else foreign_ns / all_ns
        return Condition(stolen_ns / all_ns, foreign_share, drift, probe_ns)

    def _foreign_ns(self, busy_ns: int, lost_ns_max: float) -> int | None:
        """Processor time of other programs; None if a process of the run went out of sight."""
        own_ns = [reading.own_ns for reading in self._readings]
        steps_ns = [later - earlier for earlier, later in pairwise(own_ns)]
        if -sum(step for step in steps_ns if step < 0) > lost_ns_max:
            return None
        return max(0, busy_ns - sum(step for step in steps_ns if step > 0))

    def _read(self) -> _Reading | None:
        times = _core.processor_times()
        own_ns = _core.cpu_ns(os.getpid())
        if times is None or own_ns is None:
            return None
        self._readings.append(_Reading(_core.clock_ns(), *times, own_ns))
        return self._readings[-1]


def _fastest_spin_ns(times: int) -> int:
    """The smallest of several: interruptions of the others are not the processor's speed."""
    return min(_core.spin_ns(SPIN_ITERATIONS) for _ in range(times))
