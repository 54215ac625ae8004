"""Records that nobody named: no two runs take one name, and a run that never began leaves none."""

from pathlib import Path

import pytest

from loadstone import measuring
from loadstone.errors import EngineError, RecordError
from loadstone.run import session
from loadstone.run.planned import plan_from


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    return plan_from({"on": ("sqlite",), "preset": "quick", "rows": (120,)}, None)


def test_runs_that_begin_within_a_second_have_each_a_name(planned) -> None:
    names = [session.record_path([planned]) for _ in range(8)]
    assert len(set(names)) == 8
    assert {name.suffix for name in names} == {".loadstone"}


def test_a_run_whose_engine_does_not_start_leaves_no_record(planned, monkeypatch) -> None:
    def fails(self: object) -> None:
        raise EngineError("its engine does not start")

    monkeypatch.setattr("loadstone.run.runner.Runner.open", fails)
    path = session.record_path([planned])
    with pytest.raises(EngineError):
        measuring.measure([planned], path, page=False)
    assert list(path.parent.iterdir()) == []


def test_a_place_that_cannot_be_written_is_an_error_of_the_record(planned) -> None:
    session.RUNS.write_text("no folder", encoding="utf-8")
    with pytest.raises(RecordError, match="cannot write the record"):
        session.record_path([planned])
