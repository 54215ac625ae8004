"""Shares by both ends beside those of all combinations, on real engines, for `calibrate.py`.

A factorial study of four switches has the two-ended design in it, so the same blocks report both.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from planted_studies import LOADSTONE, only

from loadstone.analysis.study import blocks
from loadstone.record import CellResult, read
from loadstone.record.model import BELIEVED
from loadstone.statistics.study import Block, escalation, parts_of, study_effects, two_ended

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


def count(engines: Sequence[str], operations: Sequence[str] = ()) -> None:
    """Run the studies, and print what was found."""
    all_points: list[float] = []
    near = reported = 0
    for engine in engines:
        for name, points, further in _operations(engine, operations):
            all_points += points
            near += max(points) <= POINTS or further
            reported += 1
            print(f"{engine}, {name}: at most {100 * max(points):.1f} points apart"
                  f"{', taken apart' if further else ''}", flush=True)  # fmt: skip
    if not reported:
        print("no operation has ends far enough apart for shares: too busy a machine?")
        return
    share = f"{near} of {reported} operations ({near / reported:.0%}); must be 90 %"
    print(f"shares within 5 points, or taken apart: {share}")
    print(f"a share is {100 * median(all_points):.2f} points off in the median", flush=True)


def _operations(engine: str, named: Sequence[str]) -> Iterator[tuple[str, list[float], bool]]:
    """Of each operation that has shares: by how much each differs, and whether the two-ended design
    alone would have had three switches taken apart."""
    parts = parts_of(SWITCHES[engine])
    vary = [word for name in parts for word in ("--vary", name)]
    chosen = [word for name in named for word in ("--operation", name)]
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "study.loadstone"
        subprocess.run(
            [LOADSTONE, "study", "wisconsin", "--on", engine, *vary, *chosen, "--design",
             "factorial", "--seconds", str(SECONDS * (len(named) or 8)), "--no-limits",
             "--no-report", "--record", str(record)],
            check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        run = read(record)
    study = run.plan.study
    if study is None:
        sys.exit(f"{record} holds no study")
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
        both = [(ends.parts[part].share, full.parts[part].share) for part in parts]
        points = [abs(one.value - other.value) for one, other in both if one and other]
        if points:
            yield name, points, escalation(parts, ends) is not None
