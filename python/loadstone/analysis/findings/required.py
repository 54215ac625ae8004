"""Requirements of `explained`, besides an effect that is certain: enough processes that show it,
an A/A control of the same row that does not, and a difference that is not mostly waiting.

Two processes of one engine differ for as long as they live, and each variant of a run has files of
its own, for which a commit may wait longer: six samples of one process each are six observations of
one such difference. So the A/A control of the same row is what an effect has to exceed, not the
noise of the whole run.
"""

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST
from loadstone.analysis.findings.said import said_share
from loadstone.analysis.findings.spent import waiting_ns
from loadstone.analysis.noise import aa_cells
from loadstone.plan.variant import engine_of
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_part import part_of_difference
from loadstone.statistics.paired_ratio import OBSERVATIONS_MIN, REFORK_S, processes_of
from loadstone.text.numbers import times

PROCESSES_MIN = OBSERVATIONS_MIN
"""Of each value of the switch: as many as a study has blocks."""


def doubts(seen: Evidence, longer: CellSummary, shorter: CellSummary, ratio: Estimate) -> list[str]:
    """Why the ratio of two variants of a run, which differ in one switch, may not be called
    explained."""
    found = (
        few_processes(_processes(seen, longer, shorter)),
        _twice(seen, longer, ratio),
        _waiting(longer, shorter),
    )
    return [doubt for doubt in found if doubt]


def few_processes(count: int) -> str:
    """The doubt that so few leave; empty where there are enough."""
    if count >= PROCESSES_MIN:
        return ""
    processes = "process" if count == 1 else "processes"
    return (
        f"{count} {processes} of each value compared, {PROCESSES_MIN} needed,"
        " which a study of the switch has"
    )


def reach_of(noise: Estimate | None) -> float | None:
    """The ratio to which an A/A control's interval reaches, up or down; None without an
    interval."""
    if noise is None or not noise.low or not noise.high:
        return None
    return max(max(bound, 1 / bound) for bound in (noise.value, noise.low, noise.high))


def _processes(seen: Evidence, longer: CellSummary, shorter: CellSummary) -> int:
    """Those of each that were compared: new ones for each planned round, and for each repetition
    where a comparison has time for them."""
    plan = seen.whole.run.plan
    count = processes_of(longer.samples, shorter.samples)
    return count if plan.repeat_s >= REFORK_S else min(count, plan.rounds)


def _twice(seen: Evidence, figure: CellSummary, ratio: Estimate) -> str:
    """The A/A control is one variant of the run; it speaks for its engine in its own row."""
    cell = figure.cell
    place = cell.operation, cell.rows, cell.temperature
    own = [
        control
        for control in aa_cells(seen.whole.run)
        if (control.operation, control.rows, control.temperature) == place
        if engine_of(control.variant) == engine_of(cell.variant)
    ]
    if not own:
        return f"no variant of {engine_of(cell.variant)} was measured twice in this row"
    reach = reach_of(own[0].ratio)
    if reach is None:
        return "too few samples of the variant that was measured twice"
    if ratio.value > reach:
        return ""
    return f"the same variant measured twice differs by up to {times(reach)}"


def _waiting(longer: CellSummary, shorter: CellSummary) -> str:
    share = part_of_difference(longer.samples, shorter.samples, waiting_ns)
    if share is None:
        return "the part of the difference that is waiting is not known"
    if share.value <= MOST:
        return ""
    return f"{said_share(share)} of the difference is waiting, each variant for files of its own"
