"""The rung of the ladder of statements that a difference is made on: the slowest's cost beyond the
rung below, less the fastest's, as a share of the row's difference.

Of cells with a time budget. Named where it is certainly more than half of the difference. A rung
that the fastest lacks takes it at most as long as the step that passes over it. Where that leaves
too much open, both are compared over the rungs that both have: one that an engine lacks, or on
which it finds the rows by another plan than the statement's, is passed over on both sides, and the
rung above it stands for what both add. Where no rung alone is most of the difference, two or three
that follow upon each other may be; the fewest are named.

False where a rung does more than what the statement does there, as an engine may count rows by
another way than it delivers them.
"""

from collections.abc import Iterator, Sequence

from loadstone.analysis.budget import CellBudget, ladder_without
from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, TOGETHER_MAX, Finding, Number
from loadstone.analysis.findings.said import said_ns, said_part, said_ratio
from loadstone.analysis.statement_ladder import RungFigure
from loadstone.statistics.arithmetic import less, over
from loadstone.statistics.estimate import Estimate

RULE = "rungs"


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each distance of two budgets: on a rung by itself, else on several."""
    for far in seen.far():
        reported = _alone(seen, far)
        if reported:
            yield _finding(far, *reported[0])


def _alone(seen: Evidence, far: Distance) -> list[tuple[RungFigure, Estimate]]:
    slow, fast = seen.budget(far.slow), seen.budget(far.fast)
    if slow is None or fast is None:
        return []
    lacking = _lacking(slow) | _lacking(fast)
    ladders = [_ladder(seen, far, figure, lacking) for figure in (far.slow, far.fast)]
    return [*_certain(far, slow.ladder, fast.ladder), *_certain(far, *ladders)]


def find_together(seen: Evidence) -> Iterator[Finding]:
    """At most one for each distance of two budgets: the fewest steps in succession that are
    certainly most of the difference where none alone is; of as many those of the largest share."""
    for far in seen.far():
        slow, fast = seen.budget(far.slow), seen.budget(far.fast)
        if slow is None or fast is None or _alone(seen, far):
            continue
        unlike = {rung.rung for rung in fast.ladder if rung.same_plan is False}
        for steps in range(2, TOGETHER_MAX + 1):
            reported = _together(seen, far, _lacking(slow) | unlike, steps)
            if reported:
                yield _finding(far, *max(reported, key=lambda each: each[1].value))
                break


def _together(
    seen: Evidence, far: Distance, lacking: frozenset[str], steps: int
) -> list[tuple[RungFigure, Estimate]]:
    """So many steps of the slowest's ladder in succession, each time as one; never all of them."""
    ladder = [rung.rung for rung in _ladder(seen, far, far.slow, lacking) if rung.beyond_ns]
    reported = []
    for last in range(steps - 1, len(ladder)) if steps < len(ladder) else ():
        inner = lacking.union(ladder[last - steps + 1 : last])
        ladders = [_ladder(seen, far, figure, inner) for figure in (far.slow, far.fast)]
        reported += [each for each in _certain(far, *ladders) if each[0].rung == ladder[last]]
    return reported


def _certain(
    far: Distance, own: Sequence[RungFigure], beside: Sequence[RungFigure]
) -> Iterator[tuple[RungFigure, Estimate]]:
    """The rungs of the slowest's ladder that are certainly most of the difference."""
    unlike = {rung.name for rung in own if rung.same_plan is False}
    for rung in own:
        if not rung.is_measurable or rung.name in unlike or rung.below in unlike:
            continue
        share = _share(far, rung, _counterpart(rung, beside))
        if share is not None and share.low is not None and share.low > MOST:
            yield rung, share


def _counterpart(rung: RungFigure, beside: Sequence[RungFigure]) -> Estimate | None:
    """The time of the fastest's same step. Where it has no such rung, no less than nothing, and no
    more than the step that passes over it: the figure is that most. None where the steps are not
    the same, or are planned otherwise."""
    place = next(place for place, one in enumerate(beside) if one.rung == rung.rung)
    same = beside[place]
    over_it = next((one for one in beside[place:] if one.beyond_ns is not None), None)
    if over_it is None or over_it.beyond_ns is None or over_it.same_plan is False:
        return None
    if same is over_it:
        return same.beyond_ns if same.below == rung.below else None
    most = over_it.beyond_ns
    return Estimate(max(most.value, 0.0), 0.0, None if most.high is None else max(most.high, 0.0))


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


def _share(far: Distance, rung: RungFigure, other: Estimate | None) -> Estimate | None:
    if other is None or rung.beyond_ns is None:
        return None
    longer = less(rung.beyond_ns, other)
    return over(longer, far.ns) if longer.low is not None and longer.low > 0 else None


def _finding(far: Distance, rung: RungFigure, share: Estimate) -> Finding:
    slow, fast = far.names
    words = f"{said_part(share)} is {rung.attributed}"
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
