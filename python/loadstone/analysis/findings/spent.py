"""The time that the slowest of a row spends and the fastest does not.

Each sample has its elapsed time and the processor time of client and server. What is left is
*waiting*: no processor worked for it. A component is named where, with certainty, it is more than
half of the difference; the commit, which a client measures by itself, before the others.

False where the counters miss a process that works for the engine, or add one that works for
another statement. Client and server may compute at the same time: then waiting is longer than said.
Silent where an engine uses several processors.
"""

from collections.abc import Iterator

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, Finding, Grade, Number
from loadstone.analysis.findings.said import said_ns, said_part, said_ratio
from loadstone.analysis.plans.difference import PlanDifference
from loadstone.record.model import Sample
from loadstone.statistics.disturbance import BESIDE, COUNTED_NS_MIN, SHORT_NS
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_part import Component, part_of_difference
from loadstone.text.numbers import size

RULE = "spent"
PAIRS, OTHER_PLAN = "a join of each pair of rows", "another plan"


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one finding of each distance."""
    for far in seen.far():
        found = _commit(far) or _waiting(far) or _computing(seen, far)
        if found:
            yield found


def waiting_ns(sample: Sample) -> float | None:
    """The time in which neither client nor server computed, at least."""
    if sample.client_cpu_ns is None:
        return None
    worked_ns = sample.client_cpu_ns + (sample.server_cpu_ns or 0)
    return float(max(0, sample.elapsed_ns - worked_ns))


def computing_ns(sample: Sample) -> float | None:
    """The rest: some processor worked."""
    waited_ns = waiting_ns(sample)
    return None if waited_ns is None else sample.elapsed_ns - waited_ns


def commit_ns(sample: Sample) -> float | None:
    """The commit's part, as the client measured it."""
    return None if sample.commit_ns is None else float(sample.commit_ns)


def _most(far: Distance, component: Component) -> Estimate | None:
    """The share of the difference, if it is certainly most of it."""
    share = part_of_difference(far.slow.samples, far.fast.samples, component)
    return share if share and share.low is not None and share.low > MOST else None


def _counted(far: Distance) -> bool:
    """Whether processor time can be held against the difference."""
    return far.ns.value >= COUNTED_NS_MIN and not any(map(several, (far.slow, far.fast)))


def several(figure: CellSummary) -> bool:
    """Whether it computed on several processors at the same time; of a short statement, which
    counts mostly the reading of its counters, no."""
    if figure.elapsed_ns is None or figure.elapsed_ns.value < SHORT_NS:
        return False
    return (figure.client_cpu_share or 0.0) + (figure.server_cpu_share or 0.0) > 1 + BESIDE


def _commit(far: Distance) -> Finding | None:
    share = _most(far, commit_ns)
    if share is None:
        return None
    return _finding(far, "commit", "its commit", share, Grade.CONSISTENT)


def _waiting(far: Distance) -> Finding | None:
    share = _most(far, waiting_ns) if _counted(far) else None
    if share is None:
        return None
    more = ""
    written, beside = far.slow.written_bytes, far.fast.written_bytes
    if written and beside is not None:
        more = f" It writes {size(written)}, {far.names[1]} {size(beside)} (medians)."
    words = "waiting, with no processor at work for it"
    return _finding(far, "waiting", words, share, Grade.CONSISTENT, more)


def _computing(seen: Evidence, far: Distance) -> Finding | None:
    """A place; consistent with the plan where that differs as `by_plan` demands."""
    share = _most(far, computing_ns) if _counted(far) else None
    if share is None:
        return None
    plans = seen.plans_apart(far.slow, far.fast)
    words, more = "computing", f" The record does not show what is computed; {plans.words()}."
    if plans.apart:
        words = f"computing; {plans.words(*far.names)}"
        more = " The record does not show which of that takes the time."
    if seen.budget(far.slow) is None:
        more += " A run with --budget shows which component computes, and on which rung."
    grade, kind = by_plan(plans)
    return _finding(far, kind, words, share, grade, more)


def by_plan(plans: PlanDifference) -> tuple[Grade, str]:
    """Grade and mechanism of a difference in computing: consistent with the plan where only the
    slowest looks at each pair of rows, or where one engine plans otherwise. Else engines differ in
    more than their plans."""
    if plans.pairs:
        return Grade.CONSISTENT, PAIRS
    if plans.is_another_way:
        return Grade.CONSISTENT, OTHER_PLAN
    return Grade.UNEXPLAINED, "computing"


def _finding(
    far: Distance, kind: str, words: str, share: Estimate, grade: Grade, more: str = ""
) -> Finding:
    slow, fast = far.names
    return far.finding(
        RULE,
        kind,
        grade=grade,
        brief=f"{said_part(share)} is {words}",
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}, {said_ns(far.ns)}"
        f" longer: {said_part(share, 'that')} is {words}.{more}",
        numbers=(
            Number("difference", far.ns, "ns"),
            Number(kind, share, "share"),
        ),
        share=share,
    )
