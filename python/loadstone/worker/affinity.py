"""The processor of an engine while it is measured.

Two processors of a virtual machine have different neighbours on the physical cores. A scheduler
leaves a process where it was, so two processes of the same engine, each on its own processor,
differ by 5 % and more for as long as they live, through their neighbours alone.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loadstone.engines.system import System

TASKS = Path("/proc/self/task")
ALONE = ("1", None)
"""Values of an engine's parallelism that mean a single thread."""


@contextmanager
def placed(system: System) -> Iterator[None]:
    """A context in which a single-threaded engine in this process has the same processor as all
    others of its kind. A server's work is shared between processes, and stays where the system puts
    it."""
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
