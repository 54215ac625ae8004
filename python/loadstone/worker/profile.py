"""Where the CPU time of a block's samples goes: the sampler around them, and what it found by
component."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from loadstone._core import Sampler
from loadstone.engines.components import components_of
from loadstone.errors import InputError
from loadstone.protocol.messages import (
    BlockResult,
    FunctionCount,
    Profile,
    Profiled,
    ThreadTime,
)

if TYPE_CHECKING:
    from loadstone.engines.base import System


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


def profiled(system: "System", sampler: Sampler, result: BlockResult) -> Profiled:
    """A block's result, with what the sampler saw."""
    period_ns, elapsed_ns, lost, counts, threads = sampler.take()
    components = components_of(system.name)
    return Profiled(
        result=result,
        reason=sampler.reason,
        period_ns=period_ns,
        elapsed_ns=elapsed_ns,
        lost=lost,
        executing=threading.get_native_id(),
        counts=tuple(
            FunctionCount(
                server, thread, components.of(object_, function, entry), object_, function, entry, n
            )
            for server, thread, object_, function, entry, n in counts
        ),
        threads=tuple(ThreadTime(*spent) for spent in threads),
    )
