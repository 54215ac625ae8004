"""The place where the CPU time of a block's samples goes: the sampler around them, and what it
found by component."""

import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from statistics import median
from time import thread_time_ns
from typing import TYPE_CHECKING

from loadstone._core import Sampler, clock_ns
from loadstone.engines.components import components_of
from loadstone.errors import InputError
from loadstone.protocol.messages import BlockResult, Profile, Profiled
from loadstone.protocol.parts import FunctionCount, ThreadTime
from loadstone.record.budget import ALL, NOTHING, PROGRAMS

if TYPE_CHECKING:
    from loadstone.engines.system import System

EMPTY_STRETCHES = 64
"""As many as report the cost of one to some percent, in some milliseconds."""
FREQUENCY_HZ_MIN = 97
"""Fewer would report nothing of a statement."""
DENSE_HZ = 9_973
"""So many samples cost enough to be measured in some milliseconds."""
DENSE_PAIRS = 8
CHECKSUMS, CHECKED = 2_000, bytes(4096)
"""Work of some milliseconds, always the same."""


class KeptSampler:
    """The sampler of a worker's process and of its system's servers, which rests between blocks: a
    thread has its first sample after a whole period of CPU time, and in one short block never."""

    def __init__(self) -> None:
        self._sampler: Sampler | None = None
        self._of: tuple[tuple[int, ...], int] = ((), 0)

    @contextmanager
    def sampling(self, system: "System", request: Profile) -> Iterator[Sampler]:
        """It samples within the context. Raises `InputError` for a block whose samples each start
        the engine anew: its processes would not be followed."""
        if request.block.temperature == "cold":
            raise InputError("a cold block cannot be profiled", hint="profile it warm")
        of = tuple(system.processes()), affordable_hz(request)
        if self._sampler is None or of != self._of:
            self.close()
            try:
                self._sampler, self._of = Sampler(list(of[0]), of[1]), of
            except ValueError as error:
                raise InputError(f"{error}: {request.frequency_hz}") from None
        sampler = self._sampler
        sampler.resume()
        try:
            yield sampler
        finally:
            sampler.pause()

    def close(self) -> None:
        """End it, if there is one."""
        if self._sampler is not None:
            self._sampler.close()
        self._sampler = None


def affordable_hz(request: Profile) -> int:
    """The samples a second that a request wants, or fewer where they would cost too much here."""
    if request.share_max >= 1.0 or not (each_ns := sample_ns()):
        return request.frequency_hz
    affordable = int(request.share_max * 1e9 / each_ns)
    return min(request.frequency_hz, max(affordable, FREQUENCY_HZ_MIN))


@cache
def sample_ns() -> float:
    """CPU time that one sample takes of the thread that it interrupts, on this machine: some
    microseconds, on a virtual one some thirty. The same work with many samples and without, in
    pairs; 0 where there are none."""
    sampler = Sampler([], DENSE_HZ)
    try:
        if not sampler.samples_programs:
            return 0.0
        _checksums_ns()
        found = []
        for _ in range(DENSE_PAIRS):
            sampler.begin()
            start_ns = clock_ns()
            with_ns = _checksums_ns()
            sampler.end(start_ns, clock_ns())
            _, _, _, _, counts, _ = sampler.take()
            found.append((with_ns, sum(count[-1] for count in counts)))
    finally:
        sampler.close()
    without = [_checksums_ns() for _ in range(DENSE_PAIRS)]
    samples = sum(seen for _, seen in found)
    if not samples:
        return 0.0
    added_ns = median(ns for ns, _ in found) - median(without)
    return max(0.0, added_ns * DENSE_PAIRS / samples)


def _checksums_ns() -> int:
    begun_ns = thread_time_ns()
    for _ in range(CHECKSUMS):
        zlib.crc32(CHECKED)
    return thread_time_ns() - begun_ns


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
                server,
                components.of(object_, function, entry),
                object_,
                function,
                entry,
                n,
                thread=thread,
            )
            for server, thread, object_, function, entry, n in counts
        ),
        threads=tuple(ThreadTime(*spent) for spent in threads),
    )
