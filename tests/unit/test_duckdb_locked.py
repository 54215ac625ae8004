"""A statement of the user's own reads; DuckDB's settings, by which one could write files, are
locked."""

import pyarrow as pa
import pytest

from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.duckdb.engine import DuckdbEngine
from loadstone.errors import EngineError
from loadstone.plan.variant import Variant

LOGS = "SELECT * FROM enable_logging('QueryLog', storage='file', storage_path='{place}/log')"
PROFILES = "SELECT * FROM enable_profiling(format='json', save_location='{place}/profile.json')"
UNORDERED = (("preserve_insertion_order", "off"),)
BY_NAME = (("set.preserve_insertion_order", "false"),)


@pytest.fixture
def opened(tmp_path):
    engines = []

    def open_one(tactics=(), *, users_text=True):
        folder = tmp_path / str(len(engines))
        folder.mkdir()
        engine = DuckdbEngine(Variant("duckdb", tactics), folder, "run1")
        engine.users_text = users_text
        engine.start()
        engines.append(engine)
        return engine

    yield open_one
    for engine in engines:
        engine.remove()


def load(engine):
    table = Table("t", (Attribute("a", "int4"),))
    rows = pa.table({"a": pa.array(range(3), pa.int32())})
    return engine.load(table, rows.to_reader())


def refused(engine, place):
    for text in (LOGS, PROFILES, "SET threads = 1", "SET lock_configuration = false"):
        with pytest.raises(EngineError, match="locked"):
            engine.fetch(text.format(place=place))


@pytest.mark.parametrize("tactics", [(), UNORDERED, BY_NAME])
def test_a_statement_cannot_have_a_file_written(opened, tmp_path, tactics):
    engine = opened(tactics)
    refused(engine, tmp_path)
    assert load(engine) == 3
    assert engine.terms()
    refused(engine, tmp_path)
    engine.stop()
    engine.start()
    refused(engine, tmp_path)
    with engine.another() as session:
        refused(session, tmp_path)
    assert not {path.name for path in tmp_path.iterdir()} & {"log", "profile.json"}


def test_nor_can_one_of_concurrent_users(opened, tmp_path):
    engine = opened()
    with engine.users() as users:
        asked = users.ask(1, [([LOGS.format(place=tmp_path)], None)], 1_000_000, 1 << 60)
    assert asked.failed > 0 and "locked" in asked.reason
    assert not (tmp_path / "log").exists()


def test_switches_of_a_session_are_set_in_spite_of_the_lock(opened, tmp_path):
    engine = opened()
    load(engine)
    engine.switch(Variant("duckdb", (("parallelism", "1"),)))
    assert engine.fetch("SELECT current_setting('threads'), count(*) FROM t") == [(1, 3)]
    refused(engine, tmp_path)


@pytest.mark.parametrize("tactics", [(), UNORDERED, BY_NAME])
@pytest.mark.parametrize("users_text", [True, False])
def test_loading_leaves_the_order_of_a_session_as_it_is(opened, tactics, users_text):
    engine = opened(tactics, users_text=users_text)
    load(engine)
    reads = "SELECT current_setting('preserve_insertion_order')"
    assert engine.fetch(reads) == [(tactics == (),)]
