"""The shade of a figure, and the length of its bar: by the logarithm of its ratio."""

import math

SHADES = 8
DARKEST_BEHIND = 100.0
"""So many times the row's best or worse has the darkest shade, and the longest bar."""
DARKEST_EFFECT = 10.0
"""An effect of this ratio, slower or faster, has the darkest shade."""


def depth(ratio: float, darkest: float) -> int:
    """1 to `SHADES`, the same for a ratio and its inverse."""
    reach = abs(math.log(ratio)) / math.log(darkest)
    return min(SHADES, max(1, round(reach * SHADES)))


def bar_share(ratio: float) -> float:
    """The share of the longest bar, 0 for the best."""
    return math.log(ratio) / math.log(DARKEST_BEHIND) if ratio > 1 else 0.0
