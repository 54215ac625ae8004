"""The instrument's measurements of itself at the start of every session (rule 6 of the method).

Three artificial engines of known speed: `null` answers at once, `fixed` after a set time,
`stalling` at once but for a pause now and then. Quantities of a whole run (A/A noise, harness
overhead by operation, stolen time) are in its cells.
"""

import gc
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from loadstone import _core, registry
from loadstone.engines.base import Engine
from loadstone.machine.conditions import SPIN_ITERATIONS
from loadstone.machine.counters import Meter
from loadstone.machine.wake_up import round_trips
from loadstone.plan.variant import Variant

CALLS = 400
FIXED_US = 1_000
FIXED_SAMPLES = 30
ROUND_TRIPS = 40
STALL_MS = 40
STALL_EVERY = 400
STALL_RATE_PER_S = 4_000.0
STALL_DURATION_NS = 200_000_000

Figures = Mapping[str, float | None]


def measure() -> Figures:
    """Every figure by its key, in ns where the key says so; None where this machine does not allow
    it. Takes about half a second."""
    return {
        "clock.resolution_ns": float(_core.clock_resolution_ns()),
        "clock.cost_ns": _core.clock_cost_ns(),
        **_overhead(),
        **_fixed(),
        **_stalling(),
        **_wake_up(),
        f"spin_of_{SPIN_ITERATIONS}.ns": float(
            min(_core.spin_ns(SPIN_ITERATIONS) for _ in range(20))
        ),
    }


def _engine(name: str, **tactics: int) -> Engine:
    pairs = tuple(sorted((key, str(value)) for key, value in tactics.items()))
    variant = Variant(name, pairs)
    # Artificial engines keep nothing: the folder is only named.
    return registry.load_engine(name)(variant, Path(tempfile.gettempdir()), "calibration")


def _elapsed_ns(call: Callable[[], object]) -> int:
    start = _core.clock_ns()
    call()
    return _core.clock_ns() - start


def _overhead() -> Figures:
    """A statement that does nothing, alone and with the counters read around it; and the time of
    reading them, which is outside every clock."""
    null = _engine("null")
    null.start()
    bare, observed, meters = [], [], []
    gc.collect()
    for _ in range(CALLS):
        bare.append(_elapsed_ns(lambda: null.run("")))
        begun = _core.clock_ns()
        meter = Meter(())
        made = _core.clock_ns()
        observed.append(_elapsed_ns(lambda: null.run("")))
        ended = _core.clock_ns()
        meter.read()
        meters.append(made - begun + _core.clock_ns() - ended)
    return {
        "overhead.statement_ns": median(bare),
        "overhead.statement_observed_ns": median(observed),
        "observer.counters_ns": median(meters),
    }


def _fixed() -> Figures:
    """The measured time of an engine that takes exactly a set time."""
    fixed = _engine("fixed", time_us=FIXED_US)
    fixed.start()
    elapsed = sorted(_elapsed_ns(lambda: fixed.run("")) for _ in range(FIXED_SAMPLES))
    return {
        "fixed.asked_ns": FIXED_US * 1e3,
        "fixed.measured_ns": median(elapsed),
        "fixed.measured_ns_max": float(elapsed[-1]),
    }


def _stalling() -> Figures:
    """Whether a pause shows: the same loop by intended starts (open) and by actual ones. A server's
    pause delays all requests that are due meanwhile; a closed loop hides all but one of them."""
    stalling = _engine("stalling", pause_ms=STALL_MS, every=STALL_EVERY)
    stalling.start()
    tally = _core.Tally()
    due = _core.intended_starts(1, STALL_RATE_PER_S, STALL_DURATION_NS, "uniform")
    origin = _core.clock_ns()
    for offset in due:
        while _core.clock_ns() < origin + offset:
            pass
        started = _core.clock_ns()
        stalling.run("")
        tally.add(origin + offset, started, _core.clock_ns())
    return {
        "stalling.pause_ns": STALL_MS * 1e6,
        "stalling.open_latency_ns_p99": _number(tally.latency_ns(99.0)),
        "stalling.service_ns_p99": _number(tally.service_ns(99.0)),
        "stalling.open_latency_ns_max": _number(tally.latency_ns(100.0)),
    }


def _wake_up() -> Figures:
    """A byte to a process on another processor and back, with idle states and without."""
    trips = round_trips(ROUND_TRIPS)
    return {
        "wake_up.round_trip_idle_ns": trips.idle_ns if trips else None,
        "wake_up.round_trip_held_ns": trips.held_ns if trips else None,
    }


def _number(value: int | None) -> float | None:
    return None if value is None else float(value)
