"""How each operation grows with the size of the data: the exponent of time over tuples."""

from collections.abc import Mapping
from dataclasses import dataclass

from loadstone._core import growth_exponent
from loadstone.estimate import Estimate
from loadstone.record.model import OperationText
from loadstone.report.portrait import Portrait


@dataclass(frozen=True, slots=True)
class Growth:
    """One operation on one variant over the scales. Exponent 1 is linear, 0 constant.

    `error` is the exponent's standard error, None with two scales.
    """

    operation: OperationText
    variant: str
    temperature: str
    sizes: tuple[int, ...]
    elapsed_ns: tuple[Estimate, ...]
    exponent: float
    error: float | None


def growth(portrait: Portrait) -> tuple[Growth, ...]:
    """Every operation measured at two or more scales, in the paper's order."""
    points: dict[tuple[str, str, str], dict[int, Estimate]] = {}
    texts: dict[str, OperationText] = {}
    for view in portrait.views:
        for row in view.all_rows:
            texts[row.operation.name] = row.operation
            for variant in portrait.competitors:
                figure = row.figures.get(variant)
                if figure and figure.status == "ok" and figure.elapsed_ns:
                    key = (figure.temperature, row.operation.name, variant)
                    points.setdefault(key, {})[view.rows] = figure.elapsed_ns
    return tuple(
        found
        for (temperature, name, variant), estimates in points.items()
        if (found := _growth(texts[name], variant, temperature, estimates))
    )


def _growth(
    text: OperationText, variant: str, temperature: str, estimates: Mapping[int, Estimate]
) -> Growth | None:
    sizes = tuple(sorted(estimates))
    elapsed = tuple(estimates[size] for size in sizes)
    fitted = growth_exponent(sizes, [estimate.value for estimate in elapsed])
    if fitted is None:
        return None
    return Growth(text, variant, temperature, sizes, elapsed, *fitted)
