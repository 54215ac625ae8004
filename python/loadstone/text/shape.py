"""A value from JSON or TOML, checked against the annotation that declares it.

msgspec converts and checks; bounds are its `Meta`. What it refuses is looked up again here, so that
the error names the place in the file, the value, and the allowed ones.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    NoReturn,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta

from loadstone.errors import InputError
from loadstone.text.near import did_you_mean

SHOWN_LETTERS_MAX = 60
"""Of a value in a message."""
_WORDS: dict[type, str] = {
    int: "a whole number", float: "a number", str: "a text", bool: "true or false", bytes: "bytes",
}  # fmt: skip
_FORMS: dict[str, tuple[str, tuple[str, ...]]] = {}
"""Pattern -> the texts that it allows, in words; and all of them, where they are listed."""


def matching(pattern: str, words: str) -> Meta:
    """The bound of a text that the whole pattern matches; `words` says which texts do."""
    whole = rf"\A(?:{pattern})\Z"
    _FORMS[whole] = words, ()
    return Meta(pattern=whole)


def one_of(words: Iterable[str]) -> Meta:
    """The bound of a text that is one of these words."""
    known = tuple(words)
    bound = matching("|".join(map(re.escape, known)), f"one of {', '.join(filter(None, known))}")
    _FORMS[str(bound.pattern)] = _FORMS[str(bound.pattern)][0], known
    return bound


def strict_json(text: str) -> Any:
    """A JSON text's value: finite numbers and characters only. Raises `InputError`."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise InputError(f"it is not JSON: {str(error).partition(';')[0]}") from error
    return value


NOT_AS_WANTED = (msgspec.ValidationError, UnicodeEncodeError)
"""The second: msgspec encodes a text to compare it with the allowed ones, and half of a surrogate
pair has no code."""


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


def shaped(value: Any, wanted: Any, where: str) -> Any:
    """The value as the annotation `wanted` has it: lists as tuples, whole numbers as floats where
    these are wanted. Raises `InputError`; `where` names the value in its message."""
    if unknown := unknown_key(value, wanted, where):
        place, key, known = unknown
        raise InputError(
            f"{place}: no such key: {shown(key)}",
            hint=f"{did_you_mean(key, known, most=1)}known: {', '.join(known)}",
        )
    return converted(value, wanted, where)


def converted(value: Any, wanted: Any, where: str) -> Any:
    """As `shaped`, for a value whose keys are ours: they are not checked."""
    try:
        return msgspec.convert(value, wanted)
    except NOT_AS_WANTED:
        raise _refusal(value, wanted, where) from None


@cache
def fields_of(kind: Any) -> dict[str, Any]:
    """Name -> annotation, of a type with fields; empty for other types."""
    if not (dataclasses.is_dataclass(kind) or _is_struct(kind)):
        return {}
    return get_type_hints(kind, include_extras=True)


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


@cache
def members(annotation: Any) -> list[tuple[Any, list[Meta]]]:
    """The types that an annotation allows, None left out, each with its bounds."""
    kind, *bounds = [annotation]
    if get_origin(annotation) is Annotated:
        kind, *others = get_args(annotation)
        bounds = [one for one in others if isinstance(one, Meta)]
    if get_origin(kind) not in (Union, UnionType):
        return [(kind, bounds)]
    found = [members(one) for one in get_args(kind) if one is not NoneType]
    return [(plain, [*bounds, *own]) for each in found for plain, own in each]


def _within(value: Any, wanted: Any, where: str) -> Iterator[tuple[Any, Any, str]]:
    """The values directly within a value, each with its annotation and its place."""
    for kind, _ in members(wanted):
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is tuple and isinstance(value, list | tuple):
            kinds = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
            yield from ((item, kind, where) for item, kind in zip(value, kinds, strict=False))
        elif isinstance(value, dict) and origin in (dict, Mapping):
            yield from ((key, arguments[0], where) for key in value)
            yield from ((item, arguments[1], where) for item in value.values())
        elif isinstance(value, dict):
            known = fields_of(kind)
            yield from ((v, known[k], f"{where}.{k}") for k, v in value.items() if k in known)


def unknown_key(value: Any, wanted: Any, where: str) -> tuple[str, str, list[str]] | None:
    """The first key that is no field: its place, itself, and the fields. msgspec refuses such a key
    in its own types, and passes over one of a dataclass."""
    for kind, _ in members(wanted):
        known = {} if _is_struct(kind) else fields_of(kind)
        if isinstance(value, dict) and known and (unknown := sorted(value.keys() - known.keys())):
            return where, unknown[0], [*known]
    inner = (
        one for one in _within(value, wanted, where) if isinstance(one[0], dict | list | tuple)
    )
    return next(filter(None, (unknown_key(*one) for one in inner)), None)


def _refusal(value: Any, wanted: Any, where: str) -> InputError:
    """The error for the innermost value that is not as wanted."""
    for one in _within(value, wanted, where):
        try:
            msgspec.convert(one[0], one[1])
        except NOT_AS_WANTED:
            return _refusal(*one)
    for kind, bounds in members(wanted):
        if isinstance(value, dict) and fields_of(kind):
            return InputError(f"{where}: {_missing(value, kind)} is missing")
        if kind in _WORDS and type(value) is not kind and (kind, type(value)) != (float, int):
            continue
        for bound in bounds:
            if message := _beyond(value, bound):
                return InputError(f"{where} {message[0]}", hint=message[1])
    *first, last = dict.fromkeys(_word(kind) for kind, _ in members(wanted))
    allowed = f"{', '.join(first)} or {last}" if first else last
    return InputError(f"{where} must be {allowed}, not {shown(value)}")


def _missing(value: dict[str, Any], kind: Any) -> str:
    """The first required field that the value lacks."""
    required = (
        one.name
        for one in dataclasses.fields(kind)
        if one.default is one.default_factory is dataclasses.MISSING
    )
    return next(name for name in required if name not in value)


def _beyond(value: Any, bound: Meta) -> tuple[str, str] | None:
    """What a bound allows instead of the value, and a hint; None where the value is within."""
    if bound.pattern is not None:
        if re.search(bound.pattern, value):
            return None
        words, known = _FORMS[bound.pattern]
        return f"must be {words}, not {shown(value)}", did_you_mean(value, known, most=1).strip()
    if bound.max_length is not None:
        text = f": {shown(value)}" if isinstance(value, str) else ""
        longer = len(value) > bound.max_length
        return (f"is longer than {bound.max_length:,}{text}", "") if longer else None
    if bound.gt is None and bound.lt is None:
        between = f"between {_limit(bound.ge)} and {_limit(bound.le)}"
        return f"must be {between}, not {shown(value)}", ""
    low = f"more than {_limit(bound.gt)}" if bound.ge is None else f"at least {_limit(bound.ge)}"
    high = f"less than {_limit(bound.lt)}" if bound.le is None else f"at most {_limit(bound.le)}"
    return f"must be {low} and {high}, not {shown(value)}", ""


def _limit(limit: Any) -> str:
    """A bound as people write it: a whole one without a fraction."""
    return f"{int(limit):,}" if limit == int(limit) else f"{limit:,}"


def _word(kind: Any) -> str:
    if get_origin(kind) is tuple:
        arguments = get_args(kind)
        return "a list" if arguments[-1] is Ellipsis else f"a list of {len(arguments)}"
    return _WORDS.get(kind) or "a table of values"


def shown(value: Any) -> str:
    """A value as its file would have it, cut where it is long."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= SHOWN_LETTERS_MAX else f"{text[:SHOWN_LETTERS_MAX]}…"
