"""How plans differ in a row whose times may not be compared: they are disturbed, too few, or ended
at a limit. A plan does not depend on what else the machine did.

The finding says how the plans differ, and not that this takes the time. So it is `unexplained`, and
a row shows it only where no other rule answers. Silent where it is not certain that the slowest
takes longer than the fastest, where a plan was not fully read, and on what an engine does not write
into its plans.

False where an engine executes another plan than the one it shows.
"""

from collections.abc import Iterator, Mapping
from math import inf, log
from statistics import median

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Grade, terms_of
from loadstone.analysis.plans.difference import topics_apart
from loadstone.analysis.plans.operators import ReadPlan, read
from loadstone.analysis.summary import Row
from loadstone.plan.role import Role
from loadstone.plan.variant import engine_of
from loadstone.text.numbers import listing

RULE = "plans"
STATUSES = ("ok", "disturbed", "censored")


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one for each row without a distance."""
    if seen.whole.run.plan.study is not None:
        return
    for row in seen.rows:
        if (row.operation.name, row.rows, row.temperature) in seen.distances:
            continue
        found = _of(seen, row)
        if found:
            yield found


def _of(seen: Evidence, row: Row) -> Finding | None:
    plans = {figure: plan for figure in _timed(row) if (plan := _plan(seen, figure))}
    if len(plans) < 2 or any(plan.unread for plan in plans.values()):
        return None
    slow, fast = max(plans, key=_typical_ns), min(plans, key=_typical_ns)
    ratio = _least_ns(slow) / max(_most_ns(fast), 1.0)
    labels = seen.whole.labels
    slowest_first = sorted(plans, key=_typical_ns, reverse=True)
    named = {labels[figure.cell.variant]: plans[figure] for figure in slowest_first}
    apart = [_words(topic, ways) for topic, ways in topics_apart(named).items()]
    names = [labels[figure.cell.variant] for figure in (slow, fast)]
    between = seen.plans_apart(slow, fast)
    if not apart and between.same_engine and between.apart:
        # As by another index of the same table.
        apart = [between.words(*names)]
    if ratio <= 1 or not apart:
        return None
    words = ". ".join(apart)
    return Finding(
        rule=RULE,
        kind="plans",
        grade=Grade.UNEXPLAINED,
        operation=slow.cell.operation,
        rows=slow.cell.rows,
        temperature=slow.cell.temperature,
        variant=slow.cell.variant,
        against=fast.cell.variant,
        brief=words,
        sentence=f"{names[0]} takes longer than {names[1]}; by how much is not certain here, but"
        f" plans do not depend on that, and differ. {words}.",
        numbers=(),
        cells=tuple(figure.cell.key for figure in plans),
        terms=terms_of(labels, plans),
        weight=log(ratio) / 10,
        answers=True,
    )


def _words(topic: str, ways: Mapping[str, list[str]]) -> str:
    """`duckdb joins: blockwise nested loop; sqlite and postgresql: hash join`."""
    (first, names), *others = ways.items()
    said = [f"{listing(names)} {topic}: {first}"]
    return "; ".join(said + [f"{listing(names)}: {kinds}" for kinds, names in others])


def _timed(row: Row) -> list[CellSummary]:
    return [
        figure
        for figure in row.figures.values()
        if figure.role is Role.COMPETITOR and figure.status in STATUSES
        if figure.samples or figure.longer_than_ns
    ]


def _typical_ns(figure: CellSummary) -> float:
    """The median, or the limit at which it was ended."""
    times_ns = [sample.elapsed_ns for sample in figure.samples]
    return float(median(times_ns)) if times_ns else float(figure.longer_than_ns or 0)


def _least_ns(figure: CellSummary) -> float:
    """The lower end of its interval; of few samples the least."""
    if figure.elapsed_ns is not None and figure.elapsed_ns.low is not None:
        return figure.elapsed_ns.low
    times_ns = [sample.elapsed_ns for sample in figure.samples]
    return float(min(times_ns, default=figure.longer_than_ns or 0))


def _most_ns(figure: CellSummary) -> float:
    if figure.elapsed_ns is not None and figure.elapsed_ns.high is not None:
        return figure.elapsed_ns.high
    return float(max((sample.elapsed_ns for sample in figure.samples), default=inf))


def _plan(seen: Evidence, figure: CellSummary) -> ReadPlan | None:
    """Of its first variation; None for an engine that shows none."""
    text = next((each.plan for each in seen.statements(figure) if each.plan), "")
    return read(engine_of(figure.cell.variant), text) if text else None
