"""`loadstone engines`: what is installed, what each engine can switch, and what it lacks."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from loadstone.engines.base import System


def engines() -> None:
    """List the engines and what each can do.

    Versions, tactics, and the stand-ins for the papers' storage structures.
    """
    from rich.table import Table

    from loadstone import registry
    from loadstone.diagnostics import console

    structures = Table("engine", "structure", "", "stand-in", title="Storage structures")
    gaps = Table("engine", "measure", "why not", title="Measures that an engine cannot execute")
    screen = console()
    for seam, names, title in (
        ("engines", registry.engine_names(), "Engines that take statements (wisconsin)"),
        ("clients", registry.client_names(), "Engines called by a client program (oo1)"),
    ):
        overview = Table("engine", "version", "tactics (default first)", title=title)
        for name in names:
            engine = _row(overview, seam, name)
            for what, structure in engine.capabilities.structures.items() if engine else ():
                if seam == "engines":
                    word = "yes" if structure.supported else "gap"
                    structures.add_row(name, what, word, structure.note)
                elif not structure.supported:
                    gaps.add_row(name, what, structure.note)
        screen.print(overview)
    screen.print(structures)
    screen.print(gaps)


def _row(table: "Table", seam: str, name: str) -> "type[System] | None":
    """One engine's row; None where something it needs is not installed."""
    from loadstone import registry
    from loadstone.errors import EngineError

    try:
        engine = registry.load_system(seam, name)
    except EngineError as error:
        table.add_row(name, f"not available: {error.message}", error.hint)
        return None
    table.add_row(name, _versions(engine), _tactics(engine))
    return engine


def _versions(engine: "type[System]") -> str:
    return "\n".join(f"{what} {version}" for what, version in engine.versions().items())


def _tactics(engine: "type[System]") -> str:
    tactics = engine.capabilities.tactics.items()
    return "\n".join(f"{name}={'|'.join(values)}" for name, values in tactics)
