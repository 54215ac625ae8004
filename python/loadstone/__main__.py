"""The `loadstone` command from its first moment on: a signal is heard while the rest is imported.

Importing takes half a second on a busy machine. Without a handler, Ctrl-C in that time would print
a traceback, and SIGTERM or SIGHUP end the command without a word.
"""

import signal
import sys
from contextlib import suppress
from types import FrameType

from loadstone.diagnostics import ENDINGS, Exit, guarded
from loadstone.interruption import interrupt, unraisable


class _Command:
    """A plain flag: a signal handler may wait for no lock."""

    has_ended = False


def main() -> None:
    """Run the `loadstone` command and exit with its code."""
    for number in ENDINGS:
        # A program that ignores a signal (nohup, a shell's background job) goes on to ignore it.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _heard)
    sys.unraisablehook = unraisable
    code: int = Exit.INTERRUPTED
    # One that comes while another is reported, or once its report is written: it would leave this
    # function, and Python end as if by SIGINT, whatever came.
    with suppress(KeyboardInterrupt):
        try:
            code = guarded(_imported)
        finally:
            _Command.has_ended = True
    for number in ENDINGS:
        if signal.getsignal(number) is _heard:
            signal.signal(number, signal.SIG_DFL)
    # Python notes an interrupt that leaves a text given to `exec`, as dataclasses do while they
    # are imported, and with `-m` ends as if by SIGINT although it was caught: another text undoes
    # that.
    exec("")  # noqa: S102 - empty
    sys.exit(code)


def _heard(number: int, frame: FrameType | None) -> None:
    del frame
    if not _Command.has_ended:
        interrupt(number)


def _imported() -> int:
    from loadstone.cli import main as run

    return run()


if __name__ == "__main__":
    main()
