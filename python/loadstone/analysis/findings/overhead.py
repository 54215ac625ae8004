"""A figure that is largely the instrument's or the client's, and not the engine's.

*Harness*: the same operation on an engine that answers at once takes more than a tenth of the
figure. *Client*: for a server, the calling process computes for more than half of the time. Both
make every ratio to the figure smaller than that of the engines.

False where the harness costs less beside a real engine than beside one that answers at once; the
client's work includes the engine's own driver, which a program pays, too.
"""

from collections.abc import Iterator
from math import log

from loadstone.analysis.cell_summary import OVERHEAD_SHARE_MARKED, CellSummary
from loadstone.analysis.findings.distance import in_order, measured
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Number
from loadstone.analysis.findings.said import said_share
from loadstone.analysis.summary import Row
from loadstone.statistics.arithmetic import over
from loadstone.statistics.disturbance import SHORT_NS
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import duration

RULE = "overhead"
CLIENT_SHARE = 0.5


def find(seen: Evidence) -> Iterator[Finding]:
    """Of each cell at most one of the two."""
    for row in seen.rows:
        for figure in measured(row):
            found = _harness(seen, row, figure) or _client(seen, figure)
            if found:
                yield found


def _harness(seen: Evidence, row: Row, figure: CellSummary) -> Finding | None:
    clients = seen.whole.clients
    own = clients.get(figure.cell.variant)
    empty = next((each for v, each in row.overheads.items() if clients.get(v) == own), None)
    if empty is None or not in_order(empty):
        return None
    if empty.elapsed_ns is None or figure.elapsed_ns is None:
        return None
    share = over(empty.elapsed_ns, figure.elapsed_ns)
    if share.low is None or share.low <= OVERHEAD_SHARE_MARKED:
        return None
    words = f"{said_share(share)} of its time is the harness overhead"
    more = f" The same on an engine that answers at once takes {duration(empty.elapsed_ns.value)}."
    return _finding(seen, figure, "harness", words, share, more, empty.cell.key)


def _client(seen: Evidence, figure: CellSummary) -> Finding | None:
    if figure.server_cpu_share is None or figure.client_cpu_share is None:
        return None
    # Reading the counters is charged to the client.
    if figure.elapsed_ns is None or figure.elapsed_ns.value < SHORT_NS:
        return None
    shares = sorted((s.client_cpu_ns or 0) / s.elapsed_ns for s in figure.samples)
    if shares[0] <= CLIENT_SHARE:
        return None
    share = Estimate(figure.client_cpu_share, shares[0], shares[-1])
    words = f"its client computes for {said_share(share)} of the time"
    more = " The figure is the client's as much as the server's."
    return _finding(seen, figure, "client", words, share, more)


def _finding(
    seen: Evidence,
    figure: CellSummary,
    kind: str,
    words: str,
    share: Estimate,
    more: str,
    *cells: str,
) -> Finding:
    name = seen.whole.labels[figure.cell.variant]
    return seen.finding(
        RULE,
        kind,
        figure,
        brief=f"{name}: {words}",
        sentence=f"Of {name}, {words}.{more}" if kind == "harness" else f"{name}: {words}.{more}",
        numbers=(Number(kind, share, "share"),),
        beside=cells,
        weight=-log(max(1 - min(share.value, 0.99), 0.01)),
    )
