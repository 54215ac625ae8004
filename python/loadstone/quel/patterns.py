"""QUEL's string patterns, and how each dialect says them.

In a string compared by `=` or `!=`, `*` stands for any letters, `?` for one, `[a-z]` for one of a
set. Matching is case-sensitive in every dialect.
"""

import re
from dataclasses import dataclass

from sqlglot import exp

from loadstone.errors import InputError
from loadstone.quel.dialect import Dialect

ANY = "any"
ONE = "one"

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Letters:
    """One letter out of a set, given as inclusive ranges."""

    ranges: tuple[tuple[str, str], ...]


Part = str | Letters
"""`ANY`, `ONE`, a `Letters`, or a literal run, which carries a leading `=`."""


def parse_pattern(text: str) -> list[Part]:
    """The parts of a pattern. A backslash makes the mark after it an ordinary letter; trailing
    blanks do not count. Raises `InputError` for a set that is empty or never closed."""
    text = text.rstrip(" ")
    parts: list[Part] = []
    at = 0
    while at < len(text):
        letter = text[at]
        if letter == "*":
            parts.append(ANY)
        elif letter == "?":
            parts.append(ONE)
        elif letter == "[":
            end = _end_of_set(text, at)
            parts.append(_letters(text[at + 1 : end]))
            at = end
        else:
            if letter == "\\" and at + 1 < len(text):
                at += 1
                letter = text[at]
            if parts and isinstance(parts[-1], str) and parts[-1].startswith("="):
                parts[-1] += letter
            else:
                parts.append("=" + letter)
        at += 1
    return parts


def plain(text: str) -> str:
    """A string constant as it is stored or compared by order: escapes undone, and without trailing
    blanks, which no comparison sees."""
    return _ESCAPED.sub(r"\1", text).rstrip(" ")


def is_pattern(text: str) -> bool:
    """Whether a string has anything in it that stands for other letters."""
    parts = parse_pattern(text)
    return any(isinstance(part, Letters) or not part.startswith("=") for part in parts)


def match(operand: exp.Expr, text: str, dialect: Dialect) -> exp.Expr:
    """The condition that `operand` matches a pattern."""
    parts = parse_pattern(text)
    if dialect.has_glob:
        return exp.Glob(this=operand, expression=exp.Literal.string(_glob(parts)))
    if dialect.pads_text:
        # char(n) is padded; as text it loses the padding, so that `*c` sees the last letter.
        operand = exp.Cast(this=operand, to=exp.DataType.build("TEXT"))
    if any(isinstance(part, Letters) for part in parts):
        pattern = exp.Literal.string(_regular(parts))
        if dialect.orders_by_collation:
            # Ranges of letters go by the collation: "C" is the order of the code points.
            operand = exp.Collate(this=operand, expression=exp.to_identifier("C", quoted=True))
        if dialect.matches_by_function:
            found = exp.Anonymous(this="REGEXP_INSTR", expressions=[operand, pattern])
            return exp.GT(this=found, expression=exp.Literal.number(0))
        return exp.RegexpLike(this=operand, expression=pattern)
    like, escaped = _like(parts)
    condition: exp.Expr = exp.Like(this=operand, expression=exp.Literal.string(like))
    return exp.Escape(this=condition, expression=exp.Literal.string("!")) if escaped else condition


def _end_of_set(text: str, start: int) -> int:
    """The end of the set that opens at `start`."""
    at = start + 1
    while at < len(text) and text[at] != "]":
        at += 2 if text[at] == "\\" else 1
    if not start + 1 < at < len(text):
        raise InputError(
            f"a set of the pattern {text!r} is empty or never closed",
            hint="close it with `]`, or write `\\[` for the letter itself",
        )
    return at


def _letters(inside: str) -> Letters:
    letters = re.findall(r"\\?.", inside, re.DOTALL)
    ranges = []
    at = 0
    while at < len(letters):
        last = at + 2 if at + 2 < len(letters) and letters[at + 1] == "-" else at
        low, high = letters[at][-1], letters[last][-1]
        if low <= high:
            ranges.append((low, high))
        at = last + 1
    if not ranges:
        raise InputError(f"the set [{inside}] is empty", hint="write its ranges upwards: [a-z]")
    return Letters(tuple(ranges))


def _glob(parts: list[Part]) -> str:
    text = ""
    for part in parts:
        if isinstance(part, Letters):
            text += _glob_set(part)
        elif part == ANY:
            text += "*"
        elif part == ONE:
            text += "?"
        else:
            text += "".join(f"[{c}]" if c in "*?[" else c for c in part[1:])
    return text


def _glob_set(letters: Letters) -> str:
    """A set in SQLite's notation, where `]` is a letter only in front, `-` only before any other,
    and `^` anywhere but in front."""
    marks: set[str] = set()
    spans = ""
    for low, high in letters.ranges:
        while low <= high and low in "]-^":
            marks.add(low)
            low = chr(ord(low) + 1)
        if low <= high == "]":
            # It would end the set, also as the end of a range.
            marks.add(high)
            high = chr(ord(high) - 1)
        if low <= high:
            spans += low if low == high else f"{low}-{high}"
    front = "".join(mark for mark in "]-" if mark in marks)
    if "^" in marks and not front + spans:
        return "^"
    return f"[{front}{spans}{'^' if '^' in marks else ''}]"


def _like(parts: list[Part]) -> tuple[str, bool]:
    text = ""
    escaped = False
    for part in parts:
        if part == ANY:
            text += "%"
        elif part == ONE:
            text += "_"
        elif isinstance(part, str):
            special = [c in "%_!" for c in part[1:]]
            escaped = escaped or any(special)
            text += "".join(f"!{c}" if s else c for c, s in zip(part[1:], special, strict=True))
    # A backslash is LIKE's own escape letter where none is named.
    return (text, True) if "\\" in text else (text, escaped)


def _regular(parts: list[Part]) -> str:
    text = "^"
    for part in parts:
        if isinstance(part, Letters):
            text += "[" + "".join(f"{_quoted(a)}-{_quoted(b)}" for a, b in part.ranges) + "]"
        elif part == ANY:
            text += ".*"
        elif part == ONE:
            text += "."
        else:
            text += "".join(_quoted(letter) for letter in part[1:])
    return text + "$"


def _quoted(letter: str) -> str:
    return letter if letter.isalnum() or letter.isspace() else "\\" + letter
