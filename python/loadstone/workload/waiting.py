"""A line about what takes long before there is a plan: a query without an end, a large file."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from loadstone.diagnostics import say

PATIENCE_S = 5.0
"""So long a person waits without asking what for; most data are read before."""


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Say on stderr what is waited for, once, where it takes long."""
    words = f"loadstone: still {what}, which the plan needs; Ctrl-C ends it"
    timer = threading.Timer(PATIENCE_S, say, [words])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # a line that is being written is whole before the next
