"""The calls of earlier APSW wheels, by which SQLite before 3.43.2 is driven, do what today's do.
Today's wheel has the older names, too."""

from pathlib import Path

import apsw
import pytest

from loadstone.engines.sqlite import driver, pragmas
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.engines.sqlite.settings import PRAGMAS
from loadstone.plan.variant import Variant


def test_older_calls_set_and_read_what_todays_do(tmp_path: Path) -> None:
    today, older = apsw.Connection(str(tmp_path / "a")), driver._Older(str(tmp_path / "b"))
    settings = (("journal_mode", "wal"), ("cache_size", -2000), ("automatic_index", False),
                ("temp_store", "memory"), ("threads", 3), ("encoding", "UTF-8"))  # fmt: skip
    for name, value in settings:
        assert older.pragma(name, value) == today.pragma(name, value), name
    for name in (*PRAGMAS, *pragmas.OF_CONNECTION, "no_such_pragma"):
        assert older.pragma(name) == today.pragma(name), name
    for db in (today, older):
        db.set_busy_timeout(1234)
        db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
    assert older.pragma("busy_timeout") == today.pragma("busy_timeout") == 1234
    assert older.total_changes() == today.total_changes() == 2


def test_an_engine_works_by_older_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terms = []
    for name, kind in (("today", apsw.Connection), ("older", driver._Older)):
        monkeypatch.setattr(driver, "Connection", kind)
        (tmp_path / name).mkdir()
        engine = SqliteEngine(Variant("sqlite"), tmp_path / name, "owner")
        engine.start()
        try:
            assert engine.run("CREATE TABLE t (a)") == -1
            assert engine.run("INSERT INTO t VALUES (1), (2)") == 2
            engine.settle(["t"])
            engine.plan("CREATE TABLE u AS SELECT * FROM t", "SELECT * FROM t")
            assert engine.tables() == ["t"], "a plan makes nothing"
            terms.append(engine.terms())
        finally:
            engine.remove()
    assert terms[0] == terms[1]
