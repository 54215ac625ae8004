"""The operating system's counters of one sample's work: CPU time and storage traffic."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone import _core


@dataclass(frozen=True, slots=True)
class Work:
    """Differences over a sample; None if the system does not report them.

    The client is the worker with its driver, and with an embedded engine; the server is a private
    server with all its processes. Threads are those that may have used the CPU time. The bytes are
    those of the process that holds the data.
    """

    client_cpu_ns: int | None
    client_threads: int | None
    server_cpu_ns: int | None
    server_threads: int | None
    read_bytes: int | None
    written_bytes: int | None


_NOTHING = (None,) * 6
"""The reading of a meter that was read before."""


class Meter:
    """Starts when it is created, and is read once: both outside the clock, as close to it as
    possible. The cost of reading is in no figure (`crates/measure/src/work.rs`)."""

    def __init__(self, servers: Sequence[int]) -> None:
        self._meter = _core.Meter(list(servers))

    def read(self) -> Work:
        """The work since the meter was made."""
        return Work(*(self._meter.read() or _NOTHING))
