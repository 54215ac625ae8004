"""The start time of the running statement, in memory shared by a worker and its runner.

A message would disturb the measurement: it wakes the runner, which then competes with the statement
for a processor. Nobody waits for these two numbers: the runner reads them only when a limit may
have passed.
"""

import mmap
import os
import tempfile

from loadstone._core import clock_ns

SIZE_BYTES = 16


class Board:
    """Two times in memory shared by two processes: when the timed statement began (0 between
    statements), and when the last one ended. Only the worker writes."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, SIZE_BYTES)
        self._times = memoryview(self._memory).cast("Q")

    @classmethod
    def make(cls) -> tuple["Board", int]:
        """The runner's side, and the descriptor to hand to the worker; the caller closes it."""
        with tempfile.TemporaryFile() as file:
            file.truncate(SIZE_BYTES)
            descriptor = os.dup(file.fileno())
        return cls(descriptor), descriptor

    def mark(self, kind: str, ahead_ns: int = 0) -> None:
        """`start`: a timed statement begins, after so long; until then the worker may be at work,
        or stopped, without anybody's knowledge. `end`: it has ended."""
        now_ns = clock_ns()
        if kind == "start":
            self._times[0] = now_ns + ahead_ns
        else:
            self._times[1] = now_ns
            self._times[0] = 0

    def overdue_ns(self, asked_ns: int, limit_ns: int, untimed_limit_ns: int) -> tuple[int, bool]:
        """When the worker's current activity counts as hung, and whether that is a statement; a
        request was sent at `asked_ns`."""
        began_ns, ended_ns = self._times[0], self._times[1]
        if began_ns:
            return began_ns + limit_ns, True
        return max(asked_ns, ended_ns) + untimed_limit_ns, False

    def ended_since(self, asked_ns: int) -> bool:
        """Whether a timed statement has ended since then."""
        return self._times[1] > asked_ns

    def close(self) -> None:
        """Let go of the memory."""
        self._times.release()
        self._memory.close()
