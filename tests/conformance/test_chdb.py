"""chDB beside what the suite asks of every engine: cold, the end of a statement, and its gaps.

Skipped, with the reason, where its extra is not installed.
"""

import threading
from pathlib import Path

import pytest
from engine_kinds import CHDB_MISSING, MakeEngine
from samples import as_rows, rows, said, stream, table
from test_cold_engines import Count, assert_proved, cold

from loadstone.benchmarks.base import table_of
from loadstone.engines.base import Engine
from loadstone.errors import EngineError, UnsupportedError
from loadstone.protocol.parts import Variation
from loadstone.worker.statement_timer import StatementTimer

pytestmark = [
    pytest.mark.skipif(bool(CHDB_MISSING), reason=CHDB_MISSING or "it is there"),
    pytest.mark.slow,
]

MANY = 10_000
LONG = "SELECT count() FROM numbers(100000000000) WHERE sipHash64(number) % 7 = 1"


@pytest.fixture
def chdb(make: MakeEngine) -> Engine:
    engine = make("chdb")
    engine.start()
    return engine


@pytest.mark.machine
@pytest.mark.parametrize(("organisation", "key"), [("heap", None), ("clustered", "unique1")])
def test_cold_is_proved(chdb: Engine, organisation: str, key: str | None) -> None:
    many = [(i, i, i, f"{i:012d}") for i in range(MANY)]
    name = table_of("tenktup1", "heap", MANY)
    chdb.load(table(name, organisation=organisation, key=key), stream(many, 5000))
    chdb.settle([name])
    counted = Count(chdb)
    query = "range of t is tenktup1 retrieve (t.unique1, t.unique2) where t.unique1 = 7"
    found = cold(StatementTimer(chdb, counted), [Variation(0, query, "", 1, "unknown")])
    assert_proved(found, counted)


def test_a_statement_is_ended_and_the_session_goes_on(chdb: Engine) -> None:
    ended: list[BaseException] = []

    def ask() -> None:
        try:
            chdb.fetch(LONG)
        except EngineError as error:
            ended.append(error)

    thread = threading.Thread(target=ask)
    with chdb.another() as other:
        thread.start()
        query = "SELECT count() FROM system.processes WHERE query LIKE 'SELECT count() FROM n%'"
        while other.fetch(query) == [(0,)]:
            pass
        chdb.interrupt()
        thread.join()
        assert "cancelled" in str(ended[0])
        assert other.fetch("SELECT 1") == [(1,)]
    assert chdb.fetch("SELECT 1") == [(1,)]


def test_a_change_is_a_gap_and_a_wrong_one_an_error(chdb: Engine) -> None:
    chdb.load(table(), stream(rows()))
    with pytest.raises(UnsupportedError, match="mutations"):
        chdb.run("DELETE FROM `t` WHERE 1")
    with pytest.raises(EngineError, match="nowhere"):
        chdb.run("DELETE FROM `nowhere` WHERE 1")
    assert sorted(as_rows(chdb.contents("t"))) == sorted(rows())


def test_no_value_of_no_rows_is_missing_and_not_zero(chdb: Engine) -> None:
    """By its defaults ClickHouse has 0 for the least of no numbers."""
    chdb.load(table(), stream(rows()))
    query = "range of t is t retrieve (a = min(t.unique1 where t.unique1 < 0))"
    assert chdb.fetch(said(chdb, query)) == [(None,)]


def test_a_settled_table_is_one_part_in_the_keys_order(chdb: Engine) -> None:
    chdb.load(table(organisation="clustered", key="unique1"), stream(rows()))
    parts = "SELECT count() FROM system.parts WHERE active AND table = 't'"
    assert chdb.fetch(parts)[0][0] > 1
    chdb.settle(["t"])
    assert chdb.fetch(parts) == [(1,)]
    assert [row[0] for row in chdb.fetch("SELECT unique1 FROM t")] == sorted(r[0] for r in rows())


@pytest.mark.parametrize("setting", ["max_threads = 3", "join_algorithm = 'full_sorting_merge'"])
def test_a_setting_changed_behind_the_engine_is_read_back(chdb: Engine, setting: str) -> None:
    before = chdb.terms()
    chdb.run(f"SET {setting}")
    after = chdb.terms()
    term, value = {"max_threads = 3": ("parallelism", "3")}.get(setting, ("join", "merge"))
    assert (before[term] != value, after[term]) == (True, value)


def test_nothing_is_left(chdb: Engine, scratch: Path) -> None:
    chdb.load(table(), stream(rows()))
    chdb.remove()
    assert list(scratch.iterdir()) == []
