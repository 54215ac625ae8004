"""`loadstone run`: the choices of a run as options; `session` does the work."""

from pathlib import Path
from typing import Annotated, Any

import typer

Names = list[str] | None


def run(
    benchmark: Annotated[str | None, typer.Argument(help="Default: wisconsin.")] = None,
    on: Annotated[
        Names, typer.Option(help="A variant: ENGINE, ENGINE?tactic=value, postgresql://… (repeat).")
    ] = None,
    edition: Annotated[str | None, typer.Option(help="Edition of the benchmark.")] = None,
    rows: Annotated[Names, typer.Option(help="Scale n, as 10000 or 1e5 (repeat).")] = None,
    operation: Annotated[Names, typer.Option(help="Only this operation (repeat).")] = None,
    temperature: Annotated[Names, typer.Option(help="warm, cold or hot (repeat).")] = None,
    panel: Annotated[str | None, typer.Option(help="default, quick or full.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The panel that takes seconds.")] = False,
    repeat: Annotated[int | None, typer.Option(help="Samples of a warm or hot cell.")] = None,
    repeat_cold: Annotated[int | None, typer.Option(help="Samples of a cold cell.")] = None,
    warm_up: Annotated[int | None, typer.Option(help="Unmeasured rounds before it.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Interleaved blocks of a cell.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the interleaving.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for one statement.")] = None,
    floor: Annotated[
        bool | None, typer.Option("--floor/--no-floor", help="Measure the harness, too.")
    ] = None,
    plan: Annotated[Path | None, typer.Option(help="A TOML file of the same choices.")] = None,
    record: Annotated[Path | None, typer.Option(help="Default: runs/NAME.loadstone.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Continue this record's run.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan; run nothing.")
    ] = False,
    page: Annotated[
        bool, typer.Option("--report/--no-report", help="Write the HTML report afterwards.")
    ] = True,
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
        "rounds": rounds,
        "seed": seed,
        "time_limit_s": time_limit,
        "floor": floor,
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
