"""The interrupt that a signal raised, until someone has dealt with it, whatever became of it.

C code that calls back into Python reports an exception of ours as one of its own, as Arrow does
while it reads our batches and SQLite in a progress handler; in a finalizer Python drops it. So
whether a command was interrupted is no question of the exception that arrives: who raises for a
signal notes it here, and who would report an error asks here first.
"""

from types import TracebackType
from typing import Any, NoReturn


class _Noted:
    """A plain flag: a signal handler may wait for no lock."""

    raised = False


def interrupt() -> NoReturn:
    """Raise `KeyboardInterrupt` for a signal, and note it."""
    _Noted.raised = True
    raise KeyboardInterrupt


def is_raised() -> bool:
    """Whether an interrupt was raised that nobody has dealt with."""
    return _Noted.raised


def dealt_with() -> None:
    """The interrupt was reported, or ended what it should end."""
    _Noted.raised = False


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
        was_raised = is_raised()
        dealt_with()
        if was_raised and (kind is None or issubclass(kind, Exception)):
            raise KeyboardInterrupt from error


def unraisable(lost: Any) -> None:
    """Python's hook for an exception that it drops: without a word for an interrupt, which is
    noted."""
    import sys

    if not (is_raised() and issubclass(lost.exc_type, KeyboardInterrupt)):
        sys.__unraisablehook__(lost)
