"""A/A noise: the difference of one variant measured twice, interleaved. Rule 6 of the method.

Only usable cells of a variant and its A/A control count; a pair beyond the limit is invalid, and
counted as that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from loadstone.plan.variant import AA_SUFFIX, is_aa_control
from loadstone.record.model import CellResult, Run
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import paired_ratio


@dataclass(frozen=True, slots=True)
class AACell:
    """A cell measured twice. `ratio` is the A/A control's time over the first one's, of pairs."""

    operation: str
    variant: str
    rows: int
    temperature: str
    ratio: Estimate

    @property
    def difference(self) -> float:
        """The slower one's excess, as a share of the faster one."""
        return max(self.ratio.value, 1 / self.ratio.value) - 1

    @property
    def certain(self) -> float:
        """The certain part of the difference: how far the nearer bound lies from 1. 0 if the
        interval includes 1, or without one."""
        low, high = self.ratio.low, self.ratio.high
        if low is None or high is None:
            return 0.0
        return max(low, 1 / high, 1.0) - 1


@dataclass(frozen=True, slots=True)
class Noise:
    """The A/A differences of a run, as shares. `certain` is the median of their certain parts: a
    bias between two processes of the same engine."""

    median: float
    worst: float
    certain: float
    cells: int


def aa_cells(run: Run) -> tuple[AACell, ...]:
    """Every cell that was measured on a variant and on its A/A control, and is right on both."""
    results = {result.cell.key: result for result in run.results if result.status == "ok"}
    found = []
    for control in results.values():
        first = results.get(_first_key(control)) if is_aa_control(control.cell.variant) else None
        ratio = paired_ratio(control.samples, first.samples) if first else None
        if first and ratio:
            cell = first.cell
            found.append(AACell(cell.operation, cell.variant, cell.rows, cell.temperature, ratio))
    return tuple(found)


def _first_key(control: CellResult) -> str:
    cell = control.cell
    return "|".join(
        (cell.operation, cell.variant.removesuffix(AA_SUFFIX), str(cell.rows), cell.temperature)
    )


def noise_of(run: Run) -> Noise | None:
    """The A/A noise of a run; None without an A/A control."""
    return noise_among(aa_cells(run))


def noise_among(cells: Sequence[AACell]) -> Noise | None:
    """The A/A noise of these cells; None without any."""
    if not cells:
        return None
    differences = [cell.difference for cell in cells]
    certain = median(cell.certain for cell in cells)
    return Noise(median(differences), max(differences), certain, len(cells))
