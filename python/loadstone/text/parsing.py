"""Numbers as people write them: whole (`10000`, `10_000`, `1e7`, `10k`, `2M`), and percentages."""

import re
from decimal import Decimal

from loadstone.errors import InputError

_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


def whole_number(text: str, what: str) -> int:
    """Read one; `what` says which argument it was. Raises `InputError`."""
    match = re.fullmatch(r"([0-9][0-9_]*)(?:e([0-9]{1,2}))?([kKmMgG]?)", text.strip())
    if match is None:
        raise InputError(
            f"{what}: {text!r} is not a whole number from 0 up",
            hint="write 10000, 10_000, 1e4 or 10k",
        )
    digits, exponent, factor = match.groups()
    power: int = 10 ** int(exponent or 0)
    return int(digits.replace("_", "")) * power * _FACTORS[factor.lower()]


def share(given: str | float, what: str) -> float:
    """A share of one: a percentage (`5%`, `2.5 %`); in a program or a plan file a number, too.
    `what` says which argument it was.

    Raises `InputError`, also for a text without the sign: 0.05 could be meant either way.
    """
    if isinstance(given, str):
        match = re.fullmatch(r"([0-9]{1,4}(?:\.[0-9]+)?) ?%", given.strip())
        if match is None:
            raise InputError(f"{what}: {given!r} is not a percentage", hint="write 5% or 2.5%")
        return float(Decimal(match[1]) / 100)
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < 1:
        raise InputError(
            f"{what} is {given!r}", hint="give a share below 1, 0.05, or a percentage, '5%'"
        )
    return float(given)


def as_percentage(value: float) -> str:
    """A share as `share` reads it again, to the last digit."""
    percentage = f"{Decimal(repr(value)) * 100:f}"
    return f"{percentage.rstrip('0').rstrip('.') if '.' in percentage else percentage}%"
