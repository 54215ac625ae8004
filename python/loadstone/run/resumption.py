"""The work of resuming a record, before anything is measured."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loadstone import registry, secret
from loadstone.benchmarks.base import Benchmark
from loadstone.errors import InputError
from loadstone.plan.plan import join_names
from loadstone.planning.planner import check_plan
from loadstone.record import Run, read_chapters
from loadstone.run.load_levels import load_levels
from loadstone.run.planned import variant_of
from loadstone.run.runner import disturbed_groups, pending_cells
from loadstone.text.numbers import plural


def refuse_other_choices(chosen: Mapping[str, Any]) -> None:
    """The plan is the record's. Raises `InputError`."""
    surplus = sorted(set(chosen) - {"on"})
    if surplus:
        raise InputError(
            f"--resume takes the plan from the record; {surplus[0]} cannot be changed",
            hint="start a new run for other choices",
        )


def refuse_other_variants(path: Path, runs: Sequence[Run], on: Sequence[str]) -> None:
    """`--on` names variants of the record again, since it holds no URL: no others. Raises
    `InputError`."""
    known = dict.fromkeys(name for run in runs for name in run.plan.variants)
    seams = dict.fromkeys(registry.benchmark_of_plan(run.plan).seam for run in runs)
    for text in on:
        named = []
        for seam in seams:
            try:
                named.append(variant_of(secret.admitted(text), seam)[0].name)
            except InputError:
                if len(seams) == 1:
                    raise
        if not any(name in known for name in named):
            raise InputError(
                f"{path} has no variant {secret.shown(text)}",
                hint=f"--resume takes the plan from the record: {join_names([*known])}",
            )


def describe_left(path: Path, chosen: Mapping[str, Any]) -> str:
    """The cells that resuming a record would measure, for people: every cell that it lacks or that
    was disturbed."""
    refuse_other_choices(chosen)
    runs = read_chapters(path)
    refuse_other_variants(path, runs, chosen.get("on", ()))
    reported = [_left(run) for run in runs]
    if not any(reported):
        return f"{path} is complete: nothing to do"
    return "\n\n".join(filter(None, reported))


def _left(run: Run) -> str:
    """The rest of one benchmark; empty if nothing."""
    benchmark = registry.benchmark_of_plan(run.plan)
    check_plan(run.plan, benchmark)
    if not is_left(run, benchmark):
        return ""
    again = [r.cell for group in disturbed_groups(run, benchmark) for r in group]
    missing = pending_cells(run.plan, run.pending)
    loops = load_levels(run.plan, benchmark, run.users)
    lines = [f"plan {run.plan.hash}: {run.plan.benchmark} {run.plan.edition}, the rest of it"]
    for cells, what in ((missing, "missing"), (again, "again: its group was disturbed")):
        lines += [
            f"{cell.rows:>11,} {cell.temperature:<5} {cell.operation:<30} {cell.variant:<20} {what}"
            for cell in cells
        ]
    reported = [
        plural(len(missing), "cell"),
        f"{len(again)} again",
        plural(len(loops), "load level"),
    ]
    return "\n".join([*lines, f"{', '.join(reported)} of {plural(len(run.plan.cells), 'cell')}"])


def refuse_other_kind(path: Path, *, study: bool) -> None:
    """Refuse to resume a run as a study, or a study as a run. Raises `InputError`."""
    if (read_chapters(path)[0].plan.study is not None) is not study:
        here, there = ("run", "study") if study else ("study", "run")
        raise InputError(
            f"{path} is the record of a {here}, not of a {there}",
            hint=f"loadstone {resuming(path, here)}",
        )


def resuming(path: Path, command: str) -> str:
    """The command, `run` or `study`, that resumes a record, but for the program's name."""
    return f"{command} --resume {shlex.quote(str(path))}"


def is_left(run: Run, benchmark: Benchmark) -> bool:
    """Whether a record needs another session: for missing or disturbed cells."""
    return bool(
        run.pending
        or load_levels(run.plan, benchmark, run.users)
        or disturbed_groups(run, benchmark)
    )
