"""A cell that was measured before, and whose statement was ended after: its time has a lower bound,
and so has the ratio.

That ratio would be false where the limit ended a statement while others had the machine: the bound
is divided by all that they may have added, as the condition reports it. Nor is it one of the first
input alone, which may take longer than the others: what is divided by is the longest of A's inputs.
"""

from math import inf
from statistics import median

from loadstone._core import interval_of_median
from loadstone.record.model import BELIEVED, CellResult, Run
from loadstone.statistics.disturbance import bound_left, interval
from loadstone.statistics.drift import Speeds
from loadstone.statistics.estimate import Estimate


def upper_ns(a: CellResult, speeds: Speeds) -> float:
    """The time that no figure of the cell exceeds: the end of its median's interval, or the median
    of the input that takes longest. Infinite where samples are too few for an interval."""
    by_input: dict[int, list[float]] = {}
    for sample in a.samples:
        by_input.setdefault(sample.variation, []).append(float(sample.elapsed_ns))
    times_ns = [time for own in by_input.values() for time in own]
    found = Estimate(*interval_of_median(times_ns))
    if found.high is None:
        return inf
    if a.disturbance is not None:
        found = interval(found, times_ns, a.disturbance)
    found = speeds.interval(found, a.condition)
    return max(found.high or inf, *map(median, by_input.values()))


def bounded_ratio(
    a: CellResult, b: CellResult, speeds: tuple[Speeds, Speeds], of_b: Run
) -> Estimate | None:
    """The least ratio B over A of a cell whose statement was ended in B, a run of `of_b`: as the
    estimate over A's median, and as the lower bound over all of A. None where B was not ended, A
    has no figure, or one is cold in another way."""
    if b.status != "censored" or b.longer_than_ns is None:
        return None
    if a.status not in BELIEVED or not a.samples or a.temperature_shown != a.cell.temperature:
        return None
    # What was ended when it was asked for its answer has no condition: the worst one of its run is.
    met = [b.condition] if b.condition else [r.condition for r in of_b.results if r.condition]
    left = (bound_left(each) * speeds[1].reach(each)[0] for each in met)
    least_ns = b.longer_than_ns * min(left, default=0.0)
    median_ns = median(sample.elapsed_ns for sample in a.samples)
    return Estimate(least_ns / max(median_ns, 1.0), least_ns / upper_ns(a, speeds[0]))
