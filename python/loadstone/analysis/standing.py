"""The printed ratio of a figure to its row's best.

A ratio whose interval includes 1 shows no difference, so none is printed: `≈` if the two are equal
within 10 %, `?` if that is undecided. A ratio of too few samples for an interval begins with `~`.
"""

import math
from collections.abc import Iterable
from statistics import median
from typing import Protocol, TypeVar

from loadstone.plan.workload import UNRANKED
from loadstone.record.model import Run
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import times

SAME = "\N{ALMOST EQUAL TO}"
UNDECIDED = "?"
GUESS = "~"
NEAR = 1.1
"""An interval around 1 within this factor means that two figures are equal."""


def standing(
    ratio: Estimate | None,
    *,
    best: bool = False,
    exact: bool = False,
    least: float | None = None,
) -> str:
    """The printed ratio of a figure to its row's best; empty for the best itself and for unranked
    figures. `exact`: of sizes, which need no interval; `least`: only this lower bound is known."""
    if least is not None:
        return f">{times(least)}"
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


class Figure(Protocol):
    """A figure that is ranked, or not."""

    @property
    def status(self) -> str:
        """As a record has it."""

    @property
    def temperature(self) -> str:
        """As it was proved."""

    @property
    def kind(self) -> str:
        """Of its label, if it has one."""


Ranked = TypeVar("Ranked", bound=Figure)


def comparable(figures: Iterable[Ranked]) -> list[Ranked]:
    """The figures that may be compared: ok, of the answer that the others give, and, as soon as one
    cold one is proved, without the unproved."""
    measured = [one for one in figures if one.status == "ok" and one.kind not in UNRANKED]
    proved = [figure for figure in measured if figure.temperature != "unproved"]
    return proved or measured


def typically_behind(
    ratios: Iterable[Estimate | None], least: Iterable[float] = ()
) -> tuple[float, bool] | None:
    """The median of `behind`, undecided ones left out, and whether it is a lower bound. `least`:
    lower bounds of ratios of which no more is known. None without a ratio, or where most of them
    are undecided: they do not report that it is as fast as the best."""
    known = [ratio for ratio in ratios if ratio is not None]
    decided = [found for ratio in known if not undecided(ratio) and (found := behind(ratio))]
    bounds = [*least]
    if not (decided or bounds) or 2 * len(decided) + len(bounds) < len(known):
        return None
    # Each bound stands for any number from itself to infinity, and so does the median.
    lowest, highest = (median([*decided, *ends]) for ends in (bounds, [math.inf] * len(bounds)))
    return lowest, lowest != highest


def undecided(ratio: Estimate) -> bool:
    """Whether a ratio shows neither a difference nor that there is none. (A row's best has ratio 1,
    exactly.)"""
    return ratio.value != 1 and standing(ratio) == UNDECIDED


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
