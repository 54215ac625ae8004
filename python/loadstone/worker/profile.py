"""Where the CPU time of a block's samples goes: the sampler around them, and what it found by
component."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from loadstone._core import Sampler, clock_ns
from loadstone.engines.components import components_of
from loadstone.errors import InputError
from loadstone.protocol.messages import (
    BlockResult,
    FunctionCount,
    Profile,
    Profiled,
    ThreadTime,
)
from loadstone.record.budget import ALL, NOTHING, PROGRAMS

if TYPE_CHECKING:
    from loadstone.engines.system import System

EMPTY_STRETCHES = 64
"""As many as tell the cost of one to some percent, in some milliseconds."""


@contextmanager
def sampling(system: "System", request: Profile) -> Iterator[Sampler]:
    """A sampler of this process and of the system's servers. Raises `InputError` for a block whose
    samples each start the engine anew: its processes would not be followed."""
    if request.block.temperature == "cold":
        raise InputError("a cold block cannot be profiled", hint="profile it warm")
    try:
        sampler = Sampler(list(system.processes()), request.frequency_hz)
    except ValueError as error:
        raise InputError(f"{error}: {request.frequency_hz}") from None
    try:
        yield sampler
    finally:
        sampler.close()


def reading_ns(sampler: Sampler) -> float:
    """CPU time that a stretch adds to this thread's by reading its clock before and after, from
    stretches with nothing in them."""
    for _ in range(EMPTY_STRETCHES):
        sampler.begin()
        start_ns = clock_ns()
        sampler.end(start_ns, clock_ns())
    _, _, elapsed_ns, _, _, threads = sampler.take()
    own = threading.get_native_id()
    cpu_ns = sum(
        cpu_ns for server, thread, _, cpu_ns, _ in threads if (server, thread) == (False, own)
    )
    return max(0.0, (cpu_ns - elapsed_ns) / EMPTY_STRETCHES)


def profiled(
    system: "System", sampler: Sampler, result: BlockResult, reading_ns: float
) -> Profiled:
    """A block's result, with what the sampler saw; `reading_ns`: of one stretch."""
    period_ns, shown, elapsed_ns, lost, counts, threads = sampler.take()
    reading_ns *= len(result.samples)
    cpu_ns = max(0.0, sum(cpu_ns for _, _, _, cpu_ns, _ in threads) - reading_ns)
    components = components_of(system.name)
    programs, kernel = sampler.samples_programs, sampler.samples_kernel
    return Profiled(
        result=result,
        sampled=ALL if kernel else PROGRAMS if programs else NOTHING,
        reason=sampler.reason,
        period_ns=period_ns,
        sampled_ns=None if shown is None else round(cpu_ns * shown),
        elapsed_ns=elapsed_ns,
        lost=lost,
        executing=threading.get_native_id(),
        reading_ns=round(reading_ns),
        counts=tuple(
            FunctionCount(
                server, thread, components.of(object_, function, entry), object_, function, entry, n
            )
            for server, thread, object_, function, entry, n in counts
        ),
        threads=tuple(ThreadTime(*spent) for spent in threads),
    )
