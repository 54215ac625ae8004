"""`loadstone lode shell`: statements in QUEL, one after another, at a terminal or from a pipe."""

import typer

from loadstone.commands.lode_query import File, Limit, Loads, ReadOnly, Shown, Tactics, Timed


def shell(
    file: File,
    format_: Shown = "table",
    tactics: Tactics = None,
    load: Loads = None,
    limit: Limit = None,
    timing: Timed = False,
    read_only: ReadOnly = False,
) -> None:
    r"""Query a lode database in QUEL, line by line.

    A semicolon, an empty line or \g runs what was typed. \? lists the commands, \q ends.
    """
    from loadstone.diagnostics import say
    from loadstone.shell import lines, opening
    from loadstone.shell.loading import load as loaded
    from loadstone.shell.monitor import Monitor
    from loadstone.shell.session import Session
    from loadstone.text.numbers import plural
    from loadstone.text.parsing import whole_number

    most = None if limit is None else whole_number(limit, "--limit")
    with opening.Place(file, opening.tactics(tactics or []), read_only=read_only) as place:
        for wish in load or []:
            relation, count = loaded(place.database, wish)
            say(f"loaded {relation}: {plural(count, 'tuple')}")
        monitor = Monitor(Session(place, format=format_, limit=most, is_timed=timing))
        typed = lines.of_stdin(monitor.words)
        if typed.is_typed:
            say(f"{place.volume}: \\? lists the commands, \\q ends")
        code = monitor.run(typed)
    raise typer.Exit(code)
