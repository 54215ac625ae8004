"""A person's session: range variables stay declared, a signal cancels the statement that runs."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import TypeVar

from loadstone import interruption
from loadstone._core import clock_ns
from loadstone.diagnostics import ENDINGS, Exit, put, reader_left, say
from loadstone.errors import CancelledError
from loadstone.lode import Database, Rows, Statement
from loadstone.shell.formats import FORMATS, Format
from loadstone.shell.opening import Place
from loadstone.text.numbers import duration

EXPLAINS = ("off", "plan", "counted")
"""Run a statement and show its rows; show its plan alone; run it and show what was counted."""
PATIENCE_S = 0.05
"""The interval at which the shell checks for a signal while a statement runs."""
# The outcome of a statement that a signal came too late for, or that had given rows before.
ENDED = "it had ended already"
COMMITTED = "it was already committing: it is kept"
ROWS_END = "its rows end here"
NOT_BEGUN = "the next statement was not begun"
_T = TypeVar("_T")


@dataclass(slots=True)
class Session:
    """A database that is asked, and how answers are shown."""

    place: Place
    format: str = "table"
    limit: int | None = None
    """Rows of an answer that are shown at most."""
    explain: str = "off"
    is_timed: bool = False
    ranges: dict[str, str] = field(default_factory=dict)
    """Range variables, with their relations."""
    _is_interrupted: bool = False
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    @property
    def database(self) -> Database:
        """As it is open now."""
        return self.place.database

    def run(self, text: str) -> int:
        """Run the statements of a text, each a transaction of its own, and show their answers;
        after the first that fails, none. Returns the exit code of success. Raises `LodeError`;
        `KeyboardInterrupt` after a signal, when the statement has ended."""
        with self._hearing():
            for statement in self.database.statements(text):
                begun_ns = clock_ns()
                if statement.declares:
                    self._waited(statement.execute)
                    self.ranges.update(statement.declares)
                    continue
                self._run(statement.after(self.ranges))
                if self.is_timed:
                    say(f"time: {duration(clock_ns() - begun_ns)}")
        return Exit.OK

    def _run(self, statement: Statement) -> None:
        if self.explain != "off":
            is_run = self.explain == "counted"
            too_late = COMMITTED if is_run and not statement.gives_rows else ENDED
            plan = self._waited(lambda: statement.explain(counted=is_run), too_late)
            put(plan or "no plan: the statement only defines\n")
        elif statement.gives_rows:
            self._show(self._waited(statement.query, ROWS_END))
        else:
            changed = self._waited(statement.execute, COMMITTED)
            say("done" if changed is None else _count(changed, "tuple"))

    def _show(self, rows: Rows) -> None:
        try:
            written = FORMATS[self.format](rows.names, rows.types)
            count, is_whole = self._written(rows, written)
        finally:
            rows.close()
        if not is_whole:
            say(f"{_count(count, 'row')} shown; there are more")
        elif written.for_people:
            say(_count(count, "row"))

    def _written(self, rows: Rows, written: Format) -> tuple[int, bool]:
        """The number of rows that were shown, and whether that is all."""
        count, is_whole = 0, True
        put(written.head())
        more = partial(self._waited, rows.fetch_next, ROWS_END, cancelled=ROWS_END)
        while is_whole and not reader_left() and (some := more()):
            if self.limit is not None and count + len(some) > self.limit:
                some, is_whole = some[: self.limit - count], False
            if some:
                put(written.some(some))
                count += len(some)
        put(written.end())
        return count, is_whole

    def _waited(
        self,
        call: Callable[[], _T],
        too_late: str = ENDED,
        cancelled: str = "nothing of it is kept",
    ) -> _T:
        """The result of a call that is made on another thread, so that a signal is heard meanwhile.
        Raises `KeyboardInterrupt` then, which says what became of the statement: `cancelled`, or
        `too_late` where the call did its work nevertheless."""
        if self._is_interrupted:
            raise KeyboardInterrupt(ROWS_END if cancelled == ROWS_END else NOT_BEGUN)
        answer = self._thread.submit(call)
        while not answer.done():
            wait([answer], PATIENCE_S)
            if self._is_interrupted:
                # Again each time: it may not have begun when it was cancelled first.
                self.database.cancel()
        if self._is_interrupted:
            error = answer.exception()
            if error is None:
                raise KeyboardInterrupt(too_late)
            raise KeyboardInterrupt(
                cancelled if isinstance(error, CancelledError) else f"it had failed: {error}"
            )
        return answer.result()

    @contextmanager
    def _hearing(self) -> Iterator[None]:
        """A signal that asks the command to end is noted here, and raises only where a statement
        can be left whole: else the statement would go on, and commit, when the command has said
        that it was interrupted."""
        self._is_interrupted = False
        before = {}
        if threading.current_thread() is threading.main_thread():
            handlers = {number: signal.getsignal(number) for number in ENDINGS}
            before = {number: one for number, one in handlers.items() if one != signal.SIG_IGN}
        try:
            for number in before:
                signal.signal(number, self._hear)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del frame
        interruption.note(number)
        self._is_interrupted = True


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
