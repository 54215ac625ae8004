"""The types of a CSV's columns, from all of its values.

A type is taken where it keeps what the file says: written out again, each of its values is the text
that was read (of a time, one of the ways to write the same instant). Where none does, the column is
text: `00123`, `+49123`, `1e5`, `-0`, `NaN`, and numbers that are longer than the types that all
engines have.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from loadstone.workload.column_types import MisfitError, converted, has_offset

EXACT_DIGITS = 15
"""SQLite has no decimals: a decimal of so many digits is the same number as a float."""
_WHOLE = r"^(0|-?[1-9]\d*)$"
_PLACES = r"^-?(0|[1-9]\d*)\.\d+$"
_MINUS_ZERO = r"^-0\.0+$"
_REAL = r"^(0|-?[1-9]\d*|-?(0|[1-9]\d*)\.\d+|-?[1-9](\.\d+)?e[+-]\d\d+)$"
_TRUTHS = ({"true", "false"}, {"True", "False"}, {"TRUE", "FALSE"})
_NO = None

Form = Any
"""The way in which a column's texts are written, which all of them share; None: they are none of
the type."""


class Guess:
    """The type of one column, whose values come batch by batch."""

    def __init__(self) -> None:
        self._forms: dict[str, Form] = dict.fromkeys(_FORMS, ())
        self._any = False

    def take(self, texts: Any) -> None:
        """The next values."""
        texts = texts.drop_null()
        if not len(texts):
            return
        self._any = True
        for kind, before in list(self._forms.items()):
            found = _FORMS[kind](texts, before)
            if found is _NO:
                del self._forms[kind]
            else:
                self._forms[kind] = found

    @property
    def kind(self) -> str:
        """The type that keeps all of them."""
        if not self._any or not self._forms:
            return "text"
        kind, form = next(iter(self._forms.items()))
        return f"decimal({form[1]},{form[0]})" if kind == "decimal" else kind


def _all(texts: Any, shape: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, shape)).as_py())


def _some(texts: Any, shape: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, shape)).as_py())


def _is(kind: str, texts: Any) -> bool:
    try:
        converted(texts, kind)
    except MisfitError:
        return False
    return True


def _whole(texts: Any, _: Form) -> Form:
    return () if _all(texts, _WHOLE) and _is("int8", texts) else _NO


def _decimal(texts: Any, before: Form) -> Form:
    """(places behind the point, digits)."""
    if not _all(texts, _PLACES) or _some(texts, _MINUS_ZERO):
        return _NO
    digits = pc.replace_substring_regex(texts, r"^-?0?", "")
    lengths = pc.min_max(pc.utf8_length(pc.replace_substring_regex(texts, r"^.*\.", ""))).as_py()
    most = pc.max(pc.utf8_length(digits)).as_py() - 1
    places = lengths["min"]
    same = places == lengths["max"] and (not before or before[0] == places)
    return (places, max((most, *before[1:]))) if same and most <= EXACT_DIGITS else _NO


def _real(texts: Any, before: Form) -> Form:
    """Whether whole numbers have a point: `7.0` beside `7` are two texts of one number."""
    if not _all(texts, _REAL):
        return _NO
    short = texts.cast(pa.float64()).cast(pa.string())
    # Arrow writes exponents, and whole numbers, otherwise than most programs.
    other = texts.filter(pc.not_equal(short, texts)).to_pylist()
    if not all(repr(float(text)) in (text, f"{text}.0") for text in other):
        return _NO
    forms = {*before, *(shape for shape in (_WHOLE, r"\.0$") if _some(texts, shape))}
    return tuple(forms) if len(forms) < 2 else _NO


def _truth(texts: Any, before: Form) -> Form:
    found = {*before, *texts.unique().to_pylist()} if len(texts.unique()) <= 2 else set()
    return tuple(found) if any(found and found <= style for style in _TRUTHS) else _NO


def _date(texts: Any, _: Form) -> Form:
    return () if _is("date", texts) else _NO


def _time(texts: Any, before: Form) -> Form:
    """Whether they have an offset: a time that has one, beside one that has none, is ambiguous."""
    if not _is("timestamp", texts):
        return _NO
    zoned = {*before, *has_offset(texts).unique().to_pylist()}
    return tuple(zoned) if len(zoned) == 1 else _NO


_FORMS: dict[str, Callable[[Any, Form], Form]] = {
    "int8": _whole, "decimal": _decimal, "float8": _real, "bool": _truth, "date": _date,
    "timestamp": _time,
}  # fmt: skip
"""In the order in which they are taken."""
