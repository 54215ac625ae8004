"""Default sizes of tactics, and their upper bounds on this machine."""

import os
from pathlib import Path

CACHE_BYTES_DEFAULT = 256 * 1024 * 1024
"""The cache of every engine unless the variant names another, so that caches are equal."""
THREADS_EACH = 4
"""Threads that a tactic may request for each processor: enough to see that more do not help."""
THREADS_MIN = 8
SERVER_THREADS_MAX = 1024
"""For a user's server, whose machine is unknown: PostgreSQL's own limit
(max_parallel_workers_per_gather)."""
NUMBER_MAX = 10**9
"""Of a tactic that is neither threads nor bytes."""

_CGROUPS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def threads() -> int:
    """Threads that one engine may be given."""
    return max(THREADS_MIN, THREADS_EACH * len(os.sched_getaffinity(0)))


def memory_bytes() -> int:
    """The memory that this machine has, or that our group of processes may take."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in _CGROUPS:
        try:
            reported = path.read_text(encoding="ascii").strip()
        except OSError:
            continue
        if reported.isdecimal():
            found.append(int(reported))
    return min(found)
