"""The price of each tuple: most of the difference between two engines grows with the data, of which
no index spares them any.

The same two variants at the smallest and the largest scale of a run, D1 and D2 longer: b = (D2 -
D1) / (n2 - n1) is the price that a tuple has more. Named where, with certainty, b n is more than
half of the row's difference, for relations without a structure. What an engine keeps of a block of
tuples may spare it to read them: its price is then near nothing, and reported so.

False where the difference is no straight line between the two scales, as when a cache holds the
one and not the other. It does not say which work on a tuple costs that: a run with a time budget
does.
"""

from collections.abc import Iterator

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, Finding, Number
from loadstone.analysis.findings.fixed import share_of_whole
from loadstone.analysis.findings.said import said_ns, said_part, said_ratio
from loadstone.analysis.findings.scales import pair_at, scales_of
from loadstone.statistics.arithmetic import less, scaled
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_part import difference
from loadstone.text.numbers import number

RULE = "tuples"
KIND = "a price of each tuple"
HEAP = "heap"


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each warm distance on relations without a structure, of a run with two scales
    or more."""
    for far in seen.far():
        scales = scales_of(seen, far)
        is_scan = far.row.operation.storage == HEAP and far.row.temperature != "cold"
        if len(scales) > 1 and is_scan:
            found = _of(seen, far, (scales[0], scales[-1]))
            if found:
                yield found


def _of(seen: Evidence, far: Distance, scales: tuple[int, int]) -> Finding | None:
    least, most = (pair_at(seen, far, rows) for rows in scales)
    if least is None or most is None:
        return None
    longer = [difference(slow.samples, fast.samples) for slow, fast in (least, most)]
    prices = [_price(one, other, scales) for one, other in zip(least, most, strict=True)]
    if longer[0] is None or longer[1] is None or prices[0] is None or prices[1] is None:
        return None
    grown = less(longer[1], longer[0])
    share = share_of_whole(scaled(grown, far.row.rows / (scales[1] - scales[0])), far.ns)
    if share is None or share.low is None or share.low <= MOST:
        return None
    return _finding(far, scales, share, (prices[0], prices[1]))


def _price(least: CellSummary, most: CellSummary, scales: tuple[int, int]) -> Estimate | None:
    """The time that a tuple adds to a variant's statement, in ns."""
    if least.elapsed_ns is None or most.elapsed_ns is None:
        return None
    return scaled(less(most.elapsed_ns, least.elapsed_ns), 1 / (scales[1] - scales[0]))


def _finding(
    far: Distance, scales: tuple[int, int], share: Estimate, prices: tuple[Estimate, Estimate]
) -> Finding:
    slow, fast = far.names
    own, other = map(_said, prices)
    words = f"{said_part(share)} is the price of each tuple: {own}"
    return far.finding(
        RULE,
        KIND,
        brief=f"{words}, {fast} {other}",
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}. From"
        f" {number(scales[0])} to {number(scales[1])} tuples a tuple adds {own} to it and {other}"
        f" to {fast}, without an index: if that is a straight line, {words}.",
        numbers=(
            Number(f"a tuple of {slow}", prices[0], "ns"),
            Number(f"a tuple of {fast}", prices[1], "ns"),
            Number("share", share, "share"),
        ),
        cells=far.cells_at(scales),
        share=share,
    )


def _said(price: Estimate) -> str:
    measured = price.low is not None and price.low > 0
    return said_ns(price) if measured else "nothing that can be measured"
