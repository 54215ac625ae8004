"""Parameters of a statement: what `:name` stands for in each of its variations.

Values are drawn when a run is planned, from a seed, so that the same workload always has the same
texts; they stand in the plan. Each is written into the text as a literal of its dialect, in place
of the token `:name` and of no other: not within a text or a comment.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from loadstone.errors import InputError
from loadstone.text.files import read_text
from loadstone.text.shape import Most, Within

Value = int | float | str | bool
Asked = Callable[[str, str], tuple[Value, ...]]
"""The values of a query; the second text says for what."""
Whole = Annotated[int, Within(-(2**62), 2**62)]

VARIATIONS, VARIATIONS_MAX = 10, 1_000
SEED = 1983
RANKS_MAX = 1_000_000
"""Of a zipf distribution: each has a share in memory while it is drawn from."""
FILE_BYTES_MAX = 1 << 24
_GAMMA, _MASK = 0x9E37_79B9_7F4A_7C15, 2**64 - 1


@dataclass(frozen=True, slots=True)
class Parameter:
    """One of these: `uniform` and `zipf` of whole numbers from the first to the second, both
    included, in a zipf distribution the first most often; `sequence`: from the first on, in steps
    of the second; `list`: one of these; `file`: one of its lines; `query`: one of the values in the
    first column of its answer, over the workload's tables."""

    uniform: tuple[Whole, Whole] | None = None
    zipf: tuple[Whole, Whole] | None = None
    sequence: tuple[Whole, Whole] | None = None
    list: Annotated[tuple[Value, ...], Most(100_000)] | None = None
    file: str | None = None
    query: Annotated[str, Most(1 << 16)] | None = None
    exponent: Annotated[float, Within(0, 20)] = 1.0
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
    drawn = {
        name: _drawn(
            one, start_of(seed, statement, name), folder, f"{where}, parameter {name}", asked
        )
        for name, one in parameters.items()
    }
    missing = [name for name in parameters if name not in named_in(text, dialect, drawn, where)]
    if missing:
        raise InputError(f"{where} has no :{missing[0]}", hint="leave out that parameter")
    return filled(
        text, dialect, tuple(drawn), lambda n: {name: draw(n) for name, draw in drawn.items()},
        variations, where,
    )  # fmt: skip


def filled(
    text: str,
    dialect: str,
    names: Collection[str],
    drawn: Callable[[int], Mapping[str, Value]],
    variations: int,
    where: str,
) -> tuple[str, ...]:
    """The texts of a statement's variations, with the values that are drawn for each."""
    places = _places(text, dialect, names, where)
    return tuple(_filled(text, dialect, places, drawn(n)) for n in range(variations))


def named_in(text: str, dialect: str, names: Collection[str], where: str) -> frozenset[str]:
    """Those of these names that a text has as `:name`."""
    return frozenset(name for *_, name in _places(text, dialect, names, where))


def start_of(seed: int, statement: str, name: str) -> int:
    """The place where the random bits of a parameter of a statement begin."""
    digest = hashlib.sha256(f"{seed}/{statement}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def random_bits(start: int, number: int) -> int:
    """The number-th of 64 random bits: SplitMix64, as in `crates/datasets/src/splitmix.rs`."""
    bits = (start + (number + 1) * _GAMMA) & _MASK
    bits = ((bits ^ (bits >> 30)) * 0xBF58_476D_1CE4_E5B9) & _MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D0_49BB_1331_11EB) & _MASK
    return bits ^ (bits >> 31)


def _drawn(
    stated: Parameter, start: int, folder: Path, where: str, asked: Asked
) -> Callable[[int], Value]:
    """The value of each variation."""
    kinds = [
        name for name in ("uniform", "zipf", "sequence", "list", "file", "query")
        if getattr(stated, name) is not None
    ]  # fmt: skip
    if len(kinds) != 1:
        known = ", ".join(one.name for one in fields(Parameter) if one.name != "exponent")
        raise InputError(f"{where} must be drawn in one way", hint=f"give it one of {known}")
    if stated.sequence is not None:
        first, step = stated.sequence
        return lambda n: first + n * step
    if stated.zipf is not None:
        return _zipf(*stated.zipf, stated.exponent, start, where)
    if stated.uniform is not None:
        low, high = _bounds(*stated.uniform, where)
        return lambda n: low + (random_bits(start, n) * (high - low + 1) >> 64)
    if stated.query is not None:
        values = asked(stated.query, where)
    else:
        values = stated.list if stated.list is not None else _lines(folder / (stated.file or ""))
    if not values:
        raise InputError(f"{where} has no value")
    return lambda n: values[random_bits(start, n) * len(values) >> 64]


def _bounds(low: int, high: int, where: str) -> tuple[int, int]:
    if low > high:
        raise InputError(f"{where}: from {low} to {high} there is no number")
    return low, high


def _zipf(low: int, high: int, exponent: float, start: int, where: str) -> Callable[[int], Value]:
    low, high = _bounds(low, high, where)
    if high - low >= RANKS_MAX:
        raise InputError(f"{where}: a zipf distribution has at most {RANKS_MAX:,} numbers")
    drawn = zipf(low, high, exponent)
    # 53 bits, as many as a float has.
    return lambda n: drawn((random_bits(start, n) >> 11) / 2**53)


@lru_cache(maxsize=16)
def zipf(low: int, high: int, exponent: float) -> Callable[[float], int]:
    """The number at a share, from 0 to below 1, of a zipf distribution."""
    sums = list(accumulate(1.0 / rank**exponent for rank in range(1, high - low + 2)))
    return lambda share: low + min(bisect_left(sums, share * sums[-1]), high - low)


def _lines(path: Path) -> tuple[Value, ...]:
    """A file's lines, as whole numbers if all of them are."""
    lines = read_text(path, FILE_BYTES_MAX, "the values").splitlines()
    try:
        return tuple(map(int, lines))
    except ValueError:
        return tuple(lines)


def _places(
    text: str, dialect: str, names: Collection[str], where: str
) -> list[tuple[int, int, str]]:
    """(begin, end, name) of each `:name` of a parameter. Raises `InputError`."""
    try:
        tokens = sqlglot.tokenize(text, read=dialect or None)
    except SqlglotError as error:
        raise InputError(f"{where} cannot be read: {str(error)[:200]}") from error
    return list(_marked(tokens, names))


def _marked(tokens: list[Token], names: Collection[str]) -> Iterator[tuple[int, int, str]]:
    for colon, name in pairwise(tokens):
        beside = colon.token_type == TokenType.COLON and colon.end + 1 == name.start
        if beside and name.text in names:
            yield colon.start, name.end + 1, name.text


def _filled(
    text: str, dialect: str, places: list[tuple[int, int, str]], values: Mapping[str, Value]
) -> str:
    parts, at = [], 0
    for begin, end, name in places:
        literal = exp.convert(values[name]).sql(dialect=dialect or None)
        # A minus before it would begin a comment: `- -3`.
        parts += [text[at:begin], f"({literal})" if literal.startswith("-") else literal]
        at = end
    return "".join([*parts, text[at:]])
