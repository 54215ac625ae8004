"""The machine's speed at each time of a run, and how far it widens intervals.

Variants of one interleaved group meet the same machine, so a ratio within a record needs none of
this. A single time does, and so does a ratio over two records: neighbours on the same core, cache
or memory slow an engine by half for seconds or minutes, unseen by any counter.
"""

from collections.abc import Iterable
from statistics import median, quantiles

from loadstone.record.model import Condition, Run
from loadstone.statistics.estimate import Estimate

SHARE = 20
"""A run's slowest and fastest twentieth are excluded from its range of speeds."""


class Speeds:
    """A run's speed probes, one of each interleaved group, in ns; fewer are faster."""

    def __init__(self, run: Run) -> None:
        readings_ns = sorted(_readings_ns(run))
        self.least_ns = self.median_ns = self.most_ns = 0.0
        if readings_ns:
            cuts = quantiles(readings_ns, n=SHARE, method="inclusive") if readings_ns[1:] else []
            self.least_ns, self.most_ns = (cuts or readings_ns)[0], (cuts or readings_ns)[-1]
            self.median_ns = median(readings_ns)

    def reach(self, condition: Condition | None) -> tuple[float, float]:
        """(at most 1, at least 1): what a time measured under this condition would be multiplied by
        at the run's fastest and at its slowest."""
        here_ns = condition.speed_probe_ns if condition else None
        if not here_ns or not self.median_ns:
            return 1.0, 1.0
        return min(1.0, self.least_ns / here_ns), max(1.0, self.most_ns / here_ns)

    def interval(self, estimate: Estimate, condition: Condition | None) -> Estimate:
        """The interval of a time, widened by the machine's speeds in this run: at another moment of
        the run the cell would have taken longer or less."""
        if estimate.low is None or estimate.high is None:
            return estimate
        faster, slower = self.reach(condition)
        return Estimate(estimate.value, estimate.low * faster, estimate.high * slower)


def ratio_across(
    ratio: Estimate, numerator: tuple[float, float], denominator: tuple[float, float]
) -> Estimate:
    """A ratio over two records, widened by the reach of each side: the two met different
    moments."""
    if ratio.low is None or ratio.high is None:
        return ratio
    return Estimate(
        ratio.value,
        ratio.low * numerator[0] / denominator[1],
        ratio.high * numerator[1] / denominator[0],
    )


def _readings_ns(run: Run) -> Iterable[float]:
    """Cells of one group share a condition: it counts once."""
    groups = {
        (result.cell.operation, result.cell.rows, result.cell.temperature): result.condition
        for result in run.results
        if result.condition and result.samples
    }
    return (c.speed_probe_ns for c in groups.values() if c and c.speed_probe_ns)
