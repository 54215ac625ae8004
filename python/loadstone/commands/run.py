"""`loadstone run`: the choices of a run as options; `session` does the work."""

from pathlib import Path
from typing import Annotated, Any

import typer

Names = list[str] | None

Name = Annotated[
    str | None,
    typer.Argument(metavar="BENCHMARK", help="Run this: wisconsin (the default) or oo1."),
]
On = Annotated[
    Names,
    typer.Option(
        metavar="VARIANT",
        help="Measure this variant: ENGINE, ENGINE?tactic=value, postgresql://…, sqlite:///…;"
        " repeatable.",
    ),
]
Edition = Annotated[
    str | None, typer.Option(metavar="NAME", help="Choose an edition of the benchmark.")
]
Rows = Annotated[
    Names, typer.Option(metavar="N", help="Choose a scale, as 10000 or 1e5; repeatable.")
]
Operations = Annotated[
    Names, typer.Option(metavar="NAME", help="Measure only this operation; repeatable.")
]
Temperatures = Annotated[
    Names, typer.Option(metavar="NAME", help="Measure warm, cold or hot; repeatable.")
]
Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Choose the operations: default, quick or full."),
]
Quick = Annotated[bool, typer.Option("--quick", help="Use the quick preset, which takes seconds.")]
Repeat = Annotated[
    int | None, typer.Option(metavar="N", help="Take N samples of each warm or hot cell.")
]
RepeatCold = Annotated[
    int | None, typer.Option(metavar="N", help="Take N samples of each cold cell.")
]
WarmUp = Annotated[
    int | None,
    typer.Option(metavar="N", help="Run each text N times unmeasured before timing it."),
]
RepeatMost = Annotated[
    int | None,
    typer.Option(metavar="N", help="Stop repeating an undecided comparison at N samples."),
]
RepeatSeconds = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Stop repeating after this time for each operation: 0.3 by default, or 20 where"
        " operations are named.",
    ),
]
Precision = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Repeat until a ratio's interval is within ± this share: 0.015 by default.",
    ),
]
Rounds = Annotated[
    int | None, typer.Option(metavar="N", help="Measure N interleaved blocks of each variant.")
]
Seed = Annotated[
    int | None, typer.Option(metavar="N", help="Draw the order of the blocks from this seed.")
]
TimeLimit = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="End a statement that takes longer.")
]
Overhead = Annotated[
    bool | None,
    typer.Option(
        "--overhead/--no-overhead", help="Measure the harness overhead and the A/A noise, too."
    ),
]
Limits = Annotated[
    bool | None,
    typer.Option(
        "--limits/--no-limits", help="Mark cells beyond the quality limits as disturbed or invalid."
    ),
]
IdleStates = Annotated[
    bool | None,
    typer.Option(
        "--disable-idle-states/--no-disable-idle-states",
        help="Disable the processors' idle states during the run.",
    ),
]
Users = Annotated[
    list[int] | None,
    typer.Option(
        metavar="N", help="Run a closed and an open loop with N concurrent users; repeatable."
    ),
]
Rate = Annotated[
    float | None,
    typer.Option(metavar="N", help="Send N requests a second in open loops, all users together."),
]
Writers = Annotated[
    int | None,
    typer.Option(metavar="N", help="Let N further users insert beside each number of --users."),
]
LoopSeconds = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Run each loop of users for this time.")
]
PlanFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Read these choices from a TOML file.")
]
Record = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the record here, not to runs/NAME.loadstone."),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Continue this record: measure missing cells, then disturbed ones."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan; run nothing.")]
Page = Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report, too.")]


def run(
    benchmark: Name = None,
    on: On = None,
    edition: Edition = None,
    rows: Rows = None,
    operation: Operations = None,
    temperature: Temperatures = None,
    preset: Preset = None,
    quick: Quick = False,
    repeat: Repeat = None,
    repeat_cold: RepeatCold = None,
    warm_up: WarmUp = None,
    repeat_most: RepeatMost = None,
    repeat_seconds: RepeatSeconds = None,
    precision: Precision = None,
    rounds: Rounds = None,
    seed: Seed = None,
    time_limit: TimeLimit = None,
    overhead: Overhead = None,
    limits: Limits = None,
    disable_idle_states: IdleStates = None,
    users: Users = None,
    rate: Rate = None,
    writers: Writers = None,
    loop_seconds: LoopSeconds = None,
    plan: PlanFile = None,
    record: Record = None,
    resume: Resume = None,
    dry_run: DryRun = False,
    page: Page = True,
) -> int:
    """Run a benchmark and write its report.

    Every answer is checked, and every cell is recorded as soon as it ends. Without options:
    Wisconsin (1993 edition) on SQLite, DuckDB and, if installed, PostgreSQL, warm and cold.

    Exit codes: 0 all is well; 1 some cell failed; 2 a wrong option; 3 an engine is missing or
    broken; 4 the record cannot be written; 7 something may be left in a database of yours; 8 no
    figure is usable; 130 interrupted.
    """
    given: dict[str, Any] = {
        "benchmark": benchmark,
        "edition": edition,
        "on": on,
        "rows": [_number(text) for text in rows or ()],
        "operations": operation,
        "temperature": temperature,
        "preset": "quick" if quick else preset,
        "repeat": repeat,
        "repeat_cold": repeat_cold,
        "warm_up": warm_up,
        "repeat_most": repeat_most,
        "repeat_s": repeat_seconds,
        "precision": precision,
        "rounds": rounds,
        "seed": seed,
        "time_limit_s": time_limit,
        "overhead": overhead,
        "limits": limits,
        "disable_idle_states": disable_idle_states,
        "users": users,
        "rate_per_s": rate,
        "loop_s": loop_seconds,
        "writers": writers,
    }
    chosen = {name: value for name, value in given.items() if value not in (None, [])}
    return _start(chosen, plan, record, resume, dry_run=dry_run, page=page)


def _start(
    chosen: dict[str, Any],
    plan: Path | None,
    record: Path | None,
    resume: Path | None,
    *,
    dry_run: bool,
    page: bool,
) -> int:
    from loadstone.diagnostics import tell
    from loadstone.run import session

    if resume is not None:
        return session.resume(resume, chosen, page=page)
    planned = session.plan_from(chosen, plan)
    if dry_run:
        tell(session.describe(planned.plan))
        return 0
    return session.start(planned, record, page=page)


def _number(text: str) -> int:
    from loadstone.text.parsing import whole_number

    return whole_number(text, "--rows")
