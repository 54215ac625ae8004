"""A finding: a graded statement about a cause, its numbers, and the cells that show it.

The grades, and when each would be false, stand in `docs/reference/method.md` (Findings).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from loadstone.analysis.cell_summary import CellSummary
from loadstone.statistics.estimate import Estimate


class Grade(StrEnum):
    """A finding's claim of a cause."""

    EXPLAINED = "explained"
    """A real switch of the engine, read back on both sides, changed nothing else that is known, and
    removed the stated share, in enough processes and beyond the A/A control of the same row."""
    CONSISTENT = "consistent with"
    """The record shows the mechanism at work where the time is spent; or a switch that moves the
    time, where something that explained requires is missing."""
    UNEXPLAINED = "unexplained"
    """Something is seen that the record gives no cause for."""


MOST = 0.5
"""The share of a difference that a cause must account for to be reported as its most."""

TOGETHER_MAX = 3
"""Steps of a ladder, or components, that are named together: of a handful, more would say
little."""

RANK = {Grade.EXPLAINED: 0, Grade.CONSISTENT: 1, Grade.UNEXPLAINED: 2}


@dataclass(frozen=True, slots=True)
class Number:
    """One of a finding's numbers: its name, the figure with its interval, and the unit: `ns`,
    `bytes`, `tuples`, `processors`, `ratio`, `share`, or `exponent`."""

    name: str
    figure: Estimate
    unit: str

    def __post_init__(self) -> None:
        """A part that makes more than the whole difference is all of it."""
        if self.unit == "share":
            object.__setattr__(self, "figure", self.figure.within(0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's statement on one variant at one operation.

    `kind` is the mechanism, by which findings of a rule are put together; `of` the words that such
    a group has in common. `against` is the variant that it is compared with, empty without one.
    `weight` sorts: how much of a ratio, on ln, it is about. `cells` are the keys of those that show
    it, `terms` what of them is not on equal terms. `answers`: whether it says why the slowest of
    its row is slower than the fastest.
    """

    rule: str
    kind: str
    grade: Grade
    operation: str
    rows: int
    temperature: str
    variant: str
    against: str
    brief: str
    sentence: str
    numbers: tuple[Number, ...]
    cells: tuple[str, ...]
    terms: tuple[str, ...] = ()
    weight: float = 0.0
    answers: bool = False

    @property
    def place(self) -> tuple[str, int, str]:
        """Its row: operation, scale, temperature."""
        return self.operation, self.rows, self.temperature


def terms_of(labels: Mapping[str, str], figures: Iterable[CellSummary]) -> tuple[str, ...]:
    """The terms in which these cells differ from their row, each with its variant; what their plans
    did otherwise is a matter of the rules."""
    return tuple(
        f"{labels[figure.cell.variant]} {term.words}"
        for figure in figures
        for term in figure.unequal
        if not term.of_plan
    )
