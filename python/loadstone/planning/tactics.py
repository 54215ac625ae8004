"""The tactics of each engine: as any engine declares them, and as lode's code describes them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from loadstone import lode, registry
from loadstone.errors import EngineError, InputError

LODE = "lode"
"""The engine whose tactics its own code describes."""
PROFILE = "profile"
"""The tactic that sets others."""
SEAMS = {"engines": "statements", "clients": "calling program"}
SENTENCES = ("does", "buys", "costs", "loses", "excludes", "source")
"""The parts of a described tactic."""


@dataclass(frozen=True, slots=True)
class Tactic:
    """One tactic as an engine declares it. The sentences are lode's, and None elsewhere."""

    name: str
    behind: str
    """Where it is switched: on the engine that executes statements, or on that called by a client
    program."""
    default: str
    values: tuple[tuple[str, str | None], ...]
    """(value, its meaning), the default first."""
    does: str | None = None
    buys: str | None = None
    costs: str | None = None
    loses: str | None = None
    excludes: str | None = None
    source: str | None = None
    default_of_runs: str | None = None
    """A run's default for lode, if it differs from lode's own."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A named set of lode's tactics, which re-creates a system."""

    name: str
    about: str
    settings: tuple[tuple[str, str, str], ...]
    """(tactic, value, its reason)."""
    missing: tuple[tuple[str, str], ...]
    """(what the system had besides, what lode does instead)."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An engine and its tactics, or why they cannot be listed here."""

    engine: str
    tactics: tuple[Tactic, ...] = ()
    profiles: tuple[Profile, ...] = ()
    """What the values of its tactic `profile` set, where only that tactic is listed."""
    unavailable: str | None = None


def every_engine() -> list[Listed]:
    """All engines by name; those of which something is not installed say so."""
    return [_available(name) for name in _names()]


def of_engine(name: str, tactic: str | None = None) -> Listed:
    """One engine's tactics, or one of them. `InputError` for a name that there is not,
    `EngineError` where what the engine needs is not installed."""
    if name not in _names():
        raise InputError(f"there is no engine {name!r}", hint=f"there are: {', '.join(_names())}")
    listed = _listed(name)
    if tactic is None:
        return listed
    chosen = tuple(one for one in listed.tactics if one.name == tactic)
    if not chosen:
        known = ", ".join(dict.fromkeys(one.name for one in listed.tactics)) or "nothing"
        raise InputError(f"{name} has no tactic {tactic!r}", hint=f"it can switch: {known}")
    return Listed(name, chosen, tuple(_profiles()) if (name, tactic) == (LODE, PROFILE) else ())


def _profiles() -> Iterator[Profile]:
    for row in lode.profiles():
        settings, missing = tuple(row["settings"]), tuple(row["missing"])
        yield Profile(row["name"], row["about"], settings, missing)


def _names() -> list[str]:
    return sorted({LODE, *registry.engine_names(), *registry.client_names()})


def _available(name: str) -> Listed:
    try:
        return _listed(name)
    except EngineError as error:
        return Listed(name, unavailable=f"{error.message}: {error.hint}")


def _listed(name: str) -> Listed:
    declared = tuple(_declared(name))
    if name != LODE:
        return Listed(name, declared)
    asked = {one.name: one.default for one in declared}
    described = {one.name: _with_default(one, asked.get(one.name)) for one in _described()}
    others = (one for one in declared if one.name not in described)
    return Listed(name, (*described.values(), *others))


def _with_default(tactic: Tactic, asked: str | None) -> Tactic:
    return replace(tactic, default_of_runs=asked if asked != tactic.default else None)


def _described() -> Iterator[Tactic]:
    for row in lode.tactics():
        sentences = {key: row[key] for key in SENTENCES}
        values = tuple((value, about) for value, about in row["values"])
        yield Tactic(row["name"], LODE, row["default"], values, **sentences)


def _declared(name: str) -> Iterator[Tactic]:
    for seam, behind in SEAMS.items():
        names = registry.engine_names() if seam == "engines" else registry.client_names()
        if name in names:
            declared = registry.load_system(seam, name).capabilities.tactics
            for tactic, values in declared.items():
                yield Tactic(tactic, behind, values[0], tuple((value, None) for value in values))
