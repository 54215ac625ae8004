"""The share of a page each part that may take, so that a page of any record stays short."""

from collections.abc import Iterable, Sequence

from markupsafe import escape

from loadstone.record.model import CellResult
from loadstone.studies.plan_shape import PlanLine

TEXT_BUDGET_BYTES = 700_000
"""Of statements and plans on one page, which must stay under 2 MB."""
TEXT_CAPS = (12_000, 6_000, 3_000, 1_500, 700, 300, 120)
DOTS_BUDGET = 12_000
"""Samples that are drawn on one page; each takes some 40 bytes of it."""
DOT_CAPS = (1_000, 500, 200, 100, 50, 20, 10)
"""Of one cell: the first of them at which all cells are within the budget."""
PLAN_BUDGET_BYTES = 900_000
PLAN_LETTERS = (12_000, 6_000, 3_000, 1_500, 700, 300)
"""Of each plan, the first with which all are within the budget."""


def text_cap(results: Iterable[CellResult], chapters: int) -> int:
    """The longest cut of a text at which all texts together fit their chapter of the page."""
    # A panel shows each variant's statement once, whatever the temperature.
    cells = {(r.cell.operation, r.cell.rows, r.cell.variant): r for r in results if r.statements}
    lengths = [
        (len(text), len(escape(text).encode()))
        for result in cells.values()
        for statement in result.statements[:1]
        for text in (statement.text, statement.plan)
        if text
    ]
    for cap in TEXT_CAPS:
        cut = sum(whole * min(1.0, cap / count) for count, whole in lengths)
        if cut <= TEXT_BUDGET_BYTES / chapters:
            return cap
    return TEXT_CAPS[-1]


def dots_cap(results: Iterable[CellResult], chapters: int) -> int:
    """The most samples of a cell that are drawn, so that all cells' together fit their chapter."""
    counts = [len(result.samples) for result in results]
    for cap in DOT_CAPS:
        if sum(min(count, cap) for count in counts) <= DOTS_BUDGET / chapters:
            return cap
    return DOT_CAPS[-1]


def plan_letters(plans: Sequence[Sequence[PlanLine]]) -> int:
    """The letters of each plan that are shown."""
    sizes = [
        sum(len(escape(line.one + line.other).encode()) / 2 + 1 for line in plan) for plan in plans
    ]
    for cap in PLAN_LETTERS:
        if sum(2 * min(size, 2 * cap) for size in sizes) <= PLAN_BUDGET_BYTES:
            return cap
    return PLAN_LETTERS[-1]


def plan_lines(plan: Sequence[PlanLine], letters: int) -> int:
    """The number of a plan's first lines that have so many letters at the most."""
    spent = 0
    for place, line in enumerate(plan):
        spent += max(len(line.one), len(line.other)) + 1
        if spent > letters:
            return place
    return len(plan)
