"""Equal repetitions of two cells beside each other: what a ratio is made of.

Sample *i* of a cell runs variation *i* of its operation, in the same round on every variant. So a
pair has the same work in common and, within a record, the same few moments: what differs between
variations, and what drifts, cancels out.
"""

from collections.abc import Sequence

from loadstone import _core
from loadstone.estimate import Estimate
from loadstone.record.model import Sample


def paired(first: Sequence[Sample], second: Sequence[Sample]) -> list[tuple[float, float]]:
    """Elapsed times (ns) of equal repetitions, in order of time. A time of zero counts as 1 ns."""
    other = {(sample.ordinal, sample.variation): sample for sample in second}
    both = ((sample, other.get((sample.ordinal, sample.variation))) for sample in first)
    return [
        (float(max(a.elapsed_ns, 1)), float(max(b.elapsed_ns, 1))) for a, b in both if b is not None
    ]


def paired_ratio(numerator: Sequence[Sample], denominator: Sequence[Sample]) -> Estimate | None:
    """The ratio with its 95 % interval; None where there is no pair."""
    pairs = paired(numerator, denominator)
    if not pairs:
        return None
    return Estimate(*_core.interval_of_paired_ratio([a for a, _ in pairs], [b for _, b in pairs]))
