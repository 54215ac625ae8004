"""`loadstone engines`: what is installed, what each engine can switch, and what it lacks."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadstone.engines.base import Engine


def engines() -> None:
    """List the engines: versions, tactics, and what each has for the papers' structures."""
    from rich.console import Console
    from rich.table import Table

    from loadstone import registry
    from loadstone.errors import EngineError

    overview = Table("engine", "version", "tactics (default first)", title="Engines")
    structures = Table("engine", "structure", "", "what it is there", title="Storage structures")
    for name in registry.engine_names():
        try:
            engine = registry.load_engine(name)
        except EngineError as error:
            overview.add_row(name, f"not available: {error.message}", error.hint)
            continue
        overview.add_row(name, _versions(engine), _tactics(engine))
        for structure, what in engine.capabilities.structures.items():
            structures.add_row(name, structure, "yes" if what.supported else "gap", what.note)
        structures.add_section()
    console = Console(highlight=False, markup=False)
    console.print(overview)
    console.print(structures)


def _versions(engine: "type[Engine]") -> str:
    return "\n".join(f"{what} {version}" for what, version in engine.versions().items())


def _tactics(engine: "type[Engine]") -> str:
    tactics = engine.capabilities.tactics.items()
    return "\n".join(f"{name}={'|'.join(values)}" for name, values in tactics)
