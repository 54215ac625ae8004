"""Judges cells that their run did not judge (`--no-limits`).

The record keeps the machine's condition whatever the run was asked, and it is true of a cell
whether or not the run judged it. The harness overhead is not judged here: it lengthens both sides
alike, so it can hide a difference but not invent one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from loadstone.plan.role import Role
from loadstone.plan.variant import AA_SUFFIX, has_share, parallelism_of
from loadstone.record.model import CellResult, Run, Sample
from loadstone.statistics import validity
from loadstone.statistics.disturbance import disturbance

UNLIMITED = "--no-limits"
"""The option that leaves a run's cells unjudged."""

Cells = Mapping[tuple[str, str, int, str], CellResult]


def judged(run: Run) -> Run:
    """The run with every cell's status and disturbance from its own condition; the run itself if it
    was judged when it was measured."""
    if run.plan.limits:
        return run
    found = {_place(result): result for result in run.results}
    overhead = {
        _place(result)[1:]: result.samples
        for result in run.results
        if run.plan.role_of(result.cell.variant) is Role.OVERHEAD
    }
    judged_now = (_judged(r, found, overhead.get(_place(r)[1:], ())) for r in run.results)
    return replace(run, results=tuple(judged_now))


def _place(result: CellResult) -> tuple[str, str, int, str]:
    cell = result.cell
    return cell.variant, cell.operation, cell.rows, cell.temperature


def _judged(result: CellResult, found: Cells, overhead: Sequence[Sample]) -> CellResult:
    if result.status != "ok" or not result.samples or result.disturbance is not None:
        return result
    wrong = (
        validity.of_coldness(result.samples, result.answers, result.evidence)
        or validity.of_work(result.samples, overhead)
        or validity.of_share(result.samples, limited=has_share(result.cell.variant))
    )
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
    """The factor by which a variant and its A/A control differ in this cell beyond the limit; 1
    without one."""
    variant, operation, rows, temperature = _place(result)
    first = variant.removesuffix(AA_SUFFIX)
    pair = [found.get((name, operation, rows, temperature)) for name in (first, first + AA_SUFFIX)]
    sides = [one.samples for one in pair if one is not None and one.status == "ok" and one.samples]
    return validity.aa_factor(*sides) if len(sides) == 2 else 1.0
