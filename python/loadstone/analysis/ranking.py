"""The fastest of a row, and every figure's ratio to it.

Only competitors are ranked, and no other (a limit, the harness overhead, a control) is a ratio's
denominator; an unproved cold cell is never compared with a proved one.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.standing import comparable
from loadstone.plan.role import Role
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import paired_ratio


def ranked(
    found: Iterable[CellSummary], clients: Mapping[str, str], *, ranks: bool
) -> Mapping[str, CellSummary]:
    """Variant -> its figure, beside the row's best and the harness overhead. `clients`: the
    language of each client; `ranks`: whether the row compares engines."""
    plain = {figure.cell.variant: figure for figure in found}
    # A program in another language has another overhead.
    overheads = {
        clients.get(v): f for v, f in plain.items() if f.role is Role.OVERHEAD and f.elapsed_ns
    }
    fair = comparable(competitors(plain.values())) if ranks else []
    best = _fastest(fair)
    return {
        variant: _bounded(figure, best)
        if figure.longer_than_ns is not None
        else _beside(figure, best if figure in fair else None, overheads.get(clients.get(variant)))
        for variant, figure in plain.items()
    }


def competitors(figures: Iterable[CellSummary]) -> list[CellSummary]:
    """The competitors with a time."""
    return [figure for figure in figures if figure.role is Role.COMPETITOR and figure.elapsed_ns]


def _fastest(fair: Sequence[CellSummary]) -> CellSummary | None:
    """By the medians, unless pairs contradict them: a variant that is certainly faster, repetition
    by repetition, takes its place."""
    best = min(fair, key=_median_ns, default=None)
    for _ in fair:
        ratios = {
            place: ratio
            for place, other in enumerate(fair)
            if best is not None and other is not best
            if (ratio := paired_ratio(other.samples, best.samples)) and (ratio.high or 1.0) < 1
        }
        if not ratios:
            break
        best = fair[min(ratios, key=lambda place: ratios[place].value)]
    return best


def _bounded(figure: CellSummary, best: CellSummary | None) -> CellSummary:
    """A figure of which only a lower bound is known, with that of its ratio to the row's best."""
    known = best.elapsed_ns if best else None
    if known is None or figure.longer_than_ns is None or figure.role is not Role.COMPETITOR:
        return figure
    least = figure.longer_than_ns / (known.high or known.value)
    return replace(figure, ratio_least=least) if least > 1 else figure


def _beside(
    figure: CellSummary, best: CellSummary | None, overhead: CellSummary | None
) -> CellSummary:
    """The same figure, with its ratio to the row's best and its overhead share."""
    if figure.elapsed_ns is None or figure.role is Role.OVERHEAD:
        return figure
    share = _median_ns(overhead) / figure.elapsed_ns.value if overhead else None
    if best is None or figure.status != "ok":
        return replace(figure, overhead_share=share)
    if figure is best:
        return replace(figure, overhead_share=share, ratio=Estimate(1.0), best=True)
    ratio = paired_ratio(figure.samples, best.samples)
    if ratio is None or ratio.low is None or ratio.high is None:
        # Too few pairs, or none: their median may contradict the medians, which are printed.
        ratio = Estimate(_median_ns(figure) / max(_median_ns(best), 1.0))
    return replace(figure, overhead_share=share, ratio=ratio)


def _median_ns(figure: CellSummary) -> float:
    return figure.elapsed_ns.value if figure.elapsed_ns else math.inf
