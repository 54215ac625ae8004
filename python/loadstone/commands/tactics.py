"""`loadstone tactics`: the tactics of an engine, with their benefits and costs."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table

    from loadstone.planning.tactics import Listed, Profile, Tactic

COLUMNS_MAX = 100
"""The width of the output; a narrower terminal wraps."""
LEADS = {
    "does": "what it does",
    "buys": "what it buys",
    "costs": "what it costs",
    "loses": "what a crash can lose",
    "excludes": "do not combine with",
    "source": "source",
}


def tactics(
    engine: Annotated[
        str | None, typer.Argument(metavar="ENGINE", help="List the tactics of this engine.")
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

    For lode, the reference engine, also each tactic's effect, benefit and cost, its loss in a
    crash, conflicts and source; for its tactic `profile` what each profile sets, and why.
    """
    from loadstone.diagnostics import tell
    from loadstone.planning.tactics import every_engine, of_engine

    found = every_engine() if engine is None else [of_engine(engine, tactic)]
    if form == "json":
        tell(_json(found))
        return
    screen = _console()
    if engine is None:
        screen.print(_overview(found))
        screen.print("loadstone tactics ENGINE lists one engine's; lode's are described in full.")
        return
    for table in (*_tables(found[0]), *map(_profile, found[0].profiles)):
        screen.print(table)


def _json(found: "Sequence[Listed]") -> str:
    from dataclasses import asdict

    from loadstone.control_characters import legible_json

    def row(tactic: "Tactic") -> dict[str, object]:
        values = [{"value": value, "about": about} for value, about in tactic.values]
        return asdict(tactic) | {"values": values}

    engines = [
        {
            "engine": listed.engine,
            "unavailable": listed.unavailable,
            "tactics": [row(tactic) for tactic in listed.tactics],
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

    table = Table("engine", "tactics", box=box.SIMPLE_HEAD, pad_edge=False)
    for listed in found:
        names = ", ".join(dict.fromkeys(tactic.name for tactic in listed.tactics)) or "nothing"
        table.add_row(listed.engine, listed.unavailable or names)
    return table


def _tables(listed: "Listed") -> "Iterator[Table]":
    """One for each tactic that is described, and one of those that are only declared."""
    yield from (_described(tactic) for tactic in listed.tactics if tactic.does is not None)
    declared = [tactic for tactic in listed.tactics if tactic.does is None]
    if declared or not listed.tactics:
        yield _declared(listed.engine, declared)


def _declared(engine: str, declared: "Sequence[Tactic]") -> "Table":
    from rich import box
    from rich.table import Table

    table = Table("tactic", "values (default first)", "behind", box=box.SIMPLE_HEAD, pad_edge=False)
    for tactic in declared:
        values = ", ".join(value for value, _ in tactic.values)
        table.add_row(tactic.name, values, tactic.behind)
    if not declared:
        table.add_row(f"nothing can be switched on {engine}")
    return table


def _described(tactic: "Tactic") -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", expand=True)
    table.add_column(tactic.name, no_wrap=True)
    in_runs = f", in a run {tactic.default_of_runs}" if tactic.default_of_runs else ""
    table.add_column(f"default: {tactic.default}{in_runs}")
    for value, about in tactic.values:
        table.add_row(f"  {value}", about)
    for key, lead in LEADS.items():
        table.add_row(lead, getattr(tactic, key))
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
