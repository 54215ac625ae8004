"""The printed ratio of a figure to its row's best.

A ratio whose interval includes 1 shows no difference, so none is printed: `≈` if the two are equal
within 10 %, `?` if that is undecided. A ratio of too few samples for an interval begins with `~`.
"""

from loadstone.record.model import Run
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import times

SAME = "\N{ALMOST EQUAL TO}"
UNDECIDED = "?"
GUESS = "~"
NEAR = 1.1
"""An interval around 1 within this factor means that two figures are equal."""


def standing(ratio: Estimate | None, *, best: bool = False, exact: bool = False) -> str:
    """The printed ratio of a figure to its row's best; empty for the best itself and for unranked
    figures. `exact`: of sizes, which need no interval."""
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
    """The ratio of a figure to its row's best: 1 if undecided."""
    if ratio is None:
        return None
    if ratio.low is not None and ratio.low <= 1:
        return 1.0
    return max(1.0, ratio.value)


def unjudged(run: Run) -> str:
    """The remark behind the heading of every ranking in a run whose cells no limit judged; empty in
    all others."""
    return "" if run.plan.limits else ", judged by no limits"
