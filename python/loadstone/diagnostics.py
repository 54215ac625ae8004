"""The only module that writes to stdout and stderr and that knows exit codes. Results go to stdout,
everything else to stderr.

No character that steers a terminal passes, and to stderr no password that was typed into a URL.
"""

import errno
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TextIO

from loadstone import secret
from loadstone.control_characters import legible
from loadstone.errors import (
    CancelledError,
    DeadlockError,
    EngineError,
    InputError,
    LoadstoneError,
    NothingToMeasureError,
    NotInstalledError,
    ProtocolError,
    QueryError,
    RecordError,
    StatementEndedError,
    TimeLimitError,
    UnknownTacticError,
    WorkerDiedError,
)
from loadstone.interruption import Recognised

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that ask a command to end."""


class Exit(IntEnum):
    """The meaning of the exit codes. `docs/reference/exit-codes.md` repeats the table."""

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
    UNDECIDED = 9
    NOTHING_MEASURED = 10
    ANSWER_CHANGED = 11
    INTERNAL = 70
    INTERRUPTED = 130


EXIT_OF_ERROR: dict[type[LoadstoneError], Exit] = {
    InputError: Exit.INPUT,
    NothingToMeasureError: Exit.INPUT,
    UnknownTacticError: Exit.INPUT,
    QueryError: Exit.INPUT,
    DeadlockError: Exit.ENGINE,
    CancelledError: Exit.ENGINE,
    NotInstalledError: Exit.ENGINE,
    EngineError: Exit.ENGINE,
    WorkerDiedError: Exit.ENGINE,
    TimeLimitError: Exit.ENGINE,
    StatementEndedError: Exit.ENGINE,
    RecordError: Exit.RECORD,
    ProtocolError: Exit.INTERNAL,
}

EXIT_OF_COMPARISON: dict[str, Exit] = {
    "no regression": Exit.OK,
    "regression": Exit.REGRESSION,
    "undecided": Exit.UNDECIDED,
    "nothing compared": Exit.NOTHING_COMPARED,
    "invalid": Exit.COMPARISON_INVALID,
    "answer changed": Exit.ANSWER_CHANGED,
}

_PASSWORD_IN_AUTHORITY = re.compile(r"(:/+[^\s:/@]*:)\S+@")
_PASSWORD_IN_USERINFO = re.compile(r"((?:^|[\s'\"(=])[^\s:/@'\"(=]+:)(?!/)\S+@")
_PASSWORD_IN_QUERY = re.compile(r"(password\s*=\s*)('[^']*'?|[^\s&'\"]+)", re.IGNORECASE)


def masked(text: str) -> str:
    """A text without the known secrets, and without the passwords of URLs in it."""
    for one in secret.known():
        text = text.replace(one, secret.STARS)
    text = _PASSWORD_IN_AUTHORITY.sub(r"\1***@", text)
    text = _PASSWORD_IN_USERINFO.sub(r"\1***@", text)
    return _PASSWORD_IN_QUERY.sub(r"\1***", text)


_STDERR = 2
_closed: set[int] = set()
"""Standard streams that were closed when this process began."""
_left: set[int] = set()
"""Those whose reader has left, or whose disk is full."""


_CLOSED = InputError(
    "cannot write the output: standard output (descriptor 1) is closed",
    hint="leave out >&-, or write to a file: loadstone … > FILE",
)


class _Lasting(io.FileIO):
    """An output whose reader may leave (`loadstone … | head`): later output is dropped, and the
    command and its exit code stay the same. A full disk under stdout is an error, reported once;
    under stderr it cannot be reported."""

    def write(self, data: Any) -> int:
        """Write all of it; without a reader, drop it."""
        try:
            return super().write(data) or 0
        except OSError as error:
            _left.add(self.fileno())
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if self.fileno() != _STDERR and not isinstance(error, BrokenPipeError):
                if error.errno == errno.EBADF:
                    raise _CLOSED from error
                raise OSError(error.errno, f"cannot write the output: {error.strerror}") from error
            return memoryview(data).nbytes


def fill_standard_streams() -> None:
    """Put something on the descriptors 0 to 2 that are closed, so that no file of ours gets their
    number. Nothing is read from a closed stdin; what is written to a closed stdout fails, to a
    closed stderr goes nowhere. Called before anything opens a file."""
    modes = (os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)
    for number, mode in enumerate(modes):
        try:
            os.fstat(number)
        except OSError:
            _closed.add(number)
            os.open(os.devnull, mode)  # takes the least number that is free: this one
            os.set_inheritable(number, True)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = _lasting_on(1, "utf-8", lines=False)
    if sys.stderr is None:
        sys.stderr = _lasting_on(2, "utf-8", lines=True)


def was_closed(number: int) -> bool:
    """Whether a standard stream, by its descriptor, was closed when this process began."""
    return number in _closed


def outlast_readers() -> None:
    """Let stdout and stderr outlive their readers. Called once, by the command itself."""
    sys.stdout, sys.stderr = _lasting(sys.stdout), _lasting(sys.stderr)


def _lasting(stream: TextIO) -> TextIO:
    try:
        number = stream.fileno()
        stream.flush()
    except (AttributeError, OSError, ValueError):  # closed, or no file at all
        return stream
    return _lasting_on(number, stream.encoding, lines=stream.isatty() or number == _STDERR)


def _lasting_on(number: int, encoding: str, *, lines: bool) -> TextIO:
    buffered = io.BufferedWriter(_Lasting(number, "w", closefd=False))
    return io.TextIOWrapper(buffered, encoding, "backslashreplace", line_buffering=lines)


def written(code: int) -> int:
    """The exit code of a command once its output is written; another if that failed."""

    def flush() -> int:
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
        return code

    return guarded(flush)


def say(text: str) -> None:
    """Print a line for the user, on stderr."""
    print(legible(masked(text)), file=sys.stderr, flush=True)  # noqa: T201 - the one place


def show_result(text: str) -> None:
    """A result for people, on stdout."""
    print(legible(text), flush=True)  # noqa: T201 - the one place


def put(text: str) -> None:
    """Part of a result on stdout: as it is for a program, legible on a terminal."""
    if text:
        print(legible(text) if sys.stdout.isatty() else text, end="", flush=True)  # noqa: T201


def reader_left() -> bool:
    """Whether nobody reads stdout any more, so that a long answer need not be finished."""
    return 1 in _left


def console(*, stderr: bool = False, file: TextIO | None = None, width: int | None = None,
            plain: bool = False) -> "Console":  # fmt: skip
    """A console for tables and trees, on stdout by default. Texts are literal: none is taken for
    markup. `width` in characters; `plain`: no colours."""
    from rich import console as rich_console
    from rich.segment import Segment

    class Legible(rich_console.Console):
        """Steered by its own styles only."""

        def render_str(self, text: str, **options: Any) -> "Text":
            """Here while it can still be measured and wrapped."""
            return super().render_str(legible(text), **options)

        def render(
            self,
            renderable: rich_console.RenderableType,
            options: rich_console.ConsoleOptions | None = None,
        ) -> Iterator[Segment]:
            """Here what did not come as a plain text."""
            for segment in super().render(renderable, options):
                shown = segment.text if segment.control else legible(segment.text)
                yield segment._replace(text=shown)

    return Legible(
        stderr=stderr, file=file, width=width, highlight=False, markup=False, emoji=False,
        no_color=plain or None,
    )  # fmt: skip


def say_error(error: LoadstoneError) -> None:
    """Say an error, and what to do next."""
    say(f"loadstone: {error.message}")
    if error.hint:
        say(f"  {error.hint}")


def exit_of(error: LoadstoneError) -> Exit:
    """The exit code of an error."""
    return next(
        (code for kind, code in EXIT_OF_ERROR.items() if isinstance(error, kind)), Exit.INPUT
    )


def guarded(action: Callable[[], int]) -> int:
    """Run a command; return its own code, or report the error that ended it and return that error's
    code."""
    try:
        with Recognised():
            return action()
    except LoadstoneError as error:
        say_error(error)
        return exit_of(error)
    except KeyboardInterrupt as error:
        say(f"loadstone: interrupted{': ' if str(error) else ''}{error}")
        return Exit.INTERRUPTED
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
