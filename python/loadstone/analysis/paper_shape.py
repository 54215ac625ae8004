"""The shape of a table's column: each value relative to its own system's geometric mean.

So systems decades apart are compared by their strengths and weaknesses.
"""

from collections.abc import Iterable
from statistics import geometric_mean


def shaped(values: Iterable[tuple[str, float]]) -> list[float]:
    """Each value of (system, value) over the geometric mean of its system's values."""
    known = list(values)
    means = {
        system: geometric_mean([value for other, value in known if other == system])
        for system in dict.fromkeys(system for system, _ in known)
    }
    return [value / means[system] for system, value in known]
