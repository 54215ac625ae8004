"""Every client that has a program for OO7 answers as the oracle does, takes its writes back, and
keeps what it holds; every other one says that it has none."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_clients import LOST, loaded_client

from loadstone import _core, registry
from loadstone.benchmarks.oo7.database import Database
from loadstone.clients.base import Client
from loadstone.clients.oo7 import program
from loadstone.errors import EngineError, UnsupportedError
from loadstone.machine.page_cache import wait_until_dead
from loadstone.plan.variant import parse_variant

PARTS = 1_000
DATABASE = Database(PARTS)
ORACLE = _core.Oo7Oracle(PARTS)
CONTENTS = "Q7"
NULL = "null"
VARIANTS = (
    "memory",
    "sqlite",
    "sqlite?durability=none&transaction=call",
    "lmdb",
    "lmdb?durability=none",
    "lode",
    "lode?durability=none&locks=page&log=page-grain&swizzle=on",
    "lode?place=server",
    "lode?locks=relation&place=server&swizzle=on",
    "postgresql?hop=join",
    "postgresql?statement=batch&transaction=measure",
    "postgresql?hop=join&place=tcp&statement=batch",
    "postgresql?statement=text",
    "duckdb",
    "duckdb?hop=join",
    "python-dict",
    "zodb",
    "ladybug",
    "ladybug?hop=lookup",
)
SLOW = tuple(text for text in VARIANTS if text.startswith(("postgresql", "duckdb", "ladybug")))
"""A statement takes them tenths of a millisecond."""
SLOWEST = tuple(text for text in VARIANTS if text.startswith(("duckdb", "ladybug")))
"""A whole walk takes them ten seconds: one for each operation is enough."""
pytestmark = pytest.mark.timeout(900)  # some 100,000 statements for all operations
LONG = frozenset({"T1WW", "T2b", "T2c", "T3b", "T3c", "T10", "CU"})
"""Operations that ask the slow ones for what T1, T2a and T3a ask them for, many times."""
PYTHON = ("python-dict", "zodb", "ladybug")
ONE_USER = (*PYTHON, "memory")
REQUESTS = 20
"""Of readers, and of writers."""
REFUSED = tuple(
    f"{engine}?{'&'.join(map('='.join, values))}" for engine, values, _ in program.LACKS
)
"""Designs that OO1's program has and this one does not."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(text, marks=[pytest.mark.slow] if text in SLOW else []) for text in VARIANTS
    ],
)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    with loaded_client(request.param, DATABASE) as loaded:
        yield loaded


def answer(client: Client, measure: str, iteration: int = 1) -> tuple[int, str]:
    found = client.measure(measure, iteration)
    assert found.elapsed_ns >= found.commit_ns >= 0
    assert found.elapsed_ns > 0
    assert found.calls > 0
    return found.visits, found.checksum


def test_every_engine_with_a_program_is_held_to_the_contract() -> None:
    held = {registry.engine_named(text) for text in VARIANTS}
    assert held | {NULL} == program.ENGINES


def test_every_operation_sees_what_the_oracle_says(client: Client) -> None:
    is_slow = client.variant.name in SLOW
    wrong = {
        (measure, iteration): (seen, ORACLE.answer(measure, iteration))
        for iteration in ((4,) if is_slow else (1, 4))
        for measure in _core.oo7_measures()
        if not (is_slow and measure in LONG)
        if (seen := answer(client, measure, iteration)) != ORACLE.answer(measure, iteration)
    }
    assert wrong == {}
    assert answer(client, CONTENTS) == ORACLE.answer(CONTENTS, 1)


def test_statements_and_commits_are_counted_where_there_are_any(client: Client) -> None:
    walked = client.measure("T6", 1)
    written = client.measure("T2a", 1)
    if client.name not in ("sqlite", "postgresql", "duckdb", "ladybug"):
        assert (walked.statements, written.statements) == (None, None)
        return
    assert walked.statements is not None
    assert written.statements is not None
    # A statement for each composite part's root, and one for each root's attributes.
    assert walked.statements > 2 * 2_187
    assert written.statements > walked.statements + 2_187
    assert written.commit_ns > 0


def test_another_database_is_loaded_in_place_of_the_one_there(client: Client) -> None:
    other = Database(2 * PARTS, fan_out=6, seed=3)
    try:
        client.expect(other)
        client.load()
        oracle = _core.Oo7Oracle(other.parts, other.fan_out, other.seed)
        walks = ("T1", "T3a" if client.variant.name in SLOW else "T3c")
        for measure in (*(("T6",) if client.variant.name in SLOWEST else walks), "Q6", "Q8"):
            assert answer(client, measure) == oracle.answer(measure, 1)
    finally:
        client.expect(DATABASE)
        client.load()
    assert answer(client, "T6") == ORACLE.answer("T6", 1)


def test_a_stop_keeps_what_was_loaded(client: Client) -> None:
    dead = client.stop()
    assert wait_until_dead(list(dead), limit_s=20)
    client.start()
    if client.name in LOST:
        client.load()
    else:
        assert client.size_bytes() > 0
        assert sum(path.stat().st_size for path in client.files()) > 0
    walks = ("T6",) if client.variant.name in SLOWEST else ("T1", "T2b")
    for measure in (*walks, "S1", CONTENTS):
        assert answer(client, measure) == ORACLE.answer(measure, 1)


def test_the_terms_are_the_contracts(client: Client) -> None:
    terms = client.terms()
    assert terms["client"] == ("python" if client.name in PYTHON else "rust")
    # Of ZODB durability is what its file does; Ladybug has no path in one call.
    unread = {"ladybug": {"statement"}}.get(client.name, set())
    for tactic in set(client.capabilities.tactics) - unread:
        assert terms[tactic] == client.tactic(tactic), tactic


def test_a_measure_that_does_not_exist_is_reported(client: Client) -> None:
    with pytest.raises(EngineError, match="T11"):
        client.measure("T11", 1)


@pytest.mark.parametrize("text", REFUSED)
def test_a_design_that_the_program_does_not_have_is_a_gap(text: str, scratch: Path) -> None:
    kind = registry.load_client(registry.engine_named(text))
    refused = kind(parse_variant(text, frozenset(kind.capabilities.tactics)), scratch, "run1")
    refused.expect(DATABASE)
    with pytest.raises(UnsupportedError, match=text.partition("?")[2].partition("=")[0]):
        refused.start()
    refused.remove()
    # And a plan knows it before: a value that is refused when it is opened fails a run.
    tactics = dict(refused.variant.tactics)
    assert all(kind.capabilities.gap(measure, tactics) for measure in program.MEASURES)
    assert not kind.capabilities.gap("lookup", tactics)


def test_a_value_that_one_program_lacks_opens_before_a_database_is_expected(
    scratch: Path,
) -> None:
    """A worker starts its engine, and learns the benchmark with the first load."""
    kind = registry.load_client("lode")
    text = "lode?detect=sigsegv"
    client = kind(parse_variant(text, frozenset(kind.capabilities.tactics)), scratch, "run1")
    client.start()
    assert client.terms()["detect"] == "sigsegv"
    client.remove()


def test_users_leave_every_acknowledged_change_once(client: Client) -> None:
    if client.name in ONE_USER:
        with pytest.raises(UnsupportedError, match=r"one user|no concurrency control"):
            client.users(1, 0, 1_000_000, None)
        return
    due_at_once = [0] * REQUESTS
    for measures in (("M1", "M2"), ("M3", "M4"), ("M1", "M5")):
        # A part that is lost, changed twice or left half changed is an error of the client's.
        served = client.users(2, 3, 600 * 10**9, due_at_once, measures)
        assert (served.reads.completed, served.writes.completed) == (REQUESTS, REQUESTS)
        # Three components of two atomic parts each.
        assert served.links_checked == 3 * 2 * REQUESTS
        assert answer(client, CONTENTS) == ORACLE.answer(CONTENTS, 1)


def test_an_operation_of_one_user_is_none_of_several(client: Client) -> None:
    if client.name not in ONE_USER:
        with pytest.raises(UnsupportedError, match="M1 to M6"):
            client.users(1, 0, 1_000_000, None, ("T1", "M2"))


@pytest.mark.parametrize("name", registry.client_names())
def test_a_client_without_a_program_declares_it_and_refuses_the_database(
    name: str, tmp_path: Path
) -> None:
    try:
        kind = registry.load_client(name)
    except EngineError as missing:
        pytest.skip(missing.message)
    has = name in program.ENGINES
    for measure in _core.oo7_measures():
        means = kind.capabilities.structures[measure]
        assert means.supported == has
        assert has or "OO7" in means.note
    client = kind(parse_variant(name, frozenset(kind.capabilities.tactics)), tmp_path, "run1")
    if has:
        client.expect(DATABASE)
        return
    with pytest.raises(UnsupportedError, match="no program"):
        client.expect(DATABASE)


def test_the_null_client_makes_the_calls_and_has_no_answers() -> None:
    with loaded_client(NULL, DATABASE) as overhead, loaded_client("memory", DATABASE) as plain:
        assert not overhead.capabilities.answers
        assert overhead.measure("T1", 1).calls == plain.measure("T1", 1).calls
