"""An engine opens with all that a plan accepts: over drawn combinations of its tactics."""

import random
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pytest
from engine_kinds import ENGINES

from loadstone import registry
from loadstone.benchmarks.base import ProgramDatabase
from loadstone.clients.base import Client
from loadstone.clients.declared import PROGRAMS
from loadstone.engines.configured import OF_EVERY_SYSTEM
from loadstone.engines.system import System
from loadstone.engines.tactic import Tactic
from loadstone.errors import InputError
from loadstone.plan.variant import Variant

CLIENTS = ("memory", "sqlite", "lmdb", "lode", "duckdb", "postgresql", "zodb", "ladybug")
SLOW = ("duckdb", "mariadb", "postgresql", "ladybug", "zodb")
SLOW_CLIENTS = (*SLOW, "lode", "sqlite", "lmdb")
DRAWS, DRAWS_SLOW = 120, 12
SPREAD = 64
"""Of a number beside its minimum and its default: so many times the minimum at most."""
OF_MACHINE = {
    ("postgresql", "place", "remote"): "needs the right to make namespaces",
    ("lode", "detect", "kernel"): "needs the permission for userfaultfd",
}
"""Values that a machine may not have: to find it out takes a start."""


def value(tactic: Tactic, chance: random.Random) -> str:
    """Any value; of a number its minimum, or one not far above it."""
    drawn = chance.choice(tactic.names)
    if not drawn.startswith("<"):
        return drawn
    most = min(tactic.most or SPREAD * tactic.least, SPREAD * tactic.least)
    if tactic.name == "parallelism":
        most = 2
    return str(chance.choice((tactic.least, chance.randint(tactic.least, most))))


def drawn(kind: type[System], chance: random.Random) -> Variant:
    """Some of the tactics at any value."""
    known = kind.capabilities.tactics
    count = min(chance.choice((1, 2, 2, 3, 5, len(known))), len(known))
    tactics = {name: value(known[name], chance) for name in chance.sample(sorted(known), count)}
    left_out = {(each, text) for engine, each, text in OF_MACHINE if engine == kind.name}
    kept = {pair for pair in tactics.items() if pair not in left_out}
    return Variant(kind.name, tuple(sorted(kept)))


def accepted(kind: type[System], chance: random.Random, draws: int) -> Iterator[Variant]:
    """The drawn variants that a plan accepts."""
    for _ in range(draws):
        variant = drawn(kind, chance)
        try:
            kind.check(variant)
        except InputError as refusal:
            # It says what to change.
            assert refusal.hint, refusal.message
            continue
        yield variant


def marked(names: Iterable[str], slow: Collection[str]):
    return [pytest.param(name, marks=[pytest.mark.slow] if name in slow else []) for name in names]


@pytest.mark.parametrize("name", marked(ENGINES, (*SLOW, "lode")))
def test_an_engine_opens_with_what_a_plan_accepts(
    name: str, scratch: Path, chance: random.Random
) -> None:
    kind, opened = ENGINES[name], 0
    for variant in accepted(kind, chance, DRAWS_SLOW if name in SLOW else DRAWS):
        system = kind(variant, scratch, "run1")
        try:
            system.start()
            system.terms()
            opened += 1
        except Exception as error:
            error.add_note(f"with {variant.name}")
            raise
        finally:
            system.remove()
    assert opened


@pytest.mark.parametrize("name", marked(CLIENTS, SLOW_CLIENTS))
def test_a_client_opens_for_a_benchmark_with_what_a_plan_accepts_and_calls_no_gap(
    name: str, scratch: Path, chance: random.Random
) -> None:
    kind, opened = registry.load_client(name), 0
    for variant in accepted(kind, chance, DRAWS_SLOW if name in SLOW else DRAWS):
        for database in databases(name):
            measures = program_of(database).MEASURES
            capabilities, tactics = kind.capabilities, dict(variant.tactics)
            if all(capabilities.gap(measure, tactics) for measure in measures):
                continue
            client = kind(variant, scratch, "run1")
            assert isinstance(client, Client)
            try:
                client.expect(database)
                client.start()
                client.terms()
                opened += 1
            except Exception as error:
                error.add_note(f"with {variant.name} for {program_of(database).NAME}")
                raise
            finally:
                client.remove()
    assert opened


def program_of(database: ProgramDatabase):
    return next(one for one in PROGRAMS if isinstance(database, one.Database))


def databases(engine: str) -> list[ProgramDatabase]:
    """A small one of each benchmark for which the engine has a program."""
    return [one.NONE for one in PROGRAMS if engine in one.ENGINES]


def test_the_tactics_of_every_system_are_the_workers_to_switch() -> None:
    """They are left out above: no engine opens with them."""
    for kind in ENGINES.values():
        assert not OF_EVERY_SYSTEM.keys() & kind.capabilities.tactics.keys()
