"""Sole owner of stderr and of exit codes. Results go to stdout; everything else comes through here.

A password that was typed into a URL is masked in whatever passes.
"""

import os
import re
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum

from loadstone.errors import (
    DeadlockError,
    EngineError,
    InputError,
    LoadstoneError,
    RecordError,
    TimeLimitError,
    WorkerDiedError,
)


class Exit(IntEnum):
    """What the exit code says. `docs/method.md` repeats the table for CI jobs."""

    OK = 0
    CELLS_FAILED = 1
    REGRESSION = 1
    INPUT = 2
    ENGINE = 3
    RECORD = 4
    NOTHING_COMPARED = 5
    COMPARISON_INVALID = 6
    LEFT_BEHIND = 7
    NOTHING_USABLE = 8
    INTERNAL = 70
    INTERRUPTED = 130


EXIT_OF_ERROR: dict[type[LoadstoneError], Exit] = {
    InputError: Exit.INPUT,
    DeadlockError: Exit.ENGINE,
    EngineError: Exit.ENGINE,
    WorkerDiedError: Exit.ENGINE,
    TimeLimitError: Exit.ENGINE,
    RecordError: Exit.RECORD,
}

EXIT_OF_COMPARISON: dict[str, Exit] = {
    "no regression": Exit.OK,
    "regression": Exit.REGRESSION,
    "nothing compared": Exit.NOTHING_COMPARED,
    "invalid": Exit.COMPARISON_INVALID,
}

_PASSWORD_IN_AUTHORITY = re.compile(r"(://[^\s:/@]*:)\S+@")
_PASSWORD_IN_QUERY = re.compile(r"(password=)[^\s&'\"]+", re.IGNORECASE)


def masked(text: str) -> str:
    """A text without the passwords of the URLs in it."""
    text = _PASSWORD_IN_AUTHORITY.sub(r"\1***@", text)
    return _PASSWORD_IN_QUERY.sub(r"\1***", text)


def say(text: str) -> None:
    """A line for the person at the terminal."""
    print(masked(text), file=sys.stderr, flush=True)  # noqa: T201 - the one place


def guarded(action: Callable[[], int]) -> int:
    """Run a command; its own code, or the message and the code of whatever ended it."""
    try:
        return action()
    except LoadstoneError as error:
        say(f"loadstone: {error.message}")
        if error.hint:
            say(f"  {error.hint}")
        return next(
            (code for kind, code in EXIT_OF_ERROR.items() if isinstance(error, kind)), Exit.INPUT
        )
    except KeyboardInterrupt:
        say("loadstone: interrupted")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`loadstone … | head`): nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        say(f"loadstone: {error.strerror or error}{where}")
        return Exit.INPUT
    except Exception as error:  # noqa: BLE001 - a defect of ours: say so, keep the traceback apart
        say(f"loadstone: internal error: {type(error).__name__}: {error}")
        if os.environ.get("LOADSTONE_DEBUG"):
            say(traceback.format_exc())
        else:
            say("  set LOADSTONE_DEBUG=1 to see where; please report it with the command you ran")
        return Exit.INTERNAL
