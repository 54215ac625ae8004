"""When the requests of a loop are due, and the intervals in which they are counted."""

from loadstone._core import intended_starts
from loadstone.protocol.parts import Loop

SECOND_NS = 1_000_000_000
SHARES = 10
"""Intervals of a step of a ramp, and of a loop that takes less than a second."""


def due_times(loop: Loop) -> list[int]:
    """Offsets in ns from an open loop's begin, ascending. Of a ramp, each step has its rate, and
    all steps take the same time."""
    if not loop.ramp:
        return intended_starts(loop.seed, loop.rate_per_s or 0.0, loop.duration_ns)
    step_ns = loop.duration_ns // len(loop.ramp)
    return [
        number * step_ns + due_ns
        for number, rate_per_s in enumerate(loop.ramp)
        for due_ns in intended_starts(loop.seed + number, rate_per_s, step_ns)
    ]


def interval_of(loop: Loop) -> int:
    """The length in ns of the intervals of its figures over time, which divides each step: a second
    of a long loop, a tenth of a second of a short one."""
    if loop.ramp:
        step_ns = loop.duration_ns // len(loop.ramp)
        return step_ns // SHARES if step_ns < SHARES * SECOND_NS else SECOND_NS
    if loop.duration_ns >= SHARES * SECOND_NS:
        return SECOND_NS
    return SECOND_NS // SHARES if loop.duration_ns >= SECOND_NS else loop.duration_ns // SHARES
