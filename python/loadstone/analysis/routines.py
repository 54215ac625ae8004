"""A paper's profile by routine beside today's: which share of the time that programs take, outside
the kernel, functions have that do a routine's work.

A variant's share is over all warm operations of a run with time budgets, each once, as the paper
profiled its whole benchmark. Functions that were seldom seen have no name in a record; they count
to the whole and to no routine, so that a share is a lower bound by as much (`unnamed`).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadstone.plan.presentation import Routine
from loadstone.plan.statement_ladder import KERNEL_PREFIX
from loadstone.record.budget import Budget, BudgetPart
from loadstone.record.model import Run


@dataclass(frozen=True, slots=True)
class RoutineShare:
    """A routine: its share of a variant's time in programs, 0 to 1."""

    routine: Routine
    share: float


@dataclass(frozen=True, slots=True)
class VariantProfile:
    """A variant over all its operations. `gain_most`: how many times as fast it would be at most,
    by Amdahl, if these routines took no time."""

    variant: str
    operations: int
    shares: tuple[RoutineShare, ...]
    unnamed: float

    @property
    def share(self) -> float:
        """All routines together."""
        return sum(one.share for one in self.shares)

    @property
    def gain_most(self) -> float:
        """1 / (1 - s)."""
        return 1 / max(1 - self.share, 1e-9)

    @property
    def then_percent(self) -> float:
        """The paper's share of all routines together."""
        return sum(one.routine.share_percent for one in self.shares)

    @property
    def then_gain_most(self) -> float:
        """As `gain_most`, of the paper's share."""
        return 1 / (1 - self.then_percent / 100)


def profiles(run: Run) -> tuple[VariantProfile, ...]:
    """Of each variant with samples, where the record's benchmark declares routines."""
    routines = run.presentation.routines
    found: dict[str, list[Budget]] = defaultdict(list)
    for result in run.results:
        budget = result.budget
        if budget is not None and budget.statements and any(_of_programs(budget)):
            found[result.cell.variant].append(budget)
    if not routines:
        return ()
    return tuple(_profile(variant, own, routines) for variant, own in found.items())


def _profile(variant: str, own: Sequence[Budget], routines: Sequence[Routine]) -> VariantProfile:
    times: dict[str, float] = defaultdict(float)
    whole = unnamed = 0.0
    for budget in own:
        # Of one statement: an operation counts once, however often it ran while it was watched.
        each_ns = budget.period_ns / budget.statements
        for part in _of_programs(budget):
            took_ns = part.samples * each_ns
            whole += took_ns
            if name := _routine_of(part, routines):
                times[name] += took_ns
            elif not part.function:
                unnamed += took_ns
    shares = tuple(RoutineShare(one, times[one.name] / whole) for one in routines)
    return VariantProfile(variant, len(own), shares, unnamed / whole)


def _of_programs(budget: Budget) -> Iterator[BudgetPart]:
    """Functions with their samples, without the kernel's."""
    return (part for part in budget.parts if not part.component.startswith(KERNEL_PREFIX))


def _routine_of(part: BudgetPart, routines: Sequence[Routine]) -> str:
    """The first that claims the function, or its component; empty if none does."""
    for one in routines:
        if part.component in one.components:
            return one.name
        if part.function and any(re.match(pattern, part.function) for pattern in one.functions):
            return one.name
    return ""
