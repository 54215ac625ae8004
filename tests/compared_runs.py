"""Runs for tests of comparisons: calm, with one cell or one term changed."""

import random
from dataclasses import replace

from report_fixture import make_run

from loadstone.analysis.compare.compare import Comparison
from loadstone.record.model import CellResult, Run, Term

OPERATIONS = ("select-1%-heap", "min-scalar")
SQLITE = ("sqlite", "sqlite")


def calm_run(seed: int = 1, factor: float = 1.0, samples: int = 30) -> Run:
    """Warm cells that all went well on a steady machine, with known noise: 1 ms, give or take
    2 %."""
    run = make_run(OPERATIONS, repeat=samples, scales=(10_000,))
    dice = random.Random(seed)

    def calmed(result: CellResult) -> CellResult:
        shaken = tuple(
            replace(sample, elapsed_ns=int(1e6 * factor * dice.lognormvariate(0, 0.02)))
            for sample in result.samples
        )
        steady = replace(result.condition, speed_probe_ns=400_000.0) if result.condition else None
        return replace(result, status="ok", reason="", samples=shaken, condition=steady)

    warm = [calmed(result) for result in run.results if result.cell.temperature == "warm"]
    plan = replace(run.plan, cells=tuple(result.cell for result in warm))
    return replace(run, plan=plan, results=tuple(warm))


def altered(run: Run, change, operation: str = "min-scalar", variant: str = "sqlite") -> Run:
    """The run with one cell's result changed."""

    def one(result: CellResult) -> CellResult:
        meant = (result.cell.operation, result.cell.variant) == (operation, variant)
        return change(result) if meant else result

    return replace(run, results=tuple(map(one, run.results)))


def with_term(run: Run, key: str, value: str, variant: str = "sqlite") -> Run:
    """The run with one term read back as something else."""
    others = (t for t in run.terms if (t.variant, t.key) != (variant, key))
    return replace(run, terms=(*others, Term(variant, key, None, value)))


def on_machine(run: Run, **facts: object) -> Run:
    described = {key.replace("__", "."): value for key, value in facts.items()}
    sessions = (replace(s, machine={**s.machine, **described}) for s in run.sessions)
    return replace(run, sessions=tuple(sessions))


def reasons(found: Comparison) -> set[str]:
    return {cell.reason for cell in found.unlike}
