"""Parameters of a statement: what `:name` stands for in each of its variations.

Values are drawn from a seed: those of the variations when a run is planned, so that the same
workload always has the same texts, and those of concurrent users for each request, whose number
follows those of the variations. Each is written into the text as a literal of its dialect, in place
of the token `:name` and of no other: not within a text or a comment (but see `pgbench.py`).
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import sqlglot
from msgspec import Meta
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from loadstone._core import drawn_values
from loadstone.errors import InputError
from loadstone.plan.workload import (
    LISTED,
    PATTERN,
    PROGRAM,
    SEQUENCE,
    UNIFORM,
    VALUES_MAX,
    WITHIN,
    ZIPF,
    Draw,
    Value,
)
from loadstone.quel.dialect import is_quel
from loadstone.text.files import read_text

Asked = Callable[[str, str], tuple[Value, ...]]
"""The values of a query; the second text says for what."""
Whole = Annotated[int, Meta(ge=-(2**62), le=2**62)]

VARIATIONS, VARIATIONS_MAX = 10, 1_000
SEED = 1983
RANKS_MAX = 1_000_000
"""Of a zipf distribution: each has a share in memory while it is drawn from."""
FILE_BYTES_MAX = 1 << 24
_GAMMA, _MASK = 0x9E37_79B9_7F4A_7C15, 2**64 - 1
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_WITHIN = re.compile(r"(?<!:):([^\W\d]\w*)")
_MARKER = 6_180_339_887_000_000
"""Of a text's own literals, the first number: as large as none that a user writes."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One of these: `uniform` and `zipf` of whole numbers from the first to the second, both
    included, in a zipf distribution the first most often; `sequence`: from the first on, in steps
    of the second; `list`: one of these; `file`: one of its lines; `query`: one of the values in the
    first column of its answer, over the workload's tables; `pattern`: a text with a random digit in
    place of each #."""

    uniform: tuple[Whole, Whole] | None = None
    zipf: tuple[Whole, Whole] | None = None
    sequence: tuple[Whole, Whole] | None = None
    list: Annotated[tuple[Value, ...], Meta(max_length=VALUES_MAX)] | None = None
    file: str | None = None
    query: Annotated[str, Meta(max_length=1 << 16)] | None = None
    pattern: Annotated[str, Meta(max_length=4_000)] | None = None
    exponent: Annotated[float, Meta(ge=0, le=20)] = 1.0
    """Of zipf: the n-th number has a share of 1 / n to its power."""


def with_values(
    text: str,
    dialect: str,
    parameters: Mapping[str, Parameter],
    statement: str,
    seed: int,
    variations: int,
    folder: Path,
    where: str,
    asked: Asked,
) -> tuple[str, ...]:
    """The texts of a statement's variations. Raises `InputError`."""
    if not parameters:
        return (text,)
    draws = draws_of(parameters, statement, seed, folder, where, asked)
    missing = [name for name in parameters if name not in named_in(text, dialect, draws, where)]
    if missing:
        raise InputError(f"{where} has no :{missing[0]}", hint="leave out that parameter")
    return filled(text, dialect, draws, variations, where)


def draws_of(
    parameters: Mapping[str, Parameter],
    statement: str,
    seed: int,
    folder: Path,
    where: str,
    asked: Asked,
) -> tuple[Draw, ...]:
    """The ways in which a statement's parameters are drawn. Raises `InputError`."""
    return tuple(
        _draw(name, one, start_of(seed, statement, name), folder, f"{where}, parameter {name}",
              asked)
        for name, one in parameters.items()
    )  # fmt: skip


def given(draw: Draw) -> tuple[str, int, list[int], float, list[str]]:
    """A draw as the core takes it."""
    if draw.kind == LISTED:
        return "place", draw.start, [len(draw.values)], draw.exponent, []
    return draw.kind, draw.start, [*draw.numbers], draw.exponent, [*draw.words]


def filled(
    text: str, dialect: str, draws: Sequence[Draw], variations: int, where: str
) -> tuple[str, ...]:
    """The texts of a statement's variations, with the values that are drawn for each."""
    places = _places(text, dialect, [draw.name for draw in draws], where)
    kinds = {draw.name: draw.kind for draw in draws}
    drawn = values_of(draws, variations, where) if draws else [{}] * variations
    return tuple(
        _filled(text, places, {
            name: _written(value, kinds[name], dialect) for name, value in values.items()
        })
        for values in drawn
    )  # fmt: skip


def values_of(draws: Sequence[Draw], count: int, where: str) -> list[dict[str, Value | None]]:
    """The values of the first requests, by name; of two draws of one name the later. Raises
    `InputError`."""
    try:
        found = drawn_values([given(draw) for draw in draws], 0, count)
    except ValueError as error:
        raise InputError(f"{where}: it has no value ({error})") from error
    return [
        {
            draw.name: draw.values[int(value)] if draw.kind == LISTED else value
            for draw, value in zip(draws, values, strict=True)
        }
        for values in found
    ]


def marked(text: str, dialect: str, draws: Sequence[Draw]) -> tuple[str, dict[str, int]]:
    """A text with a literal of its own in place of each `:name`, and which draw each stands for: it
    can be translated, and taken apart at them."""
    found: dict[str, int] = {}
    markers: dict[str, str] = {}
    for place, draw in enumerate(draws):
        texts = draw.kind == PATTERN or any(isinstance(value, str) for value in draw.values)
        number = _MARKER + place
        marker: Value = f"loadstone {number}" if texts else number
        markers[draw.name] = _written(marker, draw.kind, dialect)
        found[markers[draw.name]] = place
    places = _places(text, dialect, [*markers], "a text")
    return _filled(text, places, markers), found


def within(name: str) -> str:
    """The name of the draw that writes the value of another within quotes."""
    return f"'{name}'"


def named_in(text: str, dialect: str, draws: Collection[Draw], where: str) -> frozenset[str]:
    """Those of the drawn names that a text has as `:name`."""
    names = [draw.name for draw in draws]
    return frozenset(name for *_, name in _places(text, dialect, names, where))


def start_of(seed: int, statement: str, name: str) -> int:
    """The place where the random bits of a parameter of a statement begin."""
    digest = hashlib.sha256(f"{seed}/{statement}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def random_bits(start: int, number: int) -> int:
    """The number-th of 64 random bits: SplitMix64, as in `crates/datasets/src/splitmix.rs`, by
    which the core draws values, too."""
    bits = (start + (number + 1) * _GAMMA) & _MASK
    bits = ((bits ^ (bits >> 30)) * 0xBF58_476D_1CE4_E5B9) & _MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D0_49BB_1331_11EB) & _MASK
    return bits ^ (bits >> 31)


def _draw(name: str, stated: Parameter, start: int, folder: Path, where: str, asked: Asked) -> Draw:
    kinds = [
        kind for kind in ("uniform", "zipf", "sequence", "list", "file", "query", "pattern")
        if getattr(stated, kind) is not None
    ]  # fmt: skip
    if len(kinds) != 1:
        known = ", ".join(one.name for one in fields(Parameter) if one.name != "exponent")
        raise InputError(f"{where} must be drawn in one way", hint=f"give it one of {known}")
    if stated.sequence is not None:
        return Draw(name, SEQUENCE, numbers=stated.sequence)
    if stated.zipf is not None:
        low, high = _bounds(*stated.zipf, where)
        if high - low >= RANKS_MAX:
            raise InputError(f"{where}: a zipf distribution has at most {RANKS_MAX:,} numbers")
        return Draw(name, ZIPF, start, (low, high), stated.exponent)
    if stated.uniform is not None:
        return Draw(name, UNIFORM, start, _bounds(*stated.uniform, where))
    if stated.pattern is not None:
        if not stated.pattern.isprintable() or {*stated.pattern} & {"'", "\\"}:
            raise InputError(f"{where}: a pattern has no quotes and no backslash")
        return Draw(name, PATTERN, start, words=(stated.pattern,))
    if stated.query is not None:
        values = asked(stated.query, where)
    else:
        values = stated.list if stated.list is not None else _lines(folder / (stated.file or ""))
    if not 0 < len(values) <= VALUES_MAX:
        most = f"more than {VALUES_MAX:,} values: {len(values):,}" if values else "no value"
        raise InputError(f"{where} has {most}")
    return Draw(name, LISTED, start, values=values)


def _bounds(low: int, high: int, where: str) -> tuple[int, int]:
    if low > high:
        raise InputError(f"{where}: from {low} to {high} there is no number")
    return low, high


def _lines(path: Path) -> tuple[Value, ...]:
    """A file's lines, as whole numbers if all of them are written as such: `007` is a text."""
    text = read_text(path, FILE_BYTES_MAX, "the values").replace("\r\n", "\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    whole = all(_WHOLE.fullmatch(line) for line in lines)
    return tuple(int(line) if whole else line for line in lines)


def _places(
    text: str, dialect: str, names: Collection[str], where: str
) -> list[tuple[int, int, str]]:
    """(begin, end, name) of each `:name` of a parameter. Raises `InputError`."""
    try:
        tokens = sqlglot.tokenize(text, read=None if is_quel(dialect) else dialect or None)
    except SqlglotError as error:
        raise InputError(f"{where} cannot be read: {str(error)[:200]}") from error
    return sorted([*_marked(tokens, names), *_quoted(text, tokens, names)])


def _marked(tokens: list[Token], names: Collection[str]) -> Iterator[tuple[int, int, str]]:
    for colon, name in pairwise(tokens):
        beside = colon.token_type == TokenType.COLON and colon.end + 1 == name.start
        if beside and name.text in names:
            yield colon.start, name.end + 1, name.text


def _quoted(
    text: str, tokens: list[Token], names: Collection[str]
) -> Iterator[tuple[int, int, str]]:
    """Within quotes, the names that have a draw for it."""
    for token in tokens:
        for found in _WITHIN.finditer(text[token.start : token.end + 1]):
            if within(found[1]) in names:
                yield token.start + found.start(), token.start + found.end(), within(found[1])


def _filled(text: str, places: list[tuple[int, int, str]], texts: Mapping[str, str]) -> str:
    parts, at = [], 0
    for begin, end, name in places:
        parts += [text[at:begin], texts[name]]
        at = end
    return "".join([*parts, text[at:]])


def _written(value: Value | None, kind: str, dialect: str) -> str:
    """A drawn value as a text has it; of a script of pgbench's as pgbench writes it."""
    if value is None:
        return "NULL"
    if kind not in (PROGRAM, WITHIN):
        return literal(value, dialect)
    written = f"{value:.15g}" if isinstance(value, float) else str(value).lower()
    return f"({written})" if written.startswith("-") and kind == PROGRAM else written


def literal(value: Value, dialect: str) -> str:
    """A value as a text of a dialect has it."""
    if is_quel(dialect):
        return _of_quel(value)
    written = exp.convert(value).sql(dialect=dialect or None)
    # A minus before it would begin a comment: `- -3`.
    return f"({written})" if written.startswith("-") else written


def _of_quel(value: Value) -> str:
    if isinstance(value, str):
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{quoted}"'
    return f"({value})" if value < 0 else str(int(value) if value is True else value)
