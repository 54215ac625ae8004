"""A row's two variants at the other scales of a run, where its operation has more data or less."""

import re

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import Distance
from loadstone.analysis.findings.evidence import Evidence


def scales_of(seen: Evidence, far: Distance) -> list[int]:
    """The scales at a row's temperature at which both variants are in order, the smallest first. Of
    those with equally large relations, as a text of a fixed size is at any scale, the first: what
    is the same there says nothing of growth."""
    scales = sorted({row.rows for row in seen.rows if row.temperature == far.row.temperature})
    kept: dict[tuple[tuple[str, int], ...] | int, int] = {}
    for rows in scales:
        if pair_at(seen, far, rows):
            kept.setdefault(_sizes(seen, far, rows) or rows, rows)
    return list(kept.values())


def _sizes(seen: Evidence, far: Distance, rows: int) -> tuple[tuple[str, int], ...]:
    """The tuples of each relation that the operation names, at a scale; empty where the record does
    not show them."""
    named = set(re.findall(r"\w+", far.row.operation.quel))
    loads = (load for load in seen.whole.run.loads if load.rows == rows)
    return tuple(sorted({(load.relation, load.tuples) for load in loads if load.relation in named}))


def pair_at(seen: Evidence, far: Distance, rows: int) -> tuple[CellSummary, CellSummary] | None:
    """The slow and the fast variant at a scale; None unless both are in order there."""
    row = next(
        (
            row
            for row in seen.rows
            if (row.operation.name, row.rows, row.temperature)
            == (far.row.operation.name, rows, far.row.temperature)
        ),
        None,
    )
    return far.pair_in(row) if row else None
