"""`loadstone doctor`: what this machine can prove, what it cannot, and what to do about it."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from loadstone.doctor import Check

COLUMNS_MAX = 100
"""Of the one screen it must fit on; a narrower one wraps."""
_COLOURS = {"ok": "green", "limited": "yellow", "absent": "red"}


def doctor(
    form: Annotated[
        Literal["text", "json"],
        typer.Option("--format", "-f", metavar="NAME", help="Print text or json."),
    ] = "text",
) -> int:
    """List what this machine can measure and prove.

    Each gap comes with its remedy. The command takes a few seconds and some 64 MiB in the scratch
    folder, and leaves nothing behind.
    """
    from loadstone.diagnostics import EXIT_OF_ERROR, Exit, show_result
    from loadstone.doctor import examine

    checks = examine()
    if form == "json":
        show_result(_json(checks))
    else:
        _print(checks)
    prevented = next((check.prevents for check in checks if check.prevents), None)
    return EXIT_OF_ERROR[prevented] if prevented else Exit.OK


def _json(checks: "Sequence[Check]") -> str:
    from loadstone.control_characters import legible_json

    keys = ("name", "verdict", "value", "consequence", "remedy")
    return legible_json(
        {
            "possible": not any(check.prevents for check in checks),
            "checks": [{key: getattr(check, key) for key in keys} for check in checks],
        },
        indent=2,
    )


def _print(checks: "Sequence[Check]") -> None:
    from loadstone.diagnostics import console

    screen = console()
    screen.width = min(screen.width, COLUMNS_MAX) if screen.is_terminal else COLUMNS_MAX
    screen.print(_summary(checks), style="bold")
    screen.print(_findings(checks))
    if remedies := {check.name: check.remedy for check in checks if check.remedy}:
        screen.print("\nWhat to do", style="bold")
        screen.print(_remedies(remedies))


def _findings(checks: "Sequence[Check]") -> "RenderableType":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    for check in _together(checks):
        verdict = Text(check.verdict, style=_COLOURS[check.verdict])
        table.add_row(check.name, verdict, check.value, check.consequence)
    return table


def _together(checks: "Sequence[Check]") -> "Iterator[Check]":
    """The checks, with one row for all engines that are usable, and one for those that are not:
    one each would be half of the screen. Their versions are in `loadstone engines`, and in JSON."""
    from loadstone.doctor.check import Check
    from loadstone.doctor.engines import UNUSABLE, USABLE

    names = {"engines": USABLE, "others": UNUSABLE}
    alike = {end: [one.name for one in checks if one.consequence == end] for end in names.values()}
    for check in checks:
        engines = alike.get(check.consequence, [check.name])
        if check.name == engines[0]:
            heading = next((n for n, end in names.items() if end == check.consequence), check.name)
            value = ", ".join(engines) if heading in names else check.value
            yield Check(heading, check.verdict, value, check.consequence)


def _remedies(remedies: dict[str, str]) -> "RenderableType":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    for name, remedy in remedies.items():
        table.add_row(name, remedy)
    return table


def _summary(checks: "Sequence[Check]") -> str:
    proves = any(check.name == "eviction" and check.verdict == "ok" for check in checks)
    if any(check.prevents for check in checks):
        return "No run is possible here."
    return f"Runs are possible here; cold cells will be {'proved' if proves else 'unproved'}."
