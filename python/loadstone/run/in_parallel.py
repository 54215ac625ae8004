"""Work on several workers at the same time, of which nothing goes on once it is left.

A worker answers one thread. Who left another thread at work on it, and asked it something, would
take that thread's reply or lose their own, and wait for good.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from typing import TypeVar

K = TypeVar("K")
R = TypeVar("R")

LISTEN_S = 0.5
"""Between two looks for a signal. One that comes just before a thread begins to wait does not end
its waiting: Ctrl-C would be heard at the end of all calls."""

STRIKE_S = 0.1
"""Before each strike: what a thread starts after one is ended by the next."""


def in_parallel(
    calls: Mapping[K, Callable[[], R]], strikes: Sequence[Callable[[], object]]
) -> dict[K, Future[R]]:
    """Call all at the same time, each in its thread, and return when all have ended, each with its
    result or its error. Interrupted, call `strikes` until they have, and raise."""
    started: dict[K, Future[R]] = {}
    gate, left = threading.Event(), threading.Event()

    def begun(call: Callable[[], R]) -> R:
        gate.wait()
        if left.is_set():
            raise CancelledError
        return call()

    pool = ThreadPoolExecutor(max(len(calls), 1))
    try:
        for key, call in calls.items():
            started[key] = pool.submit(begun, call)
        # Of a thread that was interrupted while it was started, nobody would know.
        gate.set()
        while wait(started.values(), timeout=LISTEN_S).not_done:
            pass
    except BaseException:
        left.set()
        gate.set()
        while wait(started.values(), timeout=STRIKE_S).not_done:
            for strike in strikes:
                strike()
        raise
    finally:
        # By here nothing is at work: there are only threads to be ended.
        pool.shutdown()
    return started
