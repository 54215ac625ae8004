"""The `loadstone` command from its first moment on: a signal is heard while the rest is imported.

Importing takes half a second on a busy machine. Without a handler, Ctrl-C in that time would print
a traceback, and SIGTERM or SIGHUP end the command without a word.
"""

import signal
import sys
from types import FrameType

from loadstone.diagnostics import guarded

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Run the `loadstone` command and exit with its code."""
    for number in ENDINGS:
        # Who ignores one (nohup, a shell's background job) goes on to ignore it.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _heard)
    sys.exit(guarded(_imported))


def _heard(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt


def _imported() -> int:
    from loadstone.cli import main as run

    run()
    return 0


if __name__ == "__main__":
    main()
