"""`loadstone run`: the choices of a run as options; `session` does the work."""

from pathlib import Path
from typing import Annotated, Any

import typer

Names = list[str] | None

On = Annotated[
    Names,
    typer.Option(
        help="A variant: ENGINE, ENGINE?tactic=value, postgresql://…, sqlite:///… (repeat)."
    ),
]
RepeatMost = Annotated[
    int | None, typer.Option(help="Samples of a cell whose comparison stays undecided.")
]
RepeatSeconds = Annotated[
    float | None, typer.Option(help="And so long, an operation: 0.3, or 20 for named ones.")
]
Precision = Annotated[
    float | None, typer.Option(help="Share at which an interval is narrow enough: 0.015.")
]
Floor = Annotated[bool | None, typer.Option("--floor/--no-floor", help="Measure the harness, too.")]
Limits = Annotated[
    bool | None, typer.Option("--limits/--no-limits", help="Beyond one, a cell is invalid.")
]
Awake = Annotated[
    bool | None, typer.Option("--awake/--no-awake", help="Keep idle processors from sleeping.")
]
Users = Annotated[
    list[int] | None, typer.Option(help="So many at once, in closed and open loop (repeat).")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan; run nothing.")]
Page = Annotated[
    bool, typer.Option("--report/--no-report", help="Write the HTML report afterwards.")
]
Rate = Annotated[
    float | None, typer.Option(help="Requests/s due in an open loop, all users together.")
]


def run(
    benchmark: Annotated[str | None, typer.Argument(help="Default: wisconsin.")] = None,
    on: On = None,
    edition: Annotated[str | None, typer.Option(help="Edition of the benchmark.")] = None,
    rows: Annotated[Names, typer.Option(help="Scale n, as 10000 or 1e5 (repeat).")] = None,
    operation: Annotated[Names, typer.Option(help="Only this operation (repeat).")] = None,
    temperature: Annotated[Names, typer.Option(help="warm, cold or hot (repeat).")] = None,
    panel: Annotated[str | None, typer.Option(help="default, quick or full.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The panel that takes seconds.")] = False,
    repeat: Annotated[int | None, typer.Option(help="Samples of a warm or hot cell.")] = None,
    repeat_cold: Annotated[int | None, typer.Option(help="Samples of a cold cell.")] = None,
    warm_up: Annotated[int | None, typer.Option(help="Unmeasured rounds before it.")] = None,
    repeat_most: RepeatMost = None,
    repeat_seconds: RepeatSeconds = None,
    precision: Precision = None,
    rounds: Annotated[int | None, typer.Option(help="Interleaved blocks of a cell.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the interleaving.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for one statement.")] = None,
    floor: Floor = None,
    limits: Limits = None,
    awake: Awake = None,
    users: Users = None,
    rate: Rate = None,
    loop_seconds: Annotated[float | None, typer.Option(help="How long a loop is: 2.")] = None,
    plan: Annotated[Path | None, typer.Option(help="A TOML file of the same choices.")] = None,
    record: Annotated[Path | None, typer.Option(help="Default: runs/NAME.loadstone.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Continue this record's run.")] = None,
    dry_run: DryRun = False,
    page: Page = True,
) -> int:
    """Run a benchmark, check every answer, write a record and its report.

    Without options: Wisconsin (1993 edition) on SQLite, DuckDB and PostgreSQL, warm and cold.
    """
    from loadstone import session

    given: dict[str, Any] = {
        "benchmark": benchmark,
        "edition": edition,
        "on": on,
        "rows": [_number(text) for text in rows or ()],
        "operations": operation,
        "temperature": temperature,
        "panel": "quick" if quick else panel,
        "repeat": repeat,
        "repeat_cold": repeat_cold,
        "warm_up": warm_up,
        "repeat_most": repeat_most,
        "repeat_s": repeat_seconds,
        "precision": precision,
        "rounds": rounds,
        "seed": seed,
        "time_limit_s": time_limit,
        "floor": floor,
        "limits": limits,
        "awake": awake,
        "users": users,
        "rate_per_s": rate,
        "loop_s": loop_seconds,
    }
    chosen = {name: value for name, value in given.items() if value not in (None, [])}
    if resume is not None:
        return session.resume(resume, chosen, page=page)
    planned = session.plan_from(chosen, plan)
    if dry_run:
        typer.echo(session.describe(planned.plan))
        return 0
    return session.start(planned, record, page=page)


def _number(text: str) -> int:
    from loadstone.number import whole_number

    return whole_number(text, "--rows")
