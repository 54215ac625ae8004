"""A record is a file that people exchange: none of what one holds reaches a path or a statement."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from desk import Desk

from loadstone.record import Recorder
from loadstone.run.planned import plan_from
from loadstone.run.runner import published_of

ESCAPES = ("../precious", "../../precious", "{folder}/precious", ".", "", "a/b", "A b", "x\0y",
           "x'; DROP TABLE customers; --", "a" * 300)  # fmt: skip


def begun(path: Path) -> Path:
    """A record of a run that ended before its first cell did."""
    planned = plan_from({"rows": [1000], "on": ["sqlite"], "operations": ["min-heap"],
                         "repeat": 1, "repeat_cold": 1, "overhead": False}, None)  # fmt: skip
    reported = (published_of(planned.benchmark), planned.benchmark.presentation())
    Recorder.create(path, planned.plan, *reported, "0a1b2c3d", "1").end("interrupted", 1)
    return path


@pytest.mark.slow
def test_a_run_is_named_by_digits_and_letters_or_refused(desk: Desk):
    precious = desk.folder / "precious"
    precious.mkdir()
    (precious / "thesis").write_text("years of work")
    desk.scratch.mkdir()
    begun(desk.record)
    for name in ESCAPES:
        named = name.format(folder=desk.folder)
        with closing(sqlite3.connect(desk.record, isolation_level=None)) as connection:
            connection.execute("UPDATE run SET run_id = ?", (named,))
        for command in (("run", "--resume", "r.loadstone", "--no-report"),
                        ("report", "r.loadstone", "--format", "json")):  # fmt: skip
            refused = desk.run(*command)
            assert refused.returncode == 4, (name, refused)
            assert "r.loadstone" in refused.stderr
        assert [path.name for path in precious.iterdir()] == ["thesis"]
        assert list(desk.scratch.iterdir()) == []


@pytest.mark.parametrize("name", ESCAPES)
def test_a_scratch_folder_lies_where_scratch_folders_lie(name: str, tmp_path: Path, monkeypatch):
    from loadstone.errors import RecordError
    from loadstone.run import scratch

    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path / "scratch"))
    with (
        pytest.raises(RecordError, match="invalid name of a run"),
        scratch.claimed(name.format(folder=tmp_path)),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
