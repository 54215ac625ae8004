"""A row's two variants at the other scales of a run."""

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import Distance, measured
from loadstone.analysis.findings.evidence import Evidence


def scales_of(seen: Evidence, far: Distance) -> list[int]:
    """The scales at a row's temperature, the smallest first."""
    return sorted({row.rows for row in seen.rows if row.temperature == far.row.temperature})


def pair_at(seen: Evidence, far: Distance, rows: int) -> tuple[CellSummary, CellSummary] | None:
    """The slow and the fast variant at another scale, both in order."""
    row = next(
        (
            row
            for row in seen.rows
            if (row.operation.name, row.rows, row.temperature)
            == (far.row.operation.name, rows, far.row.temperature)
        ),
        None,
    )
    found = {figure.cell.variant: figure for figure in measured(row)} if row else {}
    slow, fast = (found.get(figure.cell.variant) for figure in (far.slow, far.fast))
    return (slow, fast) if slow and fast else None
