"""`loadstone tactics`: the tactics of an engine, with their benefits and costs."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from loadstone.planning.completion import engines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table

    from loadstone.planning.tactics import Listed, Profile, Switch

COLUMNS_MAX = 100
"""The width of the output; a narrower terminal wraps."""
LEADS = {
    "does": "effect",
    "buys": "benefit",
    "costs": "cost",
    "loses": "a crash can lose",
    "excludes": "conflicts",
    "source": "source",
}
CHANGES = {
    "load": "the relations to be loaded anew",
    "start": "a restart, on the same files",
    "session": "no restart",
}
"""Level -> the least that another value takes."""


def tactics(
    engine: Annotated[
        str | None,
        typer.Argument(
            metavar="ENGINE", help="List the tactics of this engine.", autocompletion=engines
        ),
    ] = None,
    tactic: Annotated[
        str | None, typer.Argument(metavar="TACTIC", help="List only this tactic.")
    ] = None,
    form: Annotated[
        Literal["text", "json"],
        typer.Option("--format", "-f", metavar="NAME", help="Print text or json."),
    ] = "text",
) -> None:
    """List the tactics of engines.

    A tactic is one mechanism that can be switched. Listed are its values, effect, benefit and cost,
    what a crash can lose, conflicts, the source, and whether a change takes a restart or another
    load. For lode's tactic `profile`: the tactics that each profile sets, and why.
    """
    from loadstone.diagnostics import show_result
    from loadstone.planning.tactics import every_engine, of_engine

    found = every_engine() if engine is None else [of_engine(engine, tactic)]
    if form == "json":
        show_result(_json(found))
        return
    screen = _console()
    if engine is None:
        screen.print(_overview(found))
        screen.print("loadstone tactics ENGINE describes one engine's.")
        return
    for table in (*_tables(found[0]), *map(_profile, found[0].profiles)):
        screen.print(table)


def _json(found: "Sequence[Listed]") -> str:
    from dataclasses import asdict

    from loadstone.control_characters import legible_json

    def row(switch: "Switch") -> dict[str, object]:
        tactic = switch.tactic
        values = [{"value": value, "about": about} for value, about in tactic.values]
        where = {key: reported for key, reported in asdict(switch).items() if key != "tactic"}
        return asdict(tactic) | where | {"values": values}

    engines = [
        {
            "engine": listed.engine,
            "unavailable": listed.unavailable,
            "tactics": [row(switch) for switch in listed.switches],
            **({"profiles": list(map(asdict, listed.profiles))} if listed.profiles else {}),
        }
        for listed in found
    ]
    return legible_json({"engines": engines}, indent=2)


def _console() -> "Console":
    from loadstone.diagnostics import console

    screen = console()
    screen.width = min(screen.width, COLUMNS_MAX) if screen.is_terminal else COLUMNS_MAX
    return screen


def _overview(found: "Sequence[Listed]") -> "Table":
    from rich import box
    from rich.table import Table

    from loadstone.plan.variant import family_of

    table = Table("engine", "tactics", box=box.SIMPLE_HEAD, pad_edge=False)
    for listed in found:
        families = dict.fromkeys(family_of(switch.tactic.name) for switch in listed.switches)
        names = ", ".join(families) or "nothing"
        table.add_row(listed.engine, listed.unavailable or names)
    return table


def _tables(listed: "Listed") -> "Iterator[Table]":
    """One for each tactic, and one that says so where there is none."""
    from rich import box
    from rich.table import Table

    seams = {switch.behind for switch in listed.switches}
    for switch in listed.switches:
        yield _described(switch, seam_is_reported=len(seams) > 1)
    if not listed.switches:
        yield Table(f"nothing can be switched on {listed.engine}", box=box.SIMPLE_HEAD)


def _described(switch: "Switch", *, seam_is_reported: bool) -> "Table":
    from rich import box
    from rich.table import Table

    tactic = switch.tactic
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", expand=True)
    table.add_column(tactic.name, no_wrap=True)
    in_runs = f", in a run {switch.default_of_runs}" if switch.default_of_runs else ""
    table.add_column(f"default: {switch.default}{in_runs}")
    for value, about in tactic.values:
        table.add_row(f"  {value}", about)
    for key, lead in LEADS.items():
        table.add_row(lead, getattr(tactic, key))
    table.add_row("a change takes", CHANGES[tactic.level])
    if seam_is_reported:
        table.add_row("switched on", switch.behind)
    return table


def _profile(profile: "Profile") -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", expand=True)
    table.add_column(profile.name, no_wrap=True)
    table.add_column(profile.about)
    for tactic, value, reason in profile.settings:
        table.add_row(f"  {tactic}={value}", reason)
    for what, instead in profile.missing:
        table.add_row("not in lode", f"{what}. Instead: {instead}")
    return table
