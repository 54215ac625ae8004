"""The rung of the ladder of statements that a difference is made on: the slowest's cost beyond the
rung below, less the fastest's, as a share of the row's difference.

Of cells with a time budget. Named where it is certainly more than half of the difference. Silent
where a rung was not measured on either side, or not found by the plan of the statement itself.

False where a rung does more than what the statement does there, as an engine may count rows by
another way than it delivers them.
"""

from collections.abc import Iterator

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
        budgets = seen.budget(far.slow), seen.budget(far.fast)
        if budgets[0] is None or budgets[1] is None:
            continue
        beside = {rung.rung: rung for rung in budgets[1].ladder}
        told = [
            (rung, found)
            for rung in budgets[0].ladder
            if rung.is_measurable and (found := _share(far, rung, beside.get(rung.rung)))
        ]
        most = [each for each in told if each[1].low is not None and each[1].low > MOST]
        if most:
            yield _finding(far, *most[0])


def _share(far: Distance, rung: RungFigure, other: RungFigure | None) -> Estimate | None:
    """None where the two rungs are not the same step from the same one below."""
    if other is None or rung.beyond_ns is None or other.beyond_ns is None:
        return None
    if rung.below != other.below or False in (rung.same_plan, other.same_plan):
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
