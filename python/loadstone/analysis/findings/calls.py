"""A client's calls: the statements, waits and calls that a measure counted, at the price of the
rungs of the cost ladder, as a share of the slowest's time.

The figures are those of `analysis/ladder`: an account that closes. The largest part is named where
its interval shows it to be more than half of the whole.

False where a call is cheaper in the measure than on its rung, within what the account may leave.
"""

from collections.abc import Iterator
from math import log

from loadstone.analysis.components import Account
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Grade, Number
from loadstone.analysis.findings.said import said_ns, said_ratio, said_share
from loadstone.analysis.ladder import ladders
from loadstone.statistics.arithmetic import over

RULE = "calls"
MOST = 0.5


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each warm distance whose slowest has an account."""
    declared = {whole.name: whole for whole in seen.whole.words.ladder.wholes}
    known = {
        (ladder.variant, ladder.rows, ladder.temperature, declared[account.name].operation): account
        for ladder in ladders(seen.whole)
        for account in ladder.accounts
    }
    for far in seen.far():
        own = far.row.rows, far.row.temperature, far.row.operation.name
        account = known.get((far.slow.cell.variant, *own))
        found = _of(far, account) if account else None
        if found:
            yield found


def _of(far: Distance, account: Account) -> Finding | None:
    part = max(account.parts, key=lambda each: each.elapsed_ns.value)
    share = over(part.elapsed_ns, account.whole_ns)
    if share.low is None or share.low <= MOST:
        return None
    slow, fast = far.names
    words = f"{said_share(share)} of {account.name} there is {part.name}"
    text = far.row.operation
    return Finding(
        rule=RULE,
        kind=part.name,
        grade=Grade.CONSISTENT,
        operation=text.name,
        rows=far.row.rows,
        temperature=far.row.temperature,
        variant=far.slow.cell.variant,
        against=far.fast.cell.variant,
        brief=words,
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}. Of"
        f" {said_ns(account.whole_ns)} for {account.name}, {said_share(share)} is {part.name}"
        f" ({part.of}).",
        numbers=(
            Number("ratio", far.ratio, "ratio"),
            Number(account.name, account.whole_ns, "ns"),
            Number(part.name, share, "share"),
        ),
        cells=far.cells,
        terms=far.terms,
        weight=log(far.ratio.value) * min(share.value, 1.0),
        answers=True,
    )
