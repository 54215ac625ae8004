"""The cost of waking an idle processor: a byte to a process on another one and back."""

import contextlib
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from loadstone import _core

ROUND_TRIPS = 150
BLOCKS = 2
PAUSE_S = 0.001
"""Longer than any kernel spins in the hope of work (200 us where halt polling is on)."""
ECHO = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
while word := os.read(0, 1):
    os.write(0, word)
"""


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """Median time of a byte to a process on another processor and back: each sleeps meanwhile."""

    idle_ns: float
    """With idle states enabled."""
    held_ns: float | None
    """With idle states disabled; None if that is not permitted."""


def round_trips(count: int = ROUND_TRIPS) -> RoundTrips | None:
    """Measure them, `count` in each of four blocks: with and without idle states, alternating. None
    if a process cannot be kept on one processor, or there are not two."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        return None
    try:
        return _measured(usable[0], usable[-1], count)
    except OSError:
        return None


def _measured(own: int, other: int, count: int) -> RoundTrips:
    near, far = socket.socketpair()
    command = [sys.executable, "-I", "-S", "-c", ECHO, str(other)]
    with far:
        echo = subprocess.Popen(command, stdin=far.fileno())
    # The socket closes first: its end is what ends the echo.
    with echo, near, _pinned_to(own):
        _round_trips_ns(near, count)
        idle_ns: list[float] = []
        held_ns: list[float] = []
        for _ in range(BLOCKS):
            idle_ns += _round_trips_ns(near, count)
            with _core.disable_idle_states() as idle_states:
                held_ns += _round_trips_ns(near, count) if idle_states.held else []
    held = _core.interval_of_median(held_ns)[0] if held_ns else None
    return RoundTrips(_core.interval_of_median(idle_ns)[0], held)


@contextlib.contextmanager
def _pinned_to(processor: int) -> Iterator[None]:
    """Keep this thread on one processor: the scheduler likes to put both ends of a pipe on one,
    which then never sleeps."""
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usable)


def _round_trips_ns(near: socket.socket, count: int) -> list[float]:
    elapsed_ns: list[float] = []
    for _ in range(count):
        # Nothing comes unasked: the time is spent asleep, as between two statements.
        select.select([near], [], [], PAUSE_S)
        begin_ns = _core.clock_ns()
        near.send(b"?")
        if not near.recv(1):
            raise ConnectionError(f"the echo ended after {len(elapsed_ns)} round trips")
        elapsed_ns.append(float(_core.clock_ns() - begin_ns))
    return elapsed_ns
