"""A byte to another process and back: the cost of waking an idle processor, and of the way to a
server.

One exchange, timed in two ways: after a pause, in which both processors sleep; and back to back,
over a pair of sockets that takes the way of a server's clients.
"""

import contextlib
import os
import select
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from loadstone import _core

ROUND_TRIPS = 150
BLOCKS = 2
PAUSE_S = 0.001
"""Longer than any kernel spins in the hope of work (200 us where halt polling is on)."""
EXCHANGES = 300
"""Back to back."""
_ANSWER_MAX = struct.pack("ll", 10, 0)
"""Seconds and microseconds after which an answer is given up."""
_ECHO = """
import os, sys
if sys.argv[1:]:
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


def round_trip_ns(near: socket.socket, far: socket.socket, exchanges: int = EXCHANGES) -> float:
    """Median time of a byte to a process that echoes it, over a connected pair of sockets, which it
    closes.

    Back to back, and with idle states disabled where permitted, as while a run measures. It
    includes Python's own time at either end, less than a microsecond. Raises `OSError`.
    """
    with _echo(near, far), _core.disable_idle_states():
        found = [_exchange_ns(near) for _ in range(exchanges)]
    return _core.interval_of_median(found)[0]


def _measured(own: int, other: int, count: int) -> RoundTrips:
    with _echo(*socket.socketpair(), str(other)) as near, _pinned_to(own):
        _after_pauses_ns(near, count)
        idle_ns: list[float] = []
        held_ns: list[float] = []
        for _ in range(BLOCKS):
            idle_ns += _after_pauses_ns(near, count)
            with _core.disable_idle_states() as idle_states:
                held_ns += _after_pauses_ns(near, count) if idle_states.held else []
    held = _core.interval_of_median(held_ns)[0] if held_ns else None
    return RoundTrips(_core.interval_of_median(idle_ns)[0], held)


@contextlib.contextmanager
def _echo(near: socket.socket, far: socket.socket, *processor: str) -> Iterator[socket.socket]:
    """Start a process at the far end that echoes every byte, on a processor if one is named, and
    wait until it is ready. Both ends are closed afterwards."""
    command = [sys.executable, "-I", "-S", "-c", _ECHO, *processor]
    with near:
        with far:
            echo = subprocess.Popen(command, stdin=far.fileno())
        # The near end closes first: its end is what ends the echo.
        with echo, near:
            # The kernel's own limit: Python's would ask the kernel twice for each byte.
            near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _ANSWER_MAX)
            _exchange_ns(near)  # waits for the interpreter at the other end
            yield near


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


def _after_pauses_ns(near: socket.socket, count: int) -> list[float]:
    elapsed_ns: list[float] = []
    for _ in range(count):
        # Nothing comes unasked: the time is spent asleep, as between two statements.
        select.select([near], [], [], PAUSE_S)
        elapsed_ns.append(_exchange_ns(near))
    return elapsed_ns


def _exchange_ns(near: socket.socket) -> float:
    descriptor = near.fileno()
    begin_ns = _core.clock_ns()
    os.write(descriptor, b"?")
    if not os.read(descriptor, 1):
        raise ConnectionError("the echo ended")
    return float(_core.clock_ns() - begin_ns)
