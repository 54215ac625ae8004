"""The cost ladder that a benchmark declares: the cost of a call, rung by rung, the components of
its wholes, and the calls beside them.

A rung is the median of a measure divided by the number of its repetitions of one thing. Its cost
beyond the rung below is the difference of the two. They were measured in the same rounds, but their
correlation is not used: the bounds are the widest possible (`arithmetic`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadstone.analysis.calls import Counts, counts_of, way_of
from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.components import Account, Measured, account_of, each_of
from loadstone.analysis.summary import Summary, View
from loadstone.plan.presentation import CALLS, CostLadder, Step
from loadstone.statistics.arithmetic import less, over, scaled, total
from loadstone.statistics.estimate import Estimate

EXPLAINED_SHARE = 0.8
LARGER_SHARE = 0.5
WHOLE_SHARE_MAX = 1.2
"""Calls that would take longer than the whole were cheaper there than on the rung."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A step on one variant. `each_ns` is None if the cell has no usable time; `beyond_ns` is over
    the nearest rung below that has one, called `below`."""

    step: Step
    status: str
    reason: str
    each_ns: Estimate | None = None
    beyond_ns: Estimate | None = None
    below: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """The argument of OO1's paper (section 8): calls, times the cost of a call, beside the whole.

    `calls` were counted while the whole was measured: `unit` names statements sent to the engine
    or, without any, calls of the client. `rung` is the highest of those without data that does the
    counted thing.
    """

    whole: str
    calls: int
    unit: str
    rung: Step
    each_ns: Estimate
    whole_ns: Estimate
    share: Estimate

    @property
    def grade(self) -> str:
        """The claim that the share, and its low bound, allow."""
        low = self.share.value if self.share.low is None else self.share.low
        if self.share.value > WHOLE_SHARE_MAX:
            return "so one of them cost less there than this rung, which explains nothing"
        if low >= EXPLAINED_SHARE:
            return "its calls explain it"
        return "mostly calls" if self.share.value >= LARGER_SHARE else "calls do not explain it"


@dataclass(frozen=True, slots=True)
class Ladder:
    """One variant's, at one scale and temperature."""

    variant: str
    client: str
    rows: int
    temperature: str
    rungs: tuple[Rung, ...]
    accounts: tuple[Account, ...]
    arguments: tuple[Argument, ...]
    unclosed: tuple[tuple[str, str], ...]
    """(whole, why it is not taken apart)."""

    @property
    def empty_call_ns(self) -> Estimate | None:
        """The cost of a call that does nothing; None where it was not measured."""
        return next((rung.each_ns for rung in self.rungs if rung.step.prices == CALLS), None)


def empty_calls_ns(found: Iterable[Ladder]) -> Mapping[str, float]:
    """Client -> the least cost of a call that does nothing, where it was measured."""
    least: dict[str, float] = {}
    for ladder in found:
        if ladder.empty_call_ns is not None:
            cost_ns = ladder.empty_call_ns.value
            least[ladder.client] = min(least.get(ladder.client, cost_ns), cost_ns)
    return least


def ladders(summary: Summary) -> tuple[Ladder, ...]:
    """A ladder for every scale and competitor, warm; none if a benchmark declares no rungs, or a
    run measured none."""
    found = []
    for view in summary.views:
        for variant in summary.columns if view.temperature == "warm" else ():
            ladder = _ladder(summary, view, variant)
            if any(rung.each_ns for rung in ladder.rungs):
                found.append(ladder)
    return tuple(found)


def _ladder(summary: Summary, view: View, variant: str) -> Ladder:
    declared = summary.words.ladder
    figures = {row.operation.name: row.figures.get(variant) for row in view.all_rows}
    rungs = _rungs(declared.steps, figures)
    each = {rung.step.operation: rung.each_ns for rung in rungs if rung.each_ns}
    counts = {
        step.operation: counts
        for step in declared.steps
        if (counts := counts_of(figures.get(step.operation), step.count))
    }
    measured = Measured(figures, each, counts, way_of(summary, variant))
    tried = [account_of(whole, declared, measured) for whole in declared.wholes]
    return Ladder(
        variant,
        summary.clients.get(variant, ""),
        view.rows,
        view.temperature,
        rungs,
        tuple(found for found in tried if found and found.closes),
        _arguments(declared, rungs, each, counts),
        tuple((found.name, found.unclosed) for found in tried if found and not found.closes),
    )


def _rungs(steps: Sequence[Step], figures: Mapping[str, CellSummary | None]) -> tuple[Rung, ...]:
    rungs: list[Rung] = []
    below: Rung | None = None
    for step in steps:
        figure = figures.get(step.operation)
        each = each_of(figure, step.count)
        status, reason = (figure.status, figure.reason) if figure else ("absent", "not planned")
        if each is None:
            rungs.append(Rung(step, status, reason))
            continue
        if below is None or below.each_ns is None:
            rungs.append(Rung(step, status, reason, each, each))
        else:
            beyond = less(each, below.each_ns)
            rungs.append(Rung(step, status, reason, each, beyond, below.step.name))
        below = rungs[-1]
    return tuple(rungs)


def _arguments(
    declared: CostLadder,
    rungs: Sequence[Rung],
    each: Mapping[str, Estimate],
    counts: Mapping[str, Counts],
) -> tuple[Argument, ...]:
    """One for each of the declared totals that was measured whole, if the first was; none in a
    record without counts."""
    known = [
        reported
        for reported in declared.totals
        if reported.operations
        and all(name in each and name in counts for name in reported.operations)
    ]
    if not known or known[0] != declared.totals[0]:
        return ()
    spoken = counts[known[0].operations[0]].statements is not None
    # A stand-in for a statement is not what an engine without statements is asked.
    prices = [rung for rung in rungs if rung.step.prices and (spoken or rung.step.prices == CALLS)]
    below = [(rung.step, rung.each_ns) for rung in prices if rung.each_ns]
    if not below:
        return ()
    step, cost = below[-1]
    unit = "statements" if spoken else "calls"
    things = {step.operation: step.count for step in declared.steps}
    found = []
    for reported in known:
        whole = total(scaled(each[one], things[one]) for one in reported.operations)
        number = round(sum(_number(counts[one], unit) * things[one] for one in reported.operations))
        share = over(scaled(cost, number), whole)
        found.append(Argument(reported.name, number, unit, step, cost, whole, share))
    return tuple(found)


def _number(counts: Counts, unit: str) -> float:
    return (counts.statements or 0.0) if unit == "statements" else counts.calls
