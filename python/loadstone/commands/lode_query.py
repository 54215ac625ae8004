"""`loadstone lode query`: statements in QUEL, their rows on stdout."""

from pathlib import Path
from typing import Annotated, Literal

import typer

TEXT_BYTES_MAX = 1 << 20
"""Of the statements of one call."""

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="Open this database, or the one in this folder; create it if missing."
    ),
]
Tactics = Annotated[
    list[str] | None,
    typer.Option(
        "--tactic",
        "-t",
        metavar="NAME=VALUE",
        help="Use this tactic; repeatable, or joined: 'execution=interpreted&join=hash'.",
    ),
]
ReadOnly = Annotated[
    bool,
    typer.Option(
        "--read-only", help="Open the database read-only: other processes may read it, too."
    ),
]
Shown = Annotated[
    Literal["table", "csv", "json"],
    typer.Option("--format", "-f", metavar="NAME", help="Print rows as a table, csv or json."),
]
Timed = Annotated[bool, typer.Option("--timing", help="Print the time of each statement.")]
Limit = Annotated[str | None, typer.Option(metavar="N", help="Show at most N rows of each answer.")]
Loads = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RELATION=FILE",
        help="Load a new relation from this .csv or .parquet file first; repeatable.",
    ),
]


def query(
    file: File,
    text: Annotated[
        str | None,
        typer.Argument(metavar="QUEL", help="Run these statements, or - for those on stdin."),
    ] = None,
    format_: Shown = "table",
    tactics: Tactics = None,
    load: Loads = None,
    limit: Limit = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the statements' plans; run none of them.")
    ] = False,
    counted: Annotated[
        bool,
        typer.Option(
            "--counted",
            help="Run the statements, changes included; show their plans with the rows that each"
            " step gave.",
        ),
    ] = False,
    timing: Timed = False,
    read_only: ReadOnly = False,
) -> None:
    """Run QUEL statements on a lode database.

    Each statement is a transaction of its own. The first that fails ends the command. Rows go to
    stdout, all else to stderr.
    """
    from loadstone.diagnostics import guarded, say
    from loadstone.errors import InputError
    from loadstone.shell import opening
    from loadstone.shell.loading import load as loaded
    from loadstone.shell.session import Session
    from loadstone.text.numbers import plural
    from loadstone.text.parsing import whole_number

    if explain and counted:
        raise InputError(
            "--explain runs nothing, and --counted counts what statements do when they are run",
            hint="leave out one of the two; --counted keeps what the statements change",
        )
    if text is None and not load:
        raise InputError(
            "no statements: give them as an argument, or - to read them from stdin",
            hint="loadstone lode query parts.lode 'range of p is parts retrieve (p.all)'",
        )
    source = _source(text)
    most = None if limit is None else whole_number(limit, "--limit")
    with opening.Place(file, opening.tactics(tactics or []), read_only=read_only) as place:
        for wish in load or []:
            relation, count = loaded(place.database, wish)
            say(f"loaded {relation}: {plural(count, 'tuple')}")
        session = Session(
            place,
            format=format_,
            limit=most,
            explain="counted" if counted else "plan" if explain else "off",
            is_timed=timing,
        )
        # Here, because the option parser would end in silence.
        code = guarded(lambda: session.run(source))
        if code:
            raise typer.Exit(code)


def _source(text: str | None) -> str:
    from loadstone.text.files import read_stdin

    return read_stdin(TEXT_BYTES_MAX, "the statements") if text == "-" else text or ""
