"""The time budgets on the page: a stacked bar for each engine and operation, and in the panel that
opens from a row's figure the tables behind it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadstone.analysis.budget import (
    ASLEEP,
    COMPONENT,
    KERNEL,
    RESIDUAL,
    WAITING,
    BudgetRow,
    CellBudget,
    OperationBudget,
    budgets,
)
from loadstone.analysis.budget_overview import overviews
from loadstone.analysis.summary import Summary
from loadstone.plan.statement_ladder import UNCLASSIFIED
from loadstone.report.axis import stacked
from loadstone.report.budget_words import BudgetTables, budget_tables, overview_rows, quality_line
from loadstone.report.ladder_words import LadderCell, LadderTable
from loadstone.text.numbers import duration, percent

BAR_PX = 130
KINDS = {
    COMPONENT: "the engine, its driver and libraries, by component",
    KERNEL: "the kernel",
    UNCLASSIFIED: "functions that no component claims",
    WAITING: "waiting for a CPU",
    ASLEEP: "asleep: device, lock, wake-up",
    RESIDUAL: "beyond the samples",
}
"""Kinds of parts in the order of a bar, with their meanings."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar, in pixels."""

    kind: str
    at: float
    width: float
    title: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One engine's time for one statement; `doubt` where it does not add up."""

    variant: str
    elapsed: str
    segments: tuple[Segment, ...]
    doubt: str


@dataclass(frozen=True, slots=True)
class BarRow:
    """An operation; None for a variant without a budget."""

    operation: OperationBudget
    bars: tuple[Bar | None, ...]


@dataclass(frozen=True, slots=True)
class BudgetView:
    """One scale and temperature."""

    rows: int
    temperature: str
    variants: tuple[str, ...]
    overview: LadderTable
    operations: tuple[BarRow, ...]


@dataclass(frozen=True, slots=True)
class BudgetPanel:
    """A panel's figures of one temperature."""

    temperature: str
    tables: BudgetTables


def budget_context(summary: Summary) -> dict[str, object]:
    """The values of the page's templates."""
    found = budgets(summary.run)
    panels: dict[tuple[int, str], list[BudgetPanel]] = {}
    for each in found:
        if any(cell.rows for cell in each.cells):
            panel = BudgetPanel(each.temperature, budget_tables(each, summary.labels))
            panels.setdefault((each.rows, each.operation.name), []).append(panel)
    return {
        "budget_views": tuple(_views(summary, found)),
        "budget_panels": panels,
        "budget_quality": quality_line(found),
        "budget_kinds": KINDS,
        "bar_px": BAR_PX,
    }


def _views(summary: Summary, found: Sequence[OperationBudget]) -> Iterable[BudgetView]:
    for view in overviews(found):
        own = [
            each for each in found if (each.rows, each.temperature) == (view.rows, view.temperature)
        ]
        names = tuple(summary.labels[variant] for variant in view.variants)
        rows = tuple(
            (name, tuple(LadderCell(share) for share in shares))
            for name, shares in overview_rows(view)
        )
        yield BudgetView(
            view.rows,
            view.temperature,
            view.variants,
            LadderTable("Mean of all operations", ("share of the time", *names), rows),
            tuple(BarRow(each, tuple(_bars(each, view.variants))) for each in own),
        )


def _bars(found: OperationBudget, variants: Sequence[str]) -> Iterable[Bar | None]:
    cells: Mapping[str, CellBudget] = {cell.cell.variant: cell for cell in found.cells}
    for variant in variants:
        cell = cells.get(variant)
        yield _bar(cell) if cell is not None and cell.rows else None


def _bar(cell: CellBudget) -> Bar:
    """Negative parts (threads at work together, chance) have no place in a bar: the others are
    drawn to their sum."""
    order = list(KINDS)
    parts = sorted(
        (row for row in cell.rows if row.share > 0), key=lambda row: order.index(_kind(row))
    )
    segments = []
    for row, part in zip(parts, stacked([row.share for row in parts], BAR_PX), strict=True):
        if part is not None:
            title = f"{row.name}: {percent(row.share)}, {duration(row.elapsed_ns)}"
            segments.append(Segment(_kind(row), *part, title))
    doubt = "" if cell.closes is not False else "does not add up"
    if cell.closes is None:
        doubt = "not all was seen"
    return Bar(cell.cell.variant, duration(cell.elapsed_ns), tuple(segments), doubt)


def _kind(row: BudgetRow) -> str:
    return UNCLASSIFIED if row.name == UNCLASSIFIED else row.kind
