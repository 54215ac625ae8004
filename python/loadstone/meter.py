"""What the operating system says of one statement's work: CPU time and storage traffic."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from loadstone._core import cpu_ns, io_bytes


@dataclass(frozen=True, slots=True)
class Work:
    """Differences over a statement; None where the system does not tell.

    The client is the worker with its driver, and with an embedded engine; the server a private
    server with all its processes. The bytes are those of the process that holds the data.
    """

    client_cpu_ns: int | None
    server_cpu_ns: int | None
    read_bytes: int | None
    written_bytes: int | None


class Meter:
    """Read once before a statement and once after it, outside the clock.

    Reading takes tens of microseconds of CPU time itself, so the client's own time is read last
    before the statement and first after it.
    """

    def __init__(self, servers: Sequence[int]) -> None:
        self._servers = servers
        self._holders = servers or (os.getpid(),)
        self._moved = self._storage()
        self._server_ns = self._server()
        self._all_ns = cpu_ns(os.getpid())

    def read(self) -> Work:
        """The work since the meter was made."""
        all_ns = _difference(self._all_ns, cpu_ns(os.getpid()))
        server_ns = _difference(self._server_ns, self._server())
        moved = self._storage()
        # A private server is the worker's child, and a process's time includes its children's.
        client_ns = all_ns if all_ns is None or server_ns is None else max(all_ns - server_ns, 0)
        return Work(
            client_cpu_ns=client_ns,
            server_cpu_ns=server_ns,
            read_bytes=_difference(*(pair and pair[0] for pair in (self._moved, moved))),
            written_bytes=_difference(*(pair and pair[1] for pair in (self._moved, moved))),
        )

    def _server(self) -> int | None:
        times = [cpu_ns(pid) for pid in self._servers]
        known = [time for time in times if time is not None]
        return sum(known) if known and len(known) == len(times) else None

    def _storage(self) -> tuple[int, int] | None:
        moved = [io_bytes(pid) for pid in self._holders]
        known = [pair for pair in moved if pair is not None]
        if not known or len(known) < len(moved):
            return None
        return sum(pair[0] for pair in known), sum(pair[1] for pair in known)


def _difference(before: int | None, after: int | None) -> int | None:
    if before is None or after is None or after < before:
        return None  # also where a process that ended took its count with it
    return after - before
