"""The evidence that the rules read: a record's summary, its results, and the distance in each
row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from loadstone.analysis.budget import CellBudget, budgets
from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import Distance, distance, usable_rows
from loadstone.analysis.findings.finding import Finding, Grade, Number, terms_of
from loadstone.analysis.plans.difference import NO_PLANS, PlanDifference, plan_difference
from loadstone.analysis.summary import Row, Summary
from loadstone.record.model import CellResult, StatementText


@dataclass(frozen=True)
class Evidence:
    """A record as findings see it; everything is computed once."""

    whole: Summary

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Those that compare engines, in the paper's order."""
        return tuple(usable_rows(self.whole))

    @cached_property
    def distances(self) -> Mapping[tuple[str, int, str], Distance]:
        """(operation, scale, temperature) -> distance, of the rows that have one. None in a study:
        its slowest combination of switches beside its fastest is no question that anybody has, and
        the effect of each switch answers why."""
        if self.whole.run.plan.study is not None:
            return {}
        found = ((row, distance(self.whole, row)) for row in self.rows)
        return {(row.operation.name, row.rows, row.temperature): far for row, far in found if far}

    @cached_property
    def results(self) -> Mapping[str, CellResult]:
        """By the key of the cell."""
        return {result.cell.key: result for result in self.whole.run.results}

    def statements(self, figure: CellSummary) -> tuple[StatementText, ...]:
        """Those of a cell; empty for a program's."""
        result = self.results.get(figure.cell.key)
        return result.statements if result else ()

    def plans_apart(self, one: CellSummary, other: CellSummary) -> PlanDifference:
        """What differs between the plans of two cells."""
        first, second = (self.results.get(figure.cell.key) for figure in (one, other))
        return plan_difference(first, second) if first and second else NO_PLANS

    def budget(self, figure: CellSummary) -> CellBudget | None:
        """The time budget of a cell; None without one."""
        return self.budgets.get(figure.cell.key)

    @cached_property
    def budgets(self) -> Mapping[str, CellBudget]:
        """By the key of the cell, of those that have one."""
        return {cell.cell.key: cell for one in budgets(self.whole.run) for cell in one.cells}

    def far(self) -> Iterator[Distance]:
        """Every distance, in the paper's order."""
        yield from self.distances.values()

    def finding(
        self,
        rule: str,
        kind: str,
        figure: CellSummary,
        *,
        brief: str,
        sentence: str,
        numbers: tuple[Number, ...],
        weight: float,
        grade: Grade = Grade.CONSISTENT,
        beside: tuple[str, ...] = (),
    ) -> Finding:
        """A rule's finding on one cell alone; `beside` are others that show it."""
        cell = figure.cell
        return Finding(
            rule=rule,
            kind=kind,
            grade=grade,
            operation=cell.operation,
            rows=cell.rows,
            temperature=cell.temperature,
            variant=cell.variant,
            against="",
            brief=brief,
            sentence=sentence,
            numbers=numbers,
            cells=(cell.key, *beside),
            terms=terms_of(self.whole.labels, [figure]),
            weight=weight,
        )
