"""On which processor an engine works while it is measured.

Two processors of a virtual machine have neighbours of their own on the cores beneath them. A
scheduler leaves a process where it was, so two of the same engine, each on its own processor, lie
5 % and more apart for as long as they live: their own difference is nil, their neighbours' is not.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loadstone.engines.base import System

TASKS = Path("/proc/self/task")
ALONE = ("1", None)
"""What an engine says of its parallelism that works in the caller's thread alone."""


@contextmanager
def placed(system: System) -> Iterator[None]:
    """Meanwhile an engine of one thread, in this process, has the same processor as all others of
    its kind. A server's work is shared between processes, and stays where the system puts it."""
    parallelism = dict(system.variant.tactics).get("parallelism")
    if system.processes() or parallelism not in ALONE:
        yield
        return
    usable = os.sched_getaffinity(0)
    _let_all_threads({max(usable)})
    try:
        yield
    finally:
        _let_all_threads(usable)


def _let_all_threads(processors: set[int]) -> None:
    for thread in TASKS.iterdir():
        try:
            os.sched_setaffinity(int(thread.name), processors)
        except ProcessLookupError:  # it ended meanwhile
            continue
