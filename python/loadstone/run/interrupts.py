"""Ctrl-C, SIGTERM and SIGHUP while a run is measured, and the effect of each.

The first ends the measuring; the engines then remove their data. The second ends the workers at
once, and the data they could not remove is listed. The rest takes a moment, and no further signal
interrupts it.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from loadstone import interruption
from loadstone.diagnostics import ENDINGS


class Interrupts:
    """A context in which the signals raise `KeyboardInterrupt`: once while something is measured,
    and once more while its data is removed. So they leave it, also where C code wrapped that in an
    error of its own."""

    def __init__(self) -> None:
        self._count = 0
        self._number = int(signal.SIGINT)
        """The last signal."""
        self._raises_at = 1
        """The number of signals that raise; 0: none does any more."""
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            for number in ENDINGS:
                # A program that ignores a signal (nohup, a shell's background job) goes on to
                # ignore it.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        interruption.Recognised().__exit__(kind, error, trace)

    def measuring(self) -> None:
        """Something is measured again, after data was removed: the first signal raises, also one
        that came meanwhile."""
        self._raises_at = 1
        if self._count >= self._raises_at:
            self._raises_at = 0
            interruption.interrupt(self._number)

    @contextmanager
    def removing(self) -> Iterator[None]:
        """While data is removed: the second signal raises, also one that came before."""
        self._raises_at = 2
        try:
            if self._count >= self._raises_at:
                interruption.interrupt(self._number)
            yield
        finally:
            self._raises_at = 0

    def _heard(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._count, self._number = self._count + 1, number
        if self._raises_at and self._count >= self._raises_at:
            self._raises_at = 0
            interruption.interrupt(self._number)
