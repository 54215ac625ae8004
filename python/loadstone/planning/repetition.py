"""How many samples a cell has, how long it is repeated, and after what time a statement is
ended."""

from collections.abc import Sequence

from loadstone.benchmarks.base import Benchmark
from loadstone.errors import InputError
from loadstone.plan.choices import Choices
from loadstone.plan.plan import SAMPLES_MAX, Cell

REPEAT_FIRST, REPEAT_LARGER = 10, 6
"""Samples of a warm cell at the first scale, and at the others, which are for growth curves."""

REPEAT_MOST = 1000
"""The most samples of an undecided warm cell; fewer if a plan's cells together could come to more
than a plan may have."""

REPEAT_NAMED_S, REPEAT_PRESET_S = 20.0, 0.3
"""How long an undecided operation is repeated beyond its planned samples, all variants together:
if the user names operations, and in a preset."""

LIMIT_S, LIMIT_PRESET_S = 60.0, 10.0
"""The time after which a statement is ended: if the user names operations, and in a preset."""
LIMIT_PRESET_ROWS = 100_000
"""Above so many tuples a preset allows as long as named operations have."""


def samples(choices: Choices, benchmark: Benchmark, temperature: str, *, first: bool) -> int:
    """The planned samples of a cell; `first`: at the first scale."""
    if temperature == "cold":
        return choices.repeat_cold or benchmark.cold_samples
    return choices.repeat or (REPEAT_FIRST if first else REPEAT_LARGER)


def repeat_s(choices: Choices, cells: Sequence[Cell]) -> float:
    """The time for further samples of an undecided operation, in s. A user who names operations
    asks about these alone; a preset shows them all, in a minute; a study's operations share its
    time."""
    if choices.design:
        groups = {(cell.operation, cell.rows, cell.temperature) for cell in cells}
        return choices.within_s / len(groups)
    if choices.repeat_s is not None:
        return choices.repeat_s
    return REPEAT_NAMED_S if choices.operations else REPEAT_PRESET_S


def time_limit_s(choices: Choices, benchmark: Benchmark, scales: Sequence[int]) -> float:
    """The time after which a statement is ended, in s. A preset shows all operations, and none of
    them should take most of its time: with nested loops one would. A user's own statements may take
    what they take."""
    if choices.time_limit_s is not None:
        return choices.time_limit_s
    papers = benchmark.workload is None and benchmark.seam == "engines"
    preset = papers and not choices.operations and not choices.design
    return LIMIT_PRESET_S if preset and max(scales) <= LIMIT_PRESET_ROWS else LIMIT_S


def repeat_most(choices: Choices, cells: Sequence[Cell]) -> int:
    """The samples to which an undecided cell is repeated. Raises `InputError` where the plan could
    come to more samples than one may have."""
    repeated = sum(cell.temperature != "cold" and not cell.gap for cell in cells)
    planned = max(cell.samples for cell in cells)
    most = choices.repeat_most or choices.repeat or REPEAT_MOST
    if not (choices.repeat_most or choices.repeat):
        most = max(min(most, SAMPLES_MAX // max(repeated, 1)), planned)
    samples = sum(
        max(cell.samples, 0 if cell.temperature == "cold" else most)
        for cell in cells
        if not cell.gap
    )
    if samples > SAMPLES_MAX:
        raise InputError(
            f"the plan may come to {samples:,} samples; a record holds those of {SAMPLES_MAX:,}",
            hint="choose fewer operations, or a lower --repeat or --repeat-most",
        )
    return most
