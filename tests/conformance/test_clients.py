"""Every client of OO1 answers as the oracle does, says what it cannot do, keeps what it holds."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from user_server import SECRET, UserServer, user_server

from loadstone import _core, registry
from loadstone.benchmarks.base import ProgramDatabase
from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.base import Client
from loadstone.clients.oo1 import program
from loadstone.errors import EngineError, InputError, LoadstoneError, UnsupportedError
from loadstone.machine.page_cache import wait_until_dead
from loadstone.plan.variant import parse_variant

PARTS = 200
DATABASE = Database(PARTS)
ORACLE = _core.Oo1Oracle(PARTS)
NULL_CLIENTS = ("null", "python-null")
LOST = ("memory", "python-dict")
"""Their content ends with their process, or with `stop`."""
DEFAULTS = (
    "sqlite", "lmdb", "lode", "lode?place=server", "duckdb", "postgresql",
    "postgresql?place=tcp", "zodb", "ladybug",
)  # fmt: skip
VARIANTS = (
    *LOST,
    "memory?prefetch=on",
    *DEFAULTS,
    "sqlite?access=clustered",
    "sqlite?access=objects&durability=none&transaction=call",
    "lmdb?access=links&durability=none",
    "lode?disk=direct&prefetch=on&readahead=on&swizzle=on",
    "lode?access=links&locks=relation&log=page-grain",
    "lode?access=btree&durability=none&extent=4&replacement=lru",
    "lode?access=hash&cache=1048576&checkpoint=65536&durability=group&swizzle=on",
    "lode?access=objects&locks=page&place=server&swizzle=on",
    "lode?access=links&place=server&prefetch=on&readahead=on",
    "lode?access=btree&cache=1048576&locks=relation&place=server",
    "lode?access=hash&durability=group&log=page-grain&place=server",
    "postgresql?statement=text",
    "postgresql?statement=procedure",
    "postgresql?statement=pipeline",
    "postgresql?cache=67108864&durability=none&hop=join&parallelism=2&statement=batch"
    "&transaction=measure",
)
SLOW = ("ladybug", *(text for text in VARIANTS if text.startswith("postgresql?statement")))
ITERATIONS = (1, 4)
ITERATIONS_OF = {"duckdb": (4,)}
"""DuckDB takes 0.2 ms for each call, and gets a reverse traversal that soon ends; the tests of what
is written and of the contents have other iterations."""
GAPS_OF_DESIGNS = {
    "sqlite?access=objects&durability=none&transaction=call": {
        "lookup-batch", "traversal-batch", "reverse-batch"
    }
}  # fmt: skip
"""A client declares what one of its designs can do; the others say at the call that they cannot."""
CONTENTS = ("scan", "lookup", "group")
"""Measures whose thousand draws show the contents of 200 parts and their connections."""
TERMS = ("version", "durability", "isolation", "cache", "parallelism")

Answer = tuple[int, str]


def build(text: str, folder: Path, database: ProgramDatabase = DATABASE) -> Client:
    name = registry.engine_named(text)
    try:
        kind = registry.load_client(name)
    except EngineError as missing:
        pytest.skip(missing.message)
    client = kind(parse_variant(text, frozenset(kind.capabilities.tactics)), folder, "run1")
    client.expect(database)
    assert client.variant.name == text or client.variant.url is not None
    return client


@contextmanager
def loaded_client(text: str, database: ProgramDatabase = DATABASE) -> Iterator[Client]:
    """A started client with its database, of which nothing may be left afterwards."""
    # Not in the closed folders of tmp_path: a server that drops to another user must get there.
    with TemporaryDirectory(prefix="loadstone-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        client = build(text, folder, database)
        try:
            client.start()
            client.load()
            client.settle()
            yield client
            processes = list(client.processes())
            client.remove()
            client.remove()  # twice is as once
            assert list(folder.iterdir()) == []
            assert wait_until_dead(processes, limit_s=20)
        finally:
            client.remove()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(text, marks=[pytest.mark.slow] if text in SLOW else []) for text in VARIANTS
    ],
)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    with loaded_client(request.param) as loaded:
        yield loaded


def declared(client: Client) -> list[str]:
    structures = client.capabilities.structures
    return [
        measure
        for measure in _core.oo1_measures()
        if structures[measure].supported
        and measure not in GAPS_OF_DESIGNS.get(client.variant.name, ())
    ]


def answer(client: Client, measure: str, iteration: int) -> Answer:
    found = client.measure(measure, iteration)
    assert found.elapsed_ns >= found.commit_ns >= 0
    assert found.elapsed_ns > 0
    assert found.calls > 0
    return found.visits, found.checksum


def expected(measure: str, iteration: int) -> Answer:
    # A rung of the ladder sees no part.
    return ORACLE.answer(measure, iteration) or (0, "0" * 16)


def contents(client: Client) -> list[Answer]:
    return [answer(client, measure, 1) for measure in CONTENTS]


def test_every_client_is_held_to_the_contract() -> None:
    held = {registry.engine_named(text) for text in (*VARIANTS, *NULL_CLIENTS)}
    assert held == set(registry.client_names())


# DuckDB's takes as long as all others together; the tests below ask it for all but the traversals.
@pytest.mark.parametrize(
    "client",
    [
        pytest.param(text, marks=[pytest.mark.slow] if text in (*SLOW, "duckdb") else [])
        for text in VARIANTS
    ],
    indirect=True,
)
def test_every_declared_measure_sees_what_the_oracle_says(client: Client) -> None:
    wrong = {
        (measure, iteration): (seen, expected(measure, iteration))
        for iteration in ITERATIONS_OF.get(client.variant.name, ITERATIONS)
        for measure in declared(client)
        if (seen := answer(client, measure, iteration)) != expected(measure, iteration)
    }
    assert wrong == {}


def test_an_undeclared_measure_is_a_gap_with_its_reason(client: Client) -> None:
    structures = client.capabilities.structures
    assert list(structures) == [
        *_core.oo1_measures(), *_core.oo7_measures(), *_core.rvm_measures(),
    ]  # fmt: skip
    for measure in _core.oo1_measures():
        means = structures[measure]
        if measure in declared(client):
            continue
        assert means.supported or means.note
        with pytest.raises(UnsupportedError) as caught:
            client.measure(measure, 1)
        before, _, reason = caught.value.message.partition(": ")
        assert before.startswith(client.name)
        assert means.note in reason
        assert reason


@pytest.mark.parametrize("client", (*LOST, *DEFAULTS), indirect=True)
def test_a_measure_that_does_not_exist_is_reported(client: Client) -> None:
    with pytest.raises(EngineError, match="lok-up") as caught:
        client.measure("lok-up", 1)
    assert "lookup" in caught.value.message + caught.value.hint


@pytest.mark.parametrize("client", (*LOST, *DEFAULTS), indirect=True)
def test_the_writes_of_a_measure_are_taken_back(client: Client) -> None:
    before = contents(client)
    assert before == [expected(measure, 1) for measure in CONTENTS]
    for measure in ("insert", "update"):
        assert answer(client, measure, 1) == expected(measure, 1)
    assert contents(client) == before


@pytest.mark.parametrize("client", (*LOST, *DEFAULTS), indirect=True)
def test_another_database_is_loaded_in_place_of_the_one_there(client: Client) -> None:
    other = Database(2 * PARTS, locality=False)
    try:
        client.expect(other)
        client.load()
        wanted = _core.Oo1Oracle(other.parts, other.seed, other.locality)
        assert [answer(client, measure, 1) for measure in CONTENTS] == [
            wanted.answer(measure, 1) for measure in CONTENTS
        ]
    finally:
        client.expect(Database(PARTS))
        client.load()
    assert contents(client) == [expected(measure, 1) for measure in CONTENTS]


@pytest.mark.parametrize("client", (*LOST, *DEFAULTS), indirect=True)
def test_a_stop_keeps_what_was_loaded(client: Client) -> None:
    size_bytes = client.size_bytes()
    assert client.can_stop == (client.name not in LOST)
    processes = client.processes()
    dead = client.stop()
    assert set(processes) <= set(dead)
    assert wait_until_dead(list(dead), limit_s=20)
    client.start()
    if client.name in LOST:
        client.load()
    else:
        assert size_bytes > 0
        assert client.files()
        assert sum(path.stat().st_size for path in client.files()) > 0
    assert contents(client) == [expected(measure, 1) for measure in CONTENTS]


def test_the_terms_are_the_contracts(client: Client) -> None:
    terms = client.terms()
    python = client.name in ("python-dict", "zodb", "ladybug")
    assert terms["client"] == ("python" if python else "rust")
    assert terms.get("setting.client_allocator") == (None if python else "mimalloc")
    if client.name in LOST:
        assert terms["durability"].startswith("none")
        assert all(terms[tactic] == client.tactic(tactic) for tactic in client.capabilities.tactics)
        return
    assert [name for name in TERMS if not terms.get(name)] == []
    assert all(isinstance(value, str) for value in terms.values())
    # The values requested are the values read back, word for word: a report compares the two.
    own_words = {"durability"} if client.name == "zodb" else set()
    for tactic in set(client.capabilities.tactics) - own_words:
        assert terms[tactic] == client.tactic(tactic), tactic
    if client.name == "zodb":
        assert terms["durability"].startswith("full")
    if client.name == "postgresql":
        # Of the program's own session, not of the one that sets the server up.
        commit = "off" if client.tactic("durability") == "none" else "on"
        assert terms["setting.synchronous_commit"] == commit


@pytest.mark.parametrize(("engine", "values"), [lack[:2] for lack in program.LACKS])
def test_values_that_the_program_lacks_are_a_gap_of_the_plan_and_of_the_engine(
    engine: str, values: tuple[tuple[str, str], ...], tmp_path: Path
) -> None:
    kind = registry.load_client(engine)
    assert all(kind.capabilities.gap(measure, dict(values)) for measure in program.MEASURES)
    text = f"{engine}?{'&'.join(map('='.join, values))}"
    client = build(text, tmp_path, DATABASE)
    with pytest.raises(UnsupportedError):
        client.start()
    client.remove()


@pytest.mark.parametrize("client", (*LOST, *DEFAULTS), indirect=True)
def test_a_tactic_that_is_not_declared_is_refused(client: Client) -> None:
    for tactics in ("swiftness=5", *(f"{name}=swift" for name in client.capabilities.tactics)):
        known = frozenset((*client.capabilities.tactics, "swiftness"))
        other = type(client)(
            parse_variant(f"{client.name}?{tactics}", known), client.scratch, "run2"
        )
        with pytest.raises(InputError, match="swift"):
            other.start()


@pytest.mark.parametrize("name", NULL_CLIENTS)
def test_a_null_client_makes_the_calls_and_has_no_answers(name: str) -> None:
    with loaded_client(name) as overhead:
        assert not overhead.capabilities.answers
        assert not overhead.can_stop
        assert overhead.size_bytes() == 0
        calls = {measure: overhead.measure(measure, 1).calls for measure in ("lookup", "traversal")}
        assert calls == {"lookup": 1_000, "traversal": 3_280 + 1_093}


@pytest.fixture(scope="module")
def server() -> Iterator[UserServer]:
    with user_server() as running:
        yield running


def test_of_a_users_server_only_a_schema_is_used_and_given_back(
    server: UserServer, tmp_path: Path
) -> None:
    before = server.fingerprint()
    client = build(server.url(), tmp_path)
    client.start()
    client.load()
    client.settle()
    assert not client.can_stop
    assert answer(client, "traversal", 1) == expected("traversal", 1)
    assert (list(client.stop()), list(client.files()), list(client.processes())) == ([], [], [])
    client.start()
    assert contents(client) == [expected(measure, 1) for measure in CONTENTS]
    assert server.fingerprint()[-3:] == before[-3:]
    client.remove()
    assert server.fingerprint() == before


@pytest.mark.parametrize("tactic", ["durability=none", "parallelism=2", "cache=67108864"])
def test_what_cannot_be_set_on_a_users_server_is_refused(
    server: UserServer, tmp_path: Path, tactic: str
) -> None:
    before = server.fingerprint()
    client = build(server.url(tail=f"?{tactic}"), tmp_path)
    with pytest.raises(UnsupportedError, match="not ours"):
        client.start()
    client.remove()
    assert server.fingerprint() == before


def shown(error: BaseException | None) -> Iterator[str]:
    """An error's words and those of all that led to it."""
    while error is not None:
        yield f"{error!r} {error} {getattr(error, 'hint', '')}"
        error = error.__cause__ or error.__context__


def test_a_users_password_is_in_no_word_of_ours(server: UserServer, tmp_path: Path) -> None:
    client = build(server.url(), tmp_path)
    client.start()
    said = [repr(client), repr(client.variant), client.variant.name, str(client.terms())]
    with server.owner() as owner:
        owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                      " WHERE usename = 'alice'")  # fmt: skip
    for failing in (client.load, lambda: client.measure("lookup", 1), client.terms):
        with pytest.raises(LoadstoneError) as caught:
            failing()
        said += shown(caught.value)
    client.remove()
    wrong = build(server.url(secret=f"{SECRET}wrong"), tmp_path)
    with pytest.raises(LoadstoneError) as caught:
        wrong.start()
    said += shown(caught.value)
    wrong.remove()
    assert not any(SECRET in words for words in said), said


def test_the_password_of_our_own_server_is_in_no_word_of_ours() -> None:
    with loaded_client("postgresql?place=tcp") as client:
        address, _ = client.address()  # type: ignore[attr-defined]
        found = re.search(r"password='([^']+)'", address)
        assert found is not None
        password = found[1]
        said = [repr(client), repr(vars(client)["_program"]), str(client.terms())]
        client.instance.stop()  # type: ignore[attr-defined]
        for failing in (lambda: client.measure("lookup", 1), client.load):
            with pytest.raises(EngineError) as caught:
                failing()
            said += shown(caught.value)
        client.stop()
        with pytest.raises(EngineError) as caught:
            client.measure("lookup", 1)
        said += shown(caught.value)
        files = [path for path in client.scratch.rglob("*") if path.is_file()]
        assert not any(password in words for words in said), said
        assert not any(password.encode() in path.read_bytes() for path in files)
        client.start()
        assert contents(client) == [expected(measure, 1) for measure in CONTENTS]
