"""Cells that their run held against no limits (`--no-limits`), held against them now.

The record keeps the machine's condition whatever the run was told: what it says about a cell is
true of the cell's figure whether or not the run looked. How long the harness alone takes is no
concern here: it lengthens both sides alike, and hides a difference but invents none.
"""

from collections.abc import Mapping
from dataclasses import replace

from loadstone.plan.variant import AA_SUFFIX, parallelism_of
from loadstone.record.model import CellResult, Run
from loadstone.statistics import validity
from loadstone.statistics.disturbance import disturbance

UNLIMITED = "--no-limits"
"""What leaves a run's cells unjudged."""

Cells = Mapping[tuple[str, str, int, str], CellResult]


def judged(run: Run) -> Run:
    """The run with every cell's status and disturbance as its own condition makes them; the run
    itself where it was held against the limits as it went."""
    if run.plan.limits:
        return run
    found = {_place(result): result for result in run.results}
    return replace(run, results=tuple(_judged(result, found) for result in run.results))


def beyond(run: Run, result: CellResult) -> bool:
    """Whether a cell was measured beyond a limit, and nobody looked: it was not measured again, as
    it is in a run with limits, and disturbs no other however wide its interval is drawn."""
    return not run.plan.limits and result.disturbance is not None


def _place(result: CellResult) -> tuple[str, str, int, str]:
    cell = result.cell
    return cell.variant, cell.operation, cell.rows, cell.temperature


def _judged(result: CellResult, found: Cells) -> CellResult:
    if result.status != "ok" or not result.samples or result.disturbance is not None:
        return result
    wrong = validity.of_coldness(
        result.samples, result.answers, result.evidence
    ) or validity.of_work(result.samples)
    if wrong:
        return replace(result, status="invalid", reason=wrong)
    machine = validity.of_machine(result.condition) if result.condition else ""
    apart = _aa_factor(result, found)
    if not machine and apart <= 1:
        return result
    within = disturbance(
        result.samples,
        result.condition if machine else None,
        apart,
        parallelism_of(result.cell.variant),
    )
    nothing = validity.of_disturbance(result.samples, within, apart)
    why = "; ".join(filter(None, (machine, validity.of_aa_control(apart), nothing)))
    status = "invalid" if nothing else "disturbed"
    return replace(result, status=status, reason=why, disturbance=within)


def _aa_factor(result: CellResult, found: Cells) -> float:
    """By which factor a variant and its A/A control differ in this cell beyond what may be; 1
    without."""
    variant, operation, rows, temperature = _place(result)
    first = variant.removesuffix(AA_SUFFIX)
    pair = [found.get((name, operation, rows, temperature)) for name in (first, first + AA_SUFFIX)]
    sides = [one.samples for one in pair if one is not None and one.status == "ok" and one.samples]
    return validity.aa_factor(*sides) if len(sides) == 2 else 1.0
