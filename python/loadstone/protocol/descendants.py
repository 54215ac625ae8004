"""The descendants of a process: found before it is killed, ended after it.

A server has a session of its own, so that Ctrl-C does not reach it; nor does a signal to its
worker's group.
"""

import contextlib
import os
import select
import signal
from pathlib import Path

from loadstone._core import clock_ns

QUIT_S_MAX = 5.0
"""A server whose worker died has ended by itself by then (PR_SET_PDEATHSIG)."""
KILL_S_MAX = 10.0


class Descendants:
    """All descendants of a process, held by descriptors: their numbers cannot become another's."""

    def __init__(self, pid: int) -> None:
        self._watched: dict[int, int] = {}
        for one in _below(pid):
            with contextlib.suppress(OSError):
                self._watched[one] = os.pidfd_open(one)

    def end(self) -> list[int]:
        """Wait for them to end by themselves, then kill them. Returns those that still live."""
        try:
            for limit_s in (QUIT_S_MAX, KILL_S_MAX):
                self._wait(limit_s)
                for descriptor in self._watched.values():
                    with contextlib.suppress(OSError):
                        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            return sorted(self._watched)
        finally:
            for descriptor in self._watched.values():
                os.close(descriptor)

    def _wait(self, limit_s: float) -> None:
        until_ns = clock_ns() + int(limit_s * 1e9)
        while self._watched and (left_ns := until_ns - clock_ns()) > 0:
            ended = select.select([*self._watched.values()], [], [], left_ns / 1e9)[0]
            for pid in [one for one, descriptor in self._watched.items() if descriptor in ended]:
                os.close(self._watched.pop(pid))


def _below(pid: int) -> list[int]:
    """Children are listed by the thread that started them."""
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in listed.read_text().split()]
    return [one for child in found for one in (child, *_below(child))]
