"""A CSV file checked from its first letter to its last, before a fast reader takes its values: in
UTF-8, with a header line, fields apart by commas, quotes as RFC 4180 has them.

The fast readers lose rows in silence: pyarrow 26 takes all that follows an unclosed quote as one
value, DuckDB 2.0 leaves that row out, in its strict mode too. Python's reader refuses such a file
in its strict mode, and knows the line; it cannot tell an empty field from a quoted empty one, so
that it reads no values here.
"""

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, NoReturn

from loadstone.errors import InputError

ROW_LETTERS_MAX = 1 << 22
"""Of one row, each of at most four bytes: a fast reader has a row within a block."""
BLOCK_BYTES = 4 * ROW_LETTERS_MAX
_FIELD = re.compile(r'"(?:[^"]|"")*+"(?=[,\r\n]|\Z)|(?!")[^,\r\n]*+')
_UNREADABLE = re.compile("[\0\udc80-\udcff]")
"""A NUL, or a byte that is no UTF-8, as `surrogateescape` keeps it."""
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_OTHER_SEPARATORS = ";\t|"
_QUOTING = "a quote within a quoted value is written twice, and a quoted value ends in a quote"


def checked(path: Path) -> tuple[tuple[str, ...], int]:
    """The names in its header, and the number of its rows. Raises `InputError` with the line and
    the column, and `OSError`."""
    with _Rows.of(path) as rows:
        return rows.names, sum(1 for _ in rows)


def header_of(path: Path) -> tuple[str, ...]:
    """The names in its header alone; errors as those of `checked`."""
    with _Rows.of(path) as rows:
        return rows.names


def line_of(path: Path, row: int) -> int:
    """The line in which a row begins; the first one below the header is row 0."""
    with _Rows.of(path) as rows:
        return next(line for number, line in enumerate(rows) if number == row)


class Pieces:
    """A file's bytes for pyarrow, of which no piece ends in a carriage return: its reader of CSV
    (26) drops a line feed with which the next piece begins, as if both ended a line, within quotes
    too."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._held = b""

    def read(self, size: int) -> bytes:
        """At most so many; none at the end."""
        piece = self._held + self._file.read(size - len(self._held))
        ready = piece.rstrip(b"\r") or piece
        self._held = piece[len(ready) :]
        return ready


class _Rows:
    """The lines in which its rows begin."""

    def __init__(self, path: Path, lines: Iterator[str]) -> None:
        self._path = path
        self._held: list[str] = []
        self._letters = 0
        self._begin = 1
        csv.field_size_limit(ROW_LETTERS_MAX)
        self._reader = csv.reader(self._watched(lines), strict=True)
        self.names: tuple[str, ...] = ()
        self.names = tuple(self._next() or ())
        if not self._begin - 1:
            raise InputError(f"{path} is empty", hint="its first line has the names of the columns")
        if not self.names:
            raise InputError(
                f"{path}: line 1 is empty", hint="write the names of the columns there"
            )
        (first, *more) = self.names
        apart = next((letter for letter in _OTHER_SEPARATORS if letter in first), "")
        if apart and not more:
            raise InputError(
                f"{path}, line 1: its only column is called {first[:60]!r}",
                hint=f"fields are separated by commas: write it again with , in place of {apart!r}",
            )

    @classmethod
    @contextmanager
    def of(cls, path: Path) -> Iterator["_Rows"]:
        """Those of a file."""
        with path.open("rb") as opened:
            encoding = _MARKS.get(opened.read(2), "")
        if encoding:
            raise InputError(f"{path} is in {encoding}", hint="write it again in UTF-8")
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
            yield cls(path, lines)

    def __iter__(self) -> Iterator[int]:
        width = len(self.names)
        while (row := self._next()) is not None:
            if len(row) != width and row:
                self._refuse_width(row)
            if row or width == 1:  # of one column, an empty line is a row whose value is missing
                yield self._row

    def _next(self) -> list[str] | None:
        self._row = self._begin
        try:
            row = next(self._reader, None)
        except csv.Error as error:
            self._refuse(error)
        self._begin += len(self._held)
        self._held.clear()
        self._letters = 0
        return row

    def _watched(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            self._held.append(line)
            self._letters += len(line)
            if self._letters > ROW_LETTERS_MAX:
                self._refuse_length()
            if (not line.isascii() or "\0" in line) and (found := _UNREADABLE.search(line)):
                self._refuse_letter(found)
            yield line

    def _refuse_letter(self, found: re.Match[str]) -> NoReturn:
        (*before, line) = self._held
        place = self._place("".join(before) + line[: found.start()], len(self._held) - 1)
        if found[0] == "\0":
            raise InputError(
                f"{place}: a NUL byte", hint="not every engine's text can hold one: remove it"
            )
        raise InputError(
            f"{place}: the byte {ord(found[0]) - 0xDC00:#04x} is no UTF-8",
            hint="write the file again in UTF-8 (iconv -f LATIN1 -t UTF-8, if it is Latin-1)",
        )

    def _refuse_length(self) -> NoReturn:
        text = "".join(self._held)
        _, at = _last_field(text)
        if text[at : at + 1] == '"':
            raise InputError(
                f"{self._place(text)}: a quote opens there, and none closes it in"
                f" {ROW_LETTERS_MAX:,} letters",
                hint=_QUOTING,
            )
        raise InputError(
            f"{self._place(text)}: a row of more than {ROW_LETTERS_MAX:,} letters",
            hint="leave out columns that no statement reads, or shorten their values",
        )

    def _refuse(self, error: csv.Error) -> NoReturn:
        text = "".join(self._held)
        _, at = _last_field(text)
        if "end of data" in str(error):
            raise InputError(
                f"{self._place(text)}: a quote opens there, and none closes it", hint=_QUOTING
            ) from error
        closed = re.compile(r'"(?:[^"]|"")*+"').match(text, at)
        if closed is None:
            raise InputError(f"{self._place(text)}: {error}", hint=_QUOTING) from error
        rest = text[closed.end() : closed.end() + 20].splitlines()[0]
        raise InputError(
            f"{self._place(text)}: behind its closing quote the value goes on with {rest!r}",
            hint=_QUOTING,
        ) from error

    def _refuse_width(self, row: list[str]) -> NoReturn:
        width = len(self.names)
        missing = f": none for the column {self.names[len(row)]!r}" if len(row) < width else ""
        raise InputError(
            f"{self._path}, line {self._row:,}: {len(row)} field{'s' * (len(row) != 1)} where the"
            f" header has {width}{missing}",
            hint="each row has a field for each column; a value with a comma in it is quoted",
        )

    def _place(self, text: str, within: int | None = None) -> str:
        """The file, the line and the column of the last field of a row's text; `within` is the
        number of the line in it, where that is not the field's first."""
        column, at = _last_field(text)
        if within is None:
            ends = accumulate(map(len, self._held))
            within = next((number for number, end in enumerate(ends) if at < end), 0)
        named = f" ({self.names[column]})" if column < len(self.names) else ""
        return f"{self._path}, line {self._begin + within:,}, column {column + 1}{named}"


def _last_field(text: str) -> tuple[int, int]:
    """The number of the field in which a text of whole fields and a broken one ends, and where it
    begins."""
    number, at = 0, 0
    while (found := _FIELD.match(text, at)) and text[found.end() : found.end() + 1] == ",":
        number, at = number + 1, found.end() + 1
    return number, at
