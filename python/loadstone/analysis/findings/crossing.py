"""The order of two engines turns with the size of the data: the one that is slower at the smaller
scale is the faster one at the larger.

Of the same two variants the differences on both sides of the turn, D1 and D2, have certain and
opposite signs. If the difference is a straight line a + b n between the two scales, a is more than
all of D1 and b n2 more than all of D2, and the line meets 0 at (D1 n2 - D2 n1) / (D1 - D2). Of rows
before the turn the cost of each statement answers why, of rows after it what grows with the data.

False where the difference is no straight line between the scales, as when a cache holds the one and
not the other: then only the turn itself is certain. Silent where the order turns more than once.
"""

from collections.abc import Iterator
from itertools import pairwise

from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Number
from loadstone.analysis.findings.said import said_longer, said_ratio
from loadstone.analysis.findings.scales import pair_at, scales_of
from loadstone.statistics.estimate import Estimate, side
from loadstone.statistics.paired_part import difference
from loadstone.text.numbers import number, scaled

RULE = "crossing"
KIND = "the order turns with the size"

At = tuple[int, Estimate]
"""A scale, and the time that a row's slow variant takes longer there than its fast one, in ns."""


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each warm distance of a run with two scales or more."""
    for far in seen.far():
        scales = crossed_between(seen, far)
        if scales:
            yield _finding(seen, far, *scales)


def crossed_between(seen: Evidence, far: Distance) -> tuple[At, At] | None:
    """The two scales between which a row's variants change places, with the difference at each;
    None where they do not, or more than once."""
    if far.row.temperature == "cold":
        return None
    known = []
    for rows in scales_of(seen, far):
        pair = pair_at(seen, far, rows)
        longer = pair and difference(pair[0].samples, pair[1].samples)
        if longer and side(longer):
            known.append((rows, longer))
    crossed = [each for each in pairwise(known) if side(each[0][1]) != side(each[1][1])]
    return crossed[0] if len(crossed) == 1 else None


def meeting(least: At, most: At) -> Estimate:
    """The size at which a straight line through both differences is 0; its bounds are the least
    and the greatest that differences within theirs allow."""

    def met(one: float, other: float) -> float:
        return (one * most[0] - other * least[0]) / (one - other)

    first, last = least[1], most[1]
    bounds = [
        met(one, other)
        for one in (first.low, first.high)
        for other in (last.low, last.high)
        if one is not None and other is not None
    ]
    return Estimate(met(first.value, last.value), min(bounds), max(bounds))


def _finding(seen: Evidence, far: Distance, least: At, most: At) -> Finding:
    slow, fast = far.names
    scale = seen.whole.words.scale
    later = far.row.rows <= least[0]
    between = f"between {number(least[0])} and {scaled(most[0], scale)}"
    overtakes = f"{slow} overtakes {fast}" if later else f"{fast} overtakes {slow}"
    cause = "is a cost of each statement" if later else "grows with the data"
    met = meeting(least, most)
    low, high = (number(round(bound)) for bound in (met.low or 0, met.high or 0))
    at = [f"{said_longer(ns)} at {number(rows)}" for rows, ns in (least, most)]
    return far.finding(
        RULE,
        KIND,
        brief=f"{overtakes} {between}: more than all of the difference {cause}",
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}. It takes {at[0]}, and"
        f" {at[1]} {scale}: {overtakes} {between}. If the difference is a straight line, that is"
        f" at {number(round(met.value))} ({low} to {high}), and more than all of it {cause}.",
        numbers=(
            *(Number(f"difference at {number(rows)}", ns, "ns") for rows, ns in (least, most)),
            Number("overtakes at", met, "tuples"),
        ),
        cells=far.cells_at((least[0], most[0])),
    )
