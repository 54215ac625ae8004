"""A/A noise: by how much the same differs that was measured twice, interleaved. Rule 6 of the
method.

Of the cells of a variant and of its A/A control only those count that may be believed: what
contradicts itself is invalid, and is counted as that.
"""

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
        """By which share of the faster one the slower one took longer."""
        return max(self.ratio.value, 1 / self.ratio.value) - 1

    @property
    def certain(self) -> float:
        """The part of the difference that its interval leaves no doubt about: how far the nearer
        bound lies from 1. 0 where the interval holds 1, or where there is none."""
        low, high = self.ratio.low, self.ratio.high
        if low is None or high is None:
            return 0.0
        return max(low, 1 / high, 1.0) - 1


@dataclass(frozen=True, slots=True)
class Noise:
    """The differences of all A/A cells of a run, as shares. `certain` is the median of
    those parts of them that are no chance: a bias between two processes of the same."""

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
    """What the A/A controls of a run say together; None where it has none."""
    cells = aa_cells(run)
    if not cells:
        return None
    differences = [cell.difference for cell in cells]
    certain = median(cell.certain for cell in cells)
    return Noise(median(differences), max(differences), certain, len(cells))
