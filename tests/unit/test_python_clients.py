"""Engines behind a calling program in Python: every measure sees what the oracle says, writes are
taken back, a changed link is caught, and what was loaded outlives the process's handles."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from loadstone import _core
from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.oo1.relations import part_table
from loadstone.clients.python.embedded import PythonClient
from loadstone.clients.python.null import PythonNullClient
from loadstone.clients.rust.embedded import MemoryClient
from loadstone.errors import EngineError, UnsupportedError
from loadstone.plan.variant import parse_variant

PARTS = 200
CLIENTS = {
    "python-dict": ("dictionary", "DictionaryClient"),
    "zodb": ("zodb", "ZodbClient"),
    "ladybug": ("ladybug", "LadybugClient"),
}
VARIANTS = (
    "python-dict",
    "zodb",
    "zodb?cache=20000",  # less than the database: objects leave the cache between measures
    "ladybug",
    "ladybug?hop=lookup&statement=levels&transaction=call",
)
STORED = ("zodb", "ladybug")


def marked(texts: Iterable[str]) -> list[Any]:
    """Ladybug takes a millisecond for each of the thousands of calls of a measure."""
    slow = pytest.mark.slow
    return [pytest.param(text, marks=slow if text.startswith("ladybug") else ()) for text in texts]


ORACLES = {locality: _core.Oo1Oracle(PARTS, 1, locality) for locality in (True, False)}

Open = Callable[..., PythonClient]


def kind_of(engine: str) -> type[PythonClient]:
    module, name = CLIENTS[engine]
    if engine in STORED:
        pytest.importorskip(engine.upper() if engine == "zodb" else engine,
                            reason=f"the optional engine {engine} is not installed")  # fmt: skip
    kind: type[PythonClient] = getattr(import_module(f"loadstone.clients.python.{module}"), name)
    return kind


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    clients: list[PythonClient] = []

    def open_one(text: str, *, locality: bool = True, load: bool = True) -> PythonClient:
        kind = kind_of(text.partition("?")[0])
        variant = parse_variant(text, frozenset(kind.capabilities.tactics))
        client = kind(variant, tmp_path, "test")
        clients.append(client)
        client.expect(Database(PARTS, locality))
        client.start()
        if load:
            client.load()
            client.settle()
        return client

    yield open_one
    for client in clients:
        client.remove()
    assert list(tmp_path.iterdir()) == []


def supported(client: PythonClient) -> list[str]:
    structures = client.capabilities.structures
    return [name for name in _core.oo1_measures() if structures[name].supported]


def answered(client: PythonClient, measure: str, iteration: int) -> tuple[int, str] | EngineError:
    try:
        found = client.measure(measure, iteration)
    except EngineError as error:
        return error
    assert found.elapsed_ns > 0
    assert found.calls > 0
    return found.visits, found.checksum


def differing(client: PythonClient, iterations: range) -> list[tuple[str, int]]:
    """Measures that saw what the oracle did not expect."""
    assert client.database is not None
    oracle = ORACLES[client.database.locality]
    return [
        (measure, iteration)
        for measure in supported(client)
        for iteration in iterations
        if answered(client, measure, iteration)
        != (oracle.answer(measure, iteration) or (0, "0" * 16))
    ]


@pytest.mark.parametrize("locality", [True, False])
@pytest.mark.parametrize("variant", marked(VARIANTS))
def test_every_measure_sees_what_the_oracle_says(
    opened: Open, variant: str, locality: bool
) -> None:
    client = opened(variant, locality=locality)
    # Twice around: writes of the first round would be seen in the second.
    assert differing(client, range(1, 3)) == []
    assert differing(client, range(1)) == []


def null_has(measure: str) -> bool:
    return MemoryClient.capabilities.structures[measure].supported


@pytest.mark.parametrize("variant", marked(VARIANTS))
def test_calls_are_counted_as_the_program_in_rust_counts_them(opened: Open, variant: str) -> None:
    client = opened(variant)
    overhead = _core.oo1_client("memory", "", [], PARTS)
    overhead.load()
    for measure in supported(client):
        if null_has(measure):
            assert client.measure(measure, 1).calls == overhead.measure(measure, 1)[4], measure


def test_the_null_client_makes_every_call_and_gives_no_answer(tmp_path: Path) -> None:
    client = PythonNullClient(parse_variant("python-null", frozenset()), tmp_path, "test")
    assert not client.capabilities.answers
    client.expect(Database(PARTS))
    client.load()
    calls = {measure: client.measure(measure, 1).calls for measure in supported(client)}
    # 1,093 parts of 3,280 have their links requested, and the start is looked up.
    assert calls["traversal"] == calls["reverse"] == calls["ordered"] == 3_280 + 1_093
    assert (calls["lookup"], calls["insert"], calls["nothing"]) == (1_000, 100, 1_000)
    assert client.measure("traversal", 1).visits == 3_280
    client.remove()


@pytest.mark.parametrize("engine", marked(CLIENTS))
def test_a_changed_link_is_caught(opened: Open, engine: str) -> None:
    client = opened(engine)
    driver: Any = client._opened()
    (start,) = _core.oo1_inputs(PARTS, 1, True, "traversal", 1)
    driver.begin_write()
    if engine == "ladybug":
        driver.ask("MATCH (:part {id: $id})-[c:connection]->() WITH c LIMIT 1 DELETE c", id=start)
        driver.ask(
            "MATCH (f:part {id: $id}), (t:part {id: $to}) "
            "CREATE (f)-[:connection {type: 'part-type0', length: 0}]->(t)",
            id=start, to=PARTS,
        )  # fmt: skip
    else:
        part = driver.by_id[start]
        part.to = (driver.by_id[PARTS], *part.to[1:])
    driver.commit()
    caught = {measure for measure, _ in differing(client, range(1, 2))}
    assert {"traversal", "ordered"} <= caught
    assert not caught & {"lookup", "scan", "range", "update"}


@pytest.mark.parametrize("engine", marked(STORED))
def test_a_loaded_database_outlives_a_stop(opened: Open, engine: str) -> None:
    client = opened(engine)
    assert differing(client, range(1)) == []
    size_bytes = client.size_bytes()
    assert client.stop() == ()
    assert client.size_bytes() > 0
    assert all(path.is_file() for path in client.files())
    client.start()
    assert differing(client, range(1)) == []
    # Loaded once more: in place of the other, not beside it.
    client.load()
    assert differing(client, range(1)) == []
    assert client.size_bytes() < 2 * size_bytes


@pytest.mark.parametrize("engine", marked(STORED))
@pytest.mark.parametrize("measure", ["insert", "update"])
def test_a_write_that_fails_leaves_nothing(
    opened: Open, engine: str, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = opened(engine)

    def refuse() -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(client._opened(), "commit", refuse)
    with pytest.raises(EngineError, match=f"{engine}: the disk is full"):
        client.measure(measure, 1)
    monkeypatch.undo()
    assert differing(client, range(1)) == []


@pytest.mark.parametrize("engine", CLIENTS)
def test_terms_are_reported_and_tactics_among_them(opened: Open, engine: str) -> None:
    client = opened(engine)
    terms = client.terms()
    assert terms["client"] == "python"
    assert {"durability", "isolation", "setting.access"} <= set(terms)
    for tactic, declared in client.capabilities.tactics.items():
        expected = {"transaction": "measure"}.get(tactic, declared.default)
        assert terms[tactic] == expected, tactic


@pytest.mark.parametrize("engine", CLIENTS)
def test_a_gap_has_its_reason_and_an_error_its_engine(opened: Open, engine: str) -> None:
    client = opened(engine, load=False)
    for measure, means in client.capabilities.structures.items():
        if not means.supported:
            with pytest.raises(UnsupportedError, match=means.note):
                client.measure(measure, 1)
    with pytest.raises(EngineError, match="no measure 'walk'"):
        client.measure("walk", 1)
    with pytest.raises(EngineError, match=f"^{engine}: "):
        client.measure("lookup", 1)


def test_the_checksum_in_python_is_the_oracles() -> None:
    points = part_table(Database(PARTS)).select(["x", "y"]).to_pylist()
    rows = [(point["x"], point["y"]) for point in points]
    expected = ORACLES[True].answer("scan", 1)
    assert _core.oo1_checksum("point", rows) == expected
    assert _core.oo1_checksum("point", [list(row) for row in reversed(rows)]) == expected
    parts = [(1, 2, 3, "part-type4"), (5, 6, 7, "part-type8")]
    turned = parts[::-1]
    assert _core.oo1_checksum("part", parts) == _core.oo1_checksum("part", turned)
    ordered = _core.oo1_checksum("part-in-order", parts)
    assert ordered != _core.oo1_checksum("part-in-order", turned)
    with pytest.raises(ValueError, match='no kind "parts"; there is: part, part-in-order'):
        _core.oo1_checksum("parts", [])
    with pytest.raises(ValueError, match="not a type"):
        _core.oo1_checksum("part", [(1, 2, 3, "part-type10")])


def test_the_inputs_are_those_of_the_database() -> None:
    stream = _core.RelationStream("oo1", "1992", "connection", PARTS, 1)
    rows = pa.RecordBatchReader.from_stream(stream).read_all().to_pylist()
    there = {(row["frm"], row["too"]) for row in rows}
    assert set(_core.oo1_inputs(PARTS, 1, True, "reference", 3)) <= there
    builds = dict(zip(range(1, PARTS + 1), part_table(Database(PARTS))["build"].to_pylist(),
                      strict=True))  # fmt: skip
    updated = _core.oo1_inputs(PARTS, 1, True, "update", 3)
    assert all(builds[number] == build_s for number, build_s in updated)
    inserted = _core.oo1_inputs(PARTS, 1, True, "insert", 3)
    assert [new[0] for new in inserted] == list(range(PARTS + 1, PARTS + 101))
    assert all(len(new[5]) == 3 and link[0] < new[0] for new in inserted for link in new[5])
    assert _core.oo1_inputs(PARTS, 1, True, "scan", 3) == []
