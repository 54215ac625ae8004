"""The interrupt that a signal raised, until someone has dealt with it, whatever became of it.

C code that calls back into Python reports an exception of ours as one of its own, as Arrow does
while it reads our batches and SQLite in a progress handler; in a finalizer Python drops it. So
whether a command was interrupted is no question of the exception that arrives: who raises for a
signal notes it here, and who would report an error asks here first.
"""

import signal
from types import TracebackType
from typing import Any, NoReturn


class _Noted:
    """Plain flags: a signal handler may wait for no lock."""

    raised = False
    ends_command = False


def note(number: int) -> None:
    """Note a signal for which `KeyboardInterrupt` is raised later, where work can be left whole."""
    _Noted.raised = True
    _Noted.ends_command |= number != signal.SIGINT


def interrupt(number: int) -> NoReturn:
    """Raise `KeyboardInterrupt` for a signal, and note it."""
    note(number)
    raise KeyboardInterrupt


def ends_command() -> bool:
    """Whether a signal came that asks the whole command to end, as SIGTERM does, and not only what
    it does now, as Ctrl-C in a session."""
    return _Noted.ends_command


def is_raised() -> bool:
    """Whether an interrupt was raised that nobody has dealt with."""
    return _Noted.raised


def dealt_with() -> None:
    """The interrupt was reported, or ended what it should end."""
    _Noted.raised = _Noted.ends_command = False


def check() -> None:
    """Raise one that was dropped again. Called where work may end between two of its steps."""
    if _Noted.raised:
        raise KeyboardInterrupt


class Recognised:
    """A context that an interrupt leaves as `KeyboardInterrupt`, also where C code has wrapped or
    dropped it."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del trace
        was_raised, _Noted.raised = _Noted.raised, False
        if was_raised and (kind is None or issubclass(kind, Exception)):
            raise KeyboardInterrupt from error


def unraisable(lost: Any) -> None:
    """Python's hook for an exception that it drops: without a word for an interrupt, which is
    noted."""
    import sys

    if not (is_raised() and issubclass(lost.exc_type, KeyboardInterrupt)):
        sys.__unraisablehook__(lost)
