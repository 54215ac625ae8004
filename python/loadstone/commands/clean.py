"""`loadstone clean`: lists the leftovers of killed runs, asks, and removes them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from loadstone.engines.abilities import UsersDatabase
    from loadstone.engines.ownership import Leftover
    from loadstone.plan.variant import Variant
    from loadstone.run.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Removal:
    """One thing to remove: how it is shown, and how it goes."""

    kind: str
    name: str
    owner: str
    holds: str
    remove: Callable[[], None]


def clean(
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="Clean this database, too: postgresql://…, sqlite:///…; repeatable.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False,
    form: Annotated[
        Literal["text", "json"],
        typer.Option(
            "--format", "-f", metavar="NAME", help="Print text, or list as json and remove nothing."
        ),
    ] = "text",
) -> None:
    """Remove what killed runs left behind.

    These are scratch folders and, in databases, schemas and tables with Loadstone's mark. All are
    listed before any is removed.
    """
    from loadstone.diagnostics import show_result
    from loadstone.errors import InputError
    from loadstone.run import scratch

    if yes and form == "json":
        raise InputError("--format json removes nothing", hint="leave out one of them")
    folders = list(scratch.found())
    running = {folder.owner for folder in folders if folder.alive}
    leftovers = [_folder(folder) for folder in folders if not folder.alive]
    for text in on or ():
        leftovers += _marked(text, running)
    if form == "json":
        show_result(_json(leftovers))
        return
    if not leftovers:
        show_result("nothing to clean")
        return
    _show(leftovers)
    if not yes and not _wished(len(leftovers)):
        return
    _remove(leftovers)


def _json(leftovers: "Sequence[Removal]") -> str:
    from loadstone.control_characters import legible_json

    listed = [
        {"kind": item.kind, "name": item.name, "run": item.owner, "holds": item.holds}
        for item in leftovers
    ]
    return legible_json({"leftovers": listed}, indent=2)


def _show(leftovers: "Sequence[Removal]") -> None:
    from rich.table import Table

    from loadstone.control_characters import legible_line
    from loadstone.diagnostics import console, show_result

    table = Table("what")
    table.add_column("name", overflow="fold")  # never cut: people decide by it
    table.add_column("left by run")
    for item in leftovers:
        table.add_row(*map(legible_line, (item.kind, item.name, item.owner)))
    console().print(table)
    for item in filter(lambda item: item.holds, leftovers):
        show_result(legible_line(f"{item.name}: {item.holds}"))


def _wished(count: int) -> bool:
    """The user's answer. Raises `InputError` without a terminal to ask."""
    import sys

    from loadstone.errors import InputError

    try:
        return typer.confirm(f"Remove {count}?")
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        raise InputError(
            "nothing was removed: the question got no answer", hint="--yes removes without asking"
        ) from None


def _remove(leftovers: "Sequence[Removal]") -> None:
    """Remove everything; an item that cannot be removed does not stop the others. Raises the first
    reason."""
    from loadstone.control_characters import legible_line
    from loadstone.diagnostics import say, show_result
    from loadstone.errors import LoadstoneError

    failures: list[LoadstoneError] = []
    for item in leftovers:
        try:
            item.remove()
        except LoadstoneError as error:
            failures.append(error)
            say(legible_line(f"not removed: {item.kind} {item.name}"))
            continue
        show_result(legible_line(f"removed {item.kind} {item.name}"))
    for failure in failures[1:]:
        say(f"loadstone: {failure.message}")
    if failures:
        raise failures[0]


def _folder(folder: "Scratch") -> Removal:
    def remove() -> None:
        from loadstone.errors import EngineError
        from loadstone.run import scratch

        if not scratch.release(folder.path, lambda: _abandon(folder.path)):
            raise EngineError(
                f"{folder.path} is in use, or cannot be removed whole",
                hint="inspect it; it keeps its mark, and `loadstone clean` tries again",
            )

    return Removal("scratch folder", str(folder.path), folder.owner, "", remove)


def _abandon(folder: "Path") -> None:
    """End servers that a killed run left running for its engines and clients."""
    from loadstone import registry
    from loadstone.engines.abilities import processes_ended
    from loadstone.errors import EngineError

    seams = {"engines": registry.engine_names(), "clients": registry.client_names()}
    for seam, name in ((seam, name) for seam, names in seams.items() for name in names):
        try:
            system = registry.load_system(seam, name)
        except EngineError:
            continue  # what is not installed has left no process
        for variant in filter(lambda path: path.is_dir(), folder.iterdir()):
            processes_ended(system, variant)


def _marked(text: str, running: set[str]) -> list[Removal]:
    from loadstone import registry
    from loadstone.control_characters import legible_line
    from loadstone.diagnostics import say
    from loadstone.engines.abilities import users_database
    from loadstone.plan.variant import parse_variant

    engine = registry.load_engine(registry.engine_named(text))
    variant = parse_variant(text, frozenset(engine.tactics()))
    engine.check(variant)
    database = users_database(engine)
    if database is None:
        return []
    found = []
    for leftover in database.sweep(variant):
        name = f"{leftover.name} on {variant.name}"
        if leftover.alive or leftover.owner in running:
            held = f"run {leftover.owner} is being measured"
            say(legible_line(f"left alone: {leftover.kind} {name}: {held}"))
            continue
        remove = _removal(database, variant, leftover)
        found.append(Removal(leftover.kind, name, leftover.owner, leftover.detail, remove))
    return found


def _removal(
    engine: "UsersDatabase", variant: "Variant", leftover: "Leftover"
) -> Callable[[], None]:
    return lambda: engine.clear(variant, leftover)
