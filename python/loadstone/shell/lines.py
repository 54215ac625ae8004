"""Lines of a session: from a terminal, with editing and a history; from a pipe; from a file."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from loadstone.errors import InputError

PROMPT, PROMPT_WITHIN = "lode> ", "  ..> "
HISTORY_LINES = 2_000


class Lines(ABC):
    """The place where a session's lines come from."""

    is_typed = False
    """By a person, who sees an error and goes on."""

    @abstractmethod
    def next_line(self, *, within: bool) -> str | None:
        """The next line without its end, None after the last; `within`: one of a statement that
        has begun."""

    def close(self) -> None:  # noqa: B027 - most have nothing to keep
        """There will be no more."""


class Given(Lines):
    """Lines that are there already."""

    def __init__(self, lines: Iterable[bytes | str]) -> None:
        self._lines: Iterator[bytes | str] = iter(lines)
        self._count = 0

    def next_line(self, *, within: bool) -> str | None:
        """Raises `InputError` where it is not UTF-8."""
        del within
        line = next(self._lines, None)
        self._count += 1
        try:
            text = line.decode() if isinstance(line, bytes) else line
        except UnicodeDecodeError as error:
            raise InputError(f"line {self._count} is not valid UTF-8") from error
        return None if text is None else text.rstrip("\r\n")


class Typed(Lines):
    """Lines of a terminal, with those of earlier sessions to go back to."""

    is_typed = True

    def __init__(self, words: Callable[[], Sequence[str]]) -> None:
        """`words` may be completed by the tabulator."""
        import readline  # of use at a terminal alone

        self._words = words
        self._readline = readline
        readline.set_completer(self._completed)
        readline.set_completer_delims(" \t\n()=<>!+-*/,.;\"'")
        readline.parse_and_bind("tab: complete")
        readline.set_history_length(HISTORY_LINES)
        with suppress(OSError):  # none yet, or not for us
            readline.read_history_file(history_path())

    def next_line(self, *, within: bool) -> str | None:
        """As the person ends it by the enter key."""
        try:
            return input(PROMPT_WITHIN if within else PROMPT)
        except EOFError:
            return None

    def close(self) -> None:
        """Keep the lines for the next session, where the user's folder can be written."""
        path = history_path()
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            self._readline.write_history_file(path)

    def _completed(self, begun: str, number: int) -> str | None:
        fitting = [word for word in self._words() if word.startswith(begun.lower())]
        return fitting[number] if number < len(fitting) else None


def of_stdin(words: Callable[[], Sequence[str]]) -> Lines:
    """Standard input, whichever it is. Raises `InputError` where it is closed."""
    from loadstone.diagnostics import was_closed

    if was_closed(0):
        raise InputError("standard input (descriptor 0) is closed: nothing can be typed")
    return Typed(words) if sys.stdin.isatty() else Given(sys.stdin.buffer)


def history_path() -> Path:
    """The place where the lines of earlier sessions are kept, for this user alone."""
    import platformdirs

    return platformdirs.user_state_path("loadstone") / "lode-history"
