"""Each operation's cold time beside its warm time, on one variant at the largest cold scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.summary import Summary, View


@dataclass(frozen=True, slots=True)
class ColdWarm:
    """One operation's medians; `proved`: its cold samples are proved cold."""

    operation: str
    warm_ns: float
    cold_ns: float
    proved: bool

    @property
    def ratio(self) -> float:
        """The cost of a cold start: cold over warm."""
        return self.cold_ns / self.warm_ns


def cold_and_warm_views(whole: Summary) -> tuple[View, View] | None:
    """The cold view of the largest scale that has one, and the warm view of that scale."""
    cold = whole.largest_with("cold")
    warm = whole.view(cold.rows, "warm") if cold else None
    return (cold, warm) if cold and warm else None


def cold_warm(cold: View, warm: View, variant: str) -> list[ColdWarm]:
    """The operations that are ok in both views, in the order of the cold one."""
    before = {row.operation.name: row.figures.get(variant) for row in warm.all_rows}
    found = []
    for row in cold.all_rows:
        now, then = row.figures.get(variant), before.get(row.operation.name)
        values = [_ok_ns(figure) for figure in (then, now)]
        if now and values[0] is not None and values[1] is not None:
            proved = now.temperature == "cold"
            found.append(ColdWarm(row.operation.name, values[0], values[1], proved))
    return found


def notable(pairs: Sequence[ColdWarm]) -> list[ColdWarm]:
    """Those of the least, the middle and the greatest cost of a cold start, each once."""
    ordered = sorted(pairs, key=lambda pair: pair.ratio)
    places = {0, len(ordered) // 2, len(ordered) - 1}
    return [ordered[place] for place in sorted(places)] if ordered else []


def _ok_ns(figure: CellSummary | None) -> float | None:
    return (
        figure.elapsed_ns.value if figure and figure.status == "ok" and figure.elapsed_ns else None
    )


@dataclass(frozen=True, slots=True)
class ColdCost:
    """The median of cold over warm, and of how many operations it is one."""

    ratio: float
    operations: int


def cost_of_cold(whole: Summary) -> dict[str, ColdCost]:
    """Variant -> the cost of a cold start, of its operations that are proved cold; without the
    variants that have none."""
    views = cold_and_warm_views(whole)
    if views is None:
        return {}
    ratios = {
        variant: [pair.ratio for pair in cold_warm(*views, variant) if pair.proved]
        for variant in whole.columns
    }
    return {variant: ColdCost(median(own), len(own)) for variant, own in ratios.items() if own}
