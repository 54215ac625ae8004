"""Statements of an engine whose calls no rung of a cost ladder prices: the slowest asks its engine
by so many of them, the fastest by fewer or by none.

Their price is the least time of a statement of the same variant in another operation of the same
scale and temperature, of those with a hundred statements or more. Named where those that the
fastest does not need, at that price, are certainly more than half of the difference. Silent where
they would take longer than the slowest's time: then they were cheaper there.

False where the statements of that other operation do work that these do not.
"""

from collections.abc import Iterator

from loadstone.analysis.calls import Counts, counts_of
from loadstone.analysis.findings.distance import Distance, measured
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, Finding, Number
from loadstone.analysis.findings.said import said_ns, said_part, said_ratio
from loadstone.analysis.ladder import WHOLE_SHARE_MAX
from loadstone.statistics.arithmetic import over, scaled
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import number

RULE = "statements"
FEWEST = 100
"""Of fewer statements those that begin and end a transaction are a part."""


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
        share = over(scaled(price[1], more), far.ns) if more > 0 else None
        if share is None or share.low is None or share.low <= MOST:
            continue
        if whole.value <= WHOLE_SHARE_MAX:
            yield _finding(far, (own, other), price, share)


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
    far: Distance, counts: tuple[Counts, Counts], price: tuple[str, Estimate], share: Estimate
) -> Finding:
    slow, fast = far.names
    asked, beside = (round(one.statements or 0) for one in counts)
    words = f"{said_part(share)} is its {number(asked)} statements"
    return far.finding(
        RULE,
        "statements",
        brief=words,
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}, which needs"
        f" {number(beside) if beside else 'none'} for the same work: {words}, at the"
        f" {said_ns(price[1])} that one takes in {price[0]}, where it takes least.",
        numbers=(
            Number("difference", far.ns, "ns"),
            Number("statements", share, "share"),
        ),
        share=share,
    )
