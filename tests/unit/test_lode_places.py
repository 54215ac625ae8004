"""Statements of lode at each place: the same answers, the place read back, and nothing left."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from loadstone import lode
from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.lode.engine import LodeEngine
from loadstone.errors import CancelledError, EngineError, InputError, LodeError, UnsupportedError
from loadstone.machine.page_cache import wait_until_dead
from loadstone.plan.variant import Variant

PLACES = ("embedded", "thread", "server")
ROWS = 60
ALL = "range of n is numbers retrieve (n.all)"
ENDLESS = (
    "range of a is numbers range of b is numbers range of c is numbers range of d is numbers"
    " range of e is numbers range of f is numbers"
    " retrieve (x = count(a.x where a.x + b.x + c.x + d.x + e.x + f.x = 0))"
)
EXPECTED = [(number, f"n{number}") for number in range(ROWS)]


def opened(folder: Path, place: str) -> LodeEngine:
    engine = LodeEngine(Variant("lode", (("place", place),)), folder, "run1")
    engine.start()
    return engine


@pytest.fixture(params=PLACES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LodeEngine]:
    """One with a relation."""
    made = opened(tmp_path, request.param)
    columns = {"x": pa.array(range(ROWS), pa.int32()), "s": [f"n{n}" for n in range(ROWS)]}
    table = Table("numbers", (Attribute("x", "int4"), Attribute("s", "char(8)")))
    made.load(table, pa.table(columns).to_reader())
    made.settle(["numbers"])
    yield made
    made.remove()
    assert not list(tmp_path.iterdir())


def test_every_place_answers_alike_and_is_read_back(engine: LodeEngine):
    assert engine.fetch(ALL) == EXPECTED
    assert engine.read(ALL).num_rows == ROWS
    assert engine.terms()["place"] == engine.tactic("place")
    assert LodeEngine.capabilities.tactics.keys() <= engine.terms().keys()


def test_counts_and_bare_requests_work_at_every_place(engine: LodeEngine):
    assert engine.tables() == ["numbers"]
    assert engine.access_paths(ALL, "") == ["heap"]
    assert "numbers" in engine.explain(ALL)
    before = engine.work()
    engine.fetch(ALL)
    assert engine.work().since(before).tuples == ROWS
    assert engine.size_bytes() > 0
    engine.ask_nothing()
    engine.ask_constant()


def test_changes_outlive_a_restart_at_every_place(engine: LodeEngine):
    assert engine.run("range of n is numbers delete n where n.x = 0") == 1
    wait_until_dead(engine.stop(), limit_s=60)
    engine.start()
    assert engine.fetch(ALL) == EXPECTED[1:]


def test_a_statement_ends_when_it_is_interrupted_at_every_place(engine: LodeEngine):
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            engine.fetch(ENDLESS)
        except CancelledError as error:
            failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    while asking.is_alive():
        engine.interrupt()
        asking.join(0.02)
    assert failed
    assert engine.fetch(ALL) == EXPECTED


def test_errors_are_the_same_at_every_place(engine: LodeEngine):
    for text in ("retrieve (", "range of n is nothing retrieve (n.all)"):
        with pytest.raises(LodeError, match=r"nothing|retrieve"):
            engine.fetch(text)


def test_only_a_call_plans_without_executing(engine: LodeEngine):
    if engine.tactic("place") == "embedded":
        engine.plan(ALL, ALL)
    else:
        with pytest.raises(UnsupportedError):
            engine.plan(ALL, ALL)


def test_a_killed_server_is_reported_and_a_start_has_all_that_was_committed(tmp_path: Path):
    engine = opened(tmp_path, "server")
    engine.run("create numbers (x = i4)")
    engine.run("append to numbers (x = 7)")
    (server,) = engine.processes()
    os.kill(server, signal.SIGKILL)
    with pytest.raises(LodeError, match="does not answer"):
        engine.fetch(ALL)
    engine.stop()
    engine.start()
    assert engine.fetch(ALL) == [(7,)]
    assert engine.processes() not in ((), (server,))
    engine.remove()


def test_a_server_that_a_killed_worker_left_is_ended(tmp_path: Path):
    engine = opened(tmp_path, "server")
    (server,) = engine.processes()
    assert tuple(LodeEngine.abandon(tmp_path)) == (server,)
    engine.remove()


def test_a_mirror_and_a_server_exclude_each_other(tmp_path: Path):
    variant = Variant("lode", (("mirror", "idle"), ("place", "server")))
    with pytest.raises(InputError, match="not counted"):
        LodeEngine.check(variant)


def test_a_closed_connection_and_a_stopped_server_say_so(tmp_path: Path):
    with lode.Database(tmp_path / "some.lode", "create") as database:
        beside = database.beside()
        assert beside.place() != f"{os.getpid()}/task/{threading.get_native_id()}"
        with pytest.raises(LodeError, match="call the database"):
            beside.request("tactics")
        with pytest.raises(LodeError, match="not ended"):
            database.close()
        beside.close()
        with pytest.raises(LodeError, match="make another"):
            beside.query("retrieve (a = 1)")
        with database.answer(tmp_path / "socket") as server:
            connection = lode.Connection(server.address)
            assert connection.query("retrieve (a = 1)").fetch() == [(1,)]
        with pytest.raises(LodeError, match="does not answer"):
            connection.query("retrieve (a = 1)")
    with pytest.raises(EngineError):
        opened_but_stopped(tmp_path).fetch(ALL)


def opened_but_stopped(folder: Path) -> LodeEngine:
    return LodeEngine(Variant("lode"), folder, "run1")
