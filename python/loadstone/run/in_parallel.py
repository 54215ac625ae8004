"""Work on several workers at the same time, of which nothing goes on once it is left.

A worker answers one thread. Who left another thread at work on it, and asked it something, would
take that thread's reply or lose their own, and wait for good.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

K = TypeVar("K")
R = TypeVar("R")

STRIKE_S = 0.1
"""From one strike to the next: what a thread starts after the first is ended, too."""


def in_parallel(
    calls: Mapping[K, Callable[[], R]], strike: Callable[[], object]
) -> dict[K, Future[R]]:
    """Call all at the same time, each in its thread, and return when all have ended, each with its
    result or its error. Interrupted, `strike` them until they have, and raise."""
    started: dict[K, Future[R]] = {}
    pool = ThreadPoolExecutor(max(len(calls), 1))
    try:
        for key, call in calls.items():
            started[key] = pool.submit(call)
        wait(started.values())
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        strike()
        while wait(started.values(), timeout=STRIKE_S).not_done:
            strike()
        raise
    finally:
        # By here nothing is at work: there are only threads to be ended.
        pool.shutdown()
    return started
