"""The rung of the ladder of statements that a difference is made on: the slowest's cost beyond the
rung below, less the fastest's, as a share of the row's difference.

Of cells with a time budget. Named where it is certainly more than half of the difference. Both are
compared over the rungs that both have: one that an engine lacks, or on which it finds the rows by
another plan than the statement's, is passed over on both sides, and the rung above it stands for
what both add.

False where a rung does more than what the statement does there, as an engine may count rows by
another way than it delivers them.
"""

from collections.abc import Iterator

from loadstone.analysis.budget import CellBudget, ladder_without
from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Number
from loadstone.analysis.findings.said import said_ns, said_ratio, said_share
from loadstone.analysis.statement_ladder import RungFigure
from loadstone.statistics.arithmetic import less, over
from loadstone.statistics.estimate import Estimate

RULE = "rungs"
MOST = 0.5


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each distance of two budgets."""
    for far in seen.far():
        slow, fast = seen.budget(far.slow), seen.budget(far.fast)
        if slow is None or fast is None:
            continue
        lacking = _lacking(slow) | _lacking(fast)
        beside = {rung.rung: rung for rung in _ladder(seen, far, far.fast, lacking)}
        told = [
            (rung, found)
            for rung in _ladder(seen, far, far.slow, lacking)
            if rung.is_measurable and (found := _share(far, rung, beside.get(rung.rung)))
        ]
        most = [each for each in told if each[1].low is not None and each[1].low > MOST]
        if most:
            yield _finding(far, *most[0])


def _lacking(budget: CellBudget) -> frozenset[str]:
    """The rungs that were not measured, or not by the plan of the statement itself."""
    return frozenset(
        rung.rung for rung in budget.ladder if rung.each_ns is None or rung.same_plan is False
    )


def _ladder(
    seen: Evidence, far: Distance, figure: CellSummary, without: frozenset[str]
) -> tuple[RungFigure, ...]:
    result = seen.results[figure.cell.key]
    return ladder_without(result, far.row.operation.destination, without)


def _share(far: Distance, rung: RungFigure, other: RungFigure | None) -> Estimate | None:
    """None where the two rungs are not the same step from the same one below."""
    if other is None or rung.beyond_ns is None or other.beyond_ns is None:
        return None
    if rung.below != other.below:
        return None
    longer = less(rung.beyond_ns, other.beyond_ns)
    return over(longer, far.ns) if longer.low is not None and longer.low > 0 else None


def _finding(far: Distance, rung: RungFigure, share: Estimate) -> Finding:
    slow, fast = far.names
    words = f"{said_share(share)} of the difference is {rung.attributed}"
    own = said_ns(rung.beyond_ns) if rung.beyond_ns else ""
    return far.finding(
        RULE,
        rung.attributed,
        brief=words,
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}: {words}, which takes"
        f" {own} there ({rung.name}, less {rung.below or 'nothing'}).",
        numbers=(
            Number("difference", far.ns, "ns"),
            Number(rung.attributed, share, "share"),
        ),
        share=share,
    )
