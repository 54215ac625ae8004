"""The way in which each operation grows with the size of the data: the exponent of time over
tuples."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadstone._core import growth_exponent
from loadstone.analysis.summary import Summary
from loadstone.record.model import OperationText
from loadstone.statistics.estimate import Estimate

STEEP = 1.2
"""Growth faster than the data has an exponent above this, and an interval above 1."""


@dataclass(frozen=True, slots=True)
class Growth:
    """One operation on one variant over the scales.

    Exponent 1 is linear, 0 constant. `error` is the exponent's standard error, None with two
    scales. `low` and `high` bound the exponent within the intervals of its times; None if one of
    these has no interval: then nothing is claimed.
    """

    operation: OperationText
    variant: str
    temperature: str
    sizes: tuple[int, ...]
    elapsed_ns: tuple[Estimate, ...]
    exponent: float
    error: float | None
    low: float | None = None
    high: float | None = None

    @property
    def steep(self) -> bool:
        """Whether it is certain to grow faster than the data, and by more than a little."""
        return self.exponent > STEEP and self.low is not None and self.low > 1

    @property
    def reported(self) -> str:
        """The printed exponent; a dash if there are too few samples."""
        if self.low is None:
            return "\N{EN DASH}"
        return f"{self.exponent:.2f}".replace("-0.00", "0.00")


def growth(summary: Summary) -> tuple[Growth, ...]:
    """Every operation measured at two or more scales, in the paper's order."""
    points: dict[tuple[str, str, str], dict[int, Estimate]] = {}
    texts: dict[str, OperationText] = {}
    for view in summary.views:
        for row in view.all_rows:
            texts[row.operation.name] = row.operation
            for variant in summary.competitors:
                figure = row.figures.get(variant)
                elapsed_ns = figure and figure.status == "ok" and figure.elapsed_ns
                if figure and elapsed_ns:
                    key = (figure.temperature, row.operation.name, variant)
                    points.setdefault(key, {})[view.rows] = elapsed_ns
    return tuple(
        found
        for (temperature, name, variant), estimates in points.items()
        if (found := _growth(texts[name], variant, temperature, estimates))
    )


def steepest(lines: Sequence[Growth]) -> list[Growth]:
    """Those that are certain to grow faster than the data, the steepest first."""
    return sorted((line for line in lines if line.steep), key=lambda line: -line.exponent)


def _growth(
    text: OperationText, variant: str, temperature: str, estimates: Mapping[int, Estimate]
) -> Growth | None:
    sizes = tuple(sorted(estimates))
    elapsed = tuple(estimates[size] for size in sizes)
    fitted = growth_exponent(sizes, [estimate.value for estimate in elapsed])
    if fitted is None:
        return None
    return Growth(text, variant, temperature, sizes, elapsed, *fitted, *_bounds(sizes, elapsed))


def _bounds(sizes: Sequence[int], elapsed: Sequence[Estimate]) -> tuple[float | None, float | None]:
    """The smallest and the largest slope of log time over log size that the intervals allow: least
    squares weigh each time by the distance of its size from the mean."""
    logs = [math.log(size) for size in sizes]
    mean = sum(logs) / len(logs)
    spread = sum((one - mean) ** 2 for one in logs)
    weights = [(one - mean) / spread for one in logs]
    low = high = 0.0
    for weight, time in zip(weights, elapsed, strict=True):
        if not time.low or not time.high:
            return None, None
        below, above = sorted((weight * math.log(time.low), weight * math.log(time.high)))
        low, high = low + below, high + above
    return low, high
