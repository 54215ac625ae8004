"""A cost of each statement, not of its tuples: most of the difference between two engines does not
grow with the data.

The same two variants at the smallest and the largest scale of a run, D1 and D2 longer. If the
difference is a + b n, its fixed part is a = (D1 n2 - D2 n1) / (n2 - n1); named where, with
certainty, a is more than half of the row's difference.

Silent where the slower one overtakes the other between the scales: that is `crossing`. False where
the difference is no straight line between them, as when a cache holds the one and not the other.
Of an operation on one tuple the work on that tuple is part of the cost.
"""

from collections.abc import Iterator

from loadstone.analysis.findings.crossing import crossed_between
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, Finding, Number
from loadstone.analysis.findings.said import said_longer, said_part, said_ratio
from loadstone.analysis.findings.scales import pair_at, scales_of
from loadstone.statistics.arithmetic import less, scaled
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_part import difference
from loadstone.text.numbers import number

RULE = "fixed"


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each warm distance of a run with two scales or more."""
    for far in seen.far():
        scales = scales_of(seen, far)
        if len(scales) > 1 and far.row.temperature != "cold" and not crossed_between(seen, far):
            found = _of(seen, far, scales[0], scales[-1])
            if found:
                yield found


def _of(seen: Evidence, far: Distance, least: int, most: int) -> Finding | None:
    pairs = [pair_at(seen, far, rows) for rows in (least, most)]
    if pairs[0] is None or pairs[1] is None:
        return None
    found = [difference(slow.samples, fast.samples) for slow, fast in (pairs[0], pairs[1])]
    if not found[0] or not found[1]:
        return None
    fixed = scaled(
        less(scaled(found[0], float(most)), scaled(found[1], float(least))), 1 / (most - least)
    )
    share = share_of_whole(fixed, far.ns)
    if share is None or share.low is None or share.low <= MOST:
        return None
    return _finding(seen, far, (least, most), (found[0], found[1]), share)


def share_of_whole(part: Estimate, whole: Estimate) -> Estimate | None:
    """Of two differences that were not paired: the widest bounds."""
    if part.low is None or part.high is None or not whole.low or not whole.high:
        return None
    if part.low <= 0:
        return None
    return Estimate(part.value / whole.value, part.low / whole.high, part.high / whole.low)


def _finding(
    seen: Evidence,
    far: Distance,
    scales: tuple[int, int],
    longer: tuple[Estimate, Estimate],
    share: Estimate,
) -> Finding:
    slow, fast = far.names
    scale = seen.whole.words.scale
    at = [f"{said_longer(ns)} at {number(rows)}" for ns, rows in zip(longer, scales, strict=True)]
    words = f"{said_part(share)} does not grow with the data: a cost of each statement"
    return far.finding(
        RULE,
        "a cost of each statement",
        brief=words,
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}. It takes {at[0]}, and"
        f" {at[1]} {scale}: if that is a straight line, {words}.",
        numbers=(
            *(
                Number(f"difference at {number(rows)}", ns, "ns")
                for ns, rows in zip(longer, scales, strict=True)
            ),
            Number("share", share, "share"),
        ),
        cells=far.cells_at(scales),
        share=share,
    )
