"""Ends the request in flight when the runner wants no reply to it any more, or is gone.

A thread waits, without waking, at the end of a pipe whose other side the runner holds. The runner
writes the number of a request whose statement takes too long. It closes the pipe when the run is
given up; and it dies with it, however that happens. From then on only the engine's data is removed.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from loadstone.errors import EngineError
from loadstone.protocol.messages import Remove, Request
from loadstone.protocol.wire import UNWANTED

AGAIN_S = 0.05
"""Between two calls that end the same statement: it may not have begun, or another follows it."""


class CutShort:
    """Calls `interrupt` again and again while a request is in flight that the runner has given up.
    It never ends the removal of data."""

    def __init__(self, descriptor: int, interrupt: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._interrupt = interrupt
        self._given_up = False
        self._number: int | None = None
        """Of the request in flight."""
        self._changes = threading.Condition()
        threading.Thread(target=self._wait, daemon=True).start()

    @contextlib.contextmanager
    def request(self, number: int, request: Request[Any]) -> Iterator[None]:
        """A request is in flight within it. Raises `EngineError` if the run was given up, unless
        data is to be removed."""
        if isinstance(request, Remove):
            yield
            return
        with self._changes:
            if self._given_up:
                raise EngineError("the run was given up")
            self._number = number
        try:
            yield
        finally:
            # The thread holds the lock while it ends a statement: it cannot hit the next request.
            with self._changes:
                self._number = None
                self._changes.notify()

    def _wait(self) -> None:
        while len(data := os.read(self._descriptor, UNWANTED.size)) == UNWANTED.size:
            (number,) = UNWANTED.unpack(data)
            self._end(number)
        self._given_up = True
        self._end(None)

    def _end(self, number: int | None) -> None:
        """End what is in flight: the request of this number, or whatever it is."""
        with self._changes:
            while self._number is not None and number in (None, self._number):
                # An engine that is being opened or restarted has no statement to be ended.
                with contextlib.suppress(Exception):
                    self._interrupt()
                self._changes.wait(AGAIN_S)
