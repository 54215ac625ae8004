"""What the processors and their clock allow: how short a time can be told, and what blurs it."""

import contextlib
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loadstone import _core
from loadstone.doctor.check import Check, Verdict, quantity
from loadstone.machine import Fact
from loadstone.report.figures import duration, plural, times

RESOLUTION_NS_MAX = 1_000
"""A statement on an embedded engine takes a few microseconds: a coarser clock blurs it."""
COST_NS_MAX = 200
"""More than any clock takes that is read without a system call."""
LOAD_MAX = 0.5
"""Processors busy, of each that a run may use: beyond this others' work is in the times."""
WORTH_HOLDING = 1.5
"""From this ratio on the round trips of one machine differ beyond their noise."""
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
    """With processors left to sleep as they like."""
    held_ns: float | None
    """With idle states held off; None where that is not permitted."""


def clock(facts: Mapping[str, Fact]) -> Check:
    """Whether the clock is fine and cheap enough for the shortest statements."""
    resolution_ns = quantity(facts, "clock.resolution_ns")
    cost_ns = quantity(facts, "clock.cost_ns")
    source = facts.get("clock.source") or "source unknown"
    if resolution_ns is None or cost_ns is None:
        return Check("clock", Verdict.ABSENT, "cannot be measured", "no time can be believed")
    value = f"{duration(resolution_ns)} steps, {duration(cost_ns)} read, {source}"
    if resolution_ns <= RESOLUTION_NS_MAX and cost_ns <= COST_NS_MAX:
        return Check("clock", Verdict.OK, value, "a microsecond can be measured")
    return Check(
        "clock",
        Verdict.LIMITED,
        value,
        "microseconds are blurred",
        "choose a clock that is read without a system call: boot with clocksource=tsc",
    )


def processors(facts: Mapping[str, Fact]) -> Check:
    """Whether engine and harness have a processor each, and nobody else is at work."""
    usable = quantity(facts, "cpu.count_usable") or 1.0
    share = min(usable, quantity(facts, "cpu.quota") or usable)
    load = quantity(facts, "load_average")
    value = f"{share:g} usable" + ("" if load is None else f", load {load:g}")
    if share < 2:
        return Check(
            "processors",
            Verdict.LIMITED,
            value,
            "a server and its client take turns",
            "give the machine or the container two processors",
        )
    if load is not None and load > LOAD_MAX * share:
        return Check(
            "processors",
            Verdict.LIMITED,
            value,
            "others' work will be in the times",
            "end what else runs, and wait until the load has gone down",
        )
    return Check("processors", Verdict.OK, value, "engine and harness have one each")


def governor(facts: Mapping[str, Fact]) -> Check:
    """Whether the frequency stays where it is."""
    name = facts.get("cpu.governor")
    if name is None:
        return Check("governor", Verdict.ABSENT, "not shown", "drift is met by interleaving")
    if name == "performance":
        return Check("governor", Verdict.OK, str(name), "the frequency does not wait for load")
    return Check(
        "governor",
        Verdict.LIMITED,
        str(name),
        "the frequency follows the load",
        "as root: cpupower frequency-set -g performance",
    )


def virtualisation(facts: Mapping[str, Fact]) -> Check:
    """Whether something below this system keeps blocks and takes time unseen."""
    below, container = facts.get("virtualisation"), facts.get("container")
    value = ", ".join(str(each) for each in (below, container) if each not in (None, "none"))
    if below is None:
        return Check("virtualisation", Verdict.ABSENT, value or "not shown", "a host may be below")
    if below == "none":
        return Check(
            "virtualisation", Verdict.OK, value or "none", "nothing below caches or takes time"
        )
    return Check(
        "virtualisation",
        Verdict.LIMITED,
        value,
        "the host's cache and load are unseen",
        "claims about the disk itself need a machine without a host; cold means this memory",
    )


def idle_states(facts: Mapping[str, Fact], *, held: bool, reason: str, exists: bool) -> Check:
    """Whether a run can keep idle processors awake; `exists`: there is a device to ask."""
    driver = facts.get("idle_states.driver") or "driver unknown"
    if held:
        return Check(
            "idle states", Verdict.OK, f"can be held off ({driver})", "runs keep processors awake"
        )
    if exists:
        return Check(
            "idle states",
            Verdict.LIMITED,
            f"not permitted ({driver})",
            "idle processors wake late in runs",
            reason,
        )
    return Check(
        "idle states",
        Verdict.ABSENT,
        f"no /dev/cpu_dma_latency ({driver})",
        "idle processors wake late in runs",
        "in a container, pass the device through; elsewhere boot with idle=poll to compare",
    )


def wake_up(trips: RoundTrips | None) -> Check:
    """What waking an idle processor adds to each message between a client and a server."""
    if trips is None:
        return Check(
            "wake-up", Verdict.ABSENT, "cannot be measured", "late wake-ups will go unnoticed"
        )
    if trips.held_ns is None:
        return Check(
            "wake-up",
            Verdict.LIMITED,
            f"{duration(trips.idle_ns)} a round trip",
            "queries to a server include it",
            "compare servers with embedded engines on long operations only, or see idle states",
        )
    value = f"{duration(trips.idle_ns)} a round trip, held {duration(trips.held_ns)}"
    ratio = trips.idle_ns / trips.held_ns
    meaning = f"sleep makes it {times(ratio)}: runs hold it off"
    if ratio < WORTH_HOLDING:
        meaning = "holding them off made no difference"
    return Check("wake-up", Verdict.OK, value, meaning)


def round_trips() -> RoundTrips | None:
    """Measure them: blocks with and without idle states held off, in turns. None where a process
    cannot be kept on one processor, or there are not two."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        return None
    try:
        return _measured(usable[0], usable[-1])
    except OSError:
        return None


def _measured(own: int, other: int) -> RoundTrips:
    near, far = socket.socketpair()
    command = [sys.executable, "-I", "-S", "-c", ECHO, str(other)]
    with far:
        echo = subprocess.Popen(command, stdin=far.fileno())
    # The socket closes first: its end is what ends the echo.
    with echo, near, _pinned_to(own):
        _round_trips_ns(near)
        idle_ns: list[float] = []
        held_ns: list[float] = []
        for _ in range(BLOCKS):
            idle_ns += _round_trips_ns(near)
            with _core.hold_awake() as awake:
                held_ns += _round_trips_ns(near) if awake.held else []
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


def _round_trips_ns(near: socket.socket) -> list[float]:
    elapsed_ns: list[float] = []
    for _ in range(ROUND_TRIPS):
        # Nothing comes unasked: the time is spent asleep, as between two statements.
        select.select([near], [], [], PAUSE_S)
        begin_ns = _core.clock_ns()
        near.send(b"?")
        if not near.recv(1):
            raise ConnectionError(f"the echo ended after {plural(len(elapsed_ns), 'round trip')}")
        elapsed_ns.append(float(_core.clock_ns() - begin_ns))
    return elapsed_ns
