"""A ramp: an open loop whose rate rises in steps, as `100..1000` requests it."""

import re

from loadstone.errors import InputError
from loadstone.plan.choices import RATE_PER_S_MAX

STEPS = 10
"""Enough for a tenth of the range between two of them."""
REQUESTS_MAX = 5_000_000
"""Due in one open loop: each is a number in memory before the loop begins."""
_WORDS = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?)\.\.([0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?)")


def ramp_rates(text: str) -> tuple[float, ...]:
    """The rates of the steps, in requests a second: from the first to the last, evenly apart.
    Raises `InputError`."""
    stated = _WORDS.fullmatch(text.strip())
    if stated is None:
        raise InputError(f"--ramp {text[:60]!r} is no range", hint="write LOW..HIGH: 100..1000")
    low, high = float(stated[1]), float(stated[2])
    if not 0 < low < high <= RATE_PER_S_MAX:
        raise InputError(
            f"--ramp {text[:60]} does not rise, or not from above 0 to {RATE_PER_S_MAX:,} at most",
            hint="write LOW..HIGH in requests a second: 100..1000",
        )
    return tuple(low + (high - low) * step / (STEPS - 1) for step in range(STEPS))
