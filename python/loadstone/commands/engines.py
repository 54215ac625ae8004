"""`loadstone engines`: the engines, how each is driven, its tactics, and its gaps."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.table import Table

    from loadstone.engines.capabilities import Structure
    from loadstone.engines.system import System
    from loadstone.engines.tactic import Tactic

DRIVEN_BY = {"engines": "statements", "clients": "client"}
"""Kind of entry point -> the road to the engine."""


def engines(
    form: Annotated[
        Literal["text", "json"],
        typer.Option("--format", "-f", metavar="NAME", help="Print text or json."),
    ] = "text",
) -> None:
    """List the engines, and how each is driven.

    An engine is driven by statements, by a client program in Rust or Python, or by both. Listed are
    each engine's version and tactics, its counterpart of each storage structure of the papers, and
    the measures that a client lacks. Below a version, ENGINE@NUMBER means that other releases of
    this engine can be measured beside it.
    """
    from loadstone.diagnostics import show_result

    if form == "json":
        from loadstone.control_characters import legible_json

        reported = [
            {"engine": name, "roads": [_described(name, seam) for seam in seams]}
            for name, seams in _roads()
        ]
        show_result(legible_json({"engines": reported}, indent=2))
        return
    _print()


def _described(name: str, seam: str) -> "dict[str, Any]":
    """One road to an engine as plain values."""
    from loadstone import registry
    from loadstone.errors import EngineError

    road: dict[str, Any] = {"driven_by": DRIVEN_BY[seam]}
    try:
        kind = registry.load_system(seam, name)
    except EngineError as error:
        return {**road, "unavailable": error.message, "remedy": error.hint}
    structures = kind.capabilities.structures.items()
    return {
        **road,
        "versions": dict(kind.versions()),
        "releases": bool(kind.capabilities.distribution),
        "takes_url": kind.capabilities.url != "none",
        "tactics": {each: list(tactic.names) for each, tactic in kind.tactics().items()},
        "structures": {
            what: {"supported": found.supported, "note": found.note} for what, found in structures
        },
    }


def _print() -> None:
    """Print the tables."""
    from rich.table import Column, Table

    from loadstone.diagnostics import console
    from loadstone.engines.configured import OF_EVERY_SYSTEM

    # Values are words without blanks: folded where they are longer than the column, never cut.
    overview = Table(
        "engine", "driven by", Column("version", overflow="fold"),
        Column("tactics (default first)", overflow="fold"), title="Engines",
        caption=f"{_benchmarks()}; every engine has {', '.join(_named(OF_EVERY_SYSTEM))}",
    )  # fmt: skip
    structures = Table("engine", "structure", "", "counterpart", title="Storage structures")
    gaps = Table("engine", "measures", "why not", title="Measures that a client has no means for")
    for name, seams in _roads():
        for seam in seams:
            shown = name if seam == seams[0] else ""
            kind = _row(overview, shown, seam, name)
            found = kind.capabilities.structures if kind else {}
            if seam == "engines":
                for what, structure in found.items():
                    word = "yes" if structure.supported else "gap"
                    structures.add_row(name, what, word, structure.note)
            else:
                for reason, measures in _gaps(found).items():
                    gaps.add_row(name, ", ".join(measures), reason)
        overview.add_section()
    for table in (overview, structures, gaps):
        console().print(table)


def _benchmarks() -> str:
    """Which benchmarks drive an engine by which road."""
    from loadstone import registry
    from loadstone.text.numbers import listing

    reported = (
        f"{listing(names)} by {registry.ROADS[seam]}"
        for seam, names in registry.benchmarks_by_road().items()
        if names
    )
    return f"an engine is driven for {', for '.join(reported)}"


def _gaps(structures: "Mapping[str, Structure]") -> dict[str, list[str]]:
    """Measures that are gaps, by their reasons."""
    found: dict[str, list[str]] = {}
    for measure, structure in structures.items():
        if not structure.supported:
            found.setdefault(structure.note, []).append(measure)
    return found


def _roads() -> "Iterator[tuple[str, list[str]]]":
    """Each engine once, with the kinds of entry points that lead to it."""
    from loadstone import registry

    names = {"engines": registry.engine_names(), "clients": registry.client_names()}
    for name in sorted({*names["engines"], *names["clients"]}):
        yield name, [seam for seam in DRIVEN_BY if name in names[seam]]


def _row(table: "Table", shown: str, seam: str, name: str) -> "type[System] | None":
    """Add the row of one road; None if something it needs is not installed."""
    from loadstone import registry
    from loadstone.clients.base import Client
    from loadstone.errors import EngineError

    try:
        kind = registry.load_system(seam, name)
    except EngineError as error:
        table.add_row(shown, DRIVEN_BY[seam], f"not available: {error.message}", error.hint)
        return None
    road, versions = DRIVEN_BY[seam], _versions(kind)
    if issubclass(kind, Client):
        road, versions = f"client in {kind.language.title()}", versions or kind.library
    if kind.capabilities.distribution:
        versions += f"\n{name}@NUMBER"
    table.add_row(shown, road, versions, "\n".join(_named(kind.capabilities.tactics)))
    return kind


def _versions(engine: "type[System]") -> str:
    return "\n".join(f"{what} {version}" for what, version in engine.versions().items())


def _named(tactics: "Mapping[str, Tactic]") -> list[str]:
    """Each with its values; a family of them once."""
    from loadstone.plan.variant import family_of

    rows = (f"{family_of(name)}={'|'.join(tactic.names)}" for name, tactic in tactics.items())
    return list(dict.fromkeys(rows))
