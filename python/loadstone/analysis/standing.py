"""A figure's standing in its row, as it is printed: a ratio where there is one, and no more.

A ratio whose interval holds 1 tells nothing of how far apart two figures are, so none is printed:
`≈` where they are the same within 10 %, `?` where that is not decided. A ratio of too few samples
for an interval is a guess, and begins with `~`.
"""

from loadstone.record.model import Run
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import times

SAME = "\N{ALMOST EQUAL TO}"
UNDECIDED = "?"
GUESS = "~"
NEAR = 1.1
"""An interval around 1 within this factor says that two figures are the same."""


def standing(ratio: Estimate | None, *, best: bool = False, exact: bool = False) -> str:
    """How a figure stands to its row's best; empty for the best itself and for what is not ranked.
    `exact`: of sizes, which have no interval because they need none."""
    if ratio is None or best:
        return ""
    if exact:
        return times(ratio.value)
    if ratio.low is None or ratio.high is None:
        return GUESS + times(ratio.value) if ratio.value > 1 else UNDECIDED
    if ratio.low > 1:
        return times(ratio.value)
    same = ratio.low >= 1 / NEAR and ratio.high <= NEAR
    return SAME if same else UNDECIDED


def behind(ratio: Estimate | None) -> float | None:
    """By how much a figure is told to be behind its row's best: 1 where it cannot be told."""
    if ratio is None:
        return None
    if ratio.low is not None and ratio.low <= 1:
        return 1.0
    return max(1.0, ratio.value)


def unjudged(run: Run) -> str:
    """What stands behind the heading of every ranking in a run whose cells were held against no
    limits; empty in all others."""
    return "" if run.plan.limits else ", judged by no limits"
