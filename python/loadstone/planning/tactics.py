"""The tactics of each engine as it declares them; those of lode as its own code describes them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from loadstone import lode, registry
from loadstone.engines.configured import OF_EVERY_SYSTEM
from loadstone.engines.lode.declared import from_row
from loadstone.engines.tactic import Tactic
from loadstone.errors import EngineError, InputError
from loadstone.plan.variant import listed as tactics_listed

LODE = "lode"
"""The engine whose tactics its own code describes."""
PROFILE = "profile"
"""The tactic that sets others."""
SEAMS = {"engines": "statements", "clients": "calling program"}


@dataclass(frozen=True, slots=True)
class Switch:
    """One tactic, and where it is switched."""

    tactic: Tactic
    behind: str
    """On the engine that executes statements, on that called by a client program, or on both."""
    default: str
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
    switches: tuple[Switch, ...] = ()
    profiles: tuple[Profile, ...] = ()
    """The settings of each value of its tactic `profile`, where only that tactic is listed."""
    unavailable: str | None = None


def every_engine() -> list[Listed]:
    """All engines by name; one that lacks something installed says so."""
    return [_available(name) for name in _names()]


def of_engine(name: str, tactic: str | None = None) -> Listed:
    """One engine's tactics, or one of them. Raises `InputError` for an unknown name, and
    `EngineError` if something that the engine needs is not installed."""
    if name not in _names():
        raise registry.unknown("engine", name, _names())
    listed = _listed(name)
    if tactic is None:
        return listed
    chosen = tuple(one for one in listed.switches if one.tactic.name == tactic)
    if not chosen:
        known = tactics_listed(one.tactic.name for one in listed.switches) or "nothing"
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
    asked = {one.tactic.name: one.default for one in declared}
    own = {one.tactic.name: _with_default(one, asked) for one in _described()}
    # The engine of statements may mean something else by a name of lode's, as by `place`.
    others = {one.tactic.name: one for one in declared if _is_other(one, own)}
    seams = {name: replace(own[name], behind=SEAMS["clients"]) for name in others if name in own}
    return Listed(name, (*(own | seams).values(), *others.values()))


def _is_other(switch: Switch, own: Mapping[str, Switch]) -> bool:
    """Whether a switch is not one of lode's own: it has a named value that lode does not have."""
    same = own.get(switch.tactic.name)
    known = {value for value, _ in same.tactic.values} if same else set()
    words = {value for value, _ in switch.tactic.values if value.isalpha()}
    return same is None or (switch.behind == SEAMS["engines"] and not words <= known)


def _with_default(switch: Switch, asked: Mapping[str, str]) -> Switch:
    of_runs = asked.get(switch.tactic.name, switch.default)
    return replace(switch, default_of_runs=of_runs if of_runs != switch.default else None)


def _described() -> Iterator[Switch]:
    for row in lode.tactics():
        tactic = from_row(row, dict(row["values"]))
        yield Switch(tactic, LODE, row["default"])


def _declared(name: str) -> Iterator[Switch]:
    """The switches by name. A switch that both roads declare alike comes once; if its values
    differ, once for each road. The tactics of every system come last."""
    names = {"engines": registry.engine_names(), "clients": registry.client_names()}
    seams = {seam: behind for seam, behind in SEAMS.items() if name in names[seam]}
    found: dict[str, dict[Tactic, list[str]]] = {}
    for seam, behind in seams.items():
        for tactic in registry.load_system(seam, name).capabilities.tactics.values():
            found.setdefault(tactic.name, {}).setdefault(tactic, []).append(behind)
    for alike in found.values():
        for tactic, roads in alike.items():
            yield Switch(tactic, " and ".join(roads), tactic.default)
    for tactic in OF_EVERY_SYSTEM.values():
        yield Switch(tactic, " and ".join(seams.values()), tactic.default)
