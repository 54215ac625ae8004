"""Ends a statement that takes longer than its block allows, from another thread.

The thread is there only while a block has a limit. It waits without waking, so that a statement
within the limit is not disturbed.
"""

import threading
from types import TracebackType
from typing import Self

from loadstone.engines.abilities import Interruptible
from loadstone.engines.base import Engine
from loadstone.errors import StatementEndedError
from loadstone.worker.cut_short import AGAIN_S

LATE_NS = 1_000_000
"""Added to a limit, so that a statement that was ended has taken longer than the limit, however
long after this thread it began."""


class StatementLimit:
    """A statement within it is ended after the limit, and then raises `StatementEndedError`; also
    one that came to its end meanwhile, because it took longer."""

    def __init__(self, engine: Engine, limit_ns: int) -> None:
        self._engine = engine
        self._limit_ns = limit_ns
        self._is_over = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._wait, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._ended.set()
        # Before the next statement begins: a late request would end that one.
        self._thread.join()
        if self._is_over and (error is None or isinstance(error, Exception)):
            raise StatementEndedError(f"> {self._limit_ns / 1e9:g} s") from None

    def _wait(self) -> None:
        if self._ended.wait((self._limit_ns + LATE_NS) / 1e9):
            return
        self._is_over = True
        while not self._ended.is_set():
            if isinstance(self._engine, Interruptible):
                self._engine.interrupt()
            self._ended.wait(AGAIN_S)
