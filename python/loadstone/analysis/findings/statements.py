"""Statements of an engine whose calls no rung of a cost ladder prices: the slowest asks its engine
by so many of them, the fastest by fewer or by none.

Their price is the least time of a statement of the same variant in another operation of the same
scale and temperature, of those with a hundred statements or more; at most what the row's own time
leaves each, for statements differ by what they do. Named where those that the fastest does not
need, at that price, are certainly more than half of the difference. Silent where they would take
half as long again as the slowest's time at the other operation's price: that is none of theirs.

False where the statements of that other operation do work that these do not.
"""

from collections.abc import Iterator

from loadstone.analysis.calls import Counts, counts_of
from loadstone.analysis.findings.distance import Distance, measured
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, Finding, Number
from loadstone.analysis.findings.said import said_ns, said_part, said_ratio
from loadstone.statistics.arithmetic import over, scaled
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import number

RULE = "statements"
FEWEST = 100
"""Of fewer statements those that begin and end a transaction are a part."""
DEARER_MAX = 1.5
"""A statement of one operation costs up to about so much more than one of another."""


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each warm distance of a benchmark without a cost ladder."""
    if seen.whole.words.ladder.steps:
        return
    for far in seen.far():
        own, other = (counts_of(figure, 1) for figure in (far.slow, far.fast))
        if far.row.temperature == "cold" or own is None or other is None or not own.statements:
            continue
        more = own.statements - (other.statements or 0.0)
        price = _price(seen, far)
        if price is None or far.slow.elapsed_ns is None:
            continue
        whole = over(scaled(price[1], own.statements), far.slow.elapsed_ns)
        each_ns = scaled(price[1], 1 / max(whole.value, 1.0))
        share = over(scaled(each_ns, more), far.ns) if more > 0 else None
        if share is None or share.low is None or share.low <= MOST:
            continue
        if whole.value <= DEARER_MAX:
            yield _finding(far, (own, other), (price[0], each_ns, price[1]), share)


def _price(seen: Evidence, far: Distance) -> tuple[str, Estimate] | None:
    """The operation whose statements take least, and the time of one there."""
    prices = []
    for row in seen.rows:
        same = (row.rows, row.temperature) == (far.row.rows, far.row.temperature)
        if not same or row.operation.name == far.row.operation.name:
            continue
        for figure in measured(row):
            counts = counts_of(figure, 1) if figure.cell.variant == far.slow.cell.variant else None
            asked = counts.statements if counts and counts.statements else 0.0
            if asked >= FEWEST and figure.elapsed_ns:
                prices.append((row.operation.name, scaled(figure.elapsed_ns, 1 / asked)))
    return min(prices, key=lambda each: each[1].value, default=None)


def _finding(
    far: Distance,
    counts: tuple[Counts, Counts],
    price: tuple[str, Estimate, Estimate],
    share: Estimate,
) -> Finding:
    """`price`: the operation, the time of a statement here, and there."""
    slow, fast = far.names
    asked, beside = (round(one.statements or 0) for one in counts)
    words = f"{said_part(share)} is its {number(asked)} statements"
    operation, each_ns, there_ns = price
    there = f"the {said_ns(there_ns)} that one takes in {operation}, where it takes least"
    is_less = each_ns.value < there_ns.value
    at = f"the {said_ns(each_ns)} that its time leaves each, and not {there}" if is_less else there
    return far.finding(
        RULE,
        "statements",
        brief=words,
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}, which needs"
        f" {number(beside) if beside else 'none'} for the same work: {words}, at {at}.",
        numbers=(
            Number("difference", far.ns, "ns"),
            Number("statements", share, "share"),
        ),
        share=share,
    )
