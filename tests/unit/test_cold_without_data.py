"""A cold cell whose plan reads no relation is a gap with that reason; one that read nothing though
its plan reads a relation stays a contradiction."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from loadstone.machine import facts, page_cache
from loadstone.record import CellResult, read
from loadstone.record.model import AnswerCheck, ColdEvidence, Sample, StatementText
from loadstone.run import session
from loadstone.run.planned import plan_from
from loadstone.statistics import validity

PROVED = ColdEvidence(0, True, "", "cachestat", 1, 4096, 1, 0, True, 0, 0, 0, 0, 4096)
RIGHT = AnswerCheck(0, 0, 1, "a", 1, "a")


def sample(read_bytes: int | None) -> Sample:
    return Sample(ordinal=0, round=0, variation=0, started_ns=1, elapsed_ns=1,
                  client_cpu_ns=None, server_cpu_ns=None, read_bytes=read_bytes,
                  written_bytes=None, commit_ns=None)  # fmt: skip


@pytest.mark.parametrize(
    ("read_bytes", "access", "reported"),
    [(0, "", True), (0, "heap", False), (0, None, False), (4096, "", False), (None, "", False)],
)
def test_only_a_plan_without_relations_explains_that_nothing_was_read(
    read_bytes: int | None, access: str | None, *, reported: bool
) -> None:
    statements = [StatementText(0, "SELECT 1", "a plan", access)]
    found = validity.without_data([sample(read_bytes)], [RIGHT], [PROVED], statements)
    assert found == (validity.NO_RELATION if reported else "")
    assert not validity.without_data([sample(0)], [RIGHT], [PROVED], [])


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        mount = facts.mount_of(Path(name))
        if mount is None or mount.type not in page_cache.PAGE_CACHED:
            pytest.skip("no file system with a page cache")
        monkeypatch.setenv("LOADSTONE_SCRATCH", f"{name}/scratch")
        yield Path(name)


@pytest.mark.machine
@pytest.mark.slow
def test_a_count_that_the_catalog_answers_is_a_gap_and_others_are_cold(folder: Path) -> None:
    choices = {
        "benchmark": "idm", "on": ["duckdb", "sqlite"], "rows": [1000], "temperature": ["cold"],
        "operations": ["count-words", "count-long"], "repeat_cold": 1, "overhead": False,
        "limits": False,
    }  # fmt: skip
    session.start(plan_from(choices, None), folder / "r.loadstone", page=False)
    results = read(folder / "r.loadstone").results
    found = {(result.cell.operation, result.cell.variant): result for result in results}

    def cold(result: CellResult) -> bool:
        return result.status == "ok" and result.temperature_shown == "cold"

    count = found["count-words", "duckdb"]
    assert (count.status, count.reason) == ("gap", validity.NO_RELATION)
    assert cold(found["count-words", "sqlite"])
    assert cold(found["count-long", "duckdb"])
