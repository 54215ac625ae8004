"""Numbers as people write them: whole (`10000`, `10_000`, `1e7`, `10k`, `2M`), and percentages."""

import re

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


def share(text: str, what: str) -> float:
    """Read a percentage (`5%`, `2.5 %`) as a share of one; `what` says which argument it was.

    Raises `InputError`, also without the sign: 0.05 could be meant either way.
    """
    match = re.fullmatch(r"([0-9]{1,4}(?:\.[0-9]+)?) ?%", text.strip())
    if match is None:
        raise InputError(f"{what}: {text!r} is not a percentage", hint="write 5% or 2.5%")
    return float(match[1]) / 100
