"""The time budgets in the JSON report."""

import dataclasses
from typing import Any

from loadstone.analysis.budget import CellBudget, budgets
from loadstone.record.model import Run


def budget_objects(run: Run) -> list[dict[str, Any]]:
    """An object for each cell that has a budget, in the plan's order."""
    return [_object(cell) for operation in budgets(run) for cell in operation.cells]


def _object(cell: CellBudget) -> dict[str, Any]:
    reported = dataclasses.asdict(cell)
    named = reported.pop("cell")
    kept = {name: named[name] for name in ("operation", "variant", "rows", "temperature")}
    rungs = [
        figure | {"is_measurable": rung.is_measurable}
        for figure, rung in zip(reported["ladder"], cell.ladder, strict=True)
    ]
    parts = [
        row | {"functions": [{"name": name, "share": share} for name, share in row["functions"]]}
        for row in reported["rows"]
    ]
    del reported["rows"]  # the cell's scale has that name
    return kept | reported | {"parts": parts, "ladder": rungs}
