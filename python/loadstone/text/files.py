"""Result files written whole or not at all, and small files of the user's read with a limit."""

import codecs
import math
import os
import re
import stat
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from loadstone.diagnostics import was_closed
from loadstone.errors import InputError

HEAD_BYTES, TAIL_BYTES = 1 << 12, 1 << 16
"""The parts of a file in which a report's mark is searched."""
LOG_TAIL_BYTES = 1 << 14
"""The part of a log that is read to show its end."""
_WITHIN_A_LETTER = bytes(range(0x80, 0xC0))
"""Bytes that begin no letter of UTF-8."""


def check_replaceable(path: Path, mark: re.Pattern[bytes] | None, source: Path) -> None:
    """Refuse to write over a file that is not ours to replace: only a file that bears a report's
    `mark` is, or an empty one; never a folder, a device, or the record that is read (`source`).
    Raises `InputError`."""
    hint = "name another file, or move it away; a report replaces only a report"
    if path.is_symlink() and not path.exists():
        raise InputError(f"cannot write {path}: it is a dangling link", hint=hint)
    if not os.path.lexists(os.path.realpath(path)):
        return
    if path.exists() and source.exists() and path.samefile(source):
        raise InputError(f"{path} is the record itself", hint="name another file with --out")
    if not path.is_file():
        raise InputError(f"cannot write {path}: it exists and is not a file", hint=hint)
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
            stream.seek(max(path.stat().st_size - TAIL_BYTES, 0))
            tail = stream.read(TAIL_BYTES)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}", hint=hint) from error
    if head and not (mark and (mark.search(head) or mark.search(tail))):
        raise InputError(f"{path} exists and is not a Loadstone report of that format", hint=hint)


def write_atomically(
    path: Path, content: bytes, hint: str = "name another place with --out"
) -> None:
    """Write beside the target and rename over it. On failure the old file stays as it was; `hint`
    says what to do then."""
    temporary = ""
    path = Path(os.path.realpath(path))  # a link stays one
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise InputError(f"cannot write {path}: {error.strerror}", hint=hint) from error


def tail(path: Path, bytes_max: int = LOG_TAIL_BYTES) -> str:
    """The last lines of a text file that may be of any length, in at most so many bytes; empty
    where there is none. Of a line that is longer, its end."""
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(size - bytes_max - 1, 0))
            content = stream.read(bytes_max + 1)
    except OSError:
        return ""
    if len(content) > bytes_max:
        first, feed, whole = content.partition(b"\n")
        # Not in the middle of a letter of several bytes.
        content = whole if feed and whole else first[1:].lstrip(_WITHIN_A_LETTER)
    return content.decode(errors="replace")


def read_text(path: Path, bytes_max: int, what: str) -> str:
    """A text file's content, without a byte order mark; `what` names it in the message. Raises
    `InputError`, also for endless files, as a device or a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InputError(f"cannot read {what} {path}: it is not a file")
            content = os.read(descriptor, bytes_max + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise InputError(f"cannot read {what} {path}: {error.strerror}") from error
    if len(content) > bytes_max:
        raise InputError(f"{what} {path} is longer than {bytes_max:,} bytes")
    return _decoded(content, str(path))


def read_toml(path: Path, bytes_max: int, what: str) -> dict[str, Any]:
    """The entries of a TOML file, whose numbers are finite; otherwise as `read_text`."""
    text = read_text(path, bytes_max, what)
    try:
        return tomllib.loads(text, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a TOML file: {str(error).partition(';')[0]}") from error


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a finite number")
    return value


def read_stdin(bytes_max: int, what: str) -> str:
    """The text on standard input; `what` names it in the message. Raises `InputError`."""
    if was_closed(0):
        raise InputError(
            f"standard input (descriptor 0) is closed: it does not hold {what}",
            hint="leave out <&-, or give it a file: < FILE",
        )
    content = sys.stdin.buffer.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise InputError(f"standard input is longer than {bytes_max:,} bytes: {what} may not be")
    return _decoded(content, "standard input")


def _decoded(content: bytes, source: str) -> str:
    text = content.removeprefix(codecs.BOM_UTF8)
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        place = error.start + 1 + len(content) - len(text)
        raise InputError(
            f"{source} is not valid UTF-8: byte {place} is {text[error.start]:#04x}",
            hint="write it again in UTF-8",
        ) from error
