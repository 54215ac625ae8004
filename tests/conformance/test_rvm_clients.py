"""Every client that has a program for RVM's benchmark answers as the oracle does, takes its writes
back, and keeps what it holds; every other one says that it has none."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_clients import LOST, loaded_client

from loadstone import _core, registry
from loadstone.benchmarks.rvm.database import Database
from loadstone.clients.base import Client
from loadstone.clients.rvm import program
from loadstone.errors import EngineError, UnsupportedError
from loadstone.machine.page_cache import wait_until_dead
from loadstone.plan.variant import parse_variant

ACCOUNTS = 1_000
DATABASE = Database(ACCOUNTS)
NULL = "null"
VARIANTS = (
    "memory",
    "sqlite?durability=none",
    "lmdb?durability=none",
    "lode?durability=none",
    "lode?durability=none&log=set-range",
    "lode?detect=sigsegv&durability=none&log=page-grain",
)
REFUSED = tuple(
    f"{engine}?{'&'.join(map('='.join, values))}" for engine, values, _ in program.LACKS
)
"""Designs that other programs have and this one does not."""


@pytest.fixture(scope="module", params=VARIANTS)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    with loaded_client(request.param, DATABASE) as loaded:
        yield loaded


def wanted(measure: str, iteration: int = 1) -> tuple[int, str]:
    return _core.rvm_answer(ACCOUNTS, 1, measure, iteration)


def answer(client: Client, measure: str, iteration: int = 1) -> tuple[int, str]:
    found = client.measure(measure, iteration)
    assert found.elapsed_ns >= found.commit_ns >= 0
    assert found.elapsed_ns > 0
    return found.visits, found.checksum


def test_every_engine_with_a_program_is_held_to_the_contract() -> None:
    held = {registry.engine_named(text) for text in VARIANTS}
    assert held | {NULL} == set(_core.rvm_engines())


def test_every_trial_leaves_what_the_oracle_says(client: Client) -> None:
    for measure in _core.rvm_measures():
        for iteration in (1, 3):
            assert answer(client, measure, iteration) == wanted(measure, iteration)


def test_an_engine_that_counts_its_log_reports_it(client: Client) -> None:
    found = client.measure("tpca-random", 1)
    assert (found.log_bytes is not None) == (client.name == "lode")
    # Of each word of three records at least a byte becomes another, behind its mask.
    assert found.log_bytes is None or found.log_bytes > 4_000 * 3 * 16 * 2


def test_a_stop_keeps_what_was_loaded(client: Client) -> None:
    dead = client.stop()
    assert wait_until_dead(list(dead), limit_s=20)
    client.start()
    if client.name in LOST:
        client.load()
    else:
        assert sum(path.stat().st_size for path in client.files()) > 256 * ACCOUNTS
    assert answer(client, "tpca-audit", 0) == wanted("tpca-audit", 0)


def test_the_terms_are_the_contracts(client: Client) -> None:
    terms = client.terms()
    for tactic in client.capabilities.tactics:
        if client.name != "memory":
            assert terms[tactic] == client.tactic(tactic), tactic


@pytest.mark.parametrize("text", REFUSED)
def test_a_design_that_the_program_does_not_have_is_a_gap(text: str, tmp_path: Path) -> None:
    kind = registry.load_client(registry.engine_named(text))
    refused = kind(parse_variant(text, frozenset(kind.capabilities.tactics)), tmp_path, "run1")
    refused.expect(DATABASE)
    try:
        with pytest.raises((UnsupportedError, EngineError)):
            refused.start()
        # And a plan knows it before: a value that is refused when it is opened fails a run.
        tactics = dict(refused.variant.tactics)
        assert all(kind.capabilities.gap(measure, tactics) for measure in program.MEASURES)
    finally:
        refused.stop()
        refused.remove()


@pytest.mark.parametrize("name", registry.client_names())
def test_a_client_without_a_program_declares_it_and_refuses_the_database(
    name: str, tmp_path: Path
) -> None:
    try:
        kind = registry.load_client(name)
    except EngineError as missing:
        pytest.skip(missing.message)
    has = name in _core.rvm_engines()
    for measure in _core.rvm_measures():
        means = kind.capabilities.structures[measure]
        assert means.supported == has
        assert has or "RVM" in means.note
    client = kind(parse_variant(name, frozenset(kind.capabilities.tactics)), tmp_path, "run1")
    if has:
        client.expect(DATABASE)
        return
    with pytest.raises(UnsupportedError, match="no program"):
        client.expect(DATABASE)
