"""A value from JSON or TOML, checked against the annotation that declares it.

Both come in files from outside. Errors name the file's key, its value, and the allowed values.
"""

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from loadstone.errors import InputError

SHOWN_LETTERS_MAX = 60
"""Of a value in a message."""
_WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


@dataclasses.dataclass(frozen=True, slots=True)
class Within:
    """Bounds of a number, declared in an annotation. `above`: `low` itself is not allowed; `below`:
    nor `high`."""

    low: float
    high: float
    above: bool = False
    below: bool = False

    def holds(self, value: float) -> bool:
        """Whether a number is within; false for other values."""
        low = self.low < value if self.above else self.low <= value
        return low and (value < self.high if self.below else value <= self.high)

    @property
    def words(self) -> str:
        """As a message says it."""
        if not self.above and not self.below:
            return f"between {self.low:,} and {self.high:,}"
        low = f"more than {self.low:,}" if self.above else f"at least {self.low:,}"
        return f"{low} and {'less than' if self.below else 'at most'} {self.high:,}"


@dataclasses.dataclass(frozen=True, slots=True)
class OneOf:
    """The allowed words of a text, declared in an annotation."""

    words: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Most:
    """The greatest length of a text, a list or a table of values, declared in an annotation."""

    length: int


def strict_json(text: str) -> Any:
    """A JSON text's value: finite numbers and characters only. Raises `InputError`."""
    try:
        value = json.loads(text, parse_constant=_refused)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise InputError(f"it is not JSON: {str(error).partition(';')[0]}") from error
    return value


def _refused(word: str) -> None:
    raise ValueError(f"{word} is not a number")


def shaped(value: Any, wanted: Any, where: str) -> Any:
    """The value as the annotation `wanted` has it: lists as tuples, whole numbers as floats where
    these are asked. Raises `InputError`; `where` names the value in its message."""
    origin = get_origin(wanted)
    if origin is Annotated:
        plain, *bounds = get_args(wanted)
        return _bounded(shaped(value, plain, where), bounds, where)
    if origin in (Union, UnionType):
        return _one_of_types(value, get_args(wanted), where)
    if origin is tuple:
        return _list(value, get_args(wanted), where)
    if origin in (dict, Mapping):
        return _map(value, get_args(wanted), where)
    if dataclasses.is_dataclass(wanted) or is_typeddict(wanted):
        return _record(value, wanted, where)
    if wanted is float and type(value) is int and abs(value) < 2**63:
        value = float(value)
    if type(value) is not wanted or (wanted is float and not math.isfinite(value)):
        raise _not(value, where, _words(wanted))
    return value


@cache
def fields_of(kind: Any) -> Mapping[str, Any]:
    """Name -> annotation. Kept: a record's plan requests those of a cell once for each cell."""
    hints = get_type_hints(kind, include_extras=True)
    fields = {n: get_args(h)[0] if get_origin(h) is Required else h for n, h in hints.items()}
    return MappingProxyType(fields)


def _record(value: Any, kind: Any, where: str) -> Any:
    hints = fields_of(kind)
    if not isinstance(value, dict):
        raise _not(value, where, "a table of values")
    unknown = sorted(set(value) - set(hints))
    if unknown:
        raise InputError(
            f"{where}: no such key: {_shown(unknown[0])}", hint=_meant(unknown[0], hints)
        )
    values = {name: shaped(item, hints[name], f"{where}.{name}") for name, item in value.items()}
    missing = [name for name in _required(kind) if name not in values]
    if missing:
        raise InputError(f"{where}: {missing[0]} is missing")
    return kind(**values)


def _meant(given: Any, known: Iterable[str]) -> str:
    """A hint at the word that was meant, and at all that there are."""
    near = _near(given, known)
    return f"{f'did you mean {near}? ' if near else ''}known: {', '.join(known)}"


def _near(given: Any, known: Iterable[str]) -> str:
    # Here, because it is imported with the command line, and needed only by a message.
    from difflib import get_close_matches

    return next(iter(get_close_matches(str(given), [*known], n=1)), "")


def _required(kind: Any) -> list[str]:
    if is_typeddict(kind):
        return sorted(kind.__required_keys__)
    return [
        field.name
        for field in dataclasses.fields(kind)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]


def _bounded(value: Any, bounds: list[Any], where: str) -> Any:
    for bound in bounds:
        if isinstance(bound, Within) and not bound.holds(value):
            raise InputError(f"{where} must be {bound.words}, not {_shown(value)}")
        if isinstance(bound, Most) and len(value) > bound.length:
            which = f": {_shown(value)}" if isinstance(value, str) else ""
            raise InputError(f"{where} is longer than {bound.length:,}{which}")
        if isinstance(bound, OneOf) and value not in bound.words:
            known = [word for word in bound.words if word]
            refused = _not(value, where, f"one of {', '.join(known)}")
            near = _near(value, known)
            refused.hint = f"did you mean {near}?" if near else ""
            raise refused
    return value


def _one_of_types(value: Any, kinds: tuple[Any, ...], where: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    others = [kind for kind in kinds if kind is not NoneType]
    for kind in others[:-1]:
        plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        if type(value) is plain or (plain is float and type(value) is int):
            return shaped(value, kind, where)
    plain = [get_args(kind)[0] if get_origin(kind) is Annotated else kind for kind in others]
    is_last = type(value) is plain[-1] or (plain[-1] is float and type(value) is int)
    if not is_last and len(plain) > 1 and all(kind in _WORDS for kind in plain):
        *first, last = (_WORDS[kind] for kind in plain)
        raise _not(value, where, f"{', '.join(first)} or {last}")
    return shaped(value, others[-1], where)


def _list(value: Any, kinds: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise _not(value, where, "a list")
    wanted = [kinds[0]] * len(value) if kinds[-1] is Ellipsis else list(kinds)
    if len(wanted) != len(value):
        raise _not(value, where, f"a list of {len(wanted)}")
    return tuple(shaped(v, kind, where) for v, kind in zip(value, wanted, strict=True))


def _map(value: Any, kinds: tuple[Any, Any], where: str) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise _not(value, where, "a table of values")
    return {shaped(k, kinds[0], where): shaped(v, kinds[1], where) for k, v in value.items()}


def _words(wanted: Any) -> str:
    return _WORDS.get(wanted, getattr(wanted, "__name__", "something else"))


def _not(value: Any, where: str, words: str) -> InputError:
    return InputError(f"{where} must be {words}, not {_shown(value)}")


def _shown(value: Any) -> str:
    """A value as its file would have it."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= SHOWN_LETTERS_MAX else f"{text[:SHOWN_LETTERS_MAX]}…"
