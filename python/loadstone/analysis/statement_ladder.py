"""The ladder of a cell's statement: each rung's time, and by how much it is beyond the rung below.

A rung's time is that of its blocks; what it adds is the difference of two rungs, so that the
differences add up to the statement's time. Its interval is that of the differences within blocks. A
rung that was not measured is passed over: the next one stands for what both add.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from loadstone.plan.statement_ladder import COUNTED, StatementRung, rungs_of
from loadstone.record.budget import Budget
from loadstone.statistics.estimate import CONFIDENCE, Estimate, centre


@dataclass(frozen=True, slots=True)
class RungFigure:
    """A rung of one statement. `each_ns` is None where it was not measured, for the `reason`;
    `beyond_ns` is over the nearest rung below that was, called `below`, and `attributed` what is
    added since that one. `same_plan`: whether the engine finds the rows by the plan of the
    statement itself; None where that is not known."""

    rung: str
    name: str
    attributed: str
    reason: str = ""
    each_ns: Estimate | None = None
    beyond_ns: Estimate | None = None
    below: str = ""
    same_plan: bool | None = None

    @property
    def is_measurable(self) -> bool:
        """Whether it certainly takes longer than the rung below: else the difference is noise, or
        the two differ in more than what is added."""
        found = self.beyond_ns
        if found is None:
            return False
        return (found.value if found.low is None else found.low) > 0


def climbed(
    budget: Budget,
    destination: str,
    operation: str,
    alike: Mapping[str, bool | None],
    without: Collection[str] = (),
) -> tuple[RungFigure, ...]:
    """The ladder that was measured; empty for an engine without statements. `alike`: whether a
    rung's plan is the statement's. `without`: rungs to pass over, as if they had not been
    measured."""
    reasons = {each.rung: each.reason for each in budget.rungs if each.reason}
    declared = rungs_of(destination, operation)
    names = {block.rung for block in budget.blocks}.difference(without)
    found: list[RungFigure] = []
    below: StatementRung | None = None
    passed: list[str] = []
    for each in declared:
        rung, step = each.rung, each.step
        if rung not in names:
            found.append(RungFigure(rung, step.name, step.attributed, reasons.get(rung, "")))
            passed.append(step.attributed)
            continue
        same = alike.get(rung) if rung == COUNTED else None
        each_ns = _of(budget, rung)
        beyond = each_ns if below is None else _beyond(budget, below.rung, rung)
        reported = "" if below is None else below.step.name
        added = ", and ".join((*passed, step.attributed))
        found.append(RungFigure(rung, step.name, added, "", each_ns, beyond, reported, same))
        below, passed = each, []
    return tuple(found) if below is not None else ()


def observations(budget: Budget, rungs: Sequence[str]) -> list[dict[str, float]]:
    """The blocks that have all of these rungs: rung -> its median time in ns."""
    blocks: dict[int, dict[str, float]] = defaultdict(dict)
    for one in budget.blocks:
        blocks[one.block][one.rung] = float(one.elapsed_ns)
    return [block for block in blocks.values() if set(rungs) <= block.keys()]


def _of(budget: Budget, rung: str) -> Estimate:
    return centre([block[rung] for block in observations(budget, (rung,))], CONFIDENCE)


def _beyond(budget: Budget, below: str, rung: str) -> Estimate:
    """The difference of two rungs' times, with the interval of the differences within blocks, at
    least as wide as to hold it."""
    value = _of(budget, rung).value - _of(budget, below).value
    both = observations(budget, (below, rung))
    found = centre([block[rung] - block[below] for block in both], CONFIDENCE) if both else None
    if found is None or found.low is None or found.high is None:
        return Estimate(value)
    return Estimate(value, min(found.low, value), max(found.high, value))
