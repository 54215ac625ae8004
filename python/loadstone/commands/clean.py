"""`loadstone clean`: what killed runs left behind; shown first, then removed if wished."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from loadstone.engines.base import Engine, Leftover
    from loadstone.scratch import Scratch
    from loadstone.variant import Variant


@dataclass(frozen=True, slots=True)
class Rubbish:
    """One thing to remove: how it is shown, and how it goes."""

    kind: str
    name: str
    owner: str
    remove: Callable[[], None]


def clean(
    on: Annotated[
        list[str] | None,
        typer.Option(help="Look into this database, too: postgresql://… sqlite:///… (repeat)."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False,
) -> None:
    """Remove what killed runs left: scratch folders, and what is marked as ours in databases."""
    from rich.console import Console
    from rich.table import Table

    from loadstone import scratch

    folders = list(scratch.found())
    running = {folder.owner for folder in folders if folder.alive}
    rubbish = [_folder(folder) for folder in folders if not folder.alive]
    for text in on or ():
        rubbish += _marked(text, running)
    if not rubbish:
        typer.echo("nothing to clean")
        return
    table = Table("what")
    table.add_column("name", overflow="fold")  # never cut: people decide by it
    table.add_column("left by run")
    for item in rubbish:
        table.add_row(item.kind, item.name, item.owner)
    Console(highlight=False, markup=False).print(table)
    if not yes and not typer.confirm(f"Remove {len(rubbish)}?"):
        return
    for item in rubbish:
        item.remove()
        typer.echo(f"removed {item.kind} {item.name}")


def _folder(folder: "Scratch") -> Rubbish:
    def remove() -> None:
        from loadstone import registry, scratch
        from loadstone.errors import EngineError

        for name in registry.engine_names():
            try:
                engine = registry.load_engine(name)
            except EngineError:
                continue  # what is not installed has left no process
            for variant in filter(lambda path: path.is_dir(), folder.path.iterdir()):
                engine.abandon(variant)
        scratch.release(folder.path)

    return Rubbish("scratch folder", str(folder.path), folder.owner, remove)


def _marked(text: str, running: set[str]) -> list[Rubbish]:
    from loadstone import registry
    from loadstone.variant import parse_variant

    engine = registry.load_engine(registry.engine_of(text))
    variant = parse_variant(text, frozenset(engine.capabilities.tactics))
    engine.check(variant)
    return [
        Rubbish(
            leftover.kind,
            f"{leftover.name} on {variant.name}",
            leftover.owner,
            _removal(engine, variant, leftover),
        )
        for leftover in engine.sweep(variant)
        if leftover.owner not in running
    ]


def _removal(
    engine: "type[Engine]", variant: "Variant", leftover: "Leftover"
) -> Callable[[], None]:
    return lambda: engine.clear(variant, leftover)
