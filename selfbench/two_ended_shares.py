"""Shares by both ends beside those of all combinations, on real engines, for `calibrate.py`.

A factorial study of four switches has the two-ended design in it, so the same blocks report both.
How far the two lie apart is a contrast like any other: it has an interval, and where that is wide
the machine was too busy to know, whatever its centre says.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from planted_studies import LOADSTONE, only

from loadstone.record import CellResult, Run, read
from loadstone.record.model import BELIEVED
from loadstone.statistics.estimate import Estimate
from loadstone.studies import contrasts
from loadstone.studies.design import Parts, parts_of, two_ended
from loadstone.studies.effects import study_effects
from loadstone.studies.observations import Block, Observations, share
from loadstone.studies.steering import Escalation, escalation
from loadstone.studies.view import blocks

SWITCHES: Mapping[str, Sequence[str]] = {
    "sqlite": ("durability", "journal", "cache", "temp_store"),
    "duckdb": ("durability", "parallelism", "optimizer.statistics_propagation",
               "preserve_insertion_order"),
    "postgresql": ("parallelism", "aggregation", "work_mem", "synchronous_commit"),
    "lode": ("execution", "aggregate", "log", "durability"),
}  # fmt: skip
"""Four of each engine's own choice, without those with which a join takes a hundred times as
long."""
POINTS = 0.05
SECONDS = 20
"""Of an operation."""
Found = tuple[str, list[Estimate], Escalation | None]
"""An operation's name, its shares' differences, and what would be taken apart."""


def count(engines: Sequence[str], operations: Sequence[str] = ()) -> None:
    """Run the studies, and print what was found."""
    all_points: list[float] = []
    near = seen = doubted = reported = beyond = 0
    for engine in engines:
        for name, apart, further in _operations(engine, operations):
            all_points += [abs(one.value) for one in apart]
            largest = max(apart, key=lambda one: abs(one.value))
            near += abs(largest.value) <= POINTS and further is None
            seen += further is not None and further.hidden is None
            doubted += further is not None and further.hidden is not None
            beyond += any(map(_certainly_beyond, apart)) and further is None
            reported += 1
            print(f"{engine}, {name}: at most {_points(largest)} points apart{_why(further)}",
                  flush=True)  # fmt: skip
    if not reported:
        print("no operation has ends far enough apart for shares: too busy a machine?")
        return
    held = near + seen + doubted
    print(f"shares within 5 points, or taken apart: {held} of {reported} operations"
          f" ({held / reported:.0%}); must be 90 %: {near} within; taken apart: {seen} since three"
          f" act together, {doubted} since their shares are undecided")  # fmt: skip
    print(f"certainly beyond 5 points, and not taken apart: {beyond} of {reported}")
    print(f"a share is {100 * median(all_points):.2f} points off in the median", flush=True)


def _why(further: Escalation | None) -> str:
    if further is None:
        return ""
    if further.hidden is None:
        return ", taken apart: three act together"
    return f", taken apart: the closure may be {100 * further.hidden:.0f} % of the whole"


def _points(apart: Estimate) -> str:
    if apart.low is None or apart.high is None:
        return f"~{100 * apart.value:.1f}"
    return f"{100 * apart.value:.1f} ({100 * apart.low:.1f} to {100 * apart.high:.1f})"


def _certainly_beyond(apart: Estimate) -> bool:
    low, high = apart.low, apart.high
    return low is not None and high is not None and (low > POINTS or high < -POINTS)


def _operations(engine: str, named: Sequence[str]) -> Iterator[Found]:
    vary = [word for name in SWITCHES[engine] for word in ("--vary", name)]
    chosen = [word for name in named for word in ("--operation", name)]
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "study.loadstone"
        subprocess.run(
            [LOADSTONE, "study", "wisconsin", "--on", engine, *vary, *chosen, "--design",
             "factorial", "--seconds", str(SECONDS * (len(named) or 8)), "--no-limits",
             "--no-report", "--record", str(record)],
            check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        yield from operations_of(read(record), engine)


def operations_of(run: Run, engine: str) -> Iterator[Found]:
    """Of each operation that has shares: by how much each differs, and what the two-ended design
    alone would have had taken apart."""
    parts, study = parts_of(SWITCHES[engine]), run.plan.study
    if study is None:
        sys.exit("the record holds no study")
    cells: dict[str, dict[str, CellResult]] = {}
    for result in run.results:
        if result.status in BELIEVED and result.samples:
            cells.setdefault(result.cell.operation, {})[result.cell.variant] = result
    for name, results in cells.items():
        made: list[Block] = [*blocks(study.combinations, results)]
        full = study_effects(parts, made)
        ends = study_effects(parts, only(made, two_ended(parts)))
        if any(one.shapley is None for one in full.parts.values()):
            continue  # some combination took too long, or failed
        apart = [found for part in parts if (found := _apart(parts, part, made))]
        if apart:
            yield name, apart, escalation(parts, ends)


def _apart(parts: Parts, part: str, made: Sequence[Block]) -> Estimate | None:
    """The share of a part by both ends less that by all combinations."""
    by_ends, by_orders = contrasts.two_ended(parts, part), contrasts.shapley(parts, part)
    difference = contrasts.combined([(1.0, by_ends), (-1.0, by_orders)])
    return share(Observations(made), difference, contrasts.whole(parts))
