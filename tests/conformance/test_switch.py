"""A system takes another variant on the data that it has, and is then as if freshly started so."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from engine_kinds import ENGINES, MakeEngine
from postgresql_build import RELEASE
from samples import as_rows, rows, said, stream, table, trimmed
from test_clients import loaded_client

from loadstone import registry
from loadstone.engines.base import Engine
from loadstone.engines.calibration.artificial import ArtificialEngine
from loadstone.engines.system import System
from loadstone.engines.tactic import SENTENCES, Level, Tactic
from loadstone.errors import EngineError, InputError, UnsupportedError
from loadstone.plan.variant import Variant

NUMBERS = {"<n>": "3", "<bytes>": str(32 * 2**20)}
"""A value in place of a number's."""
MEASURED = ("round_trip_ns",)
CLIENTS = ("memory", "sqlite", "lmdb", "lode", "duckdb", "postgresql", "zodb", "ladybug")
CLIENTS_LEFT_OUT = {
    ("postgresql", "remote"): "needs the right to make namespaces",
    ("lode", "sigsegv"): "OO1's program maps no pages; OO7's does",
    ("lode", "kernel"): "OO1's program maps no pages; OO7's does",
}

MAY_LACK = {
    ("postgresql", "jit", "on"),
    ("postgresql", "wal_compression", "lz4"),
    ("postgresql", "wal_compression", "zstd"),
    ("postgresql", "huge_pages", "on"),
    *([("postgresql", "sort", "full")] if RELEASE < 13 else []),
}
"""The switches that this machine, or this build of a server, may lack; then the switch says so, and
nothing is lost."""
SLOW = ("duckdb", "mariadb", "postgresql", "ladybug")
"""The engines whose many values take seconds to switch to. That they switch at all, other tests
show."""
SETS_OTHERS = ("profile",)
"""Tactics whose level depends on their value."""


def quick_or_slow(name: str):
    return pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])


def other_values(tactic: Tactic) -> Iterator[str]:
    """All but the default; of several numbers the first."""
    numbers = [value for value in tactic.names[1:] if value.isdecimal()]
    for value in tactic.names[1:]:
        if value not in numbers[1:]:
            yield NUMBERS.get(value, value)


def every_switch(system: System) -> Iterator[tuple[Tactic, Variant]]:
    """Each tactic and each value of it that is not the default, one at a time."""
    for tactic in system.capabilities.tactics.values():
        for value in other_values(tactic):
            yield tactic, replace(system.variant, tactics=((tactic.name, value),))


def reported(system: System) -> dict[str, str]:
    return {key: value for key, value in system.terms().items() if key not in MEASURED}


@pytest.fixture
def held(make: MakeEngine, name: str) -> Engine:
    """A started engine with a table of each structure that it has."""
    engine = make(name)
    load(engine)
    return engine


def load(engine: Engine) -> None:
    engine.start()
    for design in (
        table("t", indexes=("unique2",)),
        table("c", organisation="clustered", key="unique2", tiebreaker="unique1"),
    ):
        engine.load(design, stream(rows()))
    engine.settle(["t", "c"])


def assert_right(engine: Engine) -> None:
    for name in ("t", "c"):
        assert sorted(as_rows(engine.contents(name))) == sorted(rows())
    both = "range of t is t range of c is c "
    one = said(engine, both + "retrieve (t.all) where t.unique2 = c.unique2 and c.unique1 < 9")
    assert sorted(trimmed(engine.fetch(one))) == sorted(row for row in rows() if row[0] < 9)
    groups = said(engine, "range of t is t retrieve unique (t.string)")
    assert len(engine.fetch(groups)) == len({row[3] for row in rows()})


@pytest.mark.parametrize("name", [quick_or_slow(name) for name in sorted(ENGINES)], indirect=True)
def test_every_value_is_switched_to_and_back_on_the_same_data(held: Engine, scratch: Path) -> None:
    plain, before = held.variant, reported(held)
    for tactic, variant in every_switch(held):
        if not held.same_data(plain, variant):
            continue
        if (held.name, *variant.tactics[0]) in MAY_LACK:
            with suppress(UnsupportedError, EngineError, InputError):
                held.switch(variant)
            held.switch(plain)
            assert reported(held) == before, variant.name
            continue
        held.switch(variant)
        assert held.variant == variant
        switched = reported(held)
        assert switched[tactic.name] == dict(variant.tactics)[tactic.name]
        assert_right(held)
        assert switched == fresh_terms(held, plain, scratch)
        held.switch(plain)
        assert reported(held) == before, variant.name
    assert_right(held)


def fresh_terms(engine: Engine, loaded: Variant, scratch: Path) -> dict[str, str]:
    """Of another object of that variant, started on the same files, where the data have the name of
    the variant that loaded them."""
    engine.stop()
    fresh = type(engine)(loaded, scratch, engine.owner)
    fresh.variant = engine.variant
    try:
        fresh.start()
        return reported(fresh)
    finally:
        fresh.stop()
        engine.start()


def test_every_value_of_what_is_loaded_is_loaded_so(make: MakeEngine, name: str) -> None:
    for tactic, variant in list(every_switch(make(name))):
        if tactic.level is not Level.LOAD:
            continue
        engine = make(name, **dict(variant.tactics))
        load(engine)
        assert engine.terms()[tactic.name] == variant.tactics[0][1], variant.name
        assert_right(engine)
        engine.stop()
        engine.start()
        assert engine.terms()[tactic.name] == variant.tactics[0][1], variant.name
        engine.remove()


PLANS = {
    "sequential": "Seq Scan on",
    "index": "Index Scan using",
    "bitmap": "Bitmap Index Scan on",
}


def test_a_way_to_the_rows_that_is_named_is_planned(make: MakeEngine) -> None:
    engine = make("postgresql")
    engine.start()
    engine.load(table("t", indexes=("unique2",)), stream(rows(9000), 1000))
    engine.settle(["t"])
    statement = said(engine, "range of t is t retrieve (t.all) where t.unique2 = 77")
    for scan, words in PLANS.items():
        engine.switch(replace(engine.variant, tactics=(("scan", scan),)))
        assert words in engine.explain(statement)
    only = said(engine, "range of t is t retrieve (t.unique2) where t.unique2 = 77")
    engine.switch(replace(engine.variant, tactics=(("scan", "index-only"),)))
    assert "Index Only Scan using" in engine.explain(only)
    groups = said(engine, "range of t is t retrieve unique (t.string)")
    assert "HashAggregate" in engine.explain(groups)
    engine.switch(replace(engine.variant, tactics=(("aggregation", "sort"),)))
    assert "HashAggregate" not in engine.explain(groups)


def test_every_optimizer_of_duckdb_is_a_tactic_that_it_obeys(make: MakeEngine) -> None:
    engine = make("duckdb")
    engine.start()
    known = [name for (name,) in engine.fetch("SELECT name FROM duckdb_optimizers()")]
    assert [name for name in engine.capabilities.tactics if "." in name] == [
        f"optimizer.{name}" for name in known
    ]
    engine.load(table("t"), stream(rows()))
    query = said(engine, "range of t is t retrieve (t.string) where t.unique2 = 7")
    pushed = engine.explain(query)
    assert "  FILTER " not in pushed
    off = (("optimizer.filter_pushdown", "off"), ("optimizer.join_order", "off"))
    engine.switch(replace(engine.variant, tactics=off))
    assert "  FILTER " in engine.explain(query)
    assert engine.fetch("SELECT current_setting('disabled_optimizers')") == [
        ("filter_pushdown,join_order",)
    ]


def test_one_switch_takes_many_tactics(held: Engine) -> None:
    plain, before = held.variant, reported(held)
    last = {
        tactic.name: list(other_values(tactic))[-1]
        for tactic in held.capabilities.tactics.values()
        if tactic.name in ("durability", "cache", "parallelism", "join") and len(tactic.names) > 1
    }
    held.switch(replace(plain, tactics=tuple(sorted(last.items()))))
    assert {name: held.terms()[name] for name in last} == last
    assert_right(held)
    held.switch(plain)
    assert reported(held) == before


def test_a_switch_to_what_is_in_force_changes_nothing(held: Engine) -> None:
    before = reported(held)
    held.switch(held.variant)
    assert reported(held) == before
    assert_right(held)


def test_a_stopped_system_can_be_switched(held: Engine) -> None:
    held.stop()
    held.switch(replace(held.variant, tactics=(("durability", "none"),)))
    assert held.terms()["durability"] == "none"
    assert_right(held)


def test_a_tactic_of_what_is_loaded_makes_other_data(held: Engine) -> None:
    plain, before = held.variant, reported(held)
    for tactic, variant in every_switch(held):
        assert held.same_data(variant, variant)
        if tactic.name not in SETS_OTHERS:
            assert held.same_data(plain, variant) == (tactic.level is not Level.LOAD), variant.name
        if not held.same_data(plain, variant):
            with pytest.raises(InputError, match="other data") as caught:
                held.switch(variant)
            assert caught.value.hint
    assert held.variant == plain
    assert reported(held) == before


def test_an_undeclared_tactic_is_refused_and_changes_nothing(held: Engine) -> None:
    plain, before = held.variant, reported(held)
    for wrong in (("durability", "maybe"), ("colour", "red")):
        with pytest.raises(InputError):
            held.switch(replace(plain, tactics=(wrong,)))
    assert held.variant == plain
    assert reported(held) == before


def test_another_engine_has_other_data(held: Engine) -> None:
    assert not held.same_data(held.variant, Variant("null"))
    assert not held.same_data(held.variant, replace(held.variant, url="x://h/d"))


@pytest.mark.parametrize("text", [quick_or_slow(text) for text in CLIENTS])
def test_a_program_is_switched_to_every_value_and_back(text: str) -> None:
    try:
        with loaded_client(text) as client:
            plain, before = client.variant, reported(client)
            answer = client.measure("lookup", 1).checksum
            for tactic, variant in every_switch(client):
                if (client.name, variant.tactics[0][1]) in CLIENTS_LEFT_OUT:
                    continue
                assert client.same_data(plain, variant) == (tactic.level is not Level.LOAD)
                if tactic.level is Level.LOAD:
                    continue
                client.switch(variant)
                if not client.capabilities.stoppable:
                    client.load()
                assert reported(client)[tactic.name] == variant.tactics[0][1]
                assert client.measure("lookup", 1).checksum == answer, variant.name
                client.switch(plain)
            if not client.capabilities.stoppable:
                client.load()
            assert reported(client) == before
    except EngineError as missing:
        if text in ("zodb", "ladybug"):
            pytest.skip(missing.message)
        raise


@pytest.mark.parametrize("name", ["fixed", "stalling", "planted"])
def test_an_artificial_engine_is_switched(name: str, tmp_path: Path) -> None:
    kind = registry.load_engine(name)
    engine = kind(Variant(name), tmp_path, "run1")
    assert isinstance(engine, ArtificialEngine)
    engine.start()
    before = engine.terms()
    for tactic, variant in every_switch(engine):
        engine.switch(variant)
        assert engine.terms()[tactic.name] == variant.tactics[0][1]
        engine.switch(Variant(name))
        assert engine.terms() == before


def declarations() -> Iterator[Tactic]:
    for name in ENGINES:
        yield from ENGINES[name].capabilities.tactics.values()
    for name in ("fixed", "stalling", "planted"):
        yield from registry.load_engine(name).capabilities.tactics.values()
    for name in CLIENTS:
        try:
            yield from registry.load_client(name).capabilities.tactics.values()
        except EngineError:
            continue


def test_every_tactic_is_described_and_has_a_level() -> None:
    for tactic in declarations():
        assert tactic.level in Level
        assert all(getattr(tactic, key).strip() for key in SENTENCES), tactic.name
        assert all(about.strip() for _, about in tactic.values), tactic.name
        assert len(set(tactic.names)) == len(tactic.names)
