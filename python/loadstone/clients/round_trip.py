"""The cost of the way to a server by itself: a byte to another process and back."""

import os
import socket
import struct
import subprocess
import sys

from loadstone import _core

EXCHANGES = 300
_LIMIT = struct.pack("ll", 10, 0)
"""Seconds and microseconds after which an answer is given up."""
_ECHO = """
import os
while word := os.read(0, 1):
    os.write(0, word)
"""


def round_trip_ns(near: socket.socket, far: socket.socket, exchanges: int = EXCHANGES) -> float:
    """Median time of a byte to a process that echoes it, over a connected pair of sockets, which it
    closes.

    Back to back, and with idle states disabled where permitted, as while a run measures. It
    includes Python's own time at either end, less than a microsecond. Raises `OSError`.
    """
    with far:
        echo = subprocess.Popen([sys.executable, "-I", "-S", "-c", _ECHO], stdin=far.fileno())
    # The socket closes first: its end is what ends the echo.
    with echo, near, _core.disable_idle_states():
        # The kernel's own limit: Python's would ask the kernel twice for each byte.
        near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _LIMIT)
        _exchange_ns(near.fileno())  # waits for the interpreter at the other end
        found = [_exchange_ns(near.fileno()) for _ in range(exchanges)]
    return _core.interval_of_median(found)[0]


def _exchange_ns(near: int) -> float:
    begin_ns = _core.clock_ns()
    os.write(near, b"?")
    if not os.read(near, 1):
        raise ConnectionError("the echo ended")
    return float(_core.clock_ns() - begin_ns)
