"""The time that other programs may have taken from a cell, and the interval that this leaves it.

Others can only lengthen a time, and a statement's own work is counted: it would have been done on
an idle machine, too. So the undisturbed time lies between that work and the measured time.
`docs/reference/method.md` explains it, and when it would be false.
"""

from collections import Counter
from collections.abc import Sequence
from math import ceil, log
from statistics import median

from loadstone._core import interval_of_median
from loadstone.record.model import CellResult, Condition, Disturbance, Sample
from loadstone.statistics.estimate import Estimate

SPAN_MAX = 10.0
"""A figure known only within a factor above ten does not distinguish the engines of a row."""
PRINTED_SPAN_MAX = 100.0
"""The same of the printed interval, the scatter of the samples included. The scatter belongs to the
figure, and the page shows it; but beyond two orders of magnitude the figure is useless."""
CALMER = 0.8
"""A second measurement must reduce the open range to this share; a smaller gain may be chance."""
CROWDED = 0.5
"""Sharing a processor lengthens the work, too: others fill its caches, and each time slice begins
with cold ones. Where others took 90 % of the time, the processor time of a cell was up to 37 %
longer than on the idle machine, and never by more than this times their share."""
BESIDE = 0.25
"""A server's housekeeping, and reading the counters, may add this much of a processor to the work
of one; beyond it two worked at the same time."""
COUNTERS_NS = 20_000
"""Reading the counters may add this much to the time they count, in ns."""
COUNTED_NS_MIN = 10 * COUNTERS_NS
"""Of this processor time, and of more, reading the counters adds less than a tenth."""
SHORT_NS = 20 * COUNTERS_NS
"""For a statement below this the counters show mostly their own cost; and it ends long before the
scheduler switches, so that waiting does not explain its slowness."""


def disturbance(
    samples: Sequence[Sample],
    condition: Condition | None = None,
    apart: float = 1.0,
    parallelism: int = 1,
) -> Disturbance:
    """The bounds of the samples' undisturbed times. `condition`: of a machine beyond its limits,
    None if it was within them; `apart`: the factor of the A/A difference; `parallelism`: how many
    processors the engine may use at the same time."""
    drift = (condition.speed_drift or 0.0) if condition else 0.0
    others = (
        (condition.foreign_share or 0.0) + (condition.stolen_share or 0.0) if condition else 0.0
    )
    worked = _worked_share(samples, parallelism) if condition else 1.0
    crowded = 1 + CROWDED * others
    least = (0.0 if worked is None else worked) / crowded
    reported = condition is not None
    if condition and _is_short(samples):
        least, reported = min(least, 1 - others, _least_share(samples) / crowded), False
    low = max(least, 0.0) / (1 + max(drift, 0.0)) / apart
    high = apart / (1 + min(drift, 0.0))
    return Disturbance(worked if reported else None, min(low, 1.0), max(high, 1.0))


def bound_left(condition: Condition) -> float:
    """The share of a lower bound, the time after which a statement was ended, that it would have
    taken alone: nobody counted its own work, so all that others had is taken for its own loss."""
    others = (condition.foreign_share or 0.0) + (condition.stolen_share or 0.0)
    drift = max(condition.speed_drift or 0.0, 0.0)
    return max(1 - others, 0.0) / (1 + CROWDED * others) / (1 + drift)


def interval(estimate: Estimate, times_ns: Sequence[float], found: Disturbance) -> Estimate:
    """A time's interval, widened by the disturbance. Samples too few for an interval span one all
    the same: from the smallest to the largest."""
    low = min(times_ns) if estimate.low is None else estimate.low
    high = max(times_ns) if estimate.high is None else estimate.high
    return Estimate(estimate.value, low * found.low_factor, high * found.high_factor)


def ratio_between(
    ratio: Estimate, numerator: Disturbance | None, denominator: Disturbance | None
) -> Estimate:
    """A ratio's interval, widened by the disturbances of both sides, which need not have hit both
    alike."""
    if ratio.low is None or ratio.high is None:
        return ratio
    above, below = numerator or UNDISTURBED, denominator or UNDISTURBED
    if not below.low_factor:
        return Estimate(ratio.value)
    return Estimate(
        ratio.value,
        ratio.low * above.low_factor / below.high_factor,
        ratio.high * above.high_factor / below.low_factor,
    )


def span(found: Disturbance) -> float:
    """Its upper bound over its lower one; infinite without a lower bound."""
    return found.high_factor / found.low_factor if found.low_factor else float("inf")


def printed_span(samples: Sequence[Sample], found: Disturbance) -> float:
    """The same of the printed interval of the samples' median, which includes their scatter;
    infinite without a lower bound."""
    times_ns = [float(sample.elapsed_ns) for sample in samples]
    within = interval(Estimate(*interval_of_median(times_ns)), times_ns, found)
    return within.high / within.low if within.high and within.low else float("inf")


def is_disturbed(result: CellResult) -> bool:
    """Whether a cell was measured beside others, even if its figure became invalid."""
    return result.disturbance is not None


def calmer(after: Sequence[CellResult], before: Sequence[CellResult]) -> bool:
    """Whether the second measurement of a group counts: by its number of usable cells, then by how
    much their disturbances leave open, never by its times. If a cell failed, or its statement was
    ended, the second counts in any case, so that neither is hidden."""
    if any(result.status in ("failed", "censored") for result in after):
        return True
    now, then = _usable(after), _usable(before)
    return now > then or (now == then and _left_open(after) < CALMER * _left_open(before))


def _usable(results: Sequence[CellResult]) -> tuple[int, int]:
    counts = Counter(result.status for result in results)
    return counts["ok"], counts["disturbed"]


def _left_open(results: Sequence[CellResult]) -> float:
    """The width that the disturbances leave the cells together, as a sum of logarithms."""
    return sum(log(min(span(r.disturbance), 1e6)) for r in results if r.disturbance)


UNDISTURBED = Disturbance(None, 1.0, 1.0)


def _is_short(samples: Sequence[Sample]) -> bool:
    """Whether the counted share is meaningless: it would be 1 whatever others took."""
    return median(sample.elapsed_ns for sample in samples) < SHORT_NS


def _least_share(samples: Sequence[Sample]) -> float:
    """The smallest time over the median."""
    times_ns = [sample.elapsed_ns for sample in samples]
    return min(times_ns) / max(median(times_ns), 1)


def _worked_share(samples: Sequence[Sample], parallelism: int) -> float | None:
    """The median processor time of the samples over the median of their times; None if the system
    does not report it. Work on several processors at the same time counts by the time it takes."""
    known = [
        (sample.client_cpu_ns + (sample.server_cpu_ns or 0), max(sample.elapsed_ns, 1))
        for sample in samples
        if sample.client_cpu_ns is not None
    ]
    if not known or len(known) < len(samples):
        return None
    busy = sum(work for work, _ in known) / sum(elapsed for _, elapsed in known)
    at_once = max(parallelism, ceil(busy - BESIDE), 1)
    worked = median(min(work / at_once, elapsed) for work, elapsed in known)
    return worked / median(elapsed for _, elapsed in known)
