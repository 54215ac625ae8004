"""The fastest of a row works on several processors, the slowest on one.

The share on ln is that of the processors kept busy in the ratio: ln(busy fast / busy slow) over
ln(ratio). Named where it is at least half in every sample.

False where the further processors do other work than the statement's, or wait in a loop.
"""

from collections.abc import Iterator
from math import log

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Number
from loadstone.analysis.findings.said import said_ratio, said_share
from loadstone.analysis.findings.spent import several
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import digits

RULE = "processors"
HALF = 0.5


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each distance."""
    for far in seen.far():
        if several(far.fast) and not several(far.slow):
            found = _of(far)
            if found:
                yield found


def _busy(figure: CellSummary) -> Estimate | None:
    """The processors kept busy: of all samples together, with the least and the most of a
    sample."""
    reported = [
        (sample.client_cpu_ns + (sample.server_cpu_ns or 0), sample.elapsed_ns)
        for sample in figure.samples
        if sample.client_cpu_ns is not None
    ]
    if not reported or len(reported) < len(figure.samples):
        return None
    each = [worked / elapsed for worked, elapsed in reported]
    whole = sum(worked for worked, _ in reported) / sum(elapsed for _, elapsed in reported)
    return Estimate(whole, min(each), max(each))


def _of(far: Distance) -> Finding | None:
    busy, one = _busy(far.fast), _busy(far.slow)
    if busy is None or one is None or not busy.low or not one.high or not far.ratio.high:
        return None
    beside = max(one.value, 1.0)
    span = log(far.ratio.value)
    least = log(max(busy.low / max(one.high, 1.0), 1.0)) / log(far.ratio.high)
    share = Estimate(log(max(busy.value / beside, 1.0)) / span, least,
                     log(max((busy.high or busy.value) / beside, 1.0)) / span)  # fmt: skip
    if least < HALF:
        return None
    slow, fast = far.names
    words = f"{fast} keeps {digits(busy.value, 2)} processors busy, {slow} one"
    return far.finding(
        RULE,
        "several processors",
        brief=f"{words}: {said_share(share)} of the ratio (on ln)",
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}: {words}, which is"
        f" {said_share(share)} of the ratio (on ln).",
        numbers=(
            Number("processors busy", busy, "processors"),
            Number("share of ln(ratio)", share, "share"),
        ),
        share=share,
    )
