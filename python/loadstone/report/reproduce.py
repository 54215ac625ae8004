"""Commands to run it again: the plan as a command, and as a file. Both give the plan's own hash."""

from loadstone.plan.written_choices import as_command, as_toml
from loadstone.record.model import Run

TABLES_MAX, COLUMNS_MAX = 50, 200
"""Those that a report names: the record has all."""


def typed(run: Run) -> str:
    """The first session's command line; the others only continued it."""
    return next((session.command for session in run.sessions if session.command), "")


def command(run: Run) -> str:
    """A command that plans the same again, on the same engines."""
    return as_command(run.plan)


def tables(run: Run, columns_max: int = COLUMNS_MAX) -> list[str]:
    """The tables of the user's files, and the types in which their columns were taken."""
    workload = run.plan.workload
    every = workload.tables[:TABLES_MAX] if workload is not None else ()
    return [f"Table {table.in_words(columns_max)}" for table in every if table.files]


def plan_toml(run: Run) -> str:
    """The plan as a TOML file for `--plan` of its command, with every choice made explicit."""
    lines = [f"# plan {run.plan.hash}\n"]
    if not run.plan.preset:
        lines.append("# An older record without its preset: cold cells may differ.\n")
    return "".join([*lines, as_toml(run.plan)])
