"""Timestamps with a zone come from DuckDB without a module of time zones."""

import datetime as dt
import sys

import pytest

from loadstone.engines.duckdb.engine import DuckdbEngine
from loadstone.errors import EngineError
from loadstone.plan.variant import Variant
from loadstone.workload import answers

ZONED = "SELECT n, TIMESTAMPTZ '2024-01-31 11:00:00.5+01' AS at, 1.5 AS d FROM range(2) t(n)"


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pytz", None)
    found = DuckdbEngine(Variant("duckdb"), tmp_path, "run1")
    found.users_text = True
    found.start()
    yield found
    found.remove()


@pytest.mark.parametrize("times", [1, 2])
def test_a_timestamp_with_a_zone_is_that_of_other_engines(engine, times):
    for _ in range(times):
        rows = engine.fetch(ZONED)
    moment = dt.datetime(2024, 1, 31, 10, 0, 0, 500_000)
    aware = moment.replace(tzinfo=dt.UTC)
    assert [row[:2] for row in rows] == [(0, moment), (1, moment)]
    expected = answers.checksum_of([(n, aware, 1.5) for n in range(2)], 10)
    assert answers.checksum_of(rows, 10) == expected
    with engine.another() as session:
        assert session.fetch(ZONED) == rows


def test_it_may_be_null_or_none_at_all(engine):
    assert engine.fetch("SELECT NULL::TIMESTAMPTZ AS at") == [(None,)]
    assert engine.fetch(f"{ZONED} LIMIT 0") == []
    with engine.another() as session:
        assert len(session.fetch(f"{ZONED} LIMIT 1")) == 1


def test_an_error_of_the_engine_stays_its_own(engine):
    with pytest.raises(EngineError, match="no_such_table"):
        engine.fetch("SELECT * FROM no_such_table")
    with pytest.raises(EngineError, match="a timestamp that Python has not"):
        engine.fetch(f"{ZONED} UNION ALL SELECT 3, TIMESTAMPTZ '12024-01-01', 2.5")
