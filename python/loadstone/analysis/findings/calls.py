"""A client's calls: what a measure counted of its statements (of an engine without statements, its
calls), at the price of the highest rung of the cost ladder that touches no data; and the way to a
server and back, by bytes alone, times how often the client waited.

Named where it is certainly more than half of the slowest's time. Silent where calls at that price
would take longer than the measure: then they were cheaper there. The price of the way is one
figure without an interval.

False where calls are cheaper in the measure than on the rung, within what is left over.
"""

from collections.abc import Iterator

from loadstone.analysis.calls import counts_of, round_trips_ns
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, Finding, Number
from loadstone.analysis.findings.said import said_ns, said_ratio, said_share
from loadstone.analysis.ladder import WHOLE_SHARE_MAX, Ladder, Rung, ladders
from loadstone.plan.presentation import CALLS
from loadstone.statistics.arithmetic import over, scaled
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import number

RULE = "calls"


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each warm distance whose slowest counts its calls."""
    known = {(one.variant, one.rows, one.temperature): one for one in ladders(seen.whole)}
    ways_ns = round_trips_ns(seen.whole)
    for far in seen.far():
        ladder = known.get((far.slow.cell.variant, far.row.rows, far.row.temperature))
        flat = far.row.operation.name in seen.whole.words.ladder.flat
        found = _calls(far, ladder) if ladder and not flat else None
        found = found or _way(far, ways_ns.get(far.slow.cell.variant))
        if found:
            yield found


def _calls(far: Distance, ladder: Ladder) -> Finding | None:
    counts = counts_of(far.slow, 1)
    if counts is None or far.slow.elapsed_ns is None:
        return None
    spoken = counts.statements is not None
    rung = _price(ladder, spoken=spoken)
    if rung is None or rung.each_ns is None:
        return None
    count = counts.statements if counts.statements is not None else counts.calls
    share = over(scaled(rung.each_ns, count), far.slow.elapsed_ns)
    if share.low is None or share.low <= MOST or share.value > WHOLE_SHARE_MAX:
        return None
    unit = "statements" if spoken else "calls"
    what = f"its {number(round(count))} {unit}, at the {said_ns(rung.each_ns)} of {rung.step.name},"
    return _finding(far, unit, what, share)


def _price(ladder: Ladder, *, spoken: bool) -> Rung | None:
    """The highest rung without data; of an engine without statements, that of a call."""
    priced = [rung for rung in ladder.rungs if rung.step.prices and rung.each_ns]
    fit = [rung for rung in priced if spoken or rung.step.prices == CALLS]
    return fit[-1] if fit else None


def _way(far: Distance, way_ns: float | None) -> Finding | None:
    counts = counts_of(far.slow, 1)
    if way_ns is None or counts is None or not counts.round_trips or not far.slow.elapsed_ns:
        return None
    share = Estimate(way_ns * counts.round_trips / far.slow.elapsed_ns.value)
    if not MOST < share.value <= WHOLE_SHARE_MAX:
        return None
    reported = said_ns(Estimate(way_ns))
    trips = number(round(counts.round_trips))
    what = f"its {trips} ways to the server and back, at the {reported} of bytes alone,"
    return _finding(far, "the way to the server", what, share)


def _finding(far: Distance, kind: str, what: str, share: Estimate) -> Finding:
    slow, fast = far.names
    return far.finding(
        RULE,
        kind,
        brief=f"{what} are {said_share(share)} of its time",
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}: {what} are"
        f" {said_share(share)} of its time.",
        numbers=(Number(kind, share, "share"),),
        share=share,
    )
